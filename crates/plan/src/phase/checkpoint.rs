//! Checkpoints: what a person is asked, and what the answers are.

use super::element::{Content, content, dedented, is_one_of};
use super::opaque::Opaque;
use super::task_block::Block;
use super::task_type::TaskType;

/// One of the options of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The word that an answer names it by: the option's `id`, else its place, counted from one.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Further notes about it, by element: `pros`, `cons`.
    pub notes: Vec<(String, String)>,
}

/// The sections of a question in the order in which a person reads them.
const SECTIONS: [(&str, &[&str]); 8] = [
    ("Decision", &["decision"]),
    ("Context", &["context"]),
    ("What was built", &["what-built", "what_built"]),
    ("What is needed", &["what-needed", "needed", "why", "reason"]),
    ("What to do", &["action", "instructions", "instruction", "steps"]),
    ("How to verify", &["how-to-verify", "how_to_verify", "verify", "verification"]),
    ("Files", &["files", "file"]),
    ("Done when", &["done", "acceptance_criteria"]),
];

const ANSWERS: [&str; 2] = ["resume-signal", "resume_signal"];

/// The text of a question.
pub(crate) fn question(block: &str, type_: TaskType) -> String {
    let block = Block::read(block);
    let mut text = block.title().map_or("", |range| &block.text[range]).to_owned();
    let choices = choices_of(&block);
    for (heading, names) in SECTIONS {
        let parts: Vec<String> = block.content.texts(block.text, names).map(without_tags).collect();
        section(&mut text, heading, &parts.join("\n"));
        if heading == "Context" {
            let options: Vec<String> = choices.iter().map(shown).collect();
            section(&mut text, "Options", &options.join("\n"));
        }
    }
    for element in block.content.elements.iter().filter(|element| !is_shown_elsewhere(element.name())) {
        section(&mut text, &heading(element.name()), &without_tags(element.text(block.text)));
    }
    if block.content.elements.is_empty() {
        section(&mut text, "What to do", &dedented(&block.loose()));
    }
    let answers: Vec<String> = block.content.texts(block.text, &ANSWERS).map(dedented).collect();
    let answer = answers.join("\n");
    section(&mut text, "Answer", if answer.is_empty() { default_answer(type_) } else { &answer });
    text
}

fn is_shown_elsewhere(name: &str) -> bool {
    SECTIONS.iter().any(|(_, names)| is_one_of(name, names))
        || is_one_of(name, &ANSWERS)
        || is_one_of(name, &["name", "n", "title", "options", "option"])
}

/// `how-it-looks` as a heading.
fn heading(name: &str) -> String {
    let mut words = name.replace(['-', '_'], " ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

/// The options of a block.
pub(crate) fn choices(block: &str) -> Vec<Choice> {
    choices_of(&Block::read(block))
}

fn choices_of(block: &Block<'_>) -> Vec<Choice> {
    let direct = options(block.text, &block.content, 0);
    if !direct.is_empty() {
        return direct;
    }
    let mut found = Vec::new();
    for text in block.content.texts(block.text, &["options"]) {
        let inner = content(text, 0..text.len(), &Opaque::of(text));
        found.extend(options(text, &inner, found.len()));
    }
    found
}

fn options(text: &str, content_: &Content<'_>, before: usize) -> Vec<Choice> {
    let named = content_.elements.iter().filter(|element| is_one_of(element.name(), &["option"]));
    let choice = |(at, element): (usize, &super::element::Element<'_>)| {
        let attribute =
            |name: &str| element.tag.attribute(text, name).map(|range| text[range].trim().to_owned());
        let body = element.text(text);
        let inner = content(body, 0..body.len(), &Opaque::of(body));
        let name = inner.texts(body, &["name", "title"]).map(dedented).next();
        let loose = dedented(&inner.loose(body, 0..body.len()));
        let notes = inner.elements.iter().filter(|note| !is_one_of(note.name(), &["name", "title"]));
        Choice {
            id: attribute("id").filter(|id| !id.is_empty()).unwrap_or_else(|| (before + at + 1).to_string()),
            name: name.or_else(|| attribute("name")).unwrap_or(loose),
            notes: notes.map(|note| (note.name().to_owned(), dedented(note.text(body)))).collect(),
        }
    };
    named.enumerate().map(choice).collect()
}

fn shown(choice: &Choice) -> String {
    let mut text = format!("- `{}`: {}", choice.id, choice.name);
    for (name, note) in &choice.notes {
        text.push_str(&format!("\n  {name}: {}", note.replace('\n', "\n  ")));
    }
    text
}

fn section(text: &mut String, heading: &str, body: &str) {
    if body.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(&format!("{heading}:\n{body}"));
}

/// The text of an element, with what its own elements hold in place of their tags.
fn without_tags(text: &str) -> String {
    let inner = content(text, 0..text.len(), &Opaque::of(text));
    if inner.elements.is_empty() {
        return dedented(text);
    }
    let loose = dedented(&inner.loose(text, 0..text.len()));
    let parts = inner.elements.iter().map(|element| dedented(element.text(text)));
    let parts: Vec<String> = [loose].into_iter().chain(parts).filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

fn default_answer(type_: TaskType) -> &'static str {
    match type_ {
        TaskType::Decision => "Name one of the options, or say what to do instead.",
        TaskType::HumanAction => "Say \"done\" when it is done, or describe what is in the way.",
        TaskType::HumanVerify | TaskType::Auto | TaskType::Tdd => {
            "Say \"approved\", or describe what is wrong."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decision() {
        let block = "<task type=\"checkpoint:decision\" gate=\"blocking\">
  <decision>Which database</decision>
  <context>It has to last.</context>
  <options>
    <option id=\"pg\">
      <name>Postgres</name>
      <pros>Known</pros>
      <cons>Big</cons>
    </option>
    <option id=\"lite\"><name>SQLite</name></option>
    <option>Neither</option>
  </options>
  <resume-signal>Reply \"pg\" or \"lite\"</resume-signal>
</task>";
        insta::assert_snapshot!(question(block, TaskType::Decision), @r#"
        Which database

        Decision:
        Which database

        Context:
        It has to last.

        Options:
        - `pg`: Postgres
          pros: Known
          cons: Big
        - `lite`: SQLite
        - `3`: Neither

        Answer:
        Reply "pg" or "lite"
        "#);
        let ids: Vec<String> = choices(block).into_iter().map(|choice| choice.id).collect();
        assert_eq!(ids, ["pg", "lite", "3"]);
    }

    #[test]
    fn something_to_look_at() {
        let block = "<task type=\"checkpoint:human-verify\">
  <name>Task 2: Look</name>
  <what-built>A page</what-built>
  <read_first>a.md</read_first>
  <how-to-verify>
    1. Open it
    2. Look
  </how-to-verify>
  <verify><automated>npm test</automated></verify>
</task>";
        insta::assert_snapshot!(question(block, TaskType::HumanVerify), @r#"
        Task 2: Look

        What was built:
        A page

        How to verify:
        1. Open it
        2. Look
        npm test

        Read first:
        a.md

        Answer:
        Say "approved", or describe what is wrong.
        "#);
        assert_eq!(choices(block), []);
    }

    #[test]
    fn nothing_at_all() {
        assert_eq!(
            question("<task>\nPush the button\n</task>", TaskType::HumanAction),
            "Push the button\n\nWhat to do:\nPush the button\n\nAnswer:\nSay \"done\" when it is done, or describe what is in the way."
        );
    }
}
