//! The parts that have addresses of their own: workflow runs, their jobs and logs.

use serde_json::{Value, json};

use super::archive::zip;
use super::http::{Answer, Request};
use super::hub::Hub;
use super::sight::Check;

const API: &str = "https://api.github.com";
const WORKFLOW: u64 = 5;

/// Answers a request about workflow runs.
pub(super) fn answer(hub: &mut Hub, request: &Request) -> Answer {
    let parts: Vec<&str> = request.path.trim_matches('/').split('/').collect();
    match (request.method.as_str(), parts.as_slice()) {
        ("GET", ["repos", _, _, "actions", "workflows", _]) => Answer::json(
            &json!({"id": WORKFLOW, "name": "CI", "path": ".github/workflows/ci.yml", "state": "active"}),
        ),
        ("GET", ["rate_limit"]) => {
            let limit = json!({"limit": 5000, "remaining": if hub.rate_reset.is_some() { 0 } else { 5000 },
                "reset": hub.rate_reset.unwrap_or_default()});
            Answer::json(&json!({"resources": {"core": limit, "graphql": limit}, "rate": limit}))
        }
        ("PATCH", ["repos", _, _, "pulls", number]) => described(hub, number, &request.body),
        ("GET", ["repos", _, _, "pulls", _, "requested_reviewers"]) => {
            let users: Vec<Value> = hub.requested.iter().map(|login| json!({"login": login})).collect();
            Answer::json(&json!({"users": users, "teams": []}))
        }
        ("POST", ["repos", _, _, "pulls", _, "requested_reviewers"]) => {
            let logins = request.body["reviewers"].as_array().cloned().unwrap_or_default();
            hub.requested.extend(logins.iter().filter_map(Value::as_str).map(str::to_owned));
            Answer::with_status(201, &json!({"number": 7}))
        }
        (method, ["repos", _, _, "actions", "runs", run, rest @ ..]) => {
            match run.parse().ok().and_then(|run| hub.head_of_run(run).map(|head| (run, head))) {
                Some((run, head)) => of_run(hub, method, (run, &head), rest),
                None => Answer::not_found(),
            }
        }
        (_, _) => Answer::not_found(),
    }
}

fn described(hub: &mut Hub, number: &str, body: &Value) -> Answer {
    let pull = hub.pulls.iter_mut().find(|pull| pull.number.to_string() == number);
    match (pull, body["body"].as_str()) {
        (Some(pull), Some(text)) => {
            pull.body = text.to_owned();
            Answer::json(&json!({"number": pull.number}))
        }
        (_, _) => Answer::not_found(),
    }
}

fn of_run(hub: &mut Hub, method: &str, (run, head): (u64, &str), rest: &[&str]) -> Answer {
    match (method, rest) {
        ("GET", []) => Answer::json(&run_state(hub, run, head)),
        ("GET", ["jobs"]) => {
            let jobs: Vec<Value> =
                jobs(hub, head).iter().enumerate().map(|(at, check)| job(run, at, check)).collect();
            Answer::json(&json!({"total_count": jobs.len(), "jobs": jobs}))
        }
        ("GET", ["logs"]) => {
            let files: Vec<(String, String)> = jobs(hub, head).iter().map(log).collect();
            Answer { status: 200, kind: "application/zip", body: zip(&files) }
        }
        ("POST", ["rerun-failed-jobs"]) if hub.refuses_rerun => {
            Answer::with_status(403, &json!({"message": "This workflow run cannot be retried"}))
        }
        ("POST", ["rerun-failed-jobs"]) => {
            *hub.reruns.entry(head.to_owned()).or_default() += 1;
            Answer::with_status(201, &json!({}))
        }
        (_, _) => Answer::not_found(),
    }
}

fn jobs(hub: &Hub, head: &str) -> Vec<Check> {
    hub.sight(head).checks.into_iter().filter(|check| !check.external).collect()
}

fn run_state(hub: &Hub, run: u64, head: &str) -> Value {
    let attempt = hub.moment(head).reruns + 1;
    let started = format!("2026-01-01T00:00:{attempt:02}Z");
    let is_pending = jobs(hub, head).iter().any(|check| check.status != "COMPLETED");
    let home = format!("{API}/repos/{}/{}/actions/runs/{run}", hub.owner, hub.repo);
    json!({
        "id": run, "name": "CI", "display_title": "CI", "workflow_id": WORKFLOW, "run_attempt": attempt,
        "status": if is_pending { "in_progress" } else { "completed" }, "conclusion": "failure",
        "head_sha": head, "head_branch": "feature", "event": "pull_request", "run_number": 1,
        "created_at": started, "run_started_at": started, "updated_at": started,
        "html_url": format!("https://github.com/{}/{}/actions/runs/{run}", hub.owner, hub.repo),
        "jobs_url": format!("{home}/jobs"), "logs_url": format!("{home}/logs"),
        "rerun_url": format!("{home}/rerun"), "check_suite_id": 1, "head_commit": {"message": "m"},
        "repository": {"full_name": format!("{}/{}", hub.owner, hub.repo)}
    })
}

fn job(run: u64, at: usize, check: &Check) -> Value {
    let conclusion = check.conclusion.to_lowercase();
    json!({
        "id": run * 10 + u64::try_from(at).expect("few jobs"), "run_id": run, "name": check.name,
        "status": check.status.to_lowercase(), "conclusion": conclusion,
        "started_at": "2026-01-01T00:00:00Z", "completed_at": "2026-01-01T00:01:00Z",
        "steps": [{"name": "Run it", "number": 1, "status": "completed", "conclusion": conclusion}]
    })
}

fn log(check: &Check) -> (String, String) {
    let lines = check.log.lines().map(|line| format!("2026-01-01T00:00:00.0000000Z {line}\n"));
    (format!("{}/1_Run it.txt", check.name), lines.collect())
}
