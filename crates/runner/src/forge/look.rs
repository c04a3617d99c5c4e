//! One look at a pull request: its checks, reviews and threads.

use engine::{
    Check, CheckState, ForgeReport, Look, MergeState, Obstacle, Openness, Review, ReviewState, Thread,
};
use serde_json::Value;

use crate::forge::call::{Answer, Caller, documents, list, number, pages, text};
use crate::forge::command::ForgeCommand;
use crate::forge::jobs::is_ours;
use crate::forge::remote::Slug;
use crate::forge::setback::Setback;
use crate::mask::mask;

/// Characters of a comment or a review that are kept.
const TEXT_CHARS_MAX: usize = 4_000;

/// The place of the pull request in an answer.
const PULL: &str = "/data/repository/pullRequest";

/// The place of the checks in that.
const CONTEXTS: &str = "/commits/nodes/0/commit/statusCheckRollup/contexts/nodes";

/// Looks.
pub(super) fn look(caller: &Caller, slug: &Slug, number: u64) -> Result<ForgeReport, Setback> {
    let answer = caller.call(&ForgeCommand::look(slug, number));
    let pages = whole(&answer)?;
    let Some(mut look) = read(&pages) else {
        let detail = "the answer has no pull request in it".to_owned();
        return Err(Obstacle::Refused { command: answer.command, detail }.into());
    };
    if has_more_threads(&pages) {
        let pages = documents(&caller.call(&ForgeCommand::threads(slug, number)))?;
        look.threads = read_threads(&pages);
    }
    Ok(ForgeReport::Looked(Box::new(look)))
}

/// The pages of an answer. What a login may not see of a single check does no harm; anything else that is left out
/// does, since it would look as if it were not there.
fn whole(answer: &Answer) -> Result<Vec<Value>, Setback> {
    if answer.is_success() {
        let pages = documents(answer)?;
        let is_query = |page: &Value| page.pointer("/data").is_some_and(Value::is_object);
        return if pages.iter().all(is_query) { Ok(pages) } else { Err(Setback::nonsense(answer)) };
    }
    let pages = pages(answer).map_err(|_| Setback::of(answer))?;
    let errors: Vec<&Value> = pages.iter().flat_map(|page| list(page, "/errors")).collect();
    let is_harmless = !errors.is_empty() && errors.into_iter().all(is_about_one_check);
    let has_checks = |page: &Value| list(page, &format!("{PULL}{CONTEXTS}")).iter().all(Value::is_object);
    if is_harmless && pages.iter().all(has_checks) { Ok(pages) } else { Err(Setback::of(answer)) }
}

fn is_about_one_check(error: &Value) -> bool {
    let path = list(error, "/path");
    let place = path.iter().position(|step| step.as_str() == Some("contexts"));
    place.is_some_and(|place| path.get(place + 3).is_some())
}

/// Reads the pages of an answer: all is on the first, the following have more checks.
pub(super) fn read(pages: &[Value]) -> Option<Look> {
    let first = pages.first()?;
    let pull = first.pointer(PULL).filter(|pull| pull.is_object())?;
    let pulls = pages.iter().filter_map(|page| page.pointer(PULL));
    Some(Look {
        openness: match text(pull, "/state") {
            "MERGED" => Openness::Merged,
            "CLOSED" => Openness::Closed,
            _ => Openness::Open,
        },
        head: text(pull, "/headRefOid").to_owned(),
        merge: merge_state(pull),
        checks: pulls.flat_map(|pull| list(pull, CONTEXTS)).map(check).collect(),
        reviews: list(pull, "/reviews/nodes").iter().map(review).collect(),
        threads: read_threads(&pages[..1]),
        requested: list(pull, "/reviewRequests/nodes").iter().filter_map(requested).collect(),
    })
}

/// True if the first page does not have all threads.
pub(super) fn has_more_threads(pages: &[Value]) -> bool {
    let threads = pages.first().and_then(|page| page.pointer(&format!("{PULL}/reviewThreads")));
    threads.is_some_and(|threads| {
        let there = u64::try_from(list(threads, "/nodes").len()).unwrap_or(u64::MAX);
        number(threads, "/totalCount").is_some_and(|total| total > there)
    })
}

/// The threads of all pages.
pub(super) fn read_threads(pages: &[Value]) -> Vec<Thread> {
    let mut threads = Vec::new();
    for page in pages {
        let viewer = text(page, "/data/viewer/login");
        let nodes = list(page, &format!("{PULL}/reviewThreads/nodes"));
        threads.extend(nodes.iter().filter_map(|node| of_thread(node, viewer)));
    }
    threads
}

fn merge_state(pull: &Value) -> MergeState {
    match (text(pull, "/mergeable"), text(pull, "/mergeStateStatus")) {
        ("CONFLICTING", _) | (_, "DIRTY") => MergeState::Conflicting,
        (_, "BEHIND") => MergeState::Behind,
        ("UNKNOWN", _) => MergeState::Unknown,
        (_, "BLOCKED") => MergeState::Blocked,
        (_, _) => MergeState::Fine,
    }
}

fn check(node: &Value) -> Check {
    if text(node, "/__typename") == "StatusContext" { status_context(node) } else { check_run(node) }
}

fn check_run(node: &Value) -> Check {
    let (name, workflow) = (text(node, "/name"), text(node, "/checkSuite/workflowRun/workflow/name"));
    let label = if workflow.is_empty() { name.to_owned() } else { format!("{workflow} / {name}") };
    let state = match (text(node, "/status"), text(node, "/conclusion")) {
        ("COMPLETED", "SUCCESS" | "NEUTRAL" | "SKIPPED") => CheckState::Passed,
        ("COMPLETED", "FAILURE" | "TIMED_OUT" | "STARTUP_FAILURE") => CheckState::Failed,
        ("COMPLETED", "CANCELLED" | "STALE") => CheckState::Cancelled,
        ("COMPLETED", "ACTION_REQUIRED") | ("WAITING", _) => CheckState::NeedsApproval,
        (_, _) => CheckState::Pending,
    };
    Check {
        label: plan::one_line(&label),
        state,
        required: is_true(node, "/isRequired"),
        id: number(node, "/databaseId").map(|id| id.to_string()).unwrap_or_default(),
        run: number(node, "/checkSuite/workflowRun/databaseId"),
        url: text(node, "/detailsUrl").to_owned(),
        summary: plan::one_line(&mask(text(node, "/title"))),
    }
}

fn status_context(node: &Value) -> Check {
    let state = match text(node, "/state") {
        "SUCCESS" => CheckState::Passed,
        "FAILURE" | "ERROR" => CheckState::Failed,
        _ => CheckState::Pending,
    };
    Check {
        label: plan::one_line(text(node, "/context")),
        state,
        required: is_true(node, "/isRequired"),
        id: text(node, "/id").to_owned(),
        run: None,
        url: text(node, "/targetUrl").to_owned(),
        summary: plan::one_line(&mask(text(node, "/description"))),
    }
}

fn is_true(node: &Value, path: &str) -> bool {
    node.pointer(path).and_then(Value::as_bool).unwrap_or_default()
}

fn requested(node: &Value) -> Option<String> {
    let login = text(node, "/requestedReviewer/login");
    (!login.is_empty()).then(|| plan::one_line(login))
}

fn review(node: &Value) -> Review {
    Review {
        id: text(node, "/id").to_owned(),
        author: author(node),
        state: match text(node, "/state") {
            "APPROVED" => ReviewState::Approved,
            "CHANGES_REQUESTED" => ReviewState::ChangesRequested,
            "DISMISSED" => ReviewState::Dismissed,
            "PENDING" => ReviewState::Pending,
            _ => ReviewState::Commented,
        },
        body: bounded(text(node, "/body")),
        // One that is still being written has no date and is the latest.
        at: Some(text(node, "/submittedAt")).filter(|at| !at.is_empty()).unwrap_or("~").to_owned(),
        commit: text(node, "/commit/oid").to_owned(),
    }
}

/// A thread as far as somebody else than us wrote in it.
fn of_thread(node: &Value, viewer: &str) -> Option<Thread> {
    let comments = list(node, "/comments/nodes");
    let foreign = |comment: &&Value| !is_ours(text(comment, "/body"), text(comment, "/author/login"), viewer);
    let latest = comments.iter().rfind(foreign)?;
    let said: Vec<String> = comments
        .iter()
        .filter(foreign)
        .map(|comment| format!("{}: {}", author(comment), text(comment, "/body")))
        .collect();
    Some(Thread {
        id: text(node, "/id").to_owned(),
        resolved: is_true(node, "/isResolved"),
        path: text(node, "/path").to_owned(),
        line: number(node, "/line").or_else(|| number(node, "/originalLine")),
        comment: text(latest, "/id").to_owned(),
        author: author(latest),
        summary: bounded(text(latest, "/body")),
        text: bounded(&said.join("\n")),
    })
}

/// A user who is gone is called `ghost`, as on the forge's own pages.
fn author(node: &Value) -> String {
    let login = text(node, "/author/login");
    plan::one_line(if login.is_empty() { "ghost" } else { login })
}

fn bounded(said: &str) -> String {
    mask(&said.chars().take(TEXT_CHARS_MAX).collect::<String>())
}
