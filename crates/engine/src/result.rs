//! The structured result of an agent: the last YAML block of its final message that has a `status`.

use plan::{Value, read_yaml, read_yaml_leniently};

use crate::claim::{Claim, FailureClaim, Stuck, StuckKind};

/// How much of a value is kept.
const VALUE_CHARS_MAX: usize = 1_000;

/// Reads the last result.
pub(crate) fn read(message: &str) -> Option<Claim> {
    let lines: Vec<&str> = message.lines().collect();
    let status = lines.iter().rposition(|line| is_status(line))?;
    let (from, to) = block_around(&lines, status);
    let text = dedented(&lines[from..to]);
    let value = read_yaml(&text).ok().filter(|value| status_of(value).is_some());
    let value = value.unwrap_or_else(|| read_yaml_leniently(&text).0);
    claim(&value)
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
    let reason =
        || text(result, "reason").or_else(|| text(result, "error")).or_else(|| text(result, "message"));
    let stuck = |kind| {
        let by = text(result, "blocked_by").or_else(|| text(result, "blocker"));
        Claim::Stuck(Stuck { kind, reason: reason().unwrap_or_else(|| "no reason given".to_owned()), by })
    };
    let failed = |error: Option<String>| FailureClaim {
        error: error.unwrap_or_else(|| "Task execution failed".to_owned()),
        attempted_fix: text(result, "attempted_fix").unwrap_or_else(|| "No fix attempted".to_owned()),
        status: status.clone(),
        suggested_fix: text(result, "suggested_fix"),
        root_cause: text(result, "root_cause").or_else(|| text(result, "root_cause_guess")),
    };
    match status.trim().to_ascii_lowercase().replace([' ', '-'], "_").as_str() {
        "success" | "complete" | "completed" => Some(match denial(result) {
            Some(error) => Claim::Denied(failed(Some(error))),
            None => Claim::Complete,
        }),
        "failure" | "failed" | "error" => {
            Some(Claim::Failed(failed(reason().or_else(|| verification(result)))))
        }
        "blocked" => Some(stuck(StuckKind::Blocked)),
        "impossible" => Some(stuck(StuckKind::Impossible)),
        "conflict" | "conflicting_requirements" => Some(stuck(StuckKind::ConflictingRequirements)),
        "service_unavailable" => Some(stuck(StuckKind::ServiceUnavailable)),
        "permission_denied" => Some(stuck(StuckKind::PermissionDenied)),
        _ => None,
    }
}

/// The words of a result against its own success, if there are any.
fn denial(result: &Value) -> Option<String> {
    let is_nothing = |error: &String| {
        matches!(error.trim_end_matches('.').to_ascii_lowercase().as_str(), "" | "none" | "null" | "n/a")
    };
    let error = text(result, "error").filter(|error| !is_nothing(error));
    let is_unmet = text(result, "done_criteria_met").is_some_and(|met| met.eq_ignore_ascii_case("false"));
    let code = [Some(result), result.get("verification")]
        .into_iter()
        .flatten()
        .find_map(|part| text(part, "exit_code"));
    let code = code.and_then(|code| code.parse::<i64>().ok()).filter(|code| *code != 0);
    error
        .or_else(|| code.map(|code| format!("its own verification ended with exit code {code}")))
        .or_else(|| is_unmet.then(|| "the done criteria are not met by its own account".to_owned()))
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::text).map(|text| bounded(&text)).filter(|text| !text.is_empty())
}

/// The result of the agent's own verification, where it names no error.
fn verification(result: &Value) -> Option<String> {
    result.get("verification")?.get("output_summary")?.text().map(|text| bounded(&text))
}

fn bounded(text: &str) -> String {
    text.trim().chars().take(VALUE_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Role;
    use plan::Dialect;

    #[track_caller]
    fn check(message: &str, expected: &str) {
        let claim = match Claim::read(message, Dialect::Phase, Role::Executor) {
            Claim::Complete => "complete".to_owned(),
            Claim::Denied(failed) => format!("denied: {}", failed.error),
            Claim::OtherRole => "the word of another role".to_owned(),
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
        check("status: permission_denied\nerror: no sudo", "PermissionDenied by None: no sudo");
    }

    #[test]
    fn a_result_may_deny_its_own_status() {
        let unmet = "denied: the done criteria are not met by its own account";
        check("status: success\ndone_criteria_met: false", unmet);
        check(
            "status: success\nverification:\n  exit_code: 1\n",
            "denied: its own verification ended with exit code 1",
        );
        check("status: success\nexit_code: 2", "denied: its own verification ended with exit code 2");
        check("status: success\nerror: no login page", "denied: no login page");
        check("TASK_COMPLETE\n\nstatus: success\ndone_criteria_met: false", unmet);
        for nothing in ["none", "None.", "null", "~", "n/a", "N/A", "\"\"", ""] {
            check(
                &format!("status: success\nerror: {nothing}\nexit_code: 0\ndone_criteria_met: true"),
                "complete",
            );
        }
    }

    #[test]
    fn a_spec_takes_only_words_for_success() {
        let read = |message: &str| Claim::read(message, Dialect::Spec, Role::Executor);
        assert_eq!(read("status: success"), Claim::Silent);
        assert_eq!(read("status: success\ndone_criteria_met: false"), Claim::Silent);
        assert_eq!(read("status: success\nTASK_COMPLETE"), Claim::Complete);
        assert!(matches!(read("TASK_COMPLETE\n\nstatus: success\nerror: no page"), Claim::Denied(_)));
        assert!(matches!(read("status: blocked"), Claim::Stuck(_)));
        assert!(matches!(read("TASK_COMPLETE\n\nstatus: failure\n"), Claim::Failed(_)));
        assert!(matches!(read("status: failure\n\nTASK_COMPLETE"), Claim::Failed(_)));
    }
}
