//! From arguments to an exit code: the one place where a command is chosen and an error is printed.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use runner::{LocateError, PlanFile, Project};

use crate::args::{Arguments, Command, Format, Global};
use crate::command;
use crate::error::Error;
use crate::exit;
use crate::settings::FileSettings;
use crate::view::ci;
use crate::view::subject::Subject;

/// The context that every command is given.
pub(crate) struct Context {
    /// How results are printed.
    pub(crate) format: Format,
    /// The folder that the user is in.
    pub(crate) dir: PathBuf,
    /// Where results go.
    pub(crate) out: Box<dyn Write>,
}

/// How a command ends: with an exit code, or with an error that has one.
pub(crate) type Ended = Result<u8, Error>;

impl Context {
    fn new(global: &Global) -> Result<Self, Error> {
        let dir = global.dir.clone().unwrap_or_else(|| PathBuf::from("."));
        if !dir.is_dir() {
            return Err(
                Error::usage(format!("{} is not a folder", dir.display())).hint("look at what follows -C")
            );
        }
        Ok(Self { format: global.format, dir, out: Box::new(io::stdout()) })
    }

    /// The project around the folder.
    pub(crate) fn project(&self) -> Result<Project, Error> {
        Ok(Project::discover(&self.dir)?)
    }

    /// The plan that an argument names, and how to talk about it. Its record is ours and can be read.
    pub(crate) fn plan(
        &self,
        project: &Project,
        argument: Option<&str>,
    ) -> Result<(PlanFile, Subject), Error> {
        let found = self.plan_alone(project, argument)?;
        project.refuse_foreign_record()?;
        Ok(found)
    }

    /// The plan that an argument names, for who does not look at its record.
    pub(crate) fn plan_alone(
        &self,
        project: &Project,
        argument: Option<&str>,
    ) -> Result<(PlanFile, Subject), Error> {
        let file = project.locate(&self.dir, argument).map_err(|error| with_nearest(project, error))?;
        Ok(self.with_subject(project, file, argument))
    }

    /// A plan that was found, and how to talk about it.
    pub(crate) fn with_subject(
        &self,
        project: &Project,
        mut file: PlanFile,
        argument: Option<&str>,
    ) -> (PlanFile, Subject) {
        // What is wrong with the settings is said where they are needed.
        FileSettings::load(project.root()).unwrap_or_default().apply_to(&mut file);
        let subject = Subject::new(&self.dir, project, &file, argument);
        (file, subject)
    }

    /// A path as the user would write it.
    pub(crate) fn shown<'a>(&self, project: &Project, path: &'a Path) -> std::path::Display<'a> {
        project.relative(path).display()
    }
}

/// The error, with the name that may have been meant where one lies beside what was named.
fn with_nearest(project: &Project, error: LocateError) -> Error {
    let missing = match &error {
        LocateError::MissingSpec(path) | LocateError::MissingTasks(path) => project.root().join(path),
        LocateError::NoActiveSpec { .. }
        | LocateError::NotAPlan(_)
        | LocateError::TrackedRecord
        | LocateError::LinkedRecord(_)
        | LocateError::Unreadable { .. }
        | LocateError::Git(_) => return error.into(),
    };
    let error = Error::from(error);
    let (Some(folder), Some(name)) = (missing.parent(), missing.file_name()) else { return error };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let name = name.to_string_lossy();
    match plan::nearest(&name, names.iter().map(String::as_str).filter(|other| *other != name)) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error,
    }
}

/// The command line, from the arguments of the process to its exit code.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return ExitCode::from(usage(&error)),
    };
    let format = arguments.global.format;
    let ended = Context::new(&arguments.global).and_then(|mut context| {
        let code = dispatch(&mut context, arguments.command)?;
        context.out.flush()?;
        Ok(code)
    });
    ExitCode::from(ended.unwrap_or_else(|error| report(&error.of_disk(), format)))
}

/// Help and version are results; everything else is an error.
fn usage(error: &clap::Error) -> u8 {
    let is_result = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if !is_result && wants_json(std::env::args_os().skip(1)) {
        return report(&from_clap(&error.to_string()), Format::Json);
    }
    // Where nobody reads the message any more, the exit code is all that is left to say.
    let _ = error.print();
    if is_result { exit::DONE } else { exit::USAGE }
}

/// True if arguments that could not be read ask for JSON.
fn wants_json(arguments: impl Iterator<Item = OsString>) -> bool {
    let arguments: Vec<OsString> = arguments.collect();
    let is_pair = |pair: &[OsString]| pair[0] == "--format" && pair[1] == "json";
    arguments.windows(2).any(is_pair) || arguments.iter().any(|argument| argument == "--format=json")
}

/// Clap's message, taken apart into what is wrong and what it suggests.
fn from_clap(text: &str) -> Error {
    let mut paragraphs = text.split("\n\n");
    let first = paragraphs.next().unwrap_or_default().trim_start_matches("error: ");
    let message = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let tips = text.lines().filter_map(|line| line.trim().strip_prefix("tip: "));
    tips.fold(Error::usage(message), Error::hint).hint("`tillgreen --help` says how it is used")
}

fn report(error: &Error, format: Format) -> u8 {
    if !error.is_silent() {
        let text = error.render(format);
        let text = if format == Format::Text { ci::harmless_here(text) } else { text };
        // As above.
        let _ = io::stderr().write_all(text.as_bytes());
    }
    error.code()
}

fn dispatch(context: &mut Context, command: Command) -> Ended {
    match command {
        Command::Demo => command::demo::run(context),
        Command::Init => command::init::run(context),
        Command::New(arguments) => command::new::run(context, &arguments),
        Command::Import(arguments) => command::import::run(context, &arguments),
        Command::Plan(arguments) => command::plan::run(context, &arguments),
        Command::Examine => command::plan::examine(context),
        Command::Order => command::order::run(context),
        Command::Check(arguments) => command::check::run(context, &arguments),
        Command::Run(arguments) => command::run::run(context, *arguments),
        Command::Status(arguments) => command::status::run(context, &arguments),
        Command::Show(arguments) => command::show::run(context, &arguments),
        Command::List => command::list::run(context),
        Command::Use { name } => command::use_spec::run(context, &name),
        Command::Answer(arguments) => command::answer::run(context, &arguments),
        Command::Tell(arguments) => command::tell::run(context, &arguments),
        Command::Pause(arguments) => command::pause::run(context, &arguments),
        Command::Skip(arguments) => command::skip::run(context, &arguments),
        Command::Cancel(arguments) => command::cancel::run(context, &arguments),
        Command::Clean(arguments) => command::clean::run(context, &arguments),
        Command::Prove(arguments) => command::prove::run(context, &arguments),
        Command::Notify { command } => command::notify::run(context, &command),
        Command::Watch(arguments) => command::watch::run(context, &arguments),
        Command::Serve(arguments) => command::serve::run(context, &arguments),
        Command::Report(arguments) => command::report::run(context, &arguments),
        Command::Log(arguments) => command::log::run(context, &arguments),
        Command::Stats(arguments) => command::stats::run(context, &arguments),
        Command::Agents(arguments) => command::agents::run(context, arguments),
        Command::Completions { shell } => command::completions::run(context, shell),
        Command::Man => command::man::run(context),
        Command::Mcp { report } => command::mcp::run(&report),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_errors_are_json_where_json_was_asked_for() {
        let asks = |words: &[&str]| wants_json(words.iter().map(OsString::from));
        assert!(asks(&["rum", "--format", "json"]) && asks(&["--format=json"]));
        assert!(!asks(&["--format", "text", "json"]) && !asks(&["--format"]) && !asks(&[]));
        let error = Arguments::try_parse_from(["tillgreen", "run", "--recover-mode"]).unwrap_err();
        insta::assert_snapshot!(from_clap(&error.to_string()).render(Format::Json), @r#"{"error":"unexpected argument '--recover-mode' found","notes":[],"causes":[],"hints":["a similar argument exists: '--recovery-mode'","`tillgreen --help` says how it is used"],"code":2}"#);
    }
}
