//! Judging agents: what they are shown, and the facts that are looked at before anybody's word is asked for.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::{fs, io};

use engine::{
    ActionKey, Attempt, Changes, Dispatch, Facts, JudgeState, Judging, Role, Status, Task, Verification,
};
use plan::TaskId;

use crate::agent::Duty;
use crate::attempt::dispatch::Purpose;
use crate::attempt::invocation::Delegation;
use crate::attempt::prompt::{self, JudgePart};
use crate::check::{self, covers};
use crate::error::RunError;
use crate::git::{Git, Oid, Paths};
use crate::mask::mask;
use crate::plan_file::Excerpt;
use crate::record::done::TRAILER;
use crate::run::effects::{Effects, Flight};
use crate::work::project_files::listed;

/// The characters of a difference that a judge is shown.
const DIFFERENCE_CHARS_MAX: usize = 20_000;

/// The beginning of each file in it.
const FILE: &str = "diff --git ";

/// The name of an index of our own among the files of an attempt.
const SCRATCH: &str = "judged.index";

/// A result that is judged.
pub(crate) struct Judged {
    /// The commit that the attempts began at.
    base: String,
    /// All that lies there.
    tree: Oid,
    /// That tree without what is nobody's work.
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
        self.remember_config();
        let dir = self.attempt_dir(id, attempt, dispatch)?;
        // The result is judged by the text that the task had when it was started.
        let Some(excerpt) = Excerpt::of(self.world.file, &self.task_text(id, &dir)) else {
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
        let missing = named.iter().filter(is_plain).filter(|name| !removes(excerpt) && !is_there(name));
        let missing = missing.cloned().collect();
        Ok(Facts { changes: self.changes(id, &named, touched)?, missing })
    }

    /// The facts about the result of a task whose command is not its own.
    pub(crate) fn facts_beside(&self, id: &TaskId, text: &str) -> Result<Option<Facts>, RunError> {
        let task = self.state.task(id).filter(|task| task.decl.verification == Verification::Borrowed);
        let Some((task, excerpt)) = task.zip(Excerpt::of(self.world.file, text)) else { return Ok(None) };
        let touched: Vec<String> = task.touched.iter().cloned().collect();
        self.facts(id, &excerpt, &touched).map(Some)
    }

    fn changes(&self, id: &TaskId, named: &[String], touched: &[String]) -> Result<Changes, RunError> {
        let Some(git) = self.world.files.git() else { return Ok(Changes::Unknown) };
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
        let git = self.world.files.git()?;
        let task = self.state.task(id)?;
        let base = base_of(task)?.to_owned();
        let place = self.place_of(id);
        let paths = Paths { tree: &place.root, paths: touched, scratch: &dir.join(SCRATCH) };
        let shown = git.tree_of_paths(&base, &paths).ok()?;
        Some(Judged { base, tree: git.snapshot(&place).ok()?, shown })
    }

    /// What looks like a secret in the work at a task, and in the messages of commits that its agents made.
    pub(crate) fn likely_keys(&self, id: &TaskId) -> Vec<String> {
        let (Some(git), Some(task)) = (self.world.files.git(), self.state.task(id)) else {
            return Vec::new();
        };
        let Some(base) = base_of(task) else { return Vec::new() };
        let root = self.workplace(id);
        let has_any = |path: &&String| check::has_likely_key(&root.join(path));
        let paths: Vec<String> = task.touched.iter().filter(has_any).cloned().collect();
        let mut told = Vec::new();
        // What git cannot tell now it says where it matters.
        if !paths.is_empty() {
            let scratch = self.world.file.home.join(SCRATCH);
            let shown = git.tree_of_paths(base, &Paths { tree: &root, paths: &paths, scratch: &scratch });
            let difference = shown.and_then(|shown| git.difference(base, &shown));
            told = difference.map(|difference| check::likely_keys(&difference)).unwrap_or_default();
        }
        // From work trees files come, and no commits.
        if !task.is_isolated() {
            let messages = git.messages_without(TRAILER, base).unwrap_or_default();
            told.extend(check::likely_keys_of_messages(&messages));
        }
        told
    }

    /// The difference that attempts at a task made, as far as a judge is shown it.
    fn difference(&self, judged: &Judged) -> Option<String> {
        let difference = self.world.files.git()?.difference(&judged.base, &judged.shown).ok()?;
        let shown = mask(&bounded(&difference, DIFFERENCE_CHARS_MAX));
        Some(shown).filter(|shown| !shown.trim().is_empty())
    }

    /// After a judge: puts the result back as it was judged, and tells what else changed meanwhile.
    pub(crate) fn put_back_judged(
        &mut self,
        id: &TaskId,
        judged: &Judged,
        dir: &Path,
    ) -> Result<(), RunError> {
        let others = self.put_back(id, &judged.tree, dir)?;
        if !others.is_empty() {
            self.note_of(id, format!(
                "while the result of task {id} was judged, files changed that are not of the task: {}. They stay as they are",
                listed(&others)
            ));
        }
        Ok(())
    }

    /// Before a run goes on that died: what judges wrote in the project who did not come to an end is taken out. What is
    /// judged next is what the checks were green on.
    pub(crate) fn put_back_lost_judgements(&mut self) -> Result<(), RunError> {
        if self.state.end().is_some() {
            return Ok(());
        }
        let lost = self.state.attention().filter(|task| !task.is_isolated()).filter_map(|task| {
            let Status::Judging(Judging { attempt, state: JudgeState::AtWork(dispatch), .. }) = &task.status
            else {
                return None;
            };
            let verified = Oid::parse(task.verified.as_deref()?)?;
            Some((task.id().clone(), verified, self.attempt_place(task.id(), *attempt, *dispatch)))
        });
        for (id, verified, dir) in lost.collect::<Vec<_>>() {
            fs::create_dir_all(&dir).map_err(RunError::io("create", &dir))?;
            self.put_back(&id, &verified, &dir)?;
        }
        Ok(())
    }

    /// Puts the work of a task back as a tree has it, where it is another one by now: what a judge writes is nobody's work.
    /// The result is what else differs, which in the project may well be somebody's.
    fn put_back(&mut self, id: &TaskId, tree: &Oid, dir: &Path) -> Result<Vec<String>, RunError> {
        let is_beside = |other: &Task| matches!(other.status, Status::Running(_)) && !other.is_isolated();
        let is_shared = !self.is_isolated(id) && self.state.attention().any(is_beside);
        // Where others work in the same folder, it may be their work.
        let Some(git) = self.world.files.git().filter(|_| !is_shared) else { return Ok(Vec::new()) };
        let git: &Git = git;
        let (place, scratch) = (self.workplace(id), dir.join(SCRATCH));
        let now = git.snapshot(&self.place_of(id))?;
        if now == *tree {
            return Ok(Vec::new());
        }
        let is_own = |path: &String| {
            self.state.task(id).is_some_and(|task| task.is_isolated() || task.touched.contains(path))
        };
        let changed = git.changed_between(tree.as_str(), now.as_str())?;
        let (own, others): (Vec<String>, Vec<String>) = changed.into_iter().partition(is_own);
        if own.is_empty() {
            return Ok(others);
        }
        let aside = dir.join("left-by-judge");
        for path in &own {
            set_aside(&place.join(path), &aside.join(path))
                .map_err(RunError::io("move", place.join(path)))?;
        }
        git.write_as_in(tree, &Paths { tree: &place, paths: &own, scratch: &scratch })?;
        self.note_of(id, format!(
            "while the result of task {id} was judged, {} changed: it was put back as it was judged; what was made of it \
             is in {}",
            listed(&own),
            self.world.project.relative(&aside).display()
        ));
        Ok(others)
    }
}

/// Words that a title begins with whose files need not be there afterwards.
const REMOVING: [&str; 8] = ["remove", "delete", "drop", "rename", "move", "replace", "删除", "削除"];

/// True if a task says in its title that files go away, and lists none in a field.
fn removes(excerpt: &Excerpt) -> bool {
    let title = excerpt.title().to_lowercase();
    let is_listed = excerpt.fields().files.is_some_and(|files| !files.text.is_empty());
    !is_listed && REMOVING.iter().any(|word| title.starts_with(word))
}

/// Moves a file away, if it is there. Work trees may lie on another file system. A folder, which is a submodule, stays.
pub(crate) fn set_aside(file: &Path, to: &Path) -> io::Result<()> {
    let Ok(metadata) = file.symlink_metadata() else { return Ok(()) };
    if metadata.is_dir() {
        return Ok(());
    }
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    if metadata.is_symlink() {
        symlink(fs::read_link(file)?, to)?;
    } else {
        fs::copy(file, to)?;
    }
    fs::remove_file(file)
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

/// The commit that the work at a task began from.
fn base_of(task: &Task) -> Option<&str> {
    let of_slot = task.work.as_ref().map(|work| work.base.as_str()).filter(|_| task.is_isolated());
    of_slot.or(task.base.as_deref())
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
    #[test]
    fn what_a_judge_left_is_moved_from_one_file_system_to_another() {
        let folder = |place: &str| tempfile::tempdir_in(place).or_else(|_| tempfile::tempdir()).unwrap();
        let (from, to) = (folder("/dev/shm"), folder("/tmp"));
        fs::write(from.path().join("a"), "left\n").unwrap();
        symlink("nowhere", from.path().join("b")).unwrap();
        for name in ["a", "b", "gone"] {
            set_aside(&from.path().join(name), &to.path().join("aside").join(name)).unwrap();
            assert!(from.path().join(name).symlink_metadata().is_err(), "{name}");
        }
        assert_eq!(fs::read_to_string(to.path().join("aside/a")).unwrap(), "left\n");
        assert_eq!(fs::read_link(to.path().join("aside/b")).unwrap(), Path::new("nowhere"));
    }
}
