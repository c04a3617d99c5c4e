//! The thing that a planner is asked for.

use std::path::Path;

use plan::{Format, Plan, Reading};
use serde::{Deserialize, Serialize};

/// The file that commands are written into.
const COMMANDS: &str = "tillgreen-commands.txt";

/// The thing that a planner is asked for, kept with the draft.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brief {
    /// The project's root.
    pub project: String,
    /// The plan, from there.
    pub plan: String,
    /// A plan, or commands for one.
    pub wanted: Wanted,
    /// The commit that the project was copied from, and on which commands are tried.
    pub base: String,
    /// The commit of the copy on which the planner began.
    pub(crate) begun: String,
}

/// A plan, or commands for one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// A plan by which a goal is reached.
    Plan {
        /// The goal, in a person's words.
        goal: String,
    },
    /// Commands for the tasks of a plan that have none.
    Commands {
        /// The plan as it was.
        original: String,
    },
}

impl Brief {
    /// The file that the planner writes, from the root of the copy.
    pub(crate) fn draft(&self) -> &str {
        match self.wanted {
            Wanted::Plan { .. } => &self.plan,
            Wanted::Commands { .. } => COMMANDS,
        }
    }

    /// A text as the plan.
    pub(crate) fn read(&self, text: &str) -> Plan {
        let path = Path::new(&self.plan);
        Plan::parse_as(Reading::of(Format::of(path, text)), text.to_owned(), path)
    }
}
