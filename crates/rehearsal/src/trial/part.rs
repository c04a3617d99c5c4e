//! The parts of a trial: what the agent is asked to do in each, what the scripted model makes it do, and within which
//! limits.

use crate::model::{Answer, Call, Scenario, Served, Turn};

/// The variable that tells a command without a model which part it is in.
pub(super) const PART_VARIABLE: &str = "TILLGREEN_REHEARSAL";
/// The variable that names the file by which an agent says that it is busy.
pub(super) const STARTED_VARIABLE: &str = "TILLGREEN_REHEARSAL_STARTED";
/// That file, in the project.
pub(super) const STARTED_FILE: &str = "rehearsal-started";
/// The error that an agent is to report in the part about failing.
pub(super) const ERROR: &str = "the rehearsal fails on purpose";

/// The size of what the command prints in the part about floods.
const FLOOD_BYTES: usize = 2_000_000;
/// Lines of the model's answer there.
const FLOOD_LINES: usize = 2_000;

/// One part of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The agent does its task.
    Success,
    /// The agent says that it cannot.
    Failure,
    /// The agent never ends.
    Hang,
    /// The agent writes without measure, and does its task.
    Flood,
    /// The run is interrupted while a command of the agent's goes on.
    Cancellation,
}

impl Part {
    /// The turn that an agent waits for in the part about being interrupted, once its command is over, or at once if it
    /// runs none.
    pub(super) const WAITING: Served = Served::Turn(1);

    /// All of them, in order.
    pub const ALL: [Self; 5] = [Self::Success, Self::Failure, Self::Hang, Self::Flood, Self::Cancellation];

    /// Its name, which is also what a command without a model is told.
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Hang => "hang",
            Self::Flood => "flood",
            Self::Cancellation => "cancel",
        }
    }

    /// The behaviour by which the agent passes, for people who write one.
    pub fn wanted(self) -> &'static str {
        match self {
            Self::Success => "Write hello into greeting.txt, then print TASK_COMPLETE on a line of its own",
            Self::Failure => {
                "Change nothing; print `Task 1.1: Write the greeting FAILED` and below it \
                 `- Error: the rehearsal fails on purpose`"
            }
            Self::Hang => "Wait for ever",
            Self::Flood => {
                "Print as much as you can, at least some megabytes; write hello into greeting.txt; then print \
                 TASK_COMPLETE on a line of its own"
            }
            Self::Cancellation => {
                "Create the file that the variable TILLGREEN_REHEARSAL_STARTED names, then wait for ever"
            }
        }
    }

    /// The plan that the agent is given.
    pub(super) fn plan(self) -> String {
        format!(
            "# Tasks: rehearsal\n\nThis is a rehearsal of the agent, part `{}`.\n\n- [ ] 1.1 Write the greeting\n  \
             - **Do**: {}\n  - **Files**: greeting.txt\n  - **Done when**: the part is played\n  \
             - **Verify**: `grep -q hello greeting.txt`\n  - **Commit**: `feat: greet`\n",
            self.name(),
            self.wanted(),
        )
    }

    /// The scenario of the model in it.
    pub(super) fn scenario(self) -> Scenario {
        let greet = || Turn::write("greeting.txt", "hello\n");
        let done = || Turn::say("The greeting is written.\n\nTASK_COMPLETE").always();
        match self {
            Self::Success => Scenario::new([greet(), done()]),
            Self::Failure => Scenario::new([Turn::say(failure()).always()]),
            Self::Hang => Scenario::new([Turn::hang().always()]),
            Self::Flood => Scenario::new([flood(), greet(), flooded().always()]),
            Self::Cancellation => {
                let wait = format!(": > \"${{{STARTED_VARIABLE}:-{STARTED_FILE}}}\"; tail -f /dev/null");
                Scenario::new([Turn::shell(wait), Turn::hang().always()])
            }
        }
    }

    /// How long an attempt may take of one that was not quick enough to be tested.
    pub(super) const LONG_ATTEMPT_TIMEOUT: &str = "90s";

    /// How long an attempt may take, as the program's own setting. Only one part is meant to reach it.
    pub(super) fn attempt_timeout(self) -> &'static str {
        match self {
            Self::Hang => "15s",
            Self::Success | Self::Failure | Self::Flood | Self::Cancellation => "2m",
        }
    }
}

fn failure() -> String {
    format!(
        "Task 1.1: Write the greeting FAILED\n- Error: {ERROR}\n- Attempted fix: none\n- Status: rehearsed\n"
    )
}

fn flood() -> Turn {
    Turn::call(Call::Shell(format!("yes 'a flood of output' | head -c {FLOOD_BYTES}")))
}

/// No two lines are alike: some agents stop a model that repeats itself.
fn flooded() -> Turn {
    let line = |number: usize| format!("{number}: {:x}\n", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let lines: String = (1..=FLOOD_LINES).map(line).collect();
    Turn::answer(Answer { text: format!("{lines}\nTASK_COMPLETE"), ..Answer::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_of_all_parts_have_one_task_that_can_be_verified() {
        for part in Part::ALL {
            let text = part.plan();
            let read = plan::Plan::parse(text.clone());
            assert_eq!((read.tasks().len(), read.problems()), (1, &[][..]), "{text}");
            let verify = read.verify(&read.tasks()[0]);
            assert!(matches!(verify, plan::Verify::Runnable(_)), "{text}");
        }
    }
}
