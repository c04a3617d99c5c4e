//! The structured result of an agent: the last YAML block of its final message that has a `status`.

use plan::{Value, read_yaml, read_yaml_leniently};

use crate::claim::{Claim, FailureClaim, Stuck, StuckKind};

/// How much of a value is kept.
const VALUE_CHARS_MAX: usize = 1_000;

/// What the last result says, with the line at which its block ends.
pub(crate) fn read(message: &str) -> Option<(usize, Claim)> {
    let lines: Vec<&str> = message.lines().collect();
    let status = lines.iter().rposition(|line| is_status(line))?;
    let (from, to) = block_around(&lines, status);
    let text = dedented(&lines[from..to]);
    let value = read_yaml(&text).ok().filter(|value| status_of(value).is_some());
    let value = value.unwrap_or_else(|| read_yaml_leniently(&text).0);
    Some((to, claim(&value)?))
}

fn is_status(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches("- ");
    line.strip_prefix("status:").is_some_and(|rest| !rest.trim().is_empty())
}

/// The block that a line belongs to: up to the fence or the empty line on either side.
fn block_around(lines: &[&str], at: usize) -> (usize, usize) {
    let is_fence = |line: &&str| line.trim_start().starts_with("```");
    let opened = lines[..at].iter().filter(|line| is_fence(line)).count() % 2 == 1;
    let is_border =
        |line: &&str| if opened { is_fence(line) } else { line.trim().is_empty() || is_fence(line) };
    let from = lines[..at].iter().rposition(is_border).map_or(0, |border| border + 1);
    let to = lines[at..].iter().position(is_border).map_or(lines.len(), |border| at + border);
    (from, to)
}

fn dedented(lines: &[&str]) -> String {
    let margin = |line: &&str| line.len() - line.trim_start().len();
    let common = lines.iter().filter(|line| !line.trim().is_empty()).map(margin).min().unwrap_or(0);
    lines.iter().map(|line| format!("{}\n", line.get(common..).unwrap_or_default())).collect()
}

/// The map that has the status: the block itself, or what is below `result`.
fn status_of(value: &Value) -> Option<(&Value, String)> {
    let of = |value: &Value| value.get("status").and_then(Value::text);
    if let Some(status) = of(value) {
        return Some((value, status));
    }
    let (_, below) = value.entries().iter().find(|(_, below)| of(below).is_some())?;
    Some((below, of(below)?))
}

fn claim(value: &Value) -> Option<Claim> {
    let (result, status) = status_of(value)?;
    let text = |key: &str| {
        result.get(key).and_then(Value::text).map(|text| bounded(&text)).filter(|text| !text.is_empty())
    };
    let reason = || text("reason").or_else(|| text("error")).or_else(|| text("message"));
    let stuck = |kind| {
        let by = text("blocked_by").or_else(|| text("blocker"));
        Claim::Stuck(Stuck { kind, reason: reason().unwrap_or_else(|| "no reason given".to_owned()), by })
    };
    match status.trim().to_ascii_lowercase().replace([' ', '-'], "_").as_str() {
        "success" | "complete" | "completed" => Some(Claim::Complete),
        "failure" | "failed" | "error" => Some(Claim::Failed(FailureClaim {
            error: reason()
                .or_else(|| verification(result))
                .unwrap_or_else(|| "Task execution failed".to_owned()),
            attempted_fix: text("attempted_fix").unwrap_or_else(|| "No fix attempted".to_owned()),
            status,
            suggested_fix: text("suggested_fix"),
            root_cause: text("root_cause").or_else(|| text("root_cause_guess")),
        })),
        "blocked" => Some(stuck(StuckKind::Blocked)),
        "impossible" => Some(stuck(StuckKind::Impossible)),
        "conflict" | "conflicting_requirements" => Some(stuck(StuckKind::ConflictingRequirements)),
        "service_unavailable" => Some(stuck(StuckKind::ServiceUnavailable)),
        _ => None,
    }
}

/// What the agent's own verification showed, where it names no error.
fn verification(result: &Value) -> Option<String> {
    result.get("verification")?.get("output_summary")?.text().map(|text| bounded(&text))
}

fn bounded(text: &str) -> String {
    text.trim().chars().take(VALUE_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Dialect;

    #[track_caller]
    fn check(message: &str, expected: &str) {
        let claim = match Claim::read(message, Dialect::Phase) {
            Claim::Complete => "complete".to_owned(),
            Claim::Failed(failed) => format!("failed: {}", failed.error),
            Claim::NotVerified => "not verified".to_owned(),
            Claim::Stuck(stuck) => format!("{:?} by {:?}: {}", stuck.kind, stuck.by, stuck.reason),
            Claim::Silent => "silent".to_owned(),
        };
        assert_eq!(claim, expected, "for {message:?}");
    }

    #[test]
    fn the_last_block_with_a_status_counts() {
        check("status: success", "complete");
        check("Done.\n\n```yaml\nstatus: success\nfiles_modified:\n  - a.rs\n```\n", "complete");
        check(
            "```yaml\nstatus: success\n```\nno\n```yaml\nstatus: failure\nerror: \"boom\"\n```",
            "failed: boom",
        );
        check("result:\n  status: failure\n  error: nested", "failed: nested");
        check("status: failure\nerror: Cannot find: module 'uuid'\n", "failed: Cannot find: module 'uuid'");
        check("status: failure", "failed: Task execution failed");
        check("status: failure\nverification:\n  output_summary: 2 failed\n", "failed: 2 failed");
        check("status: weird", "silent");
        check("the status: success of it", "silent");
        check("TASK_COMPLETE", "complete");
        check("", "silent");
    }

    #[test]
    fn obstacles_are_told_apart() {
        check(
            "status: blocked\nblocked_by: 03-01:task-2\nreason: needs the schema",
            "Blocked by Some(\"03-01:task-2\"): needs the schema",
        );
        check("status: blocked", "Blocked by None: no reason given");
        check("status: impossible\nreason: no such API", "Impossible by None: no such API");
        check("status: conflicting requirements", "ConflictingRequirements by None: no reason given");
        check("status: service_unavailable\nreason: npm", "ServiceUnavailable by None: npm");
    }

    #[test]
    fn a_spec_takes_only_signals_for_success() {
        assert_eq!(Claim::read("status: success", Dialect::Spec), Claim::Silent);
        assert_eq!(Claim::read("status: success\nTASK_COMPLETE", Dialect::Spec), Claim::Complete);
        assert!(matches!(Claim::read("status: blocked", Dialect::Spec), Claim::Stuck(_)));
        assert!(matches!(Claim::read("TASK_COMPLETE\n\nstatus: failure\n", Dialect::Spec), Claim::Failed(_)));
    }
}
