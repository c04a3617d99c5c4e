//! One file per subcommand.

pub(crate) mod agents;
pub(crate) mod answer;
pub(crate) mod cancel;
pub(crate) mod check;
pub(crate) mod clean;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod new;
pub(crate) mod notify;
pub(crate) mod pause;
pub(crate) mod plan;
pub(crate) mod prove;
pub(crate) mod run;
pub(crate) mod show;
pub(crate) mod skip;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod tell;
pub(crate) mod use_spec;
pub(crate) mod watch;
