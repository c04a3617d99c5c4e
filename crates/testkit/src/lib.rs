//! A hermetic world for tests: a scratch project with a repository, a scripted agent, and the program under test
//! run with nothing of the machine's own configuration.
//!
//! ```no_run
//! use std::path::Path;
//! use testkit::{Agent, Sandbox, Step};
//!
//! let sandbox = Sandbox::new(Path::new("target/debug/tillgreen"));
//! sandbox.spec("demo", "- [ ] 1.1 Say hello\n  - **Verify**: `grep -q hello hello.txt`\n");
//! sandbox.commit_all("plan");
//! let agent = Agent::new().on_attempt("1.1", 1, [Step::say("TASK_COMPLETE")]).on(
//!     "1.1",
//!     [Step::write("hello.txt", "hello\n"), Step::say("TASK_COMPLETE")],
//! );
//! let command = sandbox.install_agent(&agent);
//! let run = sandbox.run(&["run", "--agent-cmd", &command]);
//! assert_eq!(run.code, Some(0), "{run}");
//! assert_eq!(sandbox.agent_calls().len(), 2);
//! ```
//!
//! It panics where a test cannot go on, and ends every process of a sandbox with the sandbox.

mod agent;
mod background;
mod browser;
mod executable;
mod finished;
pub mod forge;
mod invocation;
mod network;
mod processes;
mod real_agent;
mod repository;
mod sandbox;
mod signal;
mod step;
mod thorough;
mod wait;

pub use agent::{Agent, AgentCall};
pub use background::Background;
pub use browser::{Browser, Screen};
pub use executable::write_executable;
pub use finished::Finished;
pub use invocation::Invocation;
pub use network::{Network, leave_network};
pub use processes::{MARKER, Process};
pub use real_agent::RealAgent;
pub use repository::Repository;
pub use sandbox::Sandbox;
pub use signal::Signal;
pub use step::Step;
pub use thorough::stride;
pub use wait::{DEADLINE, wait_for, wait_for_within};
