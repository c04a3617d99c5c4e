//! Plans that nobody would write, and plans that somebody writes on purpose.

use proptest::prelude::*;

use crate::phase_expect::{is_never_written, lossless};

/// Pieces of which plans, and traps for their readers, are made.
const PIECES: &[&str] = &[
    "---",
    "phase: 03-parser",
    "plan: 01",
    "phase: \"\\.\"",
    "depends_on: [\"01-01\", 02]",
    "must_haves:",
    "  truths:",
    "    - a: b: c",
    "- x",
    "&a *a",
    "? [a]",
    "<tasks>",
    "</tasks>",
    "<task type=\"auto\">",
    "<task type='checkpoint:decision' id=\"1\">",
    "<task",
    "<task/>",
    "  <task>",
    "</task>",
    "x</task>",
    "<name>Task 1: a</name>",
    "<name>",
    "</name>",
    "<files>a.rs, b.rs</files>",
    "<action>",
    "</action>",
    "<verify>",
    "</verify>",
    "<automated>cargo test</automated>",
    "<automated>",
    "</automated>",
    "<options>",
    "<option id=\"a\">x</option>",
    "<option>",
    "</options>",
    "<done>ok</done>",
    "<how-to-verify>",
    "Vec<String>",
    "<a \"",
    "<a b='",
    "&amp;&amp;",
    "```",
    "```yaml",
    "~~~~",
    "`",
    "``",
    "`open",
    "\\`",
    "<!--",
    "-->",
    "<verification>",
    "- [ ] 1.1 a",
    "# Title",
    "",
    " ",
    "\t",
    "\u{feff}",
    "é",
    "\u{2028}",
    "\u{0}",
    "\r",
    "\"",
    "'",
];

fn plans() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(PIECES);
    let ending = prop::sample::select(&["\n", "\n", "\n", "\r\n", ""][..]);
    prop::collection::vec((piece, ending), 0..32)
        .prop_map(|pieces| pieces.into_iter().flat_map(|(piece, ending)| [piece, ending]).collect())
}

const ORDINARY: &str = "---\nphase: 03-parser\nplan: 01\nmust_haves:\n  truths:\n    - \"It works\"\n---\n\n<tasks>\n\n<task type=\"auto\">\n  <name>Task 1: a</name>\n  <files>a.rs</files>\n  <action>\n    Use `<b>` and\n    ```rust\n    Vec<u8>\n    ```\n  </action>\n  <verify>\n    <automated>cargo test &amp;&amp; cargo clippy</automated>\n  </verify>\n  <done>It is done</done>\n</task>\n\n<task type=\"checkpoint:decision\" gate=\"blocking\">\n  <decision>b</decision>\n  <options>\n    <option id=\"x\"><name>X</name></option>\n  </options>\n</task>\n\n</tasks>\n";

/// An ordinary plan with parts of it cut out, doubled or replaced.
fn mutated() -> impl Strategy<Value = String> {
    let edit = (any::<prop::sample::Index>(), 0..40_usize, prop::sample::select(PIECES));
    prop::collection::vec(edit, 1..6).prop_map(|edits| {
        let mut text: Vec<char> = ORDINARY.chars().collect();
        for (at, len, piece) in edits {
            let at = at.index(text.len() + 1).min(text.len());
            let end = (at + len).min(text.len());
            text.splice(at..end, piece.chars());
        }
        text.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn made_of_pieces(text in plans(), hint in "[-0-9a-zé./]{0,20}(-PLAN\\.md)?") {
        is_never_written(&lossless(&text, &hint));
    }

    #[test]
    fn made_of_anything(text in "\\PC*|[-<>/`~!=\"'&;:# a-z0-9\n\r\t]{0,300}", hint in "\\PC{0,30}") {
        lossless(&text, &hint);
        drop(plan::read_yaml(&text));
        drop(plan::read_yaml_leniently(&text));
    }

    #[test]
    fn an_ordinary_plan_with_mistakes(text in mutated()) {
        lossless(&text, "03-parser/03-01-PLAN.md");
    }

    #[test]
    fn yaml_of_anything(text in "([-?:,\\[\\]{}#&*!|>'\"%@` a-z0-9]{0,12}\n){0,10}") {
        drop(plan::read_yaml(&text));
        drop(plan::read_yaml_leniently(&text));
    }
}

/// Together these would take minutes if they took time that grows with the square of the length.
#[test]
fn long_text_is_read_in_one_go() {
    let many = 4_000;
    for piece in
        PIECES.iter().copied().chain(["<task>\n<name>a</name>\n</task>", "<a>", "a: ", "- ", "[", "{a: "])
    {
        for ending in ["\n", " "] {
            let text = format!("{piece}{ending}").repeat(many);
            for text in [
                format!("<task>\n<verify>{text}</verify>\n</task>"),
                format!("---\n{text}\n---\n<task>\n{text}\n</task>"),
                text,
            ] {
                let plan = plan::Plan::parse_phase(text, "");
                for task in plan.tasks().iter().take(2) {
                    drop((plan.verify(task), plan.fields(task), plan.question(task)));
                }
            }
        }
    }
}
