//! Reads plans of tasks without losing a byte and makes the smallest edits to them.
//!
//! Pure: text in, values and edits out. What a plan means is decided here and nowhere else; when something
//! runs, and what follows from how it ends, is left to others.
//!
//! ```
//! use plan::{ErrorType, FixTask, Plan, TaskId, Verify};
//!
//! let text = "\
//! ## Phase 1: Parser
//!
//! - [ ] 1.1 [P] Write the parser
//!   - **Do**: Write it
//!   - **Files**: `src/parser.rs`
//!   - **Done when**: it reads plans
//!   - **Verify**: `cargo test parser 2>&1 | tail -5`
//!   - **Commit**: `feat: parser`
//! ";
//! let mut plan = Plan::parse(text.to_owned());
//! assert_eq!(plan.text(), text);
//!
//! let task = &plan.tasks()[0];
//! assert_eq!(plan.title(task), "Write the parser");
//! assert!(task.markers.parallel && !task.state.is_done());
//! let Verify::Runnable(script) = plan.verify(task) else { panic!("a command") };
//! assert_eq!(script.text, "set -o pipefail\ncargo test parser 2>&1 | tail -5");
//!
//! let failing = TaskId::new("1.1");
//! let id = plan.next_fix_id(&failing);
//! let (error, kind) = ("File not found: a.rs", ErrorType::MissingFile);
//! plan.insert_fix(&FixTask { id: &id, failing: &failing, error, attempted_fix: None, kind })?;
//! plan.tick(&id)?;
//! assert!(plan.text().contains("- [x] 1.1.1 [FIX 1.1] Fix: File not found: a.rs\n"));
//! # Ok::<(), plan::EditError>(())
//! ```
//!
//! A `*-PLAN.md` is read into the same model and never written:
//!
//! ```
//! use plan::{Plan, TaskType, Verify};
//!
//! let text = "---\nphase: 03-parser\nplan: 01\n---\n\
//!     <task type=\"auto\">\n  <name>Task 1: Read it</name>\n  \
//!     <verify><automated>cargo test &amp;&amp; cargo clippy</automated></verify>\n</task>\n";
//! let plan = Plan::parse_phase(text.to_owned(), "03-parser/03-01-PLAN.md");
//!
//! let task = plan.find("03-01-01").expect("a spelling of 03-01:task-1");
//! assert_eq!((plan.short_title(task), task.type_), ("Read it", TaskType::Auto));
//! let Verify::Runnable(script) = plan.verify(task) else { panic!("a command") };
//! assert_eq!(script.text, "cargo test && cargo clippy");
//! ```

mod format;
mod harmless;
pub mod import;
mod introduction;
mod markdown;
mod one_line;
mod phase;
mod problem;
mod quote;
mod script;
mod spec;
mod suggest;
mod task_id;
mod verify;
mod yaml;

pub use format::{Format, Optional, Reading};
pub use harmless::{harmless, harmless_lines};
pub use one_line::{one_line, summary};
pub use phase::{Choice, Dialect, FrontMatter, MustHaves, PhaseNumber, TaskType, without_number};
pub use problem::{Problem, Severity};
pub use quote::{requirement, user_story};
pub use script::{
    Basis, Check, Part, Pipefail, Python, Runner, Script, ScriptLint, is_source, may_configure,
};
pub use spec::{
    ANY_FILE, Beside, BoxRole, BoxState, Commit, EditError, ErrorType, Fields, Files, FixTask, Markers,
    OtherBox, Phase, PhaseIndex, Plan, RequestTask, Rung, Task,
};
pub use suggest::nearest;
pub use task_id::TaskId;
pub use verify::Verify;
pub use yaml::{Value, YamlError, read_yaml, read_yaml_leniently};
