//! Live progress at a terminal: a status line at the bottom, the lines of events scrolling above it.

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::time::Duration;

use engine::{Event, State, Summary, Task};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use runner::Activity;

use super::lines::{self, Clock};
use super::paint::Paint;
use super::pull_request::{doing as doing_at_forge, since as since_at_forge};
use super::status::{current_task, doing};
use super::text::{count, moment, one_line};
use super::usage;

/// Characters of a task's title on the status line, and where what its agent does has to fit in as well.
const TITLE_CHARS_MAX: usize = 60;
const TITLE_CHARS_BESIDE_ACTIVITY: usize = 20;
/// Characters of what is waited for on the status line.
const WAIT_CHARS_MAX: usize = 100;
/// How many tasks beside it are named.
const BESIDE_MAX: usize = 5;
/// Characters of what an agent is doing.
const ACTIVITY_CHARS_MAX: usize = 60;
/// How often the status line moves.
const TICK: Duration = Duration::from_millis(120);

/// The status line.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    paint: Paint,
    /// The step that the elapsed time on the line belongs to.
    step: String,
    /// The last thing that the agent did.
    activity: String,
    is_hushed: bool,
}

impl Progress {
    /// A status line on standard error, if that is a terminal that wants one.
    pub(crate) fn at_terminal() -> Option<Self> {
        let stderr = std::io::stderr();
        let ci = std::env::var_os("CI");
        let term = std::env::var_os("TERM");
        is_wanted(stderr.is_terminal(), ci.as_deref(), term.as_deref())
            .then(|| Self::new(ProgressDrawTarget::stderr(), Paint::of(&stderr)))
    }

    fn new(target: ProgressDrawTarget, paint: Paint) -> Self {
        let bar = ProgressBar::with_draw_target(None, target);
        let template = match paint {
            Paint::Colours => "{spinner:.cyan} {elapsed_precise:.dim} {wide_msg}",
            Paint::Plain => "{spinner} {elapsed_precise} {wide_msg}",
        };
        let style = ProgressStyle::with_template(template).expect("the template is well formed");
        bar.set_style(style);
        bar.enable_steady_tick(TICK);
        Self { bar, paint, step: String::new(), activity: String::new(), is_hushed: false }
    }

    /// Shows an event and the state after it.
    pub(crate) fn show(&mut self, state: &State, event: &Event) {
        if std::mem::take(&mut self.is_hushed) {
            self.bar.reset();
            self.bar.enable_steady_tick(TICK);
        }
        self.print(&lines::render(event, state, Clock::Time, self.paint));
        let step = step(state);
        if step != self.step {
            self.bar.reset_elapsed();
            self.step = step;
            self.activity.clear();
        }
        self.bar.set_message(message(state, &self.activity));
    }

    /// Shows what an agent is doing.
    pub(crate) fn working(&mut self, state: &State, activity: &Activity) {
        self.activity = one_line(&doings(activity), ACTIVITY_CHARS_MAX);
        if !self.is_hushed {
            self.bar.set_message(message(state, &self.activity));
        }
    }

    /// A function that prints lines above the status line, for another thread.
    pub(crate) fn printer(&self) -> impl Fn(&str) + Send + use<> {
        let bar = self.bar.clone();
        move |line| bar.println(line)
    }

    /// The colours of its lines.
    pub(crate) fn paint(&self) -> Paint {
        self.paint
    }

    /// Prints a line above the status line.
    pub(crate) fn print(&self, line: &str) {
        self.bar.println(line);
    }

    /// Takes the status line away, until the next event, because somebody types there.
    pub(crate) fn hush(&mut self) {
        self.bar.disable_steady_tick();
        self.bar.finish_and_clear();
        self.is_hushed = true;
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn is_wanted(is_terminal: bool, ci: Option<&OsStr>, term: Option<&OsStr>) -> bool {
    let is_ci = ci.is_some_and(|value| !value.is_empty() && value != "false" && value != "0");
    let is_dumb = term.is_some_and(|term| term == "dumb");
    is_terminal && !is_ci && !is_dumb
}

/// The step that the run is at: the elapsed time starts again when this changes.
fn step(state: &State) -> String {
    current_task(state).map_or_else(
        || pull_request_step(state),
        |task| {
            let (doing, attempt, _) = doing(task);
            format!("{} {doing} {attempt:?}", task.id())
        },
    )
}

/// The step at the forge: what is done or waited for.
fn pull_request_step(state: &State) -> String {
    let lifecycle = state.pull_request();
    format!("{:?} {:?}", lifecycle.stage().kind(), since_at_forge(lifecycle))
}

fn message(state: &State, activity: &str) -> String {
    let summary = Summary::of(state);
    let mut parts = Vec::new();
    if let Some(task) = current_task(state) {
        let (doing, attempt, _) = doing(task);
        let room = if activity.is_empty() { TITLE_CHARS_MAX } else { TITLE_CHARS_BESIDE_ACTIVITY };
        parts.push(format!("{} {}", task.id(), one_line(task.decl.short_title(), room)));
        parts.extend(attempt.map(|attempt| format!("attempt {attempt}")));
        parts.push(if activity.is_empty() { doing } else { activity.to_owned() });
        parts.extend(beside(state, task));
    }
    if state.first_unsettled().is_none() && state.pull_request().stage().is_active() {
        let lifecycle = state.pull_request();
        parts.push(format!("pull request: {}", one_line(&doing_at_forge(lifecycle), WAIT_CHARS_MAX)));
        parts.extend(since_at_forge(lifecycle).map(|since| format!("since {}", moment(since))));
        parts.extend(lifecycle.place().map(|place| place.url.clone()));
    }
    parts.push(format!("{}/{} done", state.done_count(), state.tasks().len()));
    if summary.fixes > 0 {
        parts.push(count(summary.fixes, "fix"));
    }
    parts.join(" · ")
}

/// The tasks that are under way beside the one that is named.
fn beside(state: &State, named: &Task) -> Option<String> {
    let others = state.attention().filter(|task| task.status.is_active() && task.id() != named.id());
    let others: Vec<String> = others.map(|task| task.id().to_string()).collect();
    match others.as_slice() {
        [] => None,
        _ if others.len() <= BESIDE_MAX => Some(format!("beside it {}", others.join(", "))),
        _ => Some(format!("beside it {} others", others.len())),
    }
}

/// An activity, in words.
/// What an agent is doing, in words.
pub(super) fn doings(activity: &Activity) -> String {
    match activity {
        Activity::Said(text) => text.clone(),
        Activity::ToolStarted { name, subject } => format!("{name} {subject}"),
        Activity::ToolEnded => String::new(),
        Activity::Retrying { reason } => format!("trying again: {reason}"),
        Activity::Used(used) => usage::words(*used).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use engine::Rules;

    use super::*;
    use crate::view::samples::{self, Story};

    #[test]
    fn live_progress_is_for_terminals_that_somebody_watches() {
        let on = |value: &'static str| Some(OsStr::new(value));
        assert!(is_wanted(true, None, on("xterm")));
        assert!(is_wanted(true, on("false"), None));
        assert!(!is_wanted(true, on("true"), None));
        assert!(!is_wanted(true, on("1"), None));
        assert!(!is_wanted(true, None, on("dumb")));
        assert!(!is_wanted(false, None, None));
    }

    #[test]
    fn the_status_line_says_what_is_being_done() {
        let story = Story::new(Rules::default()).starts("1.2");
        insta::assert_snapshot!(message(&story.clone().state(), ""), @"1.2 Add a parser · attempt 1 · executor at work · 1/3 done");
        insta::assert_snapshot!(message(&story.claims("1.2").state(), ""), @"1.2 Add a parser · attempt 1 · checking · 1/3 done");
        insta::assert_snapshot!(message(&samples::fixed().state(), ""), @"5/5 done · 2 fixes");
    }

    #[test]
    fn the_status_line_says_what_the_pull_request_waits_for_and_since_when() {
        let state = samples::watched().state();
        insta::assert_snapshot!(message(&state, ""), @"pull request: waiting for 1 of 3 checks: CI / test · since 2026-01-26 14:31:50Z · https://github.com/acme/widgets/pull/7 · 3/3 done");
        let (mut steps, mut last) = (Vec::new(), String::new());
        for (_, state) in samples::watched().looks().replay() {
            last = step(&state);
            steps.push(last.clone());
        }
        assert_eq!(steps[steps.len() - 2], last, "the clock goes on as long as the same thing is waited for");
    }

    #[test]
    fn the_status_line_says_what_the_agent_does() {
        let state = Story::new(Rules::default()).starts("1.2").state();
        let shown = |activity: &Activity| message(&state, &doings(activity));
        let tool = Activity::ToolStarted { name: "Bash".to_owned(), subject: "npm test".to_owned() };
        assert_eq!(shown(&tool), "1.2 Add a parser · attempt 1 · Bash npm test · 1/3 done");
        let again = shown(&Activity::Retrying { reason: "overloaded".to_owned() });
        assert_eq!(again, "1.2 Add a parser · attempt 1 · trying again: overloaded · 1/3 done");
        assert_eq!(shown(&Activity::ToolEnded), "1.2 Add a parser · attempt 1 · executor at work · 1/3 done");
        let mut progress = Progress::new(ProgressDrawTarget::hidden(), Paint::Plain);
        progress.working(&state, &Activity::Said("\u{1b}[31mred\nlines".to_owned()));
        assert!(!progress.activity.contains(['\u{1b}', '\n']), "{:?}", progress.activity);
    }

    #[test]
    fn every_event_can_be_shown() {
        let mut progress = Progress::new(ProgressDrawTarget::hidden(), Paint::Plain);
        for (event, state) in samples::fixed().replay() {
            progress.show(&state, &event);
            progress.hush();
        }
        assert!(progress.is_hushed);
    }
}
