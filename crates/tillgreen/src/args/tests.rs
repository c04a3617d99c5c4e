use clap::CommandFactory;
use clap::error::ErrorKind;
use engine::Toggle;

use super::*;

fn parse(words: &[&str]) -> Result<Arguments, clap::Error> {
    Arguments::try_parse_from(std::iter::once(&"tillgreen").chain(words))
}

fn choices(words: &[&str]) -> RunArgs {
    let words: Vec<&str> = std::iter::once("run").chain(words.iter().copied()).collect();
    match parse(&words).unwrap().command {
        Command::Run(arguments) => *arguments,
        other => panic!("not a run: {other:?}"),
    }
}

#[track_caller]
fn refused(words: &[&str], parts: &[&str]) {
    let error = parse(words).unwrap_err();
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    assert_eq!(error.exit_code(), i32::from(exit::USAGE));
}

#[test]
fn the_definition_is_sound() {
    Arguments::command().debug_assert();
}

#[test]
fn a_switch_can_be_turned_off_and_takes_no_plan_for_its_value() {
    assert_eq!(choices(&[]).choices.recovery_mode, None);
    assert_eq!(choices(&["--recovery-mode=false"]).choices.recovery_mode, Some(Toggle::Off));
    let arguments = choices(&["--recovery-mode", "auth"]);
    assert_eq!(arguments.choices.recovery_mode, Some(Toggle::On));
    assert_eq!(arguments.plan.as_deref(), Some("auth"));
    assert_eq!(choices(&["auth", "--fresh"]).choices.fresh, Some(Toggle::On));
}

#[test]
fn global_flags_stand_anywhere() {
    let before = parse(&["--format", "json", "-C", "x", "status"]).unwrap().global;
    let after = parse(&["status", "-C", "x", "--format", "json"]).unwrap().global;
    assert_eq!((before.format, before.dir), (Format::Json, Some(PathBuf::from("x"))));
    assert_eq!((after.format, after.dir), (Format::Json, Some(PathBuf::from("x"))));
}

#[test]
fn answers_may_name_a_plan() {
    let answer = |words: &[&str]| match parse(words).unwrap().command {
        Command::Answer(arguments) => (arguments.plan, arguments.response, arguments.no_run),
        other => panic!("not an answer: {other:?}"),
    };
    assert_eq!(answer(&["answer", "retry"]), (None, "retry".to_owned(), false));
    let named = (Some("auth".to_owned()), "fix: use trim".to_owned(), true);
    assert_eq!(answer(&["answer", "auth", "fix: use trim", "--no-run"]), named);
    refused(&["answer"], &["RESPONSE"]);
}

#[test]
fn wrong_usage_names_the_flag_and_what_was_meant() {
    refused(&["rum"], &["unrecognized subcommand 'rum'", "'run'"]);
    refused(&["run", "--recover-mode"], &["--recover-mode", "'--recovery-mode'"]);
    refused(&["run", "--max-fix-tasks", "0"], &["--max-fix-tasks", "must be at least 1"]);
    refused(&["run", "--max-task-iterations=-1"], &["--max-task-iterations", "must be a whole number from 1"]);
    refused(&["run", "--attempt-timeout", "30"], &["--attempt-timeout", "write 30s, 30m or 30h"]);
    refused(&["run", "--scope", "wran"], &["--scope", "[possible values: warn, reject, off]", "'warn'"]);
    refused(&["run", "--agent", "a", "--agent-cmd", "b"], &["'--agent <NAME>' cannot be used with '--agent-cmd"]);
    refused(&["run", "--agent-cmd", " "], &["--agent-cmd", "must not be empty"]);
    refused(&["run", "--jobs", "4"], &["unexpected argument '--jobs'"]);
    refused(&["run", "--strict=maybe"], &["--strict", "maybe"]);
    refused(&["--format", "yaml", "status"], &["--format", "[possible values: text, json]"]);
    refused(&["completions", "tcsh"], &["[possible values: bash"]);
    refused(&["new"], &["<NAME>"]);
    refused(&["check", "a", "b"], &["unexpected argument 'b'"]);
}

#[test]
fn help_and_version_are_no_errors() {
    assert_eq!(parse(&["--help"]).unwrap_err().kind(), ErrorKind::DisplayHelp);
    assert_eq!(parse(&["run", "-h"]).unwrap_err().kind(), ErrorKind::DisplayHelp);
    assert_eq!(parse(&["--version"]).unwrap_err().kind(), ErrorKind::DisplayVersion);
}

fn help(command: &str) -> String {
    let mut program = Arguments::command().term_width(100);
    program.build();
    let command = if command.is_empty() { &mut program } else { program.find_subcommand_mut(command).unwrap() };
    // Trailing spaces would not survive in a source file.
    let text = command.render_long_help().to_string();
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn help_of_the_program() {
    insta::assert_snapshot!(help(""), @"");
}

#[test]
fn help_of_run() {
    insta::assert_snapshot!(help("run"), @"");
}

#[test]
fn short_help_of_run() {
    let mut program = Arguments::command().term_width(100);
    program.build();
    let text = program.find_subcommand_mut("run").unwrap().render_help().to_string();
    let text: String = text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    insta::assert_snapshot!(text, @"");
}

#[test]
fn help_of_the_other_commands() {
    insta::assert_snapshot!(help("demo"), @"");
    insta::assert_snapshot!(help("init"), @"");
    insta::assert_snapshot!(help("new"), @"");
    insta::assert_snapshot!(help("check"), @"");
    insta::assert_snapshot!(help("status"), @"");
    insta::assert_snapshot!(help("answer"), @"");
    insta::assert_snapshot!(help("cancel"), @"");
    insta::assert_snapshot!(help("log"), @"");
    insta::assert_snapshot!(help("agents"), @"");
    insta::assert_snapshot!(help("completions"), @"");
    insta::assert_snapshot!(help("man"), @"");
}
