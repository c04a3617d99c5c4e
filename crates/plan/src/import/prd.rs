//! `prd.json`: stories that pass or do not, as snarktank's ralph and those after it keep them.

use std::collections::BTreeMap;

use super::json::{Node, Object};
use super::listing::{Item, Listing, Mark, Says, id_of};
use super::tracker::SourceError;
use crate::one_line::one_line;

/// Members that say what the whole is about.
const ABOUT: [&str; 3] = ["description", "goal", "overview"];

/// Reads the file.
pub(super) fn read(text: &str) -> Result<Listing, SourceError> {
    let file = Node::read(text, 0)?.object().ok_or(SourceError::NotThis("an object with userStories"))?;
    let stories = file.get("userStories").and_then(Node::list);
    let stories = stories.ok_or(SourceError::NotThis("userStories"))?;
    let mut listing = Listing {
        title: ["project", "productName", "name"].into_iter().find_map(|name| file.word(name)),
        about: ABOUT.into_iter().filter_map(|name| file.word(name)).collect(),
        branch: file.word("branchName").map(|branch| one_line(&branch)),
        ..Listing::default()
    };
    listing.about.extend(context(&file));
    let mut found: Vec<(f64, Item)> = Vec::new();
    for story in &stories {
        match story.object().and_then(|story| Some((rank(&story), item(&story)?))) {
            Some(ranked) => found.push(ranked),
            None => listing.problems.push("a story without an id is left out".to_owned()),
        }
    }
    // Stories of one priority stay in the order of the file.
    found.sort_by(|(left, _), (right, _)| left.total_cmp(right));
    for (_, item) in found {
        listing.take(item);
    }
    listing.settle_dependencies(&BTreeMap::new());
    Ok(listing)
}

/// What all stories are to keep to, a line for each member.
fn context(file: &Object<'_>) -> Vec<String> {
    let Some(context) = file.get("context").and_then(Node::object) else { return file.words("context") };
    let line = |name: &String| {
        let words = context.words(name);
        (!words.is_empty()).then(|| format!("{name}: {}", words.join("; ")))
    };
    context.members().iter().filter_map(|(name, _)| line(name)).collect()
}

/// The place of a story: the lowest number comes first, what has none last.
fn rank(story: &Object<'_>) -> f64 {
    story
        .word("priority")
        .and_then(|rank| rank.parse().ok())
        .filter(|rank: &f64| rank.is_finite())
        .unwrap_or(f64::MAX)
}

fn item(story: &Object<'_>) -> Option<Item> {
    let written = story.word("id")?;
    let criteria = story.list("acceptanceCriteria");
    let objects: Vec<Object<'_>> = criteria.iter().filter_map(Node::object).collect();
    let mut done_when: Vec<String> = criteria.iter().filter_map(Node::word).collect();
    done_when.extend(objects.iter().filter_map(|criterion| criterion.word("text")));
    let mut work: Vec<String> =
        ["description", "notes"].into_iter().filter_map(|name| story.word(name)).collect();
    work.extend(story.word("spec_path").map(|path| format!("See {path}")));
    Some(Item {
        id: id_of(&written)?,
        called: format!("story {written}"),
        title: story.word("title").unwrap_or_default(),
        work,
        done_when,
        commands: objects.iter().filter_map(|criterion| criterion.word("testCommand")).collect(),
        depends_on: ["deps", "dependsOn", "dependencies"]
            .iter()
            .flat_map(|name| story.words(name))
            .filter_map(|on| id_of(&on))
            .collect(),
        is_done: story.get("passes").is_some_and(Node::is_true),
        marks: vec![Mark { slot: story.slot("passes"), says: Says::Word("true") }],
        ..Item::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRD: &str = r#"{
  "project": "Photos",
  "branchName": "ralph/photos",
  "description": "Keep photos",
  "context": {"rules": ["Be brief", "Be kind"]},
  "userStories": [
    {"id": "US-002", "title": "Second", "priority": 2, "passes": false, "acceptanceCriteria": ["`npm test` passes"], "deps": ["US-001", "US-9"]},
    {"id": "US-001", "title": "First", "priority": 1, "passes": false,
     "acceptanceCriteria": [{"id": "AC", "text": "It is there", "testCommand": "test -f a", "passes": false}]},
    {"title": "Nameless"}
  ]
}"#;

    #[test]
    fn stories_in_the_order_of_their_priority() {
        let listing = read(PRD).unwrap();
        let ids: Vec<&str> = listing.items.iter().map(|item| item.id.as_str()).collect();
        assert_eq!(ids, ["US-001", "US-002"]);
        assert_eq!(listing.about, ["Keep photos", "rules: Be brief; Be kind"]);
        assert_eq!(listing.items[0].commands, ["test -f a"]);
        assert_eq!(listing.items[1].depends_on, ["US-001"]);
        let problems = [
            "a story without an id is left out",
            "US-002 depends on US-9, which is not there: it does not wait",
        ];
        assert_eq!(listing.problems, problems);
        let done = ["US-001".to_owned()].into();
        let text = listing.with_done(PRD, &done, "");
        assert_eq!(
            text,
            PRD.replace("\"priority\": 1, \"passes\": false", "\"priority\": 1, \"passes\": true")
        );
    }

    #[test]
    fn what_an_agent_called_done_goes_back() {
        let before = read(PRD).unwrap();
        let now = PRD.replace("\"passes\": false", "\"passes\": true");
        let (text, ids) = read(&now).unwrap().with_marks_of(&now, (PRD, &before), |id| id == "US-002");
        assert_eq!(ids, ["US-002"]);
        assert_eq!(
            text,
            now.replacen("\"priority\": 2, \"passes\": true", "\"priority\": 2, \"passes\": false", 1)
        );
    }
}
