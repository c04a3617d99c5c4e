//! `tillgreen log`: the journal, readable.

use std::io::Write;
use std::thread;
use std::time::Duration;

use engine::{Event, State};
use runner::PlanFile;
use runner::journal::{Follower, News};

use crate::args::{Format, LogArgs};
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::view::json;
use crate::view::lines::{self, Clock};
use crate::view::paint::Paint;

/// How often a journal that is followed is looked at. A journal has no bell, and a person reads along.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Prints every event and, if asked, those that come until the run ends.
pub(crate) fn run(context: &mut Context, arguments: &LogArgs) -> Ended {
    let project = context.project()?;
    let (file, subject) = context.plan(&project, arguments.plan.as_deref())?;
    if !file.journal().exists() && !arguments.follow {
        return Err(Error::usage(format!("'{}' has not been run yet", subject.name))
            .hint(format!("start it with {}", subject.command("run", ""))));
    }
    let paint = Paint::of(&std::io::stdout());
    let mut printer = Printer { format: context.format, paint, state: State::default() };
    let mut follower = Follower::new(&file.journal());
    loop {
        let has_news = printer.print(&mut context.out, follower.poll()?)?;
        context.out.flush()?;
        if !arguments.follow || (!has_news && is_over(&printer.state, &file)?) {
            return Ok(exit::DONE);
        }
        if !has_news {
            thread::sleep(LOOK_EVERY);
        }
    }
}

/// True if nothing more will come: the run has ended, or the program that ran it is gone.
fn is_over(state: &State, file: &PlanFile) -> Result<bool, Error> {
    if state.opened().is_none() {
        return Ok(false);
    }
    Ok(state.end().is_some() || runner::journal::holder(&file.lock())?.is_none())
}

/// Prints events, keeping the state that the lines need.
struct Printer {
    format: Format,
    paint: Paint,
    state: State,
}

impl Printer {
    /// Prints what is new; whether anything was.
    fn print(&mut self, out: &mut dyn Write, news: News<Event>) -> Result<bool, Error> {
        if let News::Replaced(_) = news {
            self.state = State::default();
        }
        let events = news.into_events();
        for (_, event) in &events {
            let applied = self.state.apply(event);
            match self.format {
                Format::Json => json::line(out, event)?,
                Format::Text => {
                    writeln!(out, "{}", lines::render(event, &self.state, Clock::Date, self.paint))?;
                }
            }
            applied.map_err(|error| {
                Error::usage("the journal contradicts itself after this event").because(error)
            })?;
        }
        Ok(!events.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::samples;

    fn printed(format: Format) -> String {
        let mut printer = Printer { format, paint: Paint::Plain, state: State::default() };
        let mut out = Vec::new();
        let journal = tempfile::tempdir().unwrap().keep().join("journal.jsonl");
        let (mut writer, _) = runner::journal::Journal::open(&journal, |_: Event| ()).unwrap();
        for (event, _) in samples::fixed().replay().iter().take(3) {
            writer.append(event).unwrap();
        }
        let mut follower = Follower::new(&journal);
        assert!(printer.print(&mut out, follower.poll().unwrap()).unwrap());
        assert!(!printer.print(&mut out, follower.poll().unwrap()).unwrap());
        std::fs::remove_dir_all(journal.parent().unwrap()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn for_people() {
        insta::assert_snapshot!(printed(Format::Text), @r"
        2026-01-26 14:30:00Z ▶ round 1 opened: 1/3 tasks done, recovery mode
        2026-01-26 14:30:10Z ▶ 1.2 Add a parser: attempt 1 (executor)
        2026-01-26 14:30:20Z ✗ 1.2 attempt 1 failed (verification_failed): no parser
        ");
    }

    #[test]
    fn for_programs_events_are_as_in_the_journal() {
        let text = printed(Format::Json);
        let events: Vec<Event> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(
            events,
            samples::fixed().replay().into_iter().take(3).map(|(event, _)| event).collect::<Vec<_>>()
        );
    }
}
