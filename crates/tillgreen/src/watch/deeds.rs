//! Acting on a run: what is told to it goes through its inbox, in a thread of its own, since a run that commits hears
//! nothing meanwhile.

use std::path::{Path, PathBuf};
use std::{fs, thread};

use engine::{Said, State};
use runner::{Cancelled, Project};

use crate::args::Format;
use crate::error::Error;
use crate::steering::{Target, done};
use crate::view::subject::Subject;

/// The run that is acted on.
#[derive(Debug)]
pub(super) struct Addressee {
    pub(super) project: Project,
    pub(super) subject: Subject,
    pub(super) state: Option<State>,
}

/// Tells the run something; what became of it is told to `tell`.
pub(super) fn send(addressee: Addressee, said: Said, tell: impl FnOnce(String) + Send + 'static) {
    beside(move || send_now(addressee, said), tell);
}

/// Stops the run.
pub(super) fn cancel(addressee: Addressee, tell: impl FnOnce(String) + Send + 'static) {
    beside(move || cancel_now(&addressee), tell);
}

fn beside(
    act: impl FnOnce() -> Result<String, Error> + Send + 'static,
    tell: impl FnOnce(String) + Send + 'static,
) {
    let acting = move || {
        let came = act();
        tell(came.unwrap_or_else(|error| error.render(Format::Text).lines().collect::<Vec<_>>().join("; ")));
    };
    // Without a thread nothing is told, and the screen says so by saying nothing.
    let _ = thread::Builder::new().name("deed".to_owned()).spawn(acting);
}

fn cancel_now(addressee: &Addressee) -> Result<String, Error> {
    let Some(file) = &addressee.subject.file else { return Ok("There is no plan to stop.".to_owned()) };
    Ok(match runner::cancel(file)? {
        Cancelled::NotRunning => "No run is under way.".to_owned(),
        Cancelled::Stopped(holder) => format!("Stopped process {}. Nothing is lost.", holder.pid),
    })
}

fn send_now(addressee: Addressee, said: Said) -> Result<String, Error> {
    let Addressee { project, subject, state } = addressee;
    let Some(file) = subject.file.clone() else { return Ok("There is no plan to tell it to.".to_owned()) };
    let target = Target { state, ..Target::of(project, file, subject)? };
    let done = done(&said);
    let directive = runner::directive(said.clone());
    let fate = match (target.send(&directive)?, &said) {
        (Some(fate), _) => fate,
        (None, Said::Pause) => return Ok(format!("No run of '{}' is under way.", target.subject.name)),
        (None, Said::Tell { .. }) => target.leave(&directive)?,
        (None, Said::Answer { .. } | Said::Skip { .. }) if target.is_unfinished() => {
            target.record(directive)?
        }
        (None, Said::Answer { .. } | Said::Skip { .. }) => target.leave(&directive)?,
    };
    Ok(target.words(&fate, &done))
}

/// Saves a text under a name that nothing has yet, in this folder.
pub(super) fn save(folder: &Path, name: &str, text: &str) -> Result<PathBuf, Error> {
    let plain: String =
        name.chars().map(|c| if c.is_alphanumeric() || "-.".contains(c) { c } else { '-' }).collect();
    let mut path = folder.join(format!("{plain}.txt"));
    let mut number = 2;
    loop {
        match fs::OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                std::io::Write::write_all(&mut file, text.as_bytes())
                    .map_err(|error| Error::file("write", &path, error))?;
                return Ok(path);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && number < 1_000 => {
                path = folder.join(format!("{plain}-{number}.txt"));
                number += 1;
            }
            Err(error) => return Err(Error::file("write", &path, error)),
        }
    }
}

/// The words that put a text onto the clipboard of whoever sits at the terminal, also by way of ssh.
pub(super) fn copied(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bytes = [chunk[0], chunk.get(1).copied().unwrap_or(0), chunk.get(2).copied().unwrap_or(0)];
        let number = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]);
        for place in 0..4 {
            let digit = DIGITS[usize::try_from(number >> (18 - 6 * place) & 63).unwrap_or(0)];
            encoded.push(if place <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    format!("\u{1b}]52;c;{encoded}\u{7}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clipboard_takes_base64() {
        assert_eq!(copied("any carnal pleas"), "\u{1b}]52;c;YW55IGNhcm5hbCBwbGVhcw==\u{7}");
        assert_eq!(copied("any carnal pleasu"), "\u{1b}]52;c;YW55IGNhcm5hbCBwbGVhc3U=\u{7}");
        assert_eq!(copied(""), "\u{1b}]52;c;\u{7}");
    }

    #[test]
    fn nothing_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let first = save(folder.path(), "auth 1.2/output", "a").unwrap();
        let second = save(folder.path(), "auth 1.2/output", "b").unwrap();
        assert_eq!(first, folder.path().join("auth-1.2-output.txt"));
        assert_eq!(second, folder.path().join("auth-1.2-output-2.txt"));
        assert_eq!(fs::read_to_string(first).unwrap(), "a");
    }
}
