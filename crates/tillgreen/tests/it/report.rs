//! What is handed to whoever reviews: after a real run with failures, a fix task, a judge and hostile words.

use std::path::Path;

use serde_json::Value;
use testkit::{Agent, Sandbox, Step};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tillgreen");

const PLAN: &str = "\
# Tasks

- [ ] 1.1 Say <b>hello</b> | @everyone
  - **Verify**: `test -f hello.txt`

- [ ] 1.2 Say bye
  - **Verify**: `test -f bye.txt || { echo 'FAIL <script>alert(1)</script> tests/bye.test.ts'; exit 1; }`

- [ ] 1.3 Make it pretty
  - **Done when**: It looks nice
";

fn run() -> Sandbox {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec("demo", PLAN);
    sandbox.commit_all("plan");
    let done = || Step::say("TASK_COMPLETE");
    let agent = Agent::new()
        .on("1.1", [Step::write("hello.txt", "hello\n"), done()])
        .on_attempt("1.2", 1, [done()])
        .on("1.2", [Step::write("bye.txt", "bye\n"), done()])
        .on_role("qa", "1.3", [Step::say("VERIFICATION_PASS")])
        .on("1.3", [Step::write("pretty.txt", "pretty\n"), done()]);
    let command = sandbox.install_agent(&agent);
    sandbox.run(&["run", "--agent-cmd", &command]).expect_code(0);
    sandbox
}

#[test]
fn a_page_markdown_test_results_and_facts() {
    let sandbox = run();
    let page = sandbox.run(&["report"]).expect_code(0).stdout;
    assert!(
        page.starts_with("<!doctype html>") && page.contains("✓ Complete: 3 of 3 tasks are done"),
        "{page}"
    );
    assert!(page.contains("default-src 'none'") && !page.contains("<script") && !page.contains("<b>hello"));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "its failure is quoted");
    assert!(page.contains("<b>1.3</b> no command proves it; it rests on an agent&#39;s judgement"), "{page}");
    for fetched in ["src=", "href=", "url(", "@import"] {
        assert!(!page.contains(fetched), "the page needs nothing else: {fetched}");
    }

    let markdown = sandbox.run(&["report", "--markdown"]).expect_code(0).stdout;
    assert!(markdown.starts_with("**Complete: 3 of 3 tasks are done"), "{markdown}");
    assert!(markdown.contains("- **1.3** no command proves it"), "{markdown}");
    assert!(
        markdown.contains("| 1.2 Say bye | ✓ | exit code 0 in a clean checkout: test -f bye.txt \\|\\| "),
        "{markdown}"
    );
    assert!(markdown.contains("Say \\<b\\>hello") && !markdown.contains("@everyone"), "{markdown}");

    let results = sandbox.run(&["report", "--junit", "-o", "tests.xml"]).expect_code(0).stdout;
    assert_eq!(results, "");
    assert!(sandbox.read("tests.xml").contains("tests=\"3\" failures=\"0\""));

    let facts: Value =
        serde_json::from_str(&sandbox.run(&["report", "--format", "json"]).expect_code(0).stdout)
            .expect("a document");
    assert_eq!((&facts["green"], &facts["tasks"][1]["failures"]), (&true.into(), &1.into()), "{facts}");
}

#[test]
fn without_a_run_there_is_nothing_to_report() {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec("demo", PLAN);
    let told = sandbox.run(&["report"]).expect_code(2).stderr;
    assert!(told.contains("'demo' has not been run yet") && told.contains("tillgreen run"), "{told}");
}
