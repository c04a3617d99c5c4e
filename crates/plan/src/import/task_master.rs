//! task-master: `.taskmaster/tasks/tasks.json`, with tags and, as older versions wrote it, without.

use std::collections::BTreeMap;

use super::json::{Node, Object};
use super::listing::{Group, Item, Listing, Mark, Says, id_of};
use super::tracker::SourceError;

/// The tag whose tasks keep their plain numbers.
const MAIN: &str = "master";
/// Members beside tags that say something of the file.
const ASIDE: [&str; 4] = ["metadata", "meta", "version", "currentTag"];
/// What is done, and what nobody is to do.
const DONE: [&str; 2] = ["done", "completed"];
const LEFT: [(&str, &str); 3] =
    [("deferred", "deferred"), ("cancelled", "cancelled"), ("canceled", "cancelled")];

/// Reads the file.
pub(super) fn read(text: &str) -> Result<Listing, SourceError> {
    let file = Node::read(text, 0)?.object().ok_or(SourceError::NotThis("an object of tags or tasks"))?;
    let mut reader = Reader::default();
    let mut parts = Vec::new();
    if file.get("tasks").is_some_and(|tasks| tasks.list().is_some()) {
        parts.push((MAIN.to_owned(), file.list("tasks")));
    } else {
        reader.find_parts(&file, &mut parts);
    }
    if parts.is_empty() {
        return Err(SourceError::NotThis("tasks, with tags or without"));
    }
    let is_split = parts.iter().filter(|(_, tasks)| !tasks.is_empty()).count() > 1;
    for (tag, tasks) in &parts {
        let prefix = if tag == MAIN {
            String::new()
        } else {
            id_of(tag).map_or(String::new(), |tag| format!("{tag}."))
        };
        let of_tag = if tag == MAIN { String::new() } else { format!(" of tag {tag}") };
        let part = Part { prefix, of_tag, name: is_split.then(|| tag.clone()) };
        tasks.iter().for_each(|task| reader.task(&part, task));
    }
    let Reader { mut listing, of_groups } = reader;
    listing.settle_dependencies(&of_groups);
    Ok(listing)
}

/// The tasks of one tag.
struct Part {
    prefix: String,
    of_tag: String,
    name: Option<String>,
}

#[derive(Default)]
struct Reader {
    listing: Listing,
    of_groups: BTreeMap<String, Vec<String>>,
}

impl Reader {
    fn find_parts<'a>(&mut self, file: &Object<'a>, parts: &mut Vec<(String, Vec<Node<'a>>)>) {
        for (name, node) in file.members() {
            let inside = node.object();
            let tasks = inside.as_ref().and_then(|tag| tag.get("tasks")).and_then(Node::list);
            match (tasks.or_else(|| node.list()), inside) {
                (Some(tasks), _) => parts.push((name.clone(), tasks)),
                (None, Some(tags)) if name == "tags" => self.find_parts(&tags, parts),
                (None, _) if ASIDE.contains(&name.as_str()) => {}
                (None, _) => self.listing.problems.push(format!("`{name}` has no tasks and is no tag")),
            }
        }
    }

    fn task(&mut self, part: &Part, node: &Node<'_>) {
        let Some((task, number)) = identified(node) else {
            return self.listing.problems.push("a task without an id is left out".to_owned());
        };
        let id = format!("{}{number}", part.prefix);
        let subtasks = task.list("subtasks");
        let needs: Vec<String> = task.words("dependencies").iter().filter_map(|on| id_of(on)).collect();
        let needs: Vec<String> = needs.into_iter().map(|on| format!("{}{on}", part.prefix)).collect();
        if subtasks.is_empty() {
            let item = Item { depends_on: needs, ..item(part, &id, &number, &task) };
            self.keep(item, &task, false);
            return;
        }
        let status = task.word("status").unwrap_or_default();
        let left = left_out(&status);
        let is_done = DONE.contains(&status.as_str());
        if let Some(why) = left {
            self.listing.leave_out(&id, why);
        }
        let mut members = Vec::new();
        for sub in &subtasks {
            let Some((sub, own)) = identified(sub) else {
                self.listing.problems.push(format!("a subtask of {id} without an id is left out"));
                continue;
            };
            let own = own.strip_prefix(&format!("{number}.")).unwrap_or(&own).to_owned();
            let written = format!("{number}.{own}");
            let sub_id = format!("{}{written}", part.prefix);
            if let Some(why) = left {
                self.listing.leave_out(&sub_id, why);
                continue;
            }
            let needs = needs_of_subtask(&sub, &subtasks, (part, &number));
            let mut item = Item { depends_on: needs, ..item(part, &sub_id, &written, &sub) };
            item.work.extend(part_of(&id, &task));
            if self.keep(item, &sub, is_done) {
                members.push(sub_id);
            }
        }
        if left.is_some() {
            return;
        }
        let last = self.listing.items.last_mut().filter(|_| !members.is_empty());
        if let (Some(last), Some(strategy)) = (last, task.word("testStrategy")) {
            last.done_when.push(format!("For task {number} as a whole: {strategy}"));
        }
        self.of_groups.insert(id.clone(), needs);
        let marks = vec![Mark { slot: task.slot("status"), says: Says::Word("\"done\"") }];
        self.listing.groups.push(Group { id, members, is_settled: is_done, marks });
    }

    /// Takes in a task, unless its state or its id forbids that.
    fn keep(&mut self, item: Item, task: &Object<'_>, is_above_done: bool) -> bool {
        let status = task.word("status").unwrap_or_default();
        if let Some(why) = left_out(&status) {
            self.listing.leave_out(&item.id, why);
            return false;
        }
        let is_done = is_above_done || DONE.contains(&status.as_str());
        let marks = vec![Mark { slot: task.slot("status"), says: Says::Word("\"done\"") }];
        self.listing.take(Item { is_done, marks, ..item })
    }
}

/// A task, and its id as the file has it.
fn identified<'a>(node: &Node<'a>) -> Option<(Object<'a>, String)> {
    let task = node.object()?;
    let id = id_of(&task.word("id")?)?;
    Some((task, id))
}

fn left_out(status: &str) -> Option<&'static str> {
    LEFT.iter().find(|(known, _)| *known == status).map(|(_, why)| *why)
}

fn item(part: &Part, id: &str, written: &str, task: &Object<'_>) -> Item {
    let title = task.word("title").unwrap_or_default();
    let work = ["description", "details"].into_iter().filter_map(|name| task.word(name)).collect();
    let mut done_when = task.words("testStrategy");
    done_when.extend(task.words("acceptanceCriteria"));
    Item {
        id: id.to_owned(),
        called: format!("task {written}{}", part.of_tag),
        part: part.name.clone(),
        title,
        work,
        done_when,
        ..Item::default()
    }
}

/// The words of a task about what its subtasks are parts of.
fn part_of(id: &str, task: &Object<'_>) -> Option<String> {
    let title = task.word("title")?;
    let rest = task.word("description").map(|description| format!(": {description}")).unwrap_or_default();
    Some(format!("Part of {id}, {title}{rest}"))
}

/// What a subtask depends on: `2` is its neighbour where there is one, `3.2` is a subtask wherever it is.
fn needs_of_subtask(sub: &Object<'_>, all: &[Node<'_>], (part, number): (&Part, &str)) -> Vec<String> {
    let names: Vec<String> = all.iter().filter_map(|other| Some(identified(other)?.1)).collect();
    let whole = |own: &str| format!("{number}.{own}");
    let is_mate = |on: &str| names.iter().any(|name| name == on || *name == whole(on));
    let needs = sub.words("dependencies").into_iter().filter_map(|on| id_of(&on));
    let needs = needs.map(|on| {
        let on = if !on.contains('.') && is_mate(&on) { whole(&on) } else { on };
        format!("{}{on}", part.prefix)
    });
    needs.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const TAGGED: &str = r#"{
  "master": {
    "tasks": [
      {
        "id": 1,
        "title": "Set up",
        "status": "done",
        "dependencies": []
      },
      {
        "id": 2,
        "title": "Parser",
        "description": "Read it",
        "testStrategy": "`cargo test` passes",
        "dependencies": [1, 9],
        "status": "in-progress",
        "subtasks": [
          {"id": 1, "title": "Lexer", "status": "done", "dependencies": []},
          {"id": "2.2", "title": "Grammar", "dependencies": [1, "2.3"]},
          {"id": 3, "title": "Later", "status": "deferred", "dependencies": []}
        ]
      },
      {"id": 3, "title": "Use it", "status": "pending", "dependencies": ["2"]}
    ],
    "metadata": {}
  },
  "v 1": {"tasks": [{"id": "3", "title": "Other", "status": "cancelled"}, {"id": 4, "title": "Else"}]}
}"#;

    fn shown(listing: &Listing) -> Vec<String> {
        let item =
            |item: &Item| format!("{} {} {:?} {}", item.id, item.is_done, item.depends_on, item.called);
        listing.items.iter().map(item).collect()
    }

    #[test]
    fn tags_tasks_and_subtasks() {
        let listing = read(TAGGED).unwrap();
        insta::assert_snapshot!(shown(&listing).join("\n"), @r#"
        1 true [] task 1
        2.1 true ["1"] task 2.1
        2.2 false ["2.1"] task 2.2
        3 false ["2.2"] task 3
        v-1.4 false [] task 4 of tag v 1
        "#);
        insta::assert_snapshot!(listing.problems.join("\n"), @"
        2.1 depends on 9, which is not there: it does not wait
        2.2 depends on 2.3, which is left out (deferred): it does not wait
        ");
        assert_eq!(listing.left_out.len(), 2);
        assert_eq!(listing.item("2.2").unwrap().done_when, ["For task 2 as a whole: `cargo test` passes"]);
    }

    #[test]
    fn a_status_is_edited_in_place() {
        let listing = read(TAGGED).unwrap();
        let done = |ids: &[&str]| -> BTreeSet<String> { ids.iter().map(|id| (*id).to_owned()).collect() };
        let text = listing.with_done(TAGGED, &done(&["3", "v-1.4", "9"]), "");
        let expected = TAGGED.replace(r#""status": "pending""#, r#""status": "done""#);
        let expected = expected.replace(r#""title": "Else""#, r#""title": "Else","status":"done""#);
        assert_eq!(text, expected);
        // Its neighbour is deferred and not in the way of what is above.
        let text = listing.with_done(TAGGED, &done(&["2.2"]), "");
        assert!(text.contains(r#""dependencies": [1, "2.3"],"status":"done"}"#), "{text}");
        assert!(!text.contains("in-progress"), "{text}");
        let again = read(&text).unwrap();
        assert_eq!(again.with_done(&text, &done(&["2.2"]), ""), text);
    }
}
