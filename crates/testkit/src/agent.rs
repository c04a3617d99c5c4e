//! A scripted agent: a shell script made from a description of what it does for each task and attempt. It keeps
//! every prompt that it is given and the order in which it was called.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::step::{Step, quote};

/// A scripted agent: what it does by role, task and attempt. The first rule that fits counts.
#[derive(Debug, Clone, Default)]
pub struct Agent {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone)]
struct Rule {
    /// A pattern of the shell's `case` for role, task and attempt.
    pattern: String,
    steps: Vec<Step>,
}

/// One time that the agent was called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCall {
    /// `executor`, `qa`, `reviewer` or `planner`.
    pub role: String,
    /// The task.
    pub task: String,
    /// The attempt, from 1.
    pub attempt: u32,
    /// Where it was started.
    pub folder: String,
    /// The text that it was given on standard input.
    pub prompt: String,
}

impl Agent {
    /// An agent without rules. It complains and fails.
    pub fn new() -> Agent {
        Agent::default()
    }

    /// Adds what it does for a task, in any role and attempt.
    pub fn on(self, task: &str, steps: impl IntoIterator<Item = Step>) -> Agent {
        self.rule(format!("*\"|\"{}\"|\"*", quote(task)), steps)
    }

    /// Adds what it does in one attempt at a task, in any role.
    pub fn on_attempt(self, task: &str, attempt: u32, steps: impl IntoIterator<Item = Step>) -> Agent {
        self.rule(format!("*\"|\"{}\"|{attempt}\"", quote(task)), steps)
    }

    /// Adds what it does for a task in one role.
    pub fn on_role(self, role: &str, task: &str, steps: impl IntoIterator<Item = Step>) -> Agent {
        self.rule(format!("{}\"|\"{}\"|\"*", quote(role), quote(task)), steps)
    }

    /// Adds what it does in all other cases.
    pub fn otherwise(self, steps: impl IntoIterator<Item = Step>) -> Agent {
        self.rule("*".to_owned(), steps)
    }

    fn rule(mut self, pattern: String, steps: impl IntoIterator<Item = Step>) -> Agent {
        self.rules.push(Rule { pattern, steps: steps.into_iter().collect() });
        self
    }

    /// Writes the script into a folder that exists; gives the command that runs it.
    pub(crate) fn install(&self, folder: &Path) -> String {
        let script = folder.join("agent.sh");
        fs::write(&script, self.script(folder)).expect("the script can be written");
        format!("exec sh {}", quote(&script.display().to_string()))
    }

    fn script(&self, folder: &Path) -> String {
        let mut text = PREAMBLE.replace("@FOLDER@", &quote(&folder.display().to_string()));
        for rule in &self.rules {
            let steps: Vec<_> = rule.steps.iter().map(Step::script).collect();
            writeln!(text, "{})\n{}\n;;", rule.pattern, steps.join("\n")).expect("a string takes everything");
        }
        text.push_str("*)\nprintf 'no rule for %s\\n' \"$call\" >&2\nexit 9\n;;\nesac\n");
        text
    }
}

/// The number of a call is the name of a folder, because making a folder is atomic: calls may overlap. Its last
/// file is `call`, so that a call is complete once that is there.
const PREAMBLE: &str = "\
# A scripted agent for tests.
number=1
while ! mkdir @FOLDER@/call-$number 2>/dev/null; do number=$((number + 1)); done
here=@FOLDER@/call-$number
cat > \"$here/prompt\"
pwd > \"$here/folder\"
call=\"$TILLGREEN_ROLE|$TILLGREEN_TASK_ID|$TILLGREEN_ATTEMPT\"
printf '%s' \"$call\" > \"$here/call.new\"
mv \"$here/call.new\" \"$here/call\"
case \"$call\" in
";

/// The calls that a folder's agent has got so far, in order. One that was killed before it was complete was none, and
/// those after it count all the same.
pub(crate) fn calls(folder: &Path) -> Vec<AgentCall> {
    let places = (1..).map(|number| folder.join(format!("call-{number}")));
    places.take_while(|place| place.exists()).filter_map(|place| call(&place)).collect()
}

fn call(place: &Path) -> Option<AgentCall> {
    let read = |file: &str| Some(String::from_utf8_lossy(&fs::read(place.join(file)).ok()?).into_owned());
    let call = read("call")?;
    let mut parts = call.split('|').map(str::to_owned);
    let (role, task) = (parts.next()?, parts.next()?);
    let attempt = parts.next()?.parse().unwrap_or(0);
    let folder = read("folder")?.trim_end().to_owned();
    Some(AgentCall { role, task, attempt, folder, prompt: read("prompt")? })
}
