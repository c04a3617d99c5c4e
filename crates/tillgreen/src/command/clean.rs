//! `tillgreen clean`: removes the work trees that runs keep outside the project.

use std::io::Write;

use runner::{PlanTrees, Project, bytes_in_words, kept_references, remove_trees, trees_on_disk};
use serde::Serialize;

use crate::args::{CleanArgs, Format};
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::settings::FileSettings;
use crate::view::json;
use crate::view::text::{clean, count};

#[derive(Serialize)]
struct Outcome {
    removed: Vec<Removed>,
    bytes: u64,
    /// The references that keep work which has not come in.
    kept: Vec<String>,
}

#[derive(Serialize)]
struct Removed {
    plan: String,
    folder: String,
    bytes: u64,
    trees: Vec<Tree>,
}

#[derive(Serialize)]
struct Tree {
    name: String,
    bytes: u64,
}

/// Says what there is, removes it, and says what stays.
pub(crate) fn run(context: &mut Context, arguments: &CleanArgs) -> Ended {
    let project = context.project()?;
    project.refuse_foreign_record()?;
    let plan = match &arguments.plan {
        Some(plan) => Some(context.plan(&project, Some(plan))?.0),
        None => None,
    };
    let found = found(&project, plan.as_ref())?;
    if context.format == Format::Text {
        context.out.write_all(beforehand(&found).as_bytes())?;
        // It may take a while, and be stopped.
        context.out.flush()?;
    }
    remove_trees(&project, &found)?;
    let kept = kept_references(&project);
    match context.format {
        Format::Text => context.out.write_all(afterwards(&found, &kept).as_bytes())?,
        Format::Json => json::document(&mut context.out, &outcome(found, kept))?,
    }
    Ok(exit::DONE)
}

/// The work trees of a plan, or of all plans of the project.
pub(super) fn found(project: &Project, plan: Option<&runner::PlanFile>) -> Result<Vec<PlanTrees>, Error> {
    let settings = FileSettings::load(project.root())?;
    Ok(trees_on_disk(project, plan, settings.worktree_dir()))
}

fn outcome(found: Vec<PlanTrees>, kept: Vec<String>) -> Outcome {
    let bytes = found.iter().map(|plan| plan.bytes).sum();
    let removed = found.into_iter().map(|plan| Removed {
        plan: plan.plan,
        folder: plan.folder.display().to_string(),
        bytes: plan.bytes,
        trees: plan.trees.into_iter().map(|tree| Tree { name: tree.name, bytes: tree.bytes }).collect(),
    });
    Outcome { removed: removed.collect(), bytes, kept }
}

fn beforehand(found: &[PlanTrees]) -> String {
    let line = |plan: &PlanTrees| {
        let trees = count(plan.trees.len(), "work tree");
        let (name, folder) = (clean(&plan.plan), clean(&plan.folder.display().to_string()));
        format!("{name}: {trees}, {}, in {folder}\n", bytes_in_words(plan.bytes))
    };
    found.iter().map(line).collect()
}

fn afterwards(found: &[PlanTrees], kept: &[String]) -> String {
    let mut text = match found {
        [] => "There are no work trees to remove.\n".to_owned(),
        [_, ..] => {
            let bytes = bytes_in_words(found.iter().map(|plan| plan.bytes).sum());
            let trees: usize = found.iter().map(|plan| plan.trees.len()).sum();
            format!("Removed {}, {bytes}.\n", count(trees, "work tree"))
        }
    };
    if !kept.is_empty() {
        text.push_str(&format!(
            "Work that has not come in stays in git: {} (`git for-each-ref refs/tillgreen`).\n",
            count(kept.len(), "reference")
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use runner::TreeOnDisk;

    use super::*;

    #[test]
    fn sizes_are_said_first() {
        let tree = |name: &str| TreeOnDisk { name: name.to_owned(), bytes: 1 << 20 };
        let one = PlanTrees::new("auth", "/c/app-1/auth".into(), vec![tree("landing"), tree("slot-1")]);
        let other = PlanTrees::new("+sub", "/c/app-1/+sub".into(), vec![tree("slot-1")]);
        insta::assert_snapshot!(beforehand(&[one.clone(), other.clone()]), @r"
        auth: 2 work trees, 2.0 MB, in /c/app-1/auth
        sub/tasks.md: 1 work tree, 1.0 MB, in /c/app-1/+sub
        ");
        let kept = ["refs/tillgreen/auth/1.1".to_owned()];
        insta::assert_snapshot!(afterwards(&[one.clone(), other], &kept), @r"
        Removed 3 work trees, 3.0 MB.
        Work that has not come in stays in git: 1 reference (`git for-each-ref refs/tillgreen`).
        ");
        assert_eq!(afterwards(&[], &[]), "There are no work trees to remove.\n");
        let json = serde_json::to_string(&outcome(vec![one], kept.to_vec())).unwrap();
        insta::assert_snapshot!(json, @r#"{"removed":[{"plan":"auth","folder":"/c/app-1/auth","bytes":2097152,"trees":[{"name":"landing","bytes":1048576},{"name":"slot-1","bytes":1048576}]}],"bytes":2097152,"kept":["refs/tillgreen/auth/1.1"]}"#);
    }
}
