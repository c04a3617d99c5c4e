//! Steps of a scripted agent. Each step becomes a line or two of POSIX shell.

use std::path::Path;

/// One thing that an agent does, in the folder it was started in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Writes a file, making its folders.
    Write {
        /// Where, relative to the working folder or absolute.
        path: String,
        /// The whole content.
        text: String,
    },
    /// Adds to the end of a file.
    Append {
        /// Where.
        path: String,
        /// The text that is added.
        text: String,
    },
    /// Deletes a file.
    Delete(String),
    /// Replaces every occurrence of a text in each line of a file, as an agent does that ticks boxes.
    Edit {
        /// The file.
        path: String,
        /// The text to replace, literally; within one line.
        from: String,
        /// The new text.
        to: String,
    },
    /// Prints a line on standard output, as part of the answer.
    Say(String),
    /// Prints a line on standard error.
    Complain(String),
    /// Prints bytes that are not UTF-8.
    SayInvalidUtf8,
    /// Prints so many bytes, in lines.
    Flood {
        /// How many bytes.
        bytes: usize,
    },
    /// Waits until a file exists.
    AwaitFile(String),
    /// Does nothing for a very long time.
    Hang,
    /// From here on, SIGINT, SIGTERM and SIGHUP have no effect.
    IgnoreSignals,
    /// Leaves a process behind, in a session of its own.
    Detach,
    /// Commits everything with this message.
    Commit(String),
    /// Ends with this code.
    Exit(u8),
    /// Any shell.
    Shell(String),
}

impl Step {
    /// Writes a file.
    pub fn write(path: &str, text: &str) -> Step {
        Step::Write { path: path.to_owned(), text: text.to_owned() }
    }

    /// Adds to a file.
    pub fn append(path: &str, text: &str) -> Step {
        Step::Append { path: path.to_owned(), text: text.to_owned() }
    }

    /// Replaces a text in a file.
    pub fn edit(path: &str, from: &str, to: &str) -> Step {
        Step::Edit { path: path.to_owned(), from: from.to_owned(), to: to.to_owned() }
    }

    /// Prints a line of the answer.
    pub fn say(line: &str) -> Step {
        Step::Say(line.to_owned())
    }

    /// Waits until a file exists.
    pub fn await_file(path: &Path) -> Step {
        Step::AwaitFile(path.display().to_string())
    }

    /// Commits everything.
    pub fn commit(message: &str) -> Step {
        Step::Commit(message.to_owned())
    }

    /// Any shell.
    pub fn shell(text: &str) -> Step {
        Step::Shell(text.to_owned())
    }

    /// The step as shell text.
    pub(crate) fn script(&self) -> String {
        match self {
            Step::Write { path, text } => write(path, text, ">"),
            Step::Append { path, text } => write(path, text, ">>"),
            Step::Delete(path) => format!("rm -f -- {}", quote(path)),
            Step::Edit { path, from, to } => edit(path, from, to),
            Step::Say(line) => format!("printf '%s\\n' {}", quote(line)),
            Step::Complain(line) => format!("printf '%s\\n' {} >&2", quote(line)),
            Step::SayInvalidUtf8 => "printf '\\377\\376 \\303\\050\\n'".to_owned(),
            Step::Flood { bytes } => {
                format!(
                    "yes 'a line of sixty-four bytes, the newline at its end counted as well' | head -c {bytes}"
                )
            }
            Step::AwaitFile(path) => format!("while ! test -e {}; do sleep 0.02; done", quote(path)),
            Step::Hang => "while :; do sleep 600; done".to_owned(),
            Step::IgnoreSignals => "trap '' INT TERM HUP".to_owned(),
            Step::Detach => {
                "setsid sh -c 'while :; do sleep 600; done' </dev/null >/dev/null 2>&1 &".to_owned()
            }
            Step::Commit(message) => format!("git add -A && git commit -q -m {}", quote(message)),
            Step::Exit(code) => format!("exit {code}"),
            Step::Shell(text) => text.clone(),
        }
    }
}

fn write(path: &str, text: &str, redirection: &str) -> String {
    let (path, text) = (quote(path), quote(text));
    format!("mkdir -p -- \"$(dirname -- {path})\" && printf '%s' {text} {redirection} {path}")
}

/// Replaces by position, not by pattern: the text of a box is full of characters that a pattern would interpret.
fn edit(path: &str, from: &str, to: &str) -> String {
    let program = "{ out = \"\"; rest = $0; \
        while ((at = index(rest, ENVIRON[\"FROM\"])) > 0) { \
        out = out substr(rest, 1, at - 1) ENVIRON[\"TO\"]; rest = substr(rest, at + length(ENVIRON[\"FROM\"])) }; \
        print out rest }";
    let path = quote(path);
    format!(
        "FROM={} TO={} awk '{program}' {path} > {path}.edited && mv -- {path}.edited {path}",
        quote(from),
        quote(to)
    )
}

/// A word that the shell takes as it is.
pub(crate) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn nothing_is_special_within_quotes() {
        assert_eq!(quote("a b"), "'a b'");
        assert_eq!(quote("it's $HOME"), "'it'\\''s $HOME'");
    }
}
