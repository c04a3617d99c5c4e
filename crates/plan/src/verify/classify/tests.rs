use super::*;

fn check(text: &str, expected: &[&str]) {
    match classify(text) {
        Verify::Runnable(script) => assert_eq!(script.snippets, expected, "{text}"),
        Verify::Prose(_) | Verify::Absent => assert!(expected.is_empty(), "not runnable: {text}"),
    }
}

fn prose(text: &str) {
    assert!(matches!(classify(text), Verify::Prose(_)), "{text} is {:?}", classify(text));
}

#[test]
fn one_code_span() {
    check("`pnpm check`", &["pnpm check"]);
    check(" `pnpm check` passes", &["pnpm check"]);
    check("`pytest tests -v` (all pass)", &["pytest tests -v"]);
    check("Run `make lint && make check`, exits 0", &["make lint && make check"]);
    check("`cargo build` succeeds without errors.", &["cargo build"]);
    check("`gh pr checks` shows all green", &["gh pr checks"]);
    check("`uv run pytest -k merge` still all PASSED", &["uv run pytest -k merge"]);
    check("`mytool`", &["mytool"]);
    check("``grep -c '`' f``", &["grep -c '`' f"]);
    check("`TMP=$(mktemp -d) && ls \"$TMP\"`", &["TMP=$(mktemp -d) && ls \"$TMP\""]);
    check("`scripts/check.sh`", &["scripts/check.sh"]);
    check("`command -v jq`", &["command -v jq"]);
    check("`if a; then b; fi`", &["if a; then b; fi"]);
    for command in [
        ". .venv/bin/activate && pytest -q",
        ". ./env.sh && make test",
        ".venv/bin/pytest",
        "node_modules/.bin/jest",
        "bin/rspec",
        "$HOME/bin/check",
    ] {
        check(&format!("`{command}`"), &[command]);
    }
    check("ruff check .", &["ruff check ."]);
    check("cargo check", &["cargo check"]);
    prose("make check the list");
}

#[test]
fn sentences_that_ask_for_more_than_the_exit_code() {
    for text in [
        "`grep -r foo src` returns empty",
        "`grep -r foo src` has no output",
        "`grep -r foo src` returns no matches",
        "`pytest -v` (expect failure)",
        "`pytest -v` should fail",
        "`pytest -v` (must fail)",
        "`cargo test` exits non-zero",
        "`cargo test` exits 1",
        "`wc -l f` shows ~200 lines",
        "`cat f` contains `x`",
        "`pnpm dev` visual inspection",
        "`gh run view --log` or the page",
        "`cargo build` with 0 warnings",
        "`test.log` contains `OK`",
        "Create `x.json`, run `python a.py` and verify the result",
        "Manual: run `npm start`",
        "No `<<<` appears in the file",
        "`gh pr view <id>`",
        "`README.md`",
        "`await run()`",
        "`Select-String -Path x`",
    ] {
        prose(text);
    }
}

#[test]
fn several_commands() {
    check("`cargo fmt --all` + `cargo test`", &["cargo fmt --all", "cargo test"]);
    check("`cargo test -p a` and `cargo test -p b`", &["cargo test -p a", "cargo test -p b"]);
    check(
        "All commands must pass:\n    - Lint: `make lint`\n    - Tests: `make check`",
        &["make lint", "make check"],
    );
    check("\n    - `ruff check .` (linting)\n    - `pytest` (all tests)\n", &["ruff check .", "pytest"]);
    check("`gh pr checks` or `gh pr checks --watch`", &["gh pr checks"]);
    check("cargo test\ncargo clippy -- -D warnings", &["cargo test", "cargo clippy -- -D warnings"]);
    prose("`cargo test`, and `Cargo.toml` is unchanged");
    prose("- `cargo test`\n- the window opens");
}

#[test]
fn words_behind_commands() {
    check("`cd shared && bun test` — all green", &["cd shared && bun test"]);
    check("`grep -c X f` returns >= 1", &["grep -c X f"]);
    check(
        "`grep -c X f` returns 2. `cat f | wc -l` >= 3",
        &["[ \"$(grep -c X f)\" -eq 2 ]", "[ \"$(cat f | wc -l)\" -ge 3 ]"],
    );
    check(
        "- `cargo build` compiles without errors\n- `cargo test` passes existing tests",
        &["cargo build", "cargo test"],
    );
    check(
        "1. `npm run build` passes (no TypeScript errors)\n2. Hook exports: `grep -r x lib/`",
        &["npm run build", "grep -r x lib/"],
    );
    check("Execute in sequence:\n    1. `ruff check .` (lint)\n    2. `pytest`", &["ruff check .", "pytest"]);
    check("- Command: `pytest -v`\n- Expected: PASS (all tests green)", &["pytest -v"]);
    check("- cargo build compiles\n- cargo test cli passes", &["cargo build", "cargo test cli"]);
    check("cargo test passes", &["cargo test"]);
    check("tsc --noEmit passes with no errors", &["tsc --noEmit"]);
    check("make clean", &["make clean"]);
    check("cargo clippy — clean", &["cargo clippy"]);
    check("`cargo test elixir` passes all Elixir plugin tests", &["cargo test elixir"]);
    prose("`cargo test` passes, output lists the new tests");
    prose("- Command: `pytest -v`\n- Expected: FAIL with \"no module\"");
    prose("cargo test path passes if any");
    prose("npm run build succeeds, npm run lint passes");
}

#[test]
fn fences() {
    check("\n    ```bash\n    a -b\n      c\n    ```", &["a -b\n  c"]);
    check("```\ncargo test\n```", &["cargo test"]);
    check("All commands exit 0:\n```sh\na\n```\n```sh\nb\n```", &["a", "b"]);
    check("```console\n$ a\n$ b\n```", &["a\nb"]);
    check("\n  ~~~shell\n  cat <<E\n  x\n  E\n  ~~~", &["cat <<E\nx\nE"]);
    prose("```console\n$ a\noutput\n```");
    prose("```python\nprint(1)\n```");
    prose("```bash\n# Manual test: press the button\n```");
    prose("```bash\na\n```\nExpected: `x`");
}

#[test]
fn spans_over_several_lines() {
    check("`python3 -c \"\nimport x\n\"`", &["python3 -c \"\nimport x\n\""]);
    check(
        " `python3 -c \"\n    import x\n    if x:\n      y\n    \"`",
        &["python3 -c \"\nimport x\nif x:\n  y\n\""],
    );
}

#[test]
fn bare_text() {
    check("grep -q \"Parse Failure\" implement.md", &["grep -q \"Parse Failure\" implement.md"]);
    check("cargo test", &["cargo test"]);
    check("make lint", &["make lint"]);
    check("test -f a.txt && echo ok", &["test -f a.txt && echo ok"]);
    check("pytest x --co -q | grep \"4 tests\"", &["pytest x --co -q | grep \"4 tests\""]);
    for text in [
        "gh pr view shows PR created",
        "make sure that it works",
        "test each opcode",
        "find all usages",
        "Make 70 requests with 60/min limit",
        "go to the page",
        "npm run build and check the output",
        "All commands exit 0",
        "Manual review",
        "Code implements requested change",
        "echo everything is fine — really",
    ] {
        prose(text);
    }
}

#[test]
fn nothing() {
    for text in ["", "  \n ", "None", "N/A", "(none)", "-"] {
        assert_eq!(classify(text), Verify::Absent, "{text:?}");
    }
}

#[test]
fn any_text_is_classified() {
    for text in
        ["`", "``", "```", "`\n`", "` `", "`é`", "$ ", "`$ `", "- ", "`(`", "`!`", "`! `", "'", "`'`", "<<"]
    {
        classify(text);
    }
}
