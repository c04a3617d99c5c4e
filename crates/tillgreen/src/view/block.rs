//! The live block of a run at a terminal, as lines: one for each task at work, and one for the run as a whole.

use std::time::Duration;

use engine::{State, Status};
use jiff::Timestamp;

use super::paint::Paint;
use super::pull_request::{doing as doing_at_forge, since as since_at_forge};
use super::text::{between, columns, count, cut, fit, one_line, running};
use super::work::Work;
use crate::settings::format_dollars;

/// Tasks at work that have a line of their own.
const ROWS_MAX: usize = 8;
/// Columns below which only what is most needed is shown.
const NARROW: usize = 60;
/// Columns of who is at work, and of the bar.
const WHO_COLUMNS: usize = 8;
const BAR_COLUMNS: usize = 14;
/// Columns of a title at most.
const TITLE_COLUMNS_MAX: usize = 34;
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// The live block of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Block {
    rows: Vec<Row>,
    /// Tasks at work that have no line.
    more: usize,
    total: Total,
}

/// A task at work.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    id: String,
    title: String,
    who: String,
    is_agents: bool,
    since: Timestamp,
    /// What it does.
    activity: String,
}

/// The run as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Total {
    pub(crate) done: usize,
    pub(crate) all: usize,
    pub(crate) fixes: usize,
    pub(crate) cost_micros: Option<u64>,
    pub(crate) cost_micros_max: Option<u64>,
    pub(crate) left: Option<Duration>,
    pub(crate) questions: usize,
}

impl Total {
    /// Counts.
    pub(crate) fn of(state: &State, work: &Work) -> Self {
        let cap = state.rules().and_then(|rules| rules.limits.cost_micros_max);
        Self {
            done: state.done_count(),
            all: state.tasks().len(),
            fixes: state.tasks().iter().filter(|task| task.decl.fix_of.is_some()).count(),
            // Against the cap counts what was spent since it was last renewed.
            cost_micros: cap.map_or(state.usage(), |_| state.round_usage()).cost_micros,
            cost_micros_max: cap,
            left: work.left(state),
            questions: state.attention().filter(|task| matches!(task.status, Status::Asking(_))).count(),
        }
    }

    /// It in words, the most important first.
    pub(crate) fn parts(&self) -> Vec<String> {
        let mut parts = vec![format!("{}/{}", self.done, self.all)];
        parts.extend((self.fixes > 0).then(|| count(self.fixes, "fix")));
        let cap = self.cost_micros_max.map(|cap| format!(" of ${}", format_dollars(cap)));
        let cap = cap.unwrap_or_default();
        parts.extend(self.cost_micros.map(|cost| format!("${}{cap}", cents(cost))));
        parts.extend(self.left.map(|left| format!("about {} left", roughly(left))));
        parts
    }
}

/// Money to the cent: nobody reads more of it in passing.
pub(crate) fn cents(micros: u64) -> String {
    let cents = micros.saturating_add(5_000) / 10_000;
    format!("{}.{:02}", cents / 100, cents % 100)
}

fn roughly(left: Duration) -> String {
    let minutes = left.as_secs().div_ceil(60);
    match minutes {
        0..=1 => "a minute".to_owned(),
        2..60 => format!("{minutes} min"),
        _ => format!("{} h {:02} min", minutes / 60, minutes % 60),
    }
}

/// A bar of so many columns.
pub(crate) fn bar(done: usize, all: usize, columns: usize) -> String {
    let full = (done * columns).checked_div(all).unwrap_or(0).min(columns);
    "█".repeat(full) + &"░".repeat(columns - full)
}

impl Block {
    /// The block of a state; `activity` tells what is known of what an agent does at a task.
    pub(crate) fn of(
        state: &State,
        work: &Work,
        total: Total,
        activity: impl Fn(&plan::TaskId) -> Option<String>,
    ) -> Self {
        let mut rows: Vec<Row> = Vec::new();
        let mut more = 0;
        for (task, step) in work.under_way(state) {
            if rows.len() == ROWS_MAX {
                more += 1;
                continue;
            }
            rows.push(Row {
                id: task.id().to_string(),
                title: task.decl.short_title().to_owned(),
                who: step.word.clone(),
                is_agents: step.is_agents,
                since: step.since,
                activity: activity(task.id()).filter(|_| step.is_agents).unwrap_or_default(),
            });
        }
        rows.extend(at_forge(state));
        Self { rows, more, total }
    }

    /// Its lines, none of them wider than the terminal.
    pub(crate) fn lines(&self, now: Timestamp, width: usize, frame: usize, paint: Paint) -> Vec<String> {
        let room = width.saturating_sub(1);
        let mut lines = vec![paint.faint(&"─".repeat(room))];
        let id_columns = self.rows.iter().map(|row| columns(&row.id)).max().unwrap_or(0).min(16);
        let spinner = SPINNER[frame % SPINNER.len()];
        lines.extend(self.rows.iter().map(|row| row.line(now, (id_columns, room), spinner, paint)));
        if self.more > 0 {
            lines.push(paint.faint(&cut(&format!("   and {} more", self.more), room).0));
        }
        lines.push(self.last_line(room, paint));
        lines
    }

    fn last_line(&self, room: usize, paint: Paint) -> String {
        let total = &self.total;
        let bar = format!(" {}  ", bar(total.done, total.all, BAR_COLUMNS));
        let bar = if room < NARROW { " ".to_owned() } else { bar };
        let question = match total.questions {
            0 => String::new(),
            questions => format!("? {}", count(questions, "question")),
        };
        // What is asked is never cut off.
        let room = room.saturating_sub(columns(&bar) + columns(&question) + 3);
        let mut parts = total.parts();
        while parts.len() > 1 && columns(&parts.join(" · ")) > room {
            parts.pop();
        }
        let text = cut(&parts.join(" · "), room).0;
        if question.is_empty() {
            return format!("{}{text}", paint.good(&bar));
        }
        format!("{}{text} · {}", paint.good(&bar), paint.odd(&question))
    }
}

impl Row {
    fn line(
        &self,
        now: Timestamp,
        (id_columns, room): (usize, usize),
        spinner: char,
        paint: Paint,
    ) -> String {
        let mark = if self.is_agents { spinner } else { '◔' };
        let time = running(between(self.since, now));
        let id = fit(&self.id, id_columns);
        let who = fit(&self.who, WHO_COLUMNS);
        if room < NARROW {
            return cut(&format!(" {mark} {id} {who} {time}"), room).0;
        }
        let rest = room.saturating_sub(3 + id_columns + 1 + 2 + WHO_COLUMNS + 2 + columns(&time) + 2);
        let title_columns = (rest * 9 / 20).min(TITLE_COLUMNS_MAX);
        let title = fit(&self.title, title_columns);
        let activity = cut(&one_line(&self.activity, rest), rest.saturating_sub(title_columns)).0;
        let (who, time) = (paint.faint(&who), paint.faint(&time));
        format!(" {mark} {} {title}  {who}  {time}  {activity}", paint.strong(&id))
    }
}

/// The line for the pull request, while that is what the run is at.
fn at_forge(state: &State) -> Option<Row> {
    let lifecycle = state.pull_request();
    if state.first_unsettled().is_some() || !lifecycle.stage().is_active() {
        return None;
    }
    Some(Row {
        id: "pull request".to_owned(),
        title: doing_at_forge(lifecycle),
        who: "forge".to_owned(),
        is_agents: false,
        since: since_at_forge(lifecycle)?,
        activity: lifecycle.place().map(|place| place.url.clone()).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use engine::Rules;

    use super::*;
    use crate::view::samples::{self, Story};

    fn block(story: &Story, activity: &str) -> Block {
        let mut work = Work::default();
        let mut last = State::default();
        for (event, state) in story.replay() {
            work.record(&event, &state);
            last = state;
        }
        let total = Total::of(&last, &work);
        Block::of(&last, &work, total, |_| Some(activity.to_owned()))
    }

    fn shown(block: &Block, width: usize) -> String {
        let lines = block.lines(samples::time(82), width, 2, Paint::Plain);
        for line in &lines {
            assert!(columns(line) < width, "{line:?} does not fit");
        }
        lines.join("\n")
    }

    #[test]
    fn a_line_for_each_task_at_work_and_one_for_all() {
        let story = Story::new(Rules::default()).starts("1.2").starts("1.3").claims("1.3");
        insta::assert_snapshot!(shown(&block(&story, "Edit \u{1b}[31mREADME.md\nand more"), 80), @"
        ───────────────────────────────────────────────────────────────────────────────
         ⠹ 1.2 Add a parser             executor  01:12  Edit ␛[31mREADME.md and more
         ◔ 1.3 Use the parser           verify    00:52  
         ████░░░░░░░░░░  1/3
        ");
        insta::assert_snapshot!(shown(&block(&story, "Edit README.md"), 120), @"
        ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
         ⠹ 1.2 Add a parser                        executor  01:12  Edit README.md
         ◔ 1.3 Use the parser                      verify    00:52  
         ████░░░░░░░░░░  1/3
        ");
        insta::assert_snapshot!(shown(&block(&story, "Edit README.md"), 40), @"
        ───────────────────────────────────────
         ⠹ 1.2 executor 01:12
         ◔ 1.3 verify   00:52
         1/3
        ");
    }

    #[test]
    fn more_than_fit_are_counted_and_a_question_is_never_cut_off() {
        let state = Story::new(Rules::default()).state();
        let row = Row {
            id: "1.1".to_owned(),
            title: "日本語の題名".repeat(20),
            who: "claude".to_owned(),
            is_agents: true,
            since: samples::time(0),
            activity: "x".repeat(10_000_000),
        };
        let total = Total {
            done: 8,
            all: 21,
            fixes: 2,
            cost_micros: Some(1_841_000),
            cost_micros_max: Some(5_000_000),
            left: Some(Duration::from_secs(13 * 60 + 20)),
            questions: 1,
        };
        let block = Block { rows: vec![row], more: 5, total };
        insta::assert_snapshot!(shown(&block, 80), @"
        ───────────────────────────────────────────────────────────────────────────────
         ⠹ 1.1 日本語の題名日本語の題…  claude    01:22  xxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
           and 5 more
         █████░░░░░░░░░  8/21 · 2 fixes · $1.84 of $5.00 · ? 1 question
        ");
        insta::assert_snapshot!(shown(&block, 50), @"
        ─────────────────────────────────────────────────
         ⠹ 1.1 claude   01:22
           and 5 more
         8/21 · 2 fixes · $1.84 of $5.00 · ? 1 question
        ");
        insta::assert_snapshot!(shown(&block, 24), @"
        ───────────────────────
         ⠹ 1.1 claude   01:22
           and 5 more
         8/21 · ? 1 question
        ");
        assert_eq!(Total::of(&state, &Work::default()).parts(), ["1/3"]);
    }

    #[test]
    fn the_pull_request_has_a_line_while_it_is_waited_for() {
        insta::assert_snapshot!(shown(&block(&samples::watched(), ""), 120), @"
        ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
         ◔ pull request waiting for 1 of 3 checks: CI / t…  forge     00:00  https://github.com/acme/widgets/pull/7
         ██████████████  3/3
        ");
    }
}
