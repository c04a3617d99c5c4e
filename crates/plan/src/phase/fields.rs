//! The fields of a task: the elements of its block.

use super::element::{dedented, is_one_of};
use super::task_block::Block;
use crate::spec::{Commit, Fields, Files};

/// Reads the fields of a block. Its commit is made from its title, so none is read.
pub(crate) fn read(block: &str) -> Fields {
    let block = Block::read(block);
    let mut fields = Fields { commit: Commit::Unset, ..Fields::default() };
    let mut files = None;
    for element in &block.content.elements {
        let name = element.name();
        let is = |names: &[&str]| is_one_of(name, names);
        let text = dedented(if is(&super::verify::NAMES) {
            element.said(block.text)
        } else {
            element.text(block.text)
        });
        if is(&["action", "instructions", "instruction"]) {
            append(&mut fields.do_, text);
        } else if is(&["files", "file"]) {
            append(&mut files, text);
        } else if is(&["done", "done_when", "done-when"]) {
            append(&mut fields.done_when, text);
        } else if is(&super::verify::NAMES) {
            append(&mut fields.verify, text);
        } else if !is(&["name", "n", "title"]) {
            fields.others.push((name.to_owned(), text));
        }
    }
    fields.files = files.map(|text| Files::read(&text));
    if fields.do_.is_none() {
        fields.do_ = Some(dedented(&block.loose())).filter(|text| !text.is_empty());
    }
    fields
}

fn append(slot: &mut Option<String>, text: String) {
    match slot {
        Some(before) => {
            before.push('\n');
            before.push_str(&text);
        }
        None => *slot = Some(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_fields_of_a_task() {
        let block = "<task type=\"auto\">
  <name>Task 1: a</name>
  <files>a.rs, b/c.rs (new)</files>
  <read_first>
    - d.rs
  </read_first>
  <action>
    Use `<action>` and Vec<String>.
      - deeper &amp; deeper
  </action>
  <verify>
    <automated>cargo test</automated>
  </verify>
  <done>It works</done>
</task>";
        let fields = read(block);
        assert_eq!(fields.do_.as_deref(), Some("Use `<action>` and Vec<String>.\n  - deeper &amp; deeper"));
        assert_eq!(fields.files.unwrap().paths, ["a.rs", "b/c.rs"]);
        assert_eq!(fields.done_when.as_deref(), Some("It works"));
        assert_eq!(fields.verify.as_deref(), Some("<automated>cargo test</automated>"));
        assert_eq!(fields.others, [("read_first".to_owned(), "- d.rs".to_owned())]);
        assert_eq!(fields.commit, Commit::Unset);
    }

    #[test]
    fn other_spellings() {
        assert_eq!(read("<task><instructions>a</instructions></task>").do_.as_deref(), Some("a"));
        assert_eq!(
            read("<task title=\"t\">\n\n**File**: a\n\nb\n</task>").do_.as_deref(),
            Some("**File**: a\n\nb")
        );
        assert_eq!(read("<task><action>a</action><action>b</action></task>").do_.as_deref(), Some("a\nb"));
        assert_eq!(read("<task></task>"), Fields::default());
        assert_eq!(read("<task><files>none</files></task>").files.unwrap().paths, [""; 0]);
    }
}
