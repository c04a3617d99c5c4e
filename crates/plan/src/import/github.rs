//! Issues of GitHub, as they are answered with: a list of objects with number, title, body and state.

use std::collections::BTreeMap;

use super::json::{Node, Object};
use super::listing::{Item, Listing};
use super::tracker::SourceError;
use crate::markdown::{LineKind, regions};

/// How an id begins.
const SERIES: &str = "GH-";
/// How a dependency is said.
const DEPENDS: [&str; 4] = ["depends on", "blocked by", "after", "requires"];

/// The id of an issue.
fn id(number: &str) -> String {
    format!("{SERIES}{number}")
}

/// The number of the issue that an id stands for.
#[must_use]
pub fn issue_number(id: &str) -> Option<u64> {
    id.strip_prefix(SERIES)?.parse().ok()
}

/// Reads the answer.
pub(super) fn read(text: &str) -> Result<Listing, SourceError> {
    let issues = Node::read(text, 0)?.list().ok_or(SourceError::NotThis("a list of issues"))?;
    let mut listing = Listing::default();
    let mut found = Vec::new();
    for issue in issues.iter().filter_map(Node::object) {
        let Some(number) = issue.word("number") else { continue };
        if issue
            .word("stateReason")
            .is_some_and(|reason| matches!(reason.as_str(), "NOT_PLANNED" | "DUPLICATE"))
        {
            listing.leave_out(&id(&number), "closed as not planned");
        } else {
            found.push((number.parse::<u64>().unwrap_or(u64::MAX), item(&issue, &number)));
        }
    }
    found.sort_by_key(|(number, _)| *number);
    for (_, item) in found {
        listing.take(item);
    }
    listing.settle_dependencies(&BTreeMap::new());
    Ok(listing)
}

fn item(issue: &Object<'_>, number: &str) -> Item {
    let body = issue.word("body").unwrap_or_default();
    let Body { work, criteria, needs } = Body::of(&body);
    Item {
        id: id(number),
        called: format!("issue #{number}"),
        title: issue.word("title").unwrap_or_default(),
        work: vec![work],
        done_when: criteria,
        depends_on: needs,
        is_done: issue.word("state").is_some_and(|state| state.eq_ignore_ascii_case("closed")),
        ..Item::default()
    }
}

/// The parts of an issue's text.
#[derive(Default)]
struct Body {
    work: String,
    criteria: Vec<String>,
    needs: Vec<String>,
}

impl Body {
    /// Boxes are criteria; what is said of other issues makes an order.
    fn of(text: &str) -> Self {
        let regions = regions(text);
        let mut body = Self::default();
        for (line, kind) in regions.lines.iter().zip(&regions.kinds) {
            let line = line.of(text);
            match criterion(line.trim()).filter(|_| *kind == LineKind::Text) {
                Some(criterion) => body.criteria.push(criterion.to_owned()),
                None => body.work.extend([line.trim_end(), "\n"]),
            }
            body.needs.extend(needs(line));
        }
        body
    }
}

/// The words behind a box.
fn criterion(line: &str) -> Option<&str> {
    let item = line.strip_prefix(['-', '*', '+'])?.trim_start();
    let boxed = ["[ ]", "[x]", "[X]"].iter().find_map(|mark| item.strip_prefix(mark))?;
    Some(boxed.trim()).filter(|words| !words.is_empty())
}

/// The issues that a line says come first: "Depends on #12 and #13".
fn needs(line: &str) -> Vec<String> {
    let lower = line.to_ascii_lowercase();
    let start = DEPENDS.iter().find_map(|words| Some(lower.find(words)? + words.len()));
    let Some(rest) = start.and_then(|start| line.get(start..)) else { return Vec::new() };
    let words = rest.split(|c: char| c.is_whitespace() || matches!(c, ',' | ':' | '.' | ')'));
    let words = words.filter(|word| !word.is_empty());
    let listed = words.take_while(|word| word.starts_with('#') || matches!(*word, "and" | "&"));
    let numbers = listed.filter_map(|word| word.strip_prefix('#')?.parse::<u64>().ok());
    numbers.map(|number| id(&number.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issues_become_tasks_in_the_order_of_their_numbers() {
        let text = r##"[
            {"number": 13, "title": "Use it", "body": "Please.\r\nDepends on #12, #9.\n\n- [ ] It is `used`\n```\n- [ ] no box\n```", "state": "OPEN"},
            {"number": 12, "title": "Make it", "body": null, "state": "CLOSED", "stateReason": "COMPLETED"},
            {"number": 14, "title": "Never", "body": "", "state": "CLOSED", "stateReason": "NOT_PLANNED"}
        ]"##;
        let listing = read(text).unwrap();
        let shown: Vec<String> = listing
            .items
            .iter()
            .map(|item| format!("{} {} {:?} {:?}", item.id, item.is_done, item.depends_on, item.done_when))
            .collect();
        assert_eq!(shown, ["GH-12 true [] []", "GH-13 false [\"GH-12\"] [\"It is `used`\"]"]);
        assert_eq!(listing.left_out.len(), 1);
        assert_eq!(listing.problems, ["GH-13 depends on GH-9, which is not there: it does not wait"]);
        assert!(listing.items[1].work[0].contains("no box"));
        assert_eq!(issue_number("GH-12"), Some(12));
        assert_eq!(needs("After a while #3 came"), Vec::<String>::new());
    }
}
