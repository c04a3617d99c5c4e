//! One thing to do at the forge, with everything that it needs, so that it can be done apart from the loop.

use engine::{CheckRef, ForgeReport, Reviewer, Toggle};

use super::call::Caller;
use super::integrate::Integration;
use super::merge::Merge;
use super::publish::Publication;
use super::remote::Slug;
use super::reply::Reply;
use super::request_review::request_review;
use super::setback::Setback;
use super::{limits, logs, look, reply, rerun};

/// Something to do at the forge.
pub(super) enum Job {
    Publish(Publication),
    Look { slug: Slug, number: u64 },
    Rerun { slug: Slug, checks: Vec<CheckRef> },
    ReadLogs { slug: Slug, checks: Vec<CheckRef> },
    Reply { slug: Slug, replies: Vec<Reply>, answers: Toggle, resolves: Toggle },
    RequestReview { slug: Slug, number: u64, reviewers: Vec<Reviewer> },
    Integrate(Integration),
    Merge(Merge),
}

impl Job {
    /// Does it.
    pub(super) fn run(&self, caller: &Caller) -> ForgeReport {
        let done = self.try_run(caller);
        done.map_err(|setback| limits::with_reset(setback, caller, self.host().as_deref()))
            .unwrap_or_else(ForgeReport::from)
    }

    /// Where it is done.
    fn host(&self) -> Option<String> {
        match self {
            Self::Publish(publication) => publication.host(),
            Self::Integrate(integration) => integration.upstream.as_ref().map(|slug| slug.host.clone()),
            Self::Look { slug, .. }
            | Self::Rerun { slug, .. }
            | Self::ReadLogs { slug, .. }
            | Self::Reply { slug, .. }
            | Self::RequestReview { slug, .. }
            | Self::Merge(Merge { slug, .. }) => Some(slug.host.clone()),
        }
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
            Self::RequestReview { slug, number, reviewers } => {
                request_review(caller, slug, *number, reviewers)
            }
            Self::Integrate(integration) => integration.integrate(caller),
            Self::Merge(merge) => merge.merge(caller),
        }
    }
}
