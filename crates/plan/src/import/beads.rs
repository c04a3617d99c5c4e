//! beads: `.beads/issues.jsonl`, an issue in each line, or the same from `bd export`.

use std::collections::{BTreeMap, BTreeSet};

use super::json::{Node, Object};
use super::listing::{Group, Item, Listing, Mark, Says, id_of};
use super::tracker::SourceError;

/// What an issue without a priority has.
const MIDDLE: u32 = 2;

/// Reads the lines.
pub(super) fn read(text: &str) -> Result<Listing, SourceError> {
    let mut listing = Listing::default();
    let issues = issues(text, &mut listing)?;
    let parents = parents(&issues);
    let above: BTreeSet<&String> = parents.values().collect();
    let mut of_groups = BTreeMap::new();
    let mut found = Vec::new();
    for issue in &issues {
        let status = issue.object.word("status").unwrap_or_default();
        match status.as_str() {
            "tombstone" => listing.leave_out(&issue.id, "deleted"),
            "deferred" => listing.leave_out(&issue.id, "deferred"),
            _ if issue.is_epic() || above.contains(&issue.id) => {
                let members = parents.iter().filter(|(_, parent)| **parent == issue.id);
                let members = members.map(|(child, _)| child.clone()).collect();
                of_groups.insert(issue.id.clone(), issue.blockers());
                let is_settled = status == "closed";
                listing.groups.push(Group { id: issue.id.clone(), members, is_settled, marks: Vec::new() });
            }
            _ => found.push(issue),
        }
    }
    found.sort_by_cached_key(|issue| (issue.priority(), issue.object.word("created_at"), issue.id.clone()));
    for issue in found {
        let parent = parents.get(&issue.id).and_then(|id| issues.iter().find(|other| other.id == *id));
        listing.take(issue.item(parent));
    }
    flatten(&mut listing);
    listing.settle_dependencies(&of_groups);
    Ok(listing)
}

/// An issue, and its id as a plan can have it.
struct Issue<'a> {
    id: String,
    written: String,
    object: Object<'a>,
}

/// The issues of a text. What else stands in it, such as memories, is left out.
fn issues<'a>(text: &'a str, listing: &mut Listing) -> Result<Vec<Issue<'a>>, SourceError> {
    let mut issues = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if line.trim().is_empty() {
            continue;
        }
        let object =
            Node::read(line, start)?.object().ok_or(SourceError::NotThis("an object in each line"))?;
        let is_issue = object.word("_type").is_none_or(|kind| kind == "issue");
        let written = object.word("id").filter(|_| is_issue);
        match written.and_then(|written| Some((id_of(&written)?, written))) {
            Some((id, written)) => issues.push(Issue { id, written, object }),
            None => listing.leave_out(&object.word("key").unwrap_or_default(), "no issue"),
        }
    }
    if issues.is_empty() { Err(SourceError::NotThis("issues, one in each line")) } else { Ok(issues) }
}

/// The issue that each is a part of.
fn parents(issues: &[Issue<'_>]) -> BTreeMap<String, String> {
    let known: BTreeSet<&String> = issues.iter().map(|issue| &issue.id).collect();
    let pairs = issues.iter().filter_map(|issue| {
        let parent = issue.needs("parent-child").into_iter().find(|parent| known.contains(parent))?;
        Some((issue.id.clone(), parent))
    });
    pairs.filter(|(id, parent)| id != parent).collect()
}

/// Groups hold tasks alone: what stands below a group that is in a group stands below both.
fn flatten(listing: &mut Listing) {
    let members: BTreeMap<String, Vec<String>> =
        listing.groups.iter().map(|group| (group.id.clone(), group.members.clone())).collect();
    let tasks: BTreeSet<String> = listing.items.iter().map(|item| item.id.clone()).collect();
    for group in &mut listing.groups {
        let mut left = std::mem::take(&mut group.members);
        let mut seen = BTreeSet::new();
        while let Some(id) = left.pop() {
            if seen.insert(id.clone()) {
                left.extend(members.get(&id).into_iter().flatten().cloned());
            }
        }
        group.members = seen.into_iter().filter(|id| tasks.contains(id)).collect();
    }
}

impl Issue<'_> {
    fn is_epic(&self) -> bool {
        self.object.word("issue_type").is_some_and(|kind| kind == "epic")
    }

    fn priority(&self) -> u32 {
        self.object.word("priority").and_then(|priority| priority.parse().ok()).unwrap_or(MIDDLE)
    }

    /// What it depends on in one way.
    fn needs(&self, kind: &str) -> Vec<String> {
        let links = self.object.list("dependencies");
        let links = links.iter().filter_map(Node::object);
        let of_kind = links.filter(|link| link.word("type").is_some_and(|found| found == kind));
        of_kind.filter_map(|link| id_of(&link.word("depends_on_id")?)).collect()
    }

    fn blockers(&self) -> Vec<String> {
        self.needs("blocks")
    }

    fn item(&self, parent: Option<&Issue<'_>>) -> Item {
        let issue = &self.object;
        let mut work: Vec<String> =
            ["description", "design", "notes"].into_iter().filter_map(|name| issue.word(name)).collect();
        work.extend(parent.map(|parent| {
            let title = parent.object.word("title").unwrap_or_default();
            format!("Part of {}, {title}", parent.written)
        }));
        Item {
            id: self.id.clone(),
            called: format!("issue {}", self.written),
            title: issue.word("title").unwrap_or_default(),
            work,
            done_when: issue.words("acceptance_criteria"),
            depends_on: self.blockers(),
            is_done: issue.word("status").is_some_and(|status| status == "closed"),
            // A closed issue that does not say since when is none to beads.
            marks: vec![
                Mark { slot: issue.slot("status"), says: Says::Word("\"closed\"") },
                Mark { slot: issue.slot("closed_at"), says: Says::Now },
            ],
            ..Item::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = r#"{"_type":"memory","key":"k"}
{"id":"bd-e1","title":"Epic","status":"open","priority":1,"issue_type":"epic","dependencies":[{"issue_id":"bd-e1","depends_on_id":"bd-x","type":"blocks"}]}
{"id":"bd-b","title":"Second","description":"Do it","status":"open","priority":1,"issue_type":"task","created_at":"2026-01-02","dependencies":[{"issue_id":"bd-b","depends_on_id":"bd-e1","type":"parent-child"},{"issue_id":"bd-b","depends_on_id":"bd-a","type":"blocks"},{"issue_id":"bd-b","depends_on_id":"bd-t","type":"related"}]}
{"id":"bd-a","title":"First","status":"in_progress","priority":1,"issue_type":"task","created_at":"2026-01-01","dependencies":[{"issue_id":"bd-a","depends_on_id":"bd-e1","type":"parent-child"}]}

{"id":"bd-x","title":"Before","status":"closed","priority":3,"closed_at":"2026-01-01"}
{"id":"bd-t","title":"Gone","status":"tombstone","priority":1}
{"id":"bd-z","title":"After","status":"open","priority":0,"dependencies":[{"issue_id":"bd-z","depends_on_id":"bd-e1","type":"blocks"}]}
"#;

    #[test]
    fn leaves_wait_for_what_their_epic_waits_for() {
        let listing = read(LINES).unwrap();
        let shown: Vec<String> = listing
            .items
            .iter()
            .map(|item| format!("{} {} {:?}", item.id, item.is_done, item.depends_on))
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        bd-z false ["bd-b"]
        bd-a false ["bd-x"]
        bd-b false ["bd-a"]
        bd-x true []
        "#);
        assert_eq!((listing.groups.len(), listing.left_out.len(), listing.problems.len()), (1, 2, 0));
    }

    #[test]
    fn a_line_is_closed_in_place() {
        let listing = read(LINES).unwrap();
        let text = listing.with_done(LINES, &["bd-a".to_owned()].into(), "2026-02-03T04:05:06Z");
        let expected = LINES.replace("in_progress", "closed").replace(
            r#"[{"issue_id":"bd-a","depends_on_id":"bd-e1","type":"parent-child"}]"#,
            r#"[{"issue_id":"bd-a","depends_on_id":"bd-e1","type":"parent-child"}],"closed_at":"2026-02-03T04:05:06Z""#,
        );
        assert_eq!(text, expected);
        assert!(read("{\"a\":1}\n").is_err() && read("x").is_err());
    }
}
