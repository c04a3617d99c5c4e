//! `.progress.md`: completed tasks with their commits, the history of fix tasks, learnings. People and agents
//! write in it as well, so every edit touches its own section only and is made once.

use std::io;
use std::path::{Path, PathBuf};

use engine::{End, State, Status, StopReason, Task};
use plan::TaskId;

use crate::atomic;
use crate::error::RunError;
use crate::mask::mask;
use crate::run::effects::Effects;

const COMPLETED: &str = "## Completed Tasks";
const HISTORY: &str = "## Fix Task History";
const LEARNINGS: &str = "## Learnings";

/// A task that is done.
#[derive(Debug)]
pub(crate) struct Completed {
    pub id: TaskId,
    pub title: String,
    pub learnings: Vec<String>,
    /// The tasks that come later in the plan.
    pub later: Vec<TaskId>,
}

/// The progress file, read for an edit.
#[derive(Debug)]
pub(crate) struct Progress {
    path: PathBuf,
    text: String,
    before: Option<String>,
}

impl Progress {
    /// Reads the file; a missing one is begun.
    pub(crate) fn open(path: &Path, spec: &str) -> io::Result<Self> {
        let before = match atomic::read(path) {
            Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let text =
            before.clone().unwrap_or_else(|| format!("# Progress: {spec}\n\n{COMPLETED}\n\n{LEARNINGS}\n"));
        Ok(Self { path: path.to_owned(), text, before })
    }

    /// Notes that a task is done, and what was learned on the way.
    pub(crate) fn add(&mut self, completed: &Completed, commit: Option<&str>) {
        self.completed(completed, commit);
        self.learnings(&completed.learnings);
    }

    /// Tasks that run side by side come in as they get ready, and stand in the order of the plan.
    fn completed(&mut self, Completed { id, title, later, .. }: &Completed, commit: Option<&str>) {
        let start = format!("- [x] {} {}", id.name(), mask(&plan::harmless_lines(title)));
        let short = commit.map(|commit| commit.get(..7).unwrap_or(commit));
        let line = short.map_or_else(|| start.clone(), |commit| format!("{start} - {commit}"));
        if self.has_line(&line) {
            return;
        }
        let (from, to) = self.section(COMPLETED);
        let is_later = |entry: &str| {
            let name = entry.strip_prefix("- [x] ").and_then(|rest| rest.split_whitespace().next());
            name.is_some_and(|name| later.iter().any(|id| id.name() == name))
        };
        let mut at = from;
        for entry in self.text[from..to].split_inclusive('\n') {
            if is_later(entry) {
                self.text.insert_str(at, &format!("{line}\n"));
                return;
            }
            at += entry.len();
        }
        self.append(COMPLETED, &line);
    }

    /// Brings the history of fix tasks up to date. `done` is a task that is about to be done.
    pub(crate) fn history(&mut self, state: &State, done: Option<&TaskId>) {
        for task in state.tasks_with_fixes() {
            let line = history_line(state, task, done == Some(task.id()));
            let start = format!("- Task {}: ", task.id());
            self.replace_or_append(HISTORY, &start, &line);
        }
    }

    /// Adds what an agent learned, each thing once.
    pub(crate) fn learnings(&mut self, learnings: &[String]) {
        for learning in learnings {
            let line = format!("- {}", mask(&plan::one_line(learning)));
            if line.len() > 2 && !self.has_line(&line) {
                self.append(LEARNINGS, &line);
            }
        }
    }

    /// Writes the file, if anything changed.
    pub(crate) fn save(&self) -> io::Result<()> {
        if self.before.as_deref() == Some(self.text.as_str()) {
            return Ok(());
        }
        atomic::replace(&self.path, &self.text)
    }

    fn has_line(&self, line: &str) -> bool {
        self.text.lines().any(|other| other == line)
    }

    fn replace_or_append(&mut self, heading: &str, start: &str, line: &str) {
        let (from, to) = self.section(heading);
        let mut at = from;
        for old in self.text[from..to].split_inclusive('\n') {
            if old.starts_with(start) {
                let end = at + old.trim_end_matches(['\r', '\n']).len();
                self.text.replace_range(at..end, line);
                return;
            }
            at += old.len();
        }
        self.append(heading, line);
    }

    /// Adds a line at the end of a section, which is created where it belongs.
    fn append(&mut self, heading: &str, line: &str) {
        let (from, to) = self.section(heading);
        let used = used_length(&self.text[from..to]);
        let at = from + used;
        let lead = if used == 0 && !self.text[..from].ends_with('\n') { "\n" } else { "" };
        let is_first = used == 0;
        let inserted = if is_first { format!("{lead}{line}\n") } else { format!("\n{line}") };
        self.text.insert_str(at, &inserted);
        self.separate(at + inserted.len());
    }

    /// Keeps an empty line before a heading that follows.
    fn separate(&mut self, at: usize) {
        let rest = &self.text[at..];
        let newlines = rest.len() - rest.trim_start_matches('\n').len();
        let follows_heading = rest.trim_start_matches('\n').starts_with('#');
        let before = self.text[..at].len() - self.text[..at].trim_end_matches('\n').len();
        if follows_heading && newlines + before < 2 {
            self.text.insert_str(at, &"\n".repeat(2 - newlines - before));
        }
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    /// The range of a section's lines; a missing section is created: the history before the learnings, the completed
    /// tasks before both, anything else at the end.
    fn section(&mut self, heading: &str) -> (usize, usize) {
        if let Some(found) = self.find(heading) {
            return found;
        }
        let before = match heading {
            COMPLETED => self.heading_start(HISTORY).or_else(|| self.heading_start(LEARNINGS)),
            HISTORY => self.heading_start(LEARNINGS),
            _ => None,
        };
        match before {
            Some(at) => self.text.insert_str(at, &format!("{heading}\n\n")),
            None => {
                let gap = if self.text.ends_with("\n\n") || self.text.is_empty() {
                    ""
                } else if self.text.ends_with('\n') {
                    "\n"
                } else {
                    "\n\n"
                };
                self.text.push_str(&format!("{gap}{heading}\n"));
            }
        }
        self.find(heading).unwrap_or((self.text.len(), self.text.len()))
    }

    fn heading_start(&self, heading: &str) -> Option<usize> {
        let mut at = 0;
        for line in self.text.split_inclusive('\n') {
            if line.trim_end() == heading {
                return Some(at);
            }
            at += line.len();
        }
        None
    }

    fn find(&self, heading: &str) -> Option<(usize, usize)> {
        let start = self.heading_start(heading)?;
        let from = self.text[start..].find('\n').map_or(self.text.len(), |newline| start + newline + 1);
        let mut to = from;
        for line in self.text[from..].split_inclusive('\n') {
            if line.starts_with("# ") || line.starts_with("## ") {
                break;
            }
            to += line.len();
        }
        Some((from, to))
    }
}

/// The length of a section up to the end of its last line that is not blank, without that line's break.
fn used_length(section: &str) -> usize {
    let mut at = 0;
    let mut used = 0;
    for line in section.split_inclusive('\n') {
        if !line.trim().is_empty() {
            used = at + line.trim_end_matches(['\n', '\r']).len();
        }
        at += line.len();
    }
    used
}

fn history_line(state: &State, task: &Task, is_done: bool) -> String {
    let ids: Vec<String> = task.fixes.iter().map(ToString::to_string).collect();
    let fixes = if ids.len() == 1 { "fix" } else { "fixes" };
    let end = if is_done || task.status == Status::Done {
        "PASS"
    } else if stopped_at(state, task) {
        "FAIL (max limit)"
    } else {
        "PENDING"
    };
    format!("- Task {}: {} {fixes} attempted ({}) - Final: {end}", task.id(), ids.len(), ids.join(", "))
}

/// True if the run stopped because of this task, or of a fix below it.
fn stopped_at(state: &State, task: &Task) -> bool {
    let Some(End::Stopped(reason)) = state.end() else { return false };
    let stuck = match reason {
        StopReason::Retries { task, .. }
        | StopReason::FixTasks { task, .. }
        | StopReason::FixDepth { task, .. } => task,
        StopReason::Regression { .. } | StopReason::PullRequest { .. } => return false,
    };
    let mut current = Some(stuck);
    while let Some(id) = current {
        if id == task.id() {
            return true;
        }
        current = state.fix_plan(id).map(|fix| &fix.failing);
    }
    false
}

/// The learnings of an agent: the bullets below a Learnings heading, or all bullets where it has no headings.
pub(crate) fn learnings_in(text: &str) -> Vec<String> {
    let has_heading = text.lines().any(|line| line.trim() == LEARNINGS);
    let mut inside = !has_heading;
    let mut learnings = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('#') {
            inside = line == LEARNINGS || !has_heading;
            continue;
        }
        let bullet = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
        if let Some(bullet) = bullet
            && inside
            && !bullet.starts_with('[')
        {
            learnings.push(bullet.chars().take(500).collect());
        }
    }
    learnings.truncate(50);
    learnings
}

impl Effects<'_, '_> {
    /// Writes into the progress file how the run ended.
    pub(crate) fn last_words(&mut self) -> Result<(), RunError> {
        let path = self.world.file.progress();
        let mut progress =
            Progress::open(&path, &self.world.file.name).map_err(RunError::io("read", &path))?;
        self.note_limit(&mut progress)?;
        let stuck = match self.state.end() {
            Some(End::Stopped(
                StopReason::Retries { task, .. }
                | StopReason::FixTasks { task, .. }
                | StopReason::FixDepth { task, .. },
            )) => self.state.task(task),
            _ => None,
        };
        let failure = stuck.and_then(|task| task.last_failure().map(|failure| (task, failure)));
        let Some((task, failure)) = failure else { return Ok(()) };
        let learning =
            format!("Task {} failed after {} attempts: {}", task.id(), task.failures.len(), failure.error);
        progress.history(self.state, None);
        progress.learnings(&[learning]);
        progress.save().map_err(RunError::io("write", &path))?;
        if let Err(error) = self.commit_spec("chore(spec): note where the run stopped") {
            self.note(format!("the progress file could not be committed: {error}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn task_a() -> Completed {
        let later = vec![TaskId::new("1.2"), TaskId::new("1.3")];
        Completed { id: TaskId::new("1.1"), title: "Task A".to_owned(), learnings: Vec::new(), later }
    }

    #[test]
    fn tasks_stand_in_the_order_of_the_plan() {
        let before = "## Completed Tasks\n- [x] 1.0 First\n- [x] 1.3 Third - abc\n\n## Learnings\n";
        let after = "## Completed Tasks\n- [x] 1.0 First\n- [x] 1.1 Task A - abc1234\n- [x] 1.3 Third - abc\n\n## Learnings\n- Some learning\n";
        assert_eq!(edited(before), after);
    }

    fn edited(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".progress.md");
        fs::write(&path, text).unwrap();
        let mut progress = Progress::open(&path, "demo").unwrap();
        progress.completed(&task_a(), Some("abc1234567"));
        progress.learnings(&["Some learning".to_owned()]);
        progress.save().unwrap();
        let once = fs::read_to_string(&path).unwrap();
        let mut again = Progress::open(&path, "demo").unwrap();
        again.completed(&task_a(), Some("abc1234567"));
        again.learnings(&["Some learning".to_owned()]);
        again.save().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), once, "noted once only");
        once
    }

    #[test]
    fn sections_are_found_or_made() {
        insta::assert_snapshot!(edited("# Mine\n\n## Learnings\n- old\n\n## Next\nx\n"), @r"
        # Mine

        ## Completed Tasks
        - [x] 1.1 Task A - abc1234

        ## Learnings
        - old
        - Some learning

        ## Next
        x
        ");
    }

    proptest::proptest! {
        #[test]
        fn what_others_wrote_stays(text in "(#{1,3} [A-Za-z ]{0,12}\n|- [a-z]{0,8}\n|\n|## Learnings\n|## Completed Tasks\n){0,12}") {
            let after = edited(&text);
            let mut left = after.lines();
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                proptest::prop_assert!(left.any(|other| other == line), "{line:?} is gone from {after:?}");
            }
        }
    }

    #[test]
    fn learnings_are_bullets_below_their_heading() {
        let text = "# x\n- not this\n## Learnings\n- one\n* two\n- [ ] a box\n## Other\n- nor this\n";
        assert_eq!(learnings_in(text), ["one", "two"]);
        assert_eq!(learnings_in("- all\n- of it"), ["all", "of it"]);
    }
}
