//! How a task is verified: its `<automated>` commands, or what its `<verify>` says besides.

use super::element::{Content, Element, content, decode, dedented, is_one_of};
use super::opaque::Opaque;
use super::task_block::Block;
use crate::Script;
use crate::verify::{Verify, classify, classify_automated};

/// The elements that say how a task is verified.
pub(super) const NAMES: [&str; 3] = ["verify", "verification", AUTOMATED];

const AUTOMATED: &str = "automated";

/// Decides how the task with this block is verified.
pub(crate) fn read(block: &str) -> Verify {
    let block = Block::read(block);
    let elements = block.content.elements.iter().filter(|element| is_one_of(element.name(), &NAMES));
    let texts: Vec<&str> = elements.map(|element| element.said(block.text)).collect();
    let parts: Vec<Part> = texts.iter().map(|text| Part::read(text)).collect();
    let commands: Vec<String> = parts.iter().flat_map(|part| &part.commands).cloned().collect();
    if !commands.is_empty() {
        return Verify::Runnable(Script::new(commands));
    }
    // What is said outside the elements of a `<verify>` may be a command as well; what is inside them asks
    // a person, or says that there is no command yet.
    let loose: Vec<&str> = parts.iter().map(|part| part.loose.as_str()).collect();
    let whole = dedented(&texts.join("\n"));
    match classify(&decode(&loose.join("\n"))) {
        Verify::Runnable(script) => Verify::Runnable(script),
        Verify::Prose(_) => Verify::Prose(whole),
        Verify::Absent if parts.iter().any(|part| part.asks) => Verify::Prose(whole),
        Verify::Absent => Verify::Absent,
    }
}

impl Element<'_> {
    /// Its text about verifying; `<automated>` may stand on its own.
    pub(super) fn said<'b>(&self, text: &'b str) -> &'b str {
        let range = if is_one_of(self.name(), &[AUTOMATED]) { &self.outer } else { &self.inner };
        &text[range.clone()]
    }
}

/// One `<verify>`, as it was read.
struct Part {
    commands: Vec<String>,
    loose: String,
    /// True if it has elements that say something and are no command.
    asks: bool,
}

impl Part {
    fn read(text: &str) -> Part {
        let content: Content<'_> = content(text, 0..text.len(), &Opaque::of(text));
        let mut part = Part { commands: Vec::new(), loose: content.loose(text, 0..text.len()), asks: false };
        for element in &content.elements {
            let text = element.text(text);
            let automated = element.name().eq_ignore_ascii_case(AUTOMATED);
            match if automated { classify_automated(&decode(text)) } else { Verify::Prose(String::new()) } {
                Verify::Runnable(script) => part.commands.extend(script.snippets),
                Verify::Prose(_) => part.asks |= !text.trim().is_empty(),
                Verify::Absent => {}
            }
        }
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands, `prose: …` or nothing.
    fn verify(inner: &str) -> String {
        match read(&format!("<task>\n{inner}\n</task>")) {
            Verify::Runnable(script) => script.snippets.join(" | "),
            Verify::Prose(text) => format!("prose: {text}"),
            Verify::Absent => String::new(),
        }
    }

    #[test]
    fn every_kind() {
        for (inner, expected) in [
            ("", ""),
            ("<verify></verify>", ""),
            ("<verify>N/A</verify>", ""),
            ("<verify>cargo test</verify>", "cargo test"),
            ("<verify>`cargo test` passes</verify>", "cargo test"),
            ("<verify>\n  ```bash\n  cargo test\n  ```\n</verify>", "cargo test"),
            ("<verify>a &amp; b look right</verify>", "prose: a &amp; b look right"),
            ("<verify>cd app &amp;&amp; npm test 2&gt;&amp;1</verify>", "cd app && npm test 2>&1"),
            ("<verify><automated>cd app && npm test</automated></verify>", "cd app && npm test"),
            ("<verify><automated>cd app &amp;&amp; npm test</automated></verify>", "cd app && npm test"),
            ("<verify><automated>`npm test`</automated></verify>", "npm test"),
            (
                "<verify>\n<automated>a-tool check</automated>\n<automated>npm test</automated>\n</verify>",
                "a-tool check | npm test",
            ),
            ("<verify><automated>npm test</automated>\nThen look at the page.</verify>", "npm test"),
            ("<verify><automated>npm test</automated><manual>Look</manual></verify>", "npm test"),
            (
                "<verify><automated>MISSING — Wave 0 must create it first</automated></verify>",
                "prose: <automated>MISSING — Wave 0 must create it first</automated>",
            ),
            (
                "<verify><automated>MANUAL: look</automated></verify>",
                "prose: <automated>MANUAL: look</automated>",
            ),
            ("<verify><automated>N/A</automated></verify>", ""),
            (
                "<verify><automated>n/a (docs only)</automated></verify>",
                "prose: <automated>n/a (docs only)</automated>",
            ),
            (
                "<verify><automated>Run the app and check that it starts</automated></verify>",
                "prose: <automated>Run the app and check that it starts</automated>",
            ),
            (
                "<verify><automated>check that the page loads</automated></verify>",
                "prose: <automated>check that the page loads</automated>",
            ),
            ("<verify><automated>MISSING</automated>\n`npm test`</verify>", "npm test"),
            (
                "<verify><human-check>`curl x` shows it</human-check></verify>",
                "prose: <human-check>`curl x` shows it</human-check>",
            ),
            ("<automated>npm test</automated>", "npm test"),
            ("<verify><automated>grep -c '<task' a.md</automated></verify>", "grep -c '<task' a.md"),
            (
                "<verify><automated>npm test -- <name></automated></verify>",
                "prose: <automated>npm test -- <name></automated>",
            ),
        ] {
            assert_eq!(verify(inner), expected, "{inner}");
        }
    }

    #[test]
    fn scripts_keep_their_lines() {
        let inner = "<verify>\n    <automated>\n      python -c \"\n      if x:\n          y\n      \"\n    </automated>\n</verify>";
        assert_eq!(verify(inner), "python -c \"\nif x:\n    y\n\"");
    }
}
