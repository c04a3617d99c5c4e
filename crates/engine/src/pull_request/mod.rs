//! The pull request lifecycle: what follows once all tasks are settled, as a machine of its own within the state
//! of a run. It knows commits, checks, reviews and threads; which program tells of them is left to the edge.

mod address;
mod apply;
mod assess;
mod awaited;
mod checks;
mod decide;
mod due;
mod event;
mod lifecycle;
mod look;
mod obstacle;
mod report;
mod request;
mod rules;
mod stage;
mod table;
mod wanted;

pub use awaited::Awaited;
pub use event::{Caveat, LimitReached, Outcome, PullRequestEvent};
pub use lifecycle::{Absence, Lifecycle, Place};
pub use look::{Check, CheckState, Look, MergeState, Openness, Review, ReviewState, Thread};
pub use obstacle::Obstacle;
pub use report::{CheckLog, ForgeReport, Kept, Published};
pub use request::{CheckRef, Origin, Request};
pub use rules::{MergeMethod, PullRequestRules, WhichChecks};
pub use stage::{Reviewer, Source, Stage, Watch};
pub use table::{PULL_REQUEST_MOVES, PullRequestEventKind, StageKind, pull_request_mermaid};
pub use wanted::ForgeAction;

pub(crate) use decide::decide;
pub(crate) use due::due;
pub(crate) use wanted::wanted;
