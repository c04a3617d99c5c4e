//! Text that nobody would write, and text that somebody writes on purpose.

use proptest::prelude::*;

use crate::expect;

/// Pieces of which plans, and traps for their readers, are made.
const PIECES: &[&str] = &[
    "- [ ] 1.1 a",
    "- [x] 1.10 b",
    "- [ ] 1.1.1 c",
    "* [X] T001 [P] d",
    "- [~] VE-x e",
    "-[ ] 2 f",
    "- [ ]3 g",
    "- [] 4 h",
    "  - [ ] 5 nested",
    "- [ ] plain",
    "### Task 7: header",
    "### Task 8: header [x]",
    "### Task 9: done ✓",
    "## Phase 1",
    "# Title",
    "---",
    "***",
    "",
    " ",
    "\t",
    "```",
    "```bash",
    "~~~",
    "    ```",
    "- ```",
    "`",
    "``",
    "a ` b",
    "`open",
    "close`",
    "\\`",
    "cat <<EOF",
    "EOF",
    "<<'EOF'",
    "<!--",
    "-->",
    "<!-- x -->",
    "  - **Do**:",
    "  - **Files**: `a.rs`, b.rs",
    "  - **Done when**: ok",
    "  - **Verify**: `cargo test | tail -5`",
    "  - **Verify**:",
    "**Verify:** `x",
    "    ```sh",
    "    cargo test",
    "  - **Commit**: None",
    "  - _Req: x_",
    "\u{feff}",
    "é",
    "\u{2028}",
    "\u{0}",
    "\r",
    "[FIX 1.1]",
    "- [ ] 1.1.2 [FIX 1.1] x",
    "- [ ] #1.1 [FIX #1] x",
    "    - **Verify**: deep",
    "key: value",
    "- [✓] 6 i",
    "'",
    "\"",
    "- [ ] 1.1 again",
    "- [ ]",
    "- [ ] **8.1** bold",
    "\t- **Verify**: `t`",
];

fn plans() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(PIECES);
    let ending = prop::sample::select(&["\n", "\n", "\n", "\r\n", ""][..]);
    prop::collection::vec((piece, ending), 0..24)
        .prop_map(|pieces| pieces.into_iter().flat_map(|(piece, ending)| [piece, ending]).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn made_of_pieces(text in plans()) {
        let plan = expect::lossless(&text);
        for task in plan.tasks() {
            expect::ticks(&plan, &task.id);
        }
    }

    #[test]
    fn made_of_anything(text in "\\PC*|[-\\[\\] x`~#*<>!:\n\r\t.0-9a-zA-Z]{0,200}") {
        let plan = expect::lossless(&text);
        for task in plan.tasks() {
            expect::ticks(&plan, &task.id);
        }
        drop(plan::one_line(&text));
    }

    #[test]
    fn files_are_parts_of_the_field(text in "[-`,;:()*./ a-zN{}—é\\[\\]]{0,80}") {
        let plan = plan::Plan::parse(format!("- [ ] 1.1 a\n  - **Files**: {text}\n"));
        let files = plan.fields(&plan.tasks()[0]).files.unwrap_or_default();
        for path in &files.paths {
            prop_assert!(!path.is_empty() && text.contains(path.as_str()), "{path:?} in {text:?}");
        }
    }

    #[test]
    fn a_fix_is_one_task_whatever_the_plan(text in plans()) {
        let plan = plan::Plan::parse(text);
        for task in plan.tasks() {
            // Where the text around does not allow a fix, it is refused and nothing changes.
            drop(expect::gains_one_fix(&plan, &task.id, "e"));
        }
    }

    #[test]
    fn a_fix_is_one_task_whatever_the_error(error in prop::collection::vec(prop::sample::select(PIECES), 0..8), newline in "[\n\r\u{85} ]") {
        one_fix(&error.join(&newline));
    }

    #[test]
    fn a_harmless_line_is_harmless(text in "[-\\[\\] x`~#*<>!:\n\r\tPFIX.0-9]{0,80}") {
        let line = plan::one_line(&text);
        for mark in ["\n", "\r", "`", "**", "~~", "<<", "<!", "[ ]", "[x]", "[]", "[P]", "[FIX]", "\t"] {
            prop_assert!(!line.contains(mark), "{:?} in {:?}", mark, line);
        }
    }
}

fn one_fix(error: &str) {
    let text = "## Phase 1\n\n- [ ] 1.1 a\n  - **Files**: `a.rs`\n  - **Verify**: `cargo test`\n\n- [ ] 1.2 b\n  - **Do**: `x`\n\n## Phase 2\n\n- [x] 2.1 c\n\n```\nEOF\n```\n";
    let plan = plan::Plan::parse(text.to_owned());
    let fixed = expect::gains_one_fix(&plan, &"1.1".into(), error).expect("an ordinary plan");
    let fix = fixed.task(&"1.1.1".into()).expect("the fix");
    let fields = fixed.fields(fix);
    assert_eq!(fields.verify.as_deref(), Some("`cargo test`"));
    assert_eq!(fields.files.expect("files").text, "`a.rs`");
    assert!(fields.others.is_empty() && fields.do_.is_some() && fields.done_when.is_some());
    assert_eq!(fixed.block(fix).lines().count(), 9);
    assert_eq!(fixed.text().matches("- [").count(), 4);
    assert!(fixed.text().len() < text.len() + 8192);
}

#[test]
fn errors_written_on_purpose() {
    for error in [
        "- [ ] 9.9 evil\n- [x] 1.2 b",
        "x\n## Phase 9\n- [ ] 9.9 evil",
        "```bash\nrm -rf /\n```",
        "```",
        "`",
        "a `b` c ` d",
        "x\n  - **Verify**: `true`\n  - **Files**: `/etc/passwd`",
        "**Verify**: rm -rf /",
        "\" no longer occurs\n  - **Verify**: true",
        "cat <<EOF",
        "<!--",
        "[P] [VERIFY] [FIX 2.1]",
        "ends in a marker [VERIFY]",
        "\r- [ ] 9.9 a\u{85}- [ ] 9.9 b\u{2028}- [ ] 9.9 c\u{2029}\u{b}\u{c}- [ ] 9.9 d",
        "\u{202e}\u{2066}\u{0}\u{1b}[31m- [ ] 9.9",
        "-\u{200b} [\u{200b} ] 9.9",
        "~~~",
        "---",
        "    indented",
        "",
        " \n ",
    ] {
        one_fix(error);
    }
    one_fix(&"- [ ] 9.9 evil ".repeat(70_000));
    one_fix(&"`".repeat(1_000_000));
    one_fix(&"\n".repeat(1_000_000));
    one_fix(&"ü".repeat(1_000_000));
}

/// Each of these once took, or could take, time that grows with the square of the length.
#[test]
fn long_text_is_read_in_one_go() {
    let many = 30_000;
    for piece in [
        "`a",
        "` ",
        "```bash\n",
        "~~~~\n",
        "<!--\n",
        "cat <<EOF\n",
        "cat <<EOF\nEOF\n",
        "- [ ] 1 a\n",
        "- [ ] 1 [",
        "### Task 1: a\n",
        "# a\n",
        "\\`",
        "\\",
        "[",
        "- [x",
        "**",
        "- **Verify**: `a\n",
        "  - **a**:\n",
        "`a\n",
        "``a\n`b\n",
        "\n",
        "(",
        "$(",
        "'",
        "- [ ] a\n",
        "[P] ",
    ] {
        let text = piece.repeat(many);
        for text in [format!("- [ ] 1 a\n  - **Verify**: {text}"), text] {
            let plan = plan::Plan::parse(text);
            for task in plan.tasks().iter().take(3) {
                drop(plan.verify(task));
                drop(plan.fields(task));
            }
        }
    }
}

#[test]
fn files_without_end_are_read_once() {
    for (entry, paths, unclear) in
        [("a - ,", 1, 0), ("a b - c,", 0, 100_000), ("`x y` - ,", 0, 100_000), ("((,", 0, 0)]
    {
        let plan = plan::Plan::parse(format!("- [ ] 1.1 a\n  - **Files**: {}\n", entry.repeat(100_000)));
        let files = plan.fields(&plan.tasks()[0]).files.unwrap_or_default();
        assert_eq!((files.paths.len(), files.unclear.len()), (paths, unclear), "{entry}");
    }
}
