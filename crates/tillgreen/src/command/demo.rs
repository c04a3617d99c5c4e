//! `tillgreen demo`: the whole thing in a minute, with a scripted agent.

use std::io;

use engine::Toggle;
use rehearsal::Demo;
use runner::{Beginning, Project, Request};

use crate::cli::{Context, Ended};
use crate::error::{Error, Kind};
use crate::settings::{Attendance, FileSettings, Programs, SettingsLayer, Sources, resolve};
use crate::view::subject::Subject;

const INTRODUCTION: &str = "\
A small project with a real test suite, a plan of seven tasks, and an agent that behaves as agents do: it claims to
be done when it is not, contradicts itself, and repairs the wrong thing. Every claim is checked by running the
task's own verify command.";

/// Lays the demo out and runs it to green.
pub(crate) fn run(context: &mut Context) -> Ended {
    let below = std::env::temp_dir();
    let demo = rehearsal::lay_out_demo(&below).map_err(|source| cannot_lay_out(&below, source))?;
    say(&format!("{INTRODUCTION}\n\nEverything is in {}\n", demo.project.display()));
    let project = Project::discover(&demo.project)?;
    let file = project.locate(&demo.project, None)?;
    let subject = Subject::new(project.root(), &project, &file, None);
    let flags = SettingsLayer {
        agent_cmd: Some(format!("sh '{}'", demo.agent.display())),
        recovery_mode: Some(Toggle::On),
        ..SettingsLayer::default()
    };
    let resolved = resolve(Sources {
        flags,
        file: &FileSettings::default(),
        earlier: None,
        state_file: None,
        attendance: Attendance::Unattended,
        dialect: file.dialect,
        programs: &Programs::of_environment(project.root()),
    })?;
    let request = Request {
        project: &project,
        file: &file,
        settings: &resolved.settings,
        beginning: Beginning::Resume,
    };
    let ended = super::run::execute(context, &subject, &request, super::run::Telling::default());
    say(&look_around(&demo));
    ended
}

fn cannot_lay_out(below: &std::path::Path, source: io::Error) -> Error {
    Error::new(Kind::Unavailable, format!("cannot lay out the demo in {}", below.display()))
        .because(source)
        .hint("it needs git and a folder it may write to; TMPDIR names another one")
}

fn look_around(demo: &Demo) -> String {
    format!(
        "\nLook around:\n  cd {}\n  git log --oneline                what was committed\n  \
         cat specs/slugs/tasks.md         the plan, with the fix tasks that were written into it\n  \
         cat specs/slugs/.progress.md     what was noted on the way\n  \
         tillgreen log                    everything that happened\n  \
         tillgreen status                 where it stands\n  \
         tillgreen show 1.2               one task: what failed, and what was done about it\n",
        demo.project.display()
    )
}

fn say(text: &str) {
    use std::io::Write as _;
    // Where nobody reads the words, the demo goes on all the same.
    let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
}
