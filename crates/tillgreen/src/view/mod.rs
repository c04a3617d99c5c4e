//! Views of a run, for people and programs. They borrow events and state; none of them keeps a record of its own.

pub(crate) mod asker;
pub(crate) mod block;
pub(crate) mod budget;
pub(crate) mod chart;
pub(crate) mod ci;
pub(crate) mod ending;
pub(crate) mod facts;
pub(crate) mod graph;
pub(crate) mod json;
pub(crate) mod lines;
pub(crate) mod live;
pub(crate) mod notice;
pub(crate) mod paint;
pub(crate) mod plan_report;
pub(crate) mod plans;
pub(crate) mod proof;
pub(crate) mod proposal;
pub(crate) mod pull_request;
pub(crate) mod question;
pub(crate) mod report;
pub(crate) mod retry_summary;
pub(crate) mod scorecard;
pub(crate) mod screen;
pub(crate) mod statistics;
pub(crate) mod status;
pub(crate) mod subject;
pub(crate) mod summary;
pub(crate) mod task_report;
pub(crate) mod task_text;
pub(crate) mod text;
pub(crate) mod trend;
pub(crate) mod usage;
pub(crate) mod work;

#[cfg(test)]
pub(crate) mod samples;
