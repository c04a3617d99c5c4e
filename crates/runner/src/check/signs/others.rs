//! The look at what commands of other tasks rest on: a test script or the configuration of a runner that a task changes
//! may make them green.

use std::cell::RefCell;
use std::collections::BTreeMap;

use engine::Sign;
use plan::{Part, TaskId};

use crate::check::leaning::Words;
use crate::plan_file::Excerpt;
use crate::run::effects::Effects;

/// Commands of other tasks that are looked at.
const COMMANDS_MAX: usize = 100;

impl Effects<'_, '_> {
    /// What the attempts at a task changed between two trees of the parts that say what is run, where the command of
    /// another task rests on it and the task does not name the file.
    pub(super) fn changed_for_others(
        &self,
        (id, text): (&TaskId, &str),
        (from, to): (&str, &str),
    ) -> Vec<Sign> {
        let Some((git, task)) = self.world.files.git().zip(self.state.task(id)) else { return Vec::new() };
        let excerpt = Excerpt::read(self.world.file.reading, text);
        let words = excerpt.as_ref().map(Words::of);
        let is_named = |path: &str| words.as_ref().is_some_and(|words| words.names(path));
        let paths: Vec<&String> =
            task.touched.iter().filter(|path| plan::may_configure(path) && !is_named(path)).collect();
        if paths.is_empty() {
            return Vec::new();
        }
        let known: RefCell<BTreeMap<String, Option<String>>> = RefCell::default();
        let read = |path: &str| {
            known.borrow_mut().entry(path.to_owned()).or_insert_with(|| git.text_in(from, path)).clone()
        };
        let commands = self.world.plans.commands_of_others(id);
        let bases: Vec<_> =
            commands.iter().take(COMMANDS_MAX).map(|(script, other)| (script.basis(&read), other)).collect();
        let changed = paths.into_iter().filter_map(|path| {
            let (before, after) = (read(path)?, git.text_in(to, path).unwrap_or_default());
            let rests = bases.iter().find(|(basis, _)| {
                basis.part(path) == Some(Part::Configuration)
                    && basis.telling(path, &before) != basis.telling(path, &after)
            });
            let (_, other) = rests?;
            let what = format!("what the command of {other} rests on");
            Some(Sign { path: path.clone(), line: first_difference(&before, &after), what })
        });
        changed.collect()
    }
}

/// The first line in which two texts differ, counted from 1.
fn first_difference(before: &str, after: &str) -> u32 {
    let same = before.lines().zip(after.lines()).take_while(|(before, after)| before == after).count();
    u32::try_from(same + 1).unwrap_or(u32::MAX)
}
