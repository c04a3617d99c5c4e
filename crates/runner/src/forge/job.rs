//! One thing to do at the forge, with everything that it needs, so that it can be done apart from the loop.

use engine::{CheckRef, ForgeReport, Toggle};

use super::call::Caller;
use super::integrate::Integration;
use super::merge::Merge;
use super::publish::Publication;
use super::remote::Slug;
use super::reply::Reply;
use super::setback::Setback;
use super::{logs, look, reply, rerun};

/// Something to do at the forge.
pub(super) enum Job {
    Publish(Publication),
    Look { slug: Slug, number: u64 },
    Rerun { slug: Slug, checks: Vec<CheckRef> },
    ReadLogs { slug: Slug, checks: Vec<CheckRef> },
    Reply { slug: Slug, replies: Vec<Reply>, answers: Toggle, resolves: Toggle },
    Integrate(Integration),
    Merge(Merge),
}

impl Job {
    /// Does it.
    pub(super) fn run(&self, caller: &Caller) -> ForgeReport {
        self.try_run(caller).unwrap_or_else(ForgeReport::from)
    }

    fn try_run(&self, caller: &Caller) -> Result<ForgeReport, Setback> {
        match self {
            Self::Publish(publication) => publication.publish(caller),
            Self::Look { slug, number } => look::look(caller, slug, *number),
            Self::Rerun { slug, checks } => rerun::rerun(caller, slug, checks),
            Self::ReadLogs { slug, checks } => logs::read_logs(caller, slug, checks),
            Self::Reply { slug, replies, answers, resolves } => {
                reply::reply(caller, slug, replies, (*answers, *resolves))
            }
            Self::Integrate(integration) => integration.integrate(caller),
            Self::Merge(merge) => merge.merge(caller),
        }
    }
}
