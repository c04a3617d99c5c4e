//! The queries that the program sends through `gh api`, and those that `gh` sends by itself.

use serde_json::{Value, json};

use super::http::Answer;
use super::hub::{Hub, Issue, Pull, VIEWER};
use super::sight::{Check, Review, Thread};

/// Answers a query.
pub(super) fn answer(hub: &mut Hub, body: &Value) -> Answer {
    let query = body["query"].as_str().unwrap_or_default();
    let variables = &body["variables"];
    let says = |word: &str| query.contains(word);
    let data = if says("mutation IssueClose") {
        closed(hub, &words(&variables["input"]["issueId"]))
    } else if says("milestones(") {
        milestones(hub)
    } else if says("issues(") {
        issues(hub, variables)
    } else if says("issueOrPullRequest") || says("issue(number") {
        one_issue(hub, variables)
    } else if says("__type(") {
        json!({"PullRequest": {"fields": [{"name": "isInMergeQueue"}, {"name": "isMergeQueueEnabled"}]}})
    } else if says("mutation PullRequestCreate") {
        created(hub, &variables["input"])
    } else if says("mutation PullRequestMerge") {
        return merged(hub, &variables["input"]);
    } else if says("addPullRequestReviewThreadReply") {
        let (id, text) = (words(&variables["id"]), words(&variables["body"]));
        hub.answers.push((id, text));
        json!({"addPullRequestReviewThreadReply": {"comment": {"id": "C"}}})
    } else if says("resolveReviewThread") {
        hub.resolved.insert(words(&variables["id"]));
        json!({"resolveReviewThread": {"thread": {"isResolved": true}}})
    } else if says("...on PullRequestReviewThread") {
        thread_of(hub, &words(&variables["id"]))
    } else if says("reviewThreads(") {
        look(hub, variables["number"].as_u64().unwrap_or_default())
    } else if says("PullRequestByNumber") {
        let number = variables["pr_number"].as_u64().unwrap_or_default();
        json!({"repository": {"pullRequest": hub.pull(number).map(|pull| for_merge(hub, pull))}})
    } else if says("headRefName") {
        let branch = words(variables.get("branch").unwrap_or(&variables["headRefName"]));
        of_branch(hub, &branch, variables["states"].is_array())
    } else {
        json!({"viewer": {"login": VIEWER}, "repository": repository(hub)})
    };
    Answer::json(&json!({"data": data}))
}

/// The only milestone, by which issues are asked for.
const MILESTONE: u64 = 3;

fn milestones(hub: &Hub) -> Value {
    let titles = hub.issues.first().map(|issue| json!({"number": MILESTONE, "title": issue.milestone}));
    json!({"repository": {"milestones": {"nodes": titles.into_iter().collect::<Vec<_>>()}}})
}

fn node(issue: &Issue) -> Value {
    json!({"__typename": "Issue", "id": format!("I_{}", issue.number), "number": issue.number, "title": issue.title,
        "body": issue.body, "state": if issue.closed { "CLOSED" } else { "OPEN" },
        "stateReason": if issue.closed { json!("COMPLETED") } else { Value::Null }})
}

/// A page of two issues, as the real one has a hundred.
fn issues(hub: &Hub, variables: &Value) -> Value {
    let label = words(&variables["label"]);
    let meant = hub.issues.iter().filter(|issue| variables["milestone"].is_string() || issue.label == label);
    let after = words(&variables["endCursor"]).parse().unwrap_or(0);
    let left: Vec<Value> = meant.skip(after).map(node).collect();
    let page = &left[..left.len().min(2)];
    let info = json!({"hasNextPage": left.len() > 2, "endCursor": (after + page.len()).to_string()});
    json!({"repository": {"issues": {"pageInfo": info, "nodes": page}}})
}

fn one_issue(hub: &Hub, variables: &Value) -> Value {
    let number = variables["number"].as_u64().or(variables["issue_number"].as_u64());
    let found = hub.issues.iter().find(|issue| Some(issue.number) == number).map(node);
    json!({"repository": {"hasIssuesEnabled": true, "issue": found}})
}

fn closed(hub: &mut Hub, id: &str) -> Value {
    hub.issues
        .iter_mut()
        .filter(|issue| format!("I_{}", issue.number) == id)
        .for_each(|issue| issue.closed = true);
    json!({"closeIssue": {"issue": {"id": id}}})
}

fn words(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn repository(hub: &Hub) -> Value {
    let parent = hub.parent.as_ref().map(|parent| {
        let (owner, name) = parent.split_once('/').unwrap_or_default();
        json!({"id": "R_0", "name": name, "owner": {"login": owner}, "nameWithOwner": parent,
               "viewerPermission": "READ", "defaultBranchRef": {"name": hub.default_branch}})
    });
    json!({
        "id": "R_1", "name": hub.repo, "owner": {"login": hub.owner},
        "nameWithOwner": format!("{}/{}", hub.owner, hub.repo), "viewerPermission": "WRITE",
        "hasIssuesEnabled": true, "hasWikiEnabled": true, "description": "",
        "defaultBranchRef": {"name": hub.default_branch}, "parent": parent,
        "mergeCommitAllowed": true, "rebaseMergeAllowed": true, "squashMergeAllowed": true
    })
}

fn of_branch(hub: &Hub, branch: &str, only_open: bool) -> Value {
    let pulls = hub.pulls.iter().rev().filter(|pull| pull.branch == branch);
    let pulls = pulls.filter(|pull| !only_open || pull.state == "OPEN");
    let nodes: Vec<Value> = pulls
        .map(|pull| {
            json!({
                "id": format!("PR_{}", pull.number), "number": pull.number, "url": hub.url(pull.number),
                "state": pull.state, "headRefOid": hub.head(pull), "baseRefName": pull.base,
                "body": pull.body, "headRefName": pull.branch, "isCrossRepository": hub.parent.is_some(),
                "headRepositoryOwner": {"id": "U_1", "login": hub.owner, "name": ""}
            })
        })
        .collect();
    json!({"repository": {"pullRequests": {"nodes": nodes}, "defaultBranchRef": {"name": hub.default_branch}}})
}

fn created(hub: &mut Hub, input: &Value) -> Value {
    let head = words(&input["headRefName"]);
    let branch = head.rsplit(':').next().unwrap_or_default().to_owned();
    let number = hub.open(&branch, &words(&input["baseRefName"]));
    let url = hub.url(number);
    if let Some(pull) = hub.pulls.last_mut() {
        pull.title = words(&input["title"]);
        pull.body = words(&input["body"]);
        pull.draft = input["draft"].as_bool().unwrap_or_default();
    }
    json!({"createPullRequest": {"pullRequest": {"id": format!("PR_{number}"), "url": url}}})
}

fn for_merge(hub: &Hub, pull: &Pull) -> Value {
    json!({
        "id": format!("PR_{}", pull.number), "number": pull.number, "state": pull.state, "title": pull.title,
        "url": hub.url(pull.number), "headRefName": pull.branch, "baseRefName": pull.base,
        "headRefOid": hub.head(pull), "mergeStateStatus": "CLEAN", "isInMergeQueue": false,
        "isMergeQueueEnabled": false, "headRepositoryOwner": {"id": "U_1", "login": hub.owner, "name": ""},
        "commits": {"nodes": [{"commit": {"oid": hub.head(pull)}}]}
    })
}

fn merged(hub: &mut Hub, input: &Value) -> Answer {
    let refusal = |message: &str| {
        let errors = json!([{"type": "UNPROCESSABLE", "path": ["mergePullRequest"], "message": message}]);
        Answer::json(&json!({"data": {"mergePullRequest": null}, "errors": errors}))
    };
    if hub.refuses_merge {
        return refusal("Pull Request is not mergeable: At least 1 approving review is required");
    }
    let id = words(&input["pullRequestId"]);
    if hub.merges_after > 0 {
        hub.queue = Some((id, hub.merges_after));
        return Answer::json(&json!({"data": {"mergePullRequest": {"clientMutationId": ""}}}));
    }
    let heads: Vec<String> = hub.pulls.iter().map(|pull| hub.head(pull)).collect();
    let expected = input["expectedHeadOid"].as_str();
    for (pull, head) in hub.pulls.iter_mut().zip(heads) {
        if format!("PR_{}", pull.number) != id {
            continue;
        }
        if expected.is_some_and(|expected| expected != head) {
            return refusal("Head branch was modified. Review and try the merge again.");
        }
        pull.state = "MERGED";
        pull.head = Some(head);
        pull.merged_by = Some(words(&input["mergeMethod"]));
    }
    Answer::json(&json!({"data": {"mergePullRequest": {"clientMutationId": ""}}}))
}

fn look(hub: &mut Hub, number: u64) -> Value {
    hub.take_turn();
    let Some(pull) = hub.pull(number).cloned() else { return json!({"repository": {"pullRequest": null}}) };
    let head = hub.head(&pull);
    hub.notice(&head);
    *hub.looks.entry(head.clone()).or_default() += 1;
    let sight = hub.sight(&head);
    let checks: Vec<Value> =
        sight.checks.iter().enumerate().map(|(at, check)| check_node(hub, &head, at, check)).collect();
    let contexts = json!({"pageInfo": {"hasNextPage": false, "endCursor": null}, "nodes": checks});
    let rollup = if checks.is_empty() { Value::Null } else { json!({"contexts": contexts}) };
    json!({"viewer": {"login": VIEWER}, "repository": {"pullRequest": {
        "state": pull.state, "headRefOid": head, "mergeable": sight.mergeable,
        "mergeStateStatus": sight.merge_state,
        "reviews": {"nodes": sight.reviews.iter().map(|review| review_node(hub, review)).collect::<Vec<_>>()},
        "reviewRequests": {"nodes": hub.requested.iter().map(|login| json!({"requestedReviewer": {"login": login}}))
            .collect::<Vec<_>>()},
        "reviewThreads": {"nodes": sight.threads.iter().map(|thread| thread_node(hub, thread)).collect::<Vec<_>>()},
        "commits": {"nodes": [{"commit": {"statusCheckRollup": rollup}}]}
    }}})
}

fn check_node(hub: &Hub, head: &str, at: usize, check: &Check) -> Value {
    if check.external {
        let state = if check.conclusion.is_empty() { "PENDING" } else { check.conclusion };
        return json!({"__typename": "StatusContext", "id": format!("S_{at}"), "context": check.name,
            "state": state, "targetUrl": "https://ci.example.com/1", "description": check.log,
            "isRequired": check.required});
    }
    let (run, reruns) = (hub.run_id(head), hub.moment(head).reruns);
    let id = run * 100 + u64::try_from(reruns * 10 + at).expect("few checks");
    json!({"__typename": "CheckRun", "databaseId": id, "name": check.name, "status": check.status,
        "conclusion": check.conclusion, "title": "", "isRequired": check.required,
        "detailsUrl": format!("https://github.com/{}/actions/runs/{run}/job/{id}", hub.upstream()),
        "checkSuite": {"workflowRun": {"databaseId": run, "workflow": {"name": "CI"}}}})
}

fn review_node(hub: &Hub, review: &Review) -> Value {
    let commit = review.push.checked_sub(1).and_then(|place| hub.heads.get(place));
    json!({"id": format!("R_{}_{}", review.author, review.at), "state": review.state, "body": review.body,
        "submittedAt": review.at, "author": {"login": review.author}, "commit": {"oid": commit}})
}

fn thread_node(hub: &Hub, thread: &Thread) -> Value {
    let written = thread.comments.iter().map(|(author, text)| (*author, text.clone()));
    let answered =
        hub.answers.iter().filter(|(id, _)| id == thread.id).map(|(_, text)| (VIEWER, text.clone()));
    let comments: Vec<Value> = written
        .chain(answered)
        .enumerate()
        .map(|(at, (author, text))| {
            json!({"id": format!("{}_{at}", thread.id), "body": text, "author": {"login": author}})
        })
        .collect();
    json!({"id": thread.id, "isResolved": thread.resolved || hub.resolved.contains(thread.id),
        "path": thread.path, "line": thread.line, "comments": {"nodes": comments}})
}

fn thread_of(hub: &Hub, id: &str) -> Value {
    let head = hub.heads.last().cloned().unwrap_or_default();
    let sight = hub.sight(&head);
    let thread = sight.threads.iter().find(|thread| thread.id == id);
    json!({"viewer": {"login": VIEWER}, "node": thread.map(|thread| thread_node(hub, thread))})
}
