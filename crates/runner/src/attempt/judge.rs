//! Judging agents: what they are shown, and the facts that are looked at before anybody's word is asked for.

use std::path::Path;
use std::{fs, io};

use engine::{ActionKey, Attempt, Changes, Dispatch, Facts, JudgeState, Judging, Role, Status, Task};
use plan::TaskId;

use crate::agent::Duty;
use crate::attempt::delegate::Delegation;
use crate::attempt::dispatch::Purpose;
use crate::attempt::prompt::{self, JudgePart};
use crate::check::covers;
use crate::error::RunError;
use crate::git::{Git, Oid, Paths};
use crate::mask::mask;
use crate::plan_file::Excerpt;
use crate::run::effects::{Effects, Flight};
use crate::work::project_files::listed;

/// How much of a difference a judge is shown.
const DIFFERENCE_CHARS_MAX: usize = 20_000;

/// How each file begins in it.
const FILE: &str = "diff --git ";

/// The name of an index of our own among the files of an attempt.
const SCRATCH: &str = "judged.index";

/// A result that is judged.
pub(crate) struct Judged {
    /// The commit that the attempts began at.
    base: String,
    /// All that lies there.
    tree: Oid,
    /// The same without what is nobody's work.
    shown: Oid,
}

impl Effects<'_, '_> {
    /// Starts an agent that judges a result.
    pub(crate) fn start_judge(
        &mut self,
        key: ActionKey,
        id: &TaskId,
        (attempt, dispatch): (Attempt, Dispatch),
        role: Role,
    ) -> Result<(), RunError> {
        self.look_at_customs();
        let dir = self.attempt_dir(id, attempt, dispatch)?;
        // The result is judged by the text that the task had when it was started.
        let Some(excerpt) = Excerpt::read(self.world.file.dialect, &self.task_text(id, &dir)) else {
            return self.report_missing_task(id, dispatch);
        };
        let touched: Vec<String> =
            self.state.task(id).map(|task| task.touched.iter().cloned().collect()).unwrap_or_default();
        let facts = self.facts(id, &excerpt, &touched)?;
        let judged = self.result_of(id, &touched, &dir);
        let part = JudgePart {
            role,
            difference: judged.as_ref().and_then(|judged| self.difference(judged)),
            touched,
            facts: facts.told(),
            is_asked_again: self.is_judge_asked_again(id),
        };
        let prompt = prompt::judge(&self.subject(id, &excerpt), &part);
        let timeout = self.world.settings.review_timeout;
        let duty = Duty::Judge;
        let delegation =
            Delegation { task: id, attempt, dispatch, role, duty, dir, prompt, session: None, timeout };
        let (handle, at_work) = self.delegate(key.clone(), delegation)?;
        let purpose = Purpose::Judge { task: id.clone(), at_work, facts, judged };
        self.depart(key, Flight { handle: Some(handle), purpose });
        Ok(())
    }

    fn is_judge_asked_again(&self, id: &TaskId) -> bool {
        matches!(
            self.state.task(id).map(|task| &task.status),
            Some(Status::Judging(Judging { is_asked_again: true, state: JudgeState::AtWork(_), .. }))
        )
    }

    /// The facts about a result that are known without anybody's word.
    fn facts(&self, id: &TaskId, excerpt: &Excerpt, touched: &[String]) -> Result<Facts, RunError> {
        let named = excerpt.fields().files.map(|files| files.paths).unwrap_or_default();
        let root = self.workplace(id);
        let is_plain = |name: &&String| !name.contains(['*', '?', '{']);
        let is_there = |name: &String| {
            root.join(name).exists()
                || touched.iter().any(|path| covers(name, path) && root.join(path).exists())
        };
        let missing = named.iter().filter(is_plain).filter(|name| !is_there(name)).cloned().collect();
        Ok(Facts { changes: self.changes(id, &named, touched)?, missing })
    }

    fn changes(&self, id: &TaskId, named: &[String], touched: &[String]) -> Result<Changes, RunError> {
        let Some(git) = self.world.tree.git() else { return Ok(Changes::Unknown) };
        if !self.still_changed(id, touched.to_vec())?.is_empty() {
            return Ok(Changes::Made);
        }
        let changed = match (self.state.first_head(), git.head()?) {
            // Where the history was rewritten meanwhile, nobody can tell.
            (Some(before), Some(now)) => git.changed_between(before, now.as_str()).unwrap_or_default(),
            (_, _) => Vec::new(),
        };
        let is_named = changed.iter().any(|path| named.iter().any(|name| covers(name, path)));
        Ok(if is_named { Changes::MadeBefore } else { Changes::None })
    }

    /// The result as it lies there now; none where nobody can tell.
    fn result_of(&self, id: &TaskId, touched: &[String], dir: &Path) -> Option<Judged> {
        let git = self.world.tree.git()?;
        let task = self.state.task(id)?;
        let of_slot = task.work.as_ref().map(|work| &work.base).filter(|_| task.is_isolated());
        let base = of_slot.or(task.base.as_ref())?.clone();
        let place = self.place_of(id);
        let paths = Paths { tree: &place.root, paths: touched, scratch: &dir.join(SCRATCH) };
        let shown = git.tree_of_paths(&base, &paths).ok()?;
        Some(Judged { base, tree: git.snapshot(&place).ok()?, shown })
    }

    /// The difference that attempts at a task made, as far as a judge is shown it.
    fn difference(&self, judged: &Judged) -> Option<String> {
        let difference = self.world.tree.git()?.difference(&judged.base, &judged.shown).ok()?;
        let shown = mask(&bounded(&difference, DIFFERENCE_CHARS_MAX));
        Some(shown).filter(|shown| !shown.trim().is_empty())
    }

    /// Puts the result back as it was judged, where it is another one by now: what a judge writes is nobody's work.
    pub(crate) fn put_back_judged(
        &mut self,
        id: &TaskId,
        judged: &Judged,
        dir: &Path,
    ) -> Result<(), RunError> {
        let is_beside = |other: &Task| matches!(other.status, Status::Running(_)) && !other.is_isolated();
        let is_shared = !self.is_isolated(id) && self.state.attention().any(is_beside);
        // Where others work in the same folder, it may be their work.
        let Some(git) = self.world.tree.git().filter(|_| !is_shared) else { return Ok(()) };
        let git: &Git = git;
        let (place, scratch) = (self.workplace(id), dir.join(SCRATCH));
        let now = git.snapshot(&self.place_of(id))?;
        if now == judged.tree {
            return Ok(());
        }
        let changed = git.changed_between(judged.tree.as_str(), now.as_str())?;
        let aside = dir.join("left-by-judge");
        for path in &changed {
            set_aside(&place.join(path), &aside.join(path))
                .map_err(RunError::io("move", place.join(path)))?;
        }
        git.write_as_in(&judged.tree, &Paths { tree: &place, paths: &changed, scratch: &scratch })?;
        self.note(format!(
            "while the result of task {id} was judged, {} changed: it was put back as it was judged; what was made of it \
             is in {}",
            listed(&changed),
            self.world.project.relative(&aside).display()
        ));
        Ok(())
    }
}

/// Moves a file away, if it is there.
fn set_aside(file: &Path, to: &Path) -> io::Result<()> {
    if file.symlink_metadata().is_err() {
        return Ok(());
    }
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::rename(file, to)
}

/// A difference that is too long, cut so that something of each file is left.
fn bounded(difference: &str, chars_max: usize) -> String {
    if difference.chars().count() <= chars_max {
        return difference.to_owned();
    }
    let files = parts(difference);
    let share = chars_max / files.len().max(1);
    files.iter().map(|file| cut(file, share)).collect()
}

/// The parts of a difference, file by file.
fn parts(difference: &str) -> Vec<&str> {
    let starts = difference.match_indices(FILE).map(|(at, _)| at);
    let mut starts: Vec<usize> = starts.filter(|at| *at == 0 || difference[..*at].ends_with('\n')).collect();
    starts.push(difference.len());
    starts.windows(2).map(|two| &difference[two[0]..two[1]]).collect()
}

fn cut(file: &str, chars_max: usize) -> String {
    let count = file.chars().count();
    if count <= chars_max {
        return file.to_owned();
    }
    let kept: String = file.chars().take(chars_max).collect();
    let whole = kept.rfind('\n').map_or(0, |newline| newline + 1);
    format!(
        "{}… ({} characters of this file are left out)\n",
        &kept[..whole],
        count - kept[..whole].chars().count()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_difference_keeps_something_of_each_file() {
        let file =
            |name: &str, lines: usize| format!("diff --git a/{name} b/{name}\n{}", "+a line\n".repeat(lines));
        let short = format!("{}{}", file("a", 2), file("b", 3));
        assert_eq!(bounded(&short, 1_000), short);
        let long = format!("{}{}", file("lock", 1_000), file("src", 2));
        let shown = bounded(&long, 200);
        assert!(shown.contains("diff --git a/lock b/lock\n+a line\n"), "{shown}");
        assert!(
            shown.contains(
                "characters of this file are left out)\ndiff --git a/src b/src\n+a line\n+a line\n"
            ),
            "{shown}"
        );
        assert!(shown.chars().count() < 300, "{shown}");
    }
}
