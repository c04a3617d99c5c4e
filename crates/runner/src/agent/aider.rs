//! aider: `aider --message-file FILE`. Text only, and exit code 0 whatever happens.
//!
//! An answer is through when its line `Tokens: … sent, … received.` was seen and no error of the service follows.

use engine::Usage;

use crate::agent::ending::{Conclusion, Outcome};
use crate::agent::launch::{Duty, Input, Launch, Order, Permission};
use crate::agent::line::{self, Line};
use crate::agent::reader::Activity;
use crate::agent::trouble::Trouble;
use crate::settings::Agent;

/// Flags that make it fit to be run without anybody watching. Commits are the program's business.
const FLAGS: [&str; 11] = [
    "--yes-always",
    "--no-auto-commits",
    "--no-check-update",
    "--no-show-release-notes",
    "--no-gitignore",
    "--no-show-model-warnings",
    "--no-pretty",
    "--no-fancy-input",
    "--analytics-disable",
    "--no-detect-urls",
    "--no-suggest-shell-commands",
];

/// The command that starts it.
pub(crate) fn launch(agent: &Agent, order: &Order<'_>) -> Launch {
    let mut args: Vec<String> = FLAGS.map(str::to_owned).to_vec();
    let mut push = |name: &str, value: &str| args.extend([name.to_owned(), value.to_owned()]);
    // Its histories would lie in the work tree otherwise.
    push("--chat-history-file", &order.dir.join("aider.chat.history.md").to_string_lossy());
    push("--input-history-file", &order.dir.join("aider.input.history").to_string_lossy());
    if let Some(model) = &agent.model {
        push("--model", model);
    }
    if agent.permission == Permission::ReadOnly || order.duty == Duty::Judge {
        push("--chat-mode", "ask");
    }
    push("--message-file", &order.dir.join(MESSAGE_FILE).to_string_lossy());
    args.extend(agent.args.iter().cloned());
    let mut launch = Launch::new(&agent.command, args, Input::Nothing);
    launch.files.push((order.dir.join(MESSAGE_FILE), agent.with_system_prompt(order.prompt)));
    launch
}

const MESSAGE_FILE: &str = "aider.message.md";

/// Reads its output.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// True if the lines about itself are over.
    has_begun: bool,
    text: String,
    message: String,
    usage: Usage,
    conclusion: Conclusion,
}

impl Reader {
    pub(crate) fn line(&mut self, line: Line<'_>, activities: &mut Vec<Activity>) {
        let Line::Whole(line) = line else { return };
        if !self.has_begun {
            self.has_begun = line.starts_with("Repo-map:");
            return;
        }
        if let Some(counts) = line.strip_prefix("Tokens: ") {
            return self.answered(counts, activities);
        }
        if let Some(error) = error_in(line) {
            activities.push(Activity::Retrying { reason: line::short(error) });
            self.conclusion = Conclusion::Trouble(Trouble::of_text(error));
            return;
        }
        line::push_bounded(&mut self.text, line);
        line::push_bounded(&mut self.text, "\n");
    }

    fn answered(&mut self, counts: &str, activities: &mut Vec<Activity>) {
        self.message = std::mem::take(&mut self.text);
        activities.push(Activity::Said(line::short(&self.message)));
        self.usage = self.usage.plus(usage(counts));
        activities.push(Activity::Used(self.usage));
        self.conclusion = Conclusion::Finished;
    }

    pub(crate) fn is_through(&self) -> bool {
        self.conclusion != Conclusion::Cut
    }

    pub(crate) fn end(self) -> Outcome {
        Outcome { conclusion: self.conclusion, message: self.message, session: None, usage: self.usage }
    }
}

/// An error of the library that it talks to services with.
fn error_in(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("litellm.")?;
    let name = rest.split(':').next()?;
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_name && (name.ends_with("Error") || name.ends_with("Exception"))).then_some(line)
}

/// Reads `1.9k sent, 500 cache hit, 23 received. Cost: $0.0010 message, $0.01 session.`
fn usage(counts: &str) -> Usage {
    let (tokens, cost) = counts.split_once(". ").unwrap_or((counts.trim_end_matches('.'), ""));
    let before =
        |word: &str| tokens.split(',').find_map(|part| count(part.trim().strip_suffix(word)?.trim()));
    let cost = cost.strip_prefix("Cost: $").and_then(|cost| cost.split(' ').next());
    let dollars = cost.and_then(|cost| cost.parse::<f64>().ok());
    let cost_micros = dollars.and_then(|cost| line::micros(&serde_json::json!(cost), &[]));
    Usage { input: before("sent"), cached: before("cache hit"), output: before("received"), cost_micros }
}

fn count(text: &str) -> Option<u64> {
    let (number, scale) = match text.strip_suffix(['k', 'K']) {
        Some(thousands) => (thousands, 1_000.0),
        None => (text.strip_suffix('M').unwrap_or(text), if text.ends_with('M') { 1e6 } else { 1.0 }),
    };
    let number: f64 = number.parse().ok()?;
    line::number(&serde_json::json!((number * scale).round()), &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_as_people_read_them() {
        let check = |text: &str, expected: [Option<u64>; 4]| {
            let [input, cached, output, cost_micros] = expected;
            assert_eq!(usage(text), Usage { input, cached, output, cost_micros }, "for {text:?}");
        };
        check("1.9k sent, 23 received.", [Some(1_900), None, Some(23), None]);
        check(
            "12k sent, 500 cache hit, 1.1k received. Cost: $0.0010 message, $0.02 session.",
            [Some(12_000), Some(500), Some(1_100), Some(1_000)],
        );
        check("2M sent, x received.", [Some(2_000_000), None, None, None]);
        check("", [None; 4]);
        check("-5 sent, NaN received. Cost: $-1 message", [None; 4]);
    }
}
