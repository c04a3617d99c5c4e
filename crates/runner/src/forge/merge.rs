//! Merges the pull request, where that is wanted.

use engine::{ForgeReport, MergeMethod, Obstacle, Openness};

use super::call::Caller;
use super::command::ForgeCommand;
use super::remote::Slug;
use super::setback::{Setback, detail};

/// A pull request that is to be merged.
#[derive(Clone, Debug)]
pub(super) struct Merge {
    pub(super) slug: Slug,
    pub(super) number: u64,
    pub(super) url: String,
    pub(super) head: String,
    pub(super) method: MergeMethod,
}

impl Merge {
    /// Merges it, if it is still at the commit that was found to be ready and nobody else did.
    pub(super) fn merge(&self, caller: &Caller) -> Result<ForgeReport, Setback> {
        if self.is_merged(caller)? {
            return Ok(ForgeReport::Merged);
        }
        let answer = caller.call(&ForgeCommand::merge(&self.slug, self.number, self.method, &self.head));
        if answer.is_success() {
            // Where there is a queue, the command succeeds as soon as the pull request stands in it.
            let is_merged = self.is_merged(caller)?;
            return Ok(if is_merged { ForgeReport::Merged } else { ForgeReport::MergeQueued });
        }
        match Setback::of(&answer) {
            away @ Setback::Unavailable { .. } => Err(away),
            Setback::Obstructed(Obstacle::Refused { .. }) => {
                let detail = detail(&answer.stderr, &answer.stdout);
                Err(Obstacle::NotMerged { url: self.url.clone(), detail }.into())
            }
            obstructed @ Setback::Obstructed(_) => Err(obstructed),
        }
    }

    fn is_merged(&self, caller: &Caller) -> Result<bool, Setback> {
        let report = super::look::look(caller, &self.slug, self.number)?;
        Ok(matches!(report, ForgeReport::Looked(look) if look.openness == Openness::Merged))
    }
}
