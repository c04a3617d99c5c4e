use super::*;

#[test]
fn every_spelling_of_a_field() {
    for block in [
        "- [ ] 1 x\n  - **Verify**: `a`",
        "- [ ] 1 x\n  - **Verify:** `a`",
        "- [ ] 1 x\n  * **verify**: `a`",
        "- [ ] 1 x\n  **VERIFY**: `a`",
        "- [ ] 1 x\n    - **Verify** `a`",
        "- [ ] 1 x\n\t- **Verify**: `a`",
        "- [ ] 1 x\n  - Verify: `a`",
        "- [ ] 1 x\r\n  - **Verify**: `a`\r\n",
        "### Task 1: x\n\n**Verify:** `a`",
        "### Task 1: x\n\n**Verification**: `a`",
        "### Task 1: x\n\n**Verify (A)**: `a`",
        "- [ ] 1 x\n  - **Verify GREEN**: `a`",
    ] {
        assert_eq!(read(block).verify.as_deref(), Some("`a`"), "{block}");
    }
}

#[test]
fn files_end_before_the_next_paragraph() {
    for (block, paths) in [
        (
            "### Task 1: x\n\n**File:** `a.rs` (new)\n\nExtract `b.rs` from c.rs:\n\n```rust\nd.rs\n```\n",
            &["a.rs"][..],
        ),
        ("### Task 1: x\n\n**Files**:\n\n- a.rs\n\n- b.rs\n\nThen go on.\n", &["a.rs", "b.rs"]),
    ] {
        assert_eq!(read(block).files.unwrap().paths, paths, "{block}");
    }
}

#[test]
fn other_names_of_fields() {
    let block = "### Task 1: x\n\n**Steps:**\n1. a\n\n**Files Modified**: `a.rs`\n\n**Acceptance Criteria**:\n- [ ] b\n\n**Verify (A)**: `c`\n\n**Verify (B)**: `d`\n\n**Verify (manual)**: `e`\n";
    let fields = read(block);
    assert_eq!(fields.do_.as_deref(), Some("1. a"));
    assert_eq!(fields.files.unwrap().paths, ["a.rs"]);
    assert_eq!(fields.done_when.as_deref(), Some("- [ ] b"));
    assert_eq!(fields.verify.as_deref(), Some("`c`\n`d`"));
    assert_eq!(fields.others, [("Verify (manual)".to_owned(), "`e`".to_owned())]);
}

#[test]
fn all_fields_of_a_task() {
    let block = "- [ ] 1 x
  - **Do**:
    1. Write **Files**: no
       - **Verify**: nested, not a field
    2. Run

       ```bash
       - **Commit**: in a fence
       ```
  - **Files**: `a.rs`, `b.rs`
  - **Done when**: it works
    on all machines
  - **Verify**: `cargo test`
  - **Commit**: `feat: x`
  - **POC shortcuts taken**: none
  - _Requirements: FR-1, FR-2_
  - a loose end";
    let fields = read(block);
    assert_eq!(
        fields.do_.as_deref(),
        Some(
            "1. Write **Files**: no\n   - **Verify**: nested, not a field\n2. Run\n\n   ```bash\n   - **Commit**: in a fence\n   ```"
        )
    );
    assert_eq!(fields.files.unwrap().paths, ["a.rs", "b.rs"]);
    assert_eq!(fields.done_when.as_deref(), Some("it works\non all machines"));
    assert_eq!(fields.verify.as_deref(), Some("`cargo test`"));
    assert_eq!(fields.commit, Commit::Message("feat: x".into()));
    let others = [("POC shortcuts taken", "none"), ("Requirements", "FR-1, FR-2")];
    assert_eq!(fields.others, others.map(|(name, text)| (name.to_owned(), text.to_owned())));
}

#[test]
fn fields_without_bullets_keep_their_lists() {
    let block = "### Task 1: x\n\n**Do**:\n1. **Create**: a\n- **Note**: b\n\n**Done when:**\n- [ ] typer\n- [ ] redis\n\n**Verify:**\n```bash\na\n```\n";
    let fields = read(block);
    assert_eq!(fields.do_.as_deref(), Some("1. **Create**: a\n- **Note**: b"));
    assert_eq!(fields.done_when.as_deref(), Some("- [ ] typer\n- [ ] redis"));
    assert_eq!(fields.verify.as_deref(), Some("```bash\na\n```"));
}

#[test]
fn no_fields_at_all() {
    assert_eq!(read("- [ ] 1 x\n  some text\n"), Fields::default());
    assert_eq!(read(""), Fields::default());
}

#[test]
fn commits() {
    let message = |text: &str| Commit::Message(text.to_owned());
    let maybe = |text: &str| Commit::OnlyIfNeeded(text.to_owned());
    for (text, commit) in [
        ("`feat: x`", message("feat: x")),
        ("`a` OR `b`", message("a")),
        ("`docs: x` (progress note)", message("docs: x")),
        ("\"refactor: x\"", message("refactor: x")),
        ("feat(coordinator): add failure parser", message("feat(coordinator): add failure parser")),
        ("`chore: x` (only if fixes needed)", maybe("chore: x")),
        ("`chore: x` (if fixes needed); push branch.", maybe("chore: x")),
        ("None (or `fix: x` if fixes needed)", maybe("fix: x")),
        ("chore: x (only if fixes needed)", maybe("chore: x")),
        ("None", Commit::None),
        ("none (verification only)", Commit::None),
        ("N/A (PR creation)", Commit::None),
        ("skip (verification only)", Commit::None),
        ("No commit needed", Commit::None),
        ("(no commit -- PR creation)", Commit::None),
        ("(none unless fixes needed)", Commit::Unset),
        ("None (or fix commit if needed)", Commit::Unset),
        ("nonexistent: x", message("nonexistent: x")),
    ] {
        let block = format!("- [ ] 1 x\n  - **Commit**: {text}");
        assert_eq!(read(&block).commit, commit, "{text}");
    }
}

#[test]
fn files_in_all_forms() {
    for (text, paths) in [
        ("`a/b.rs`, `c.rs`", vec!["a/b.rs", "c.rs"]),
        ("a/b.rs, c.rs (create)", vec!["a/b.rs", "c.rs"]),
        ("`a.rs` (modify)", vec!["a.rs"]),
        (
            "\n    - `a.rs` (create — empty `fn main() {}` stub)\n    - `b.rs` - Modify - add `x.y`",
            vec!["a.rs", "b.rs"],
        ),
        ("`crates/x/*`, `src/**/*.ts`", vec!["crates/x/*", "src/**/*.ts"]),
        ("`a.rs`, update `b/mod.rs`", vec!["a.rs", "b/mod.rs"]),
        ("`app/(auth)/x.ts`, `./y.ts`, `z.ts:12-14`", vec!["app/(auth)/x.ts", "y.ts", "z.ts"]),
        ("`.github/workflows/ci.yml`, `Makefile`", vec![".github/workflows/ci.yml", "Makefile"]),
        ("`a.rs`, `a.rs`", vec!["a.rs"]),
        ("None", vec![]),
        ("N/A", vec![]),
        ("`Makefile`, `LICENSE` and `src`", vec!["Makefile", "LICENSE", "src"]),
        ("Makefile; LICENSE, src", vec!["Makefile", "LICENSE", "src"]),
        ("src and docs", vec!["src", "docs"]),
        ("src folder", vec!["src"]),
        ("`a` & `b/`", vec!["a", "b/"]),
        ("*", vec!["*"]),
        ("**", vec!["**"]),
        (".", vec!["."]),
        ("`.`", vec!["."]),
        ("./", vec!["."]),
        ("\n    - *\n    - `**`\n    - .", vec!["*", "**", "."]),
        ("* `a.rs`", vec!["a.rs"]),
        ("`a.rs, b.rs`", vec!["a.rs", "b.rs"]),
        ("`my dir/my file.txt`", vec!["my dir/my file.txt"]),
        ("`My Notes.md`, new `a b/` folder", vec!["My Notes.md", "a b/"]),
        ("`./my dir/a.rs:12` (create)", vec!["my dir/a.rs"]),
        ("`my dir/a.rs, her dir/b.rs`", vec!["my dir/a.rs", "her dir/b.rs"]),
        ("a.{js,ts}, app/(auth)/x.ts", vec!["a.{js,ts}", "app/(auth)/x.ts"]),
        ("`a.rs`, b.rs, Makefile", vec!["a.rs", "b.rs", "Makefile"]),
        ("- Create: `Makefile`\n    - Modify: a.rs", vec!["Makefile", "a.rs"]),
        ("update `Makefile`, new `tests` folder", vec!["Makefile", "tests"]),
        ("Update findings.jsonl", vec!["findings.jsonl"]),
        ("All pixelrts_*.py files", vec!["pixelrts_*.py"]),
        ("[a.rs](src/a.rs), [`b`](src/b.rs) (new)", vec!["src/a.rs", "src/b.rs"]),
        ("src/a.rs#L10-L20, `src/b.rs:10:5`, src/c.rs:10-20", vec!["src/a.rs", "src/b.rs", "src/c.rs"]),
        ("_src/a.rs_, **src/b.rs**, src/c.rs.", vec!["src/a.rs", "src/b.rs", "src/c.rs"]),
        (
            "__tests__/__mocks__, `**/x/**`, __init__.py",
            vec!["__tests__/__mocks__", "**/x/**", "__init__.py"],
        ),
        ("src\\a.rs, src/my\\_b.rs", vec!["src/a.rs", "src/my_b.rs"]),
        ("`a.rs` (after `resize_if_needed`), `b.rs`", vec!["a.rs", "b.rs"]),
        ("`a.rs` (or `b/c.rs`)", vec!["a.rs", "b/c.rs"]),
        ("`a.py::test_x`, `b.rs`:12", vec!["a.py", "b.rs"]),
        ("a.rs — new, b.rs — changed", vec!["a.rs", "b.rs"]),
        ("(`a.rs`, `b.rs`)", vec!["a.rs", "b.rs"]),
        ("- [ ] `a.rs`", vec!["a.rs"]),
        ("", vec![]),
        ("none (verification of `a.rs`)", vec![]),
        ("No changes to `src/a.rs`", vec![]),
        ("(no source edits -- deployment step)", vec![]),
        ("— (verification only)", vec![]),
    ] {
        let files = read(&format!("- [ ] 1 x\n  - **Files**: {text}")).files.unwrap();
        assert_eq!(
            (files.paths, files.unclear),
            (paths.iter().map(ToString::to_string).collect(), vec![]),
            "{text}"
        );
    }
}

#[test]
fn prose_is_not_taken_for_files() {
    for (text, paths, unclear) in [
        ("All documentation files", vec![], vec!["All documentation files"]),
        ("Various", vec![], vec!["Various"]),
        ("Templates", vec![], vec!["Templates"]),
        ("All tests", vec![], vec!["All tests"]),
        ("(all modified files)", vec![], vec!["all modified files"]),
        ("[a.rs](../../src/a.rs)", vec![], vec!["[a.rs](../../src/a.rs)"]),
        ("~src/a.rs~", vec![], vec!["~src/a.rs~"]),
        ("integration test or benchmark", vec![], vec!["integration test", "benchmark"]),
        ("TBD", vec![], vec!["TBD"]),
        ("6 enum docs", vec![], vec!["6 enum docs"]),
        ("Modify as needed to fix lint issues", vec![], vec!["Modify as needed to fix lint issues"]),
        ("the `Parser` struct", vec![], vec!["the Parser struct"]),
        ("`cargo test`", vec![], vec!["cargo test"]),
        ("`cargo test src/a.rs`", vec![], vec!["cargo test src/a.rs"]),
        ("`a.rs b.rs`", vec![], vec!["a.rs b.rs"]),
        ("`see docs/a.md`", vec![], vec!["see docs/a.md"]),
        ("`update docs/a.md`", vec![], vec!["update docs/a.md"]),
        ("`sort -u src/a.txt`", vec![], vec!["sort -u src/a.txt"]),
        ("https://example.com/a.rs", vec![], vec!["https://example.com/a.rs"]),
        ("`a.md`, release artifacts", vec!["a.md"], vec!["release artifacts"]),
        ("`a.rs` or new test file", vec!["a.rs"], vec!["new test file"]),
        ("`a.rs`, templates", vec!["a.rs"], vec!["templates"]),
    ] {
        let files = read(&format!("- [ ] 1 x\n  - **Files**: {text}")).files.unwrap();
        assert_eq!(
            (files.paths, files.unclear),
            (
                paths.iter().map(ToString::to_string).collect(),
                unclear.iter().map(ToString::to_string).collect()
            ),
            "{text}"
        );
    }
}
