//! Finding one's way, and seeing what happens while it does.

use testkit::{Screen, Signal, Step};

use super::scene::{Server, agent, finished, good, sandbox};

#[test]
fn from_the_list_to_a_line_and_back() {
    let sandbox = finished();
    let server = Server::start(&sandbox, "127.0.0.1:0");
    let Some(page) = server.look(&sandbox, "browser", Screen::DESK) else { return };
    page.wait_to_see("3/3 tasks");
    page.click(".run");
    page.wait_to_see("Phase 2: Second");
    page.wait_to_see("1 of 4 attempts failed");
    page.script(
        "[...document.querySelectorAll('.row')].find((row) => row.textContent.includes('Make 1.1')).click()",
    );
    page.wait_to_see("attempt 2");
    page.click(".step");
    page.wait_to_see("three needles");
    page.press("Checks");
    page.wait_to_see("FAIL tests/1.1.test.ts");
    assert!(page.url().ends_with("/r/specs-demo/t/1.1#a1.checks"), "{}", page.url());

    // A link to a line, as somebody else would open it.
    page.open(&format!("{}/r/specs-demo/t/1.1#a1.output.L4", server.base()));
    page.wait_to_see("three needles");
    page.wait_until("document.querySelector('.marked')?.textContent === '4three needles'");
    page.press("Runs");
    page.wait_to_see("3/3 tasks");
    page.script("history.back()");
    page.wait_to_see("Phase 2: Second");
    assert_eq!(page.problems(), [""; 0]);
}

#[test]
fn a_page_follows_a_run_and_says_what_was_done() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, "127.0.0.1:0");
    let Some(page) = server.look(&sandbox, "browser", Screen::DESK) else { return };
    page.wait_to_see("not started");
    page.click(".run");
    page.wait_to_see("tillgreen run demo starts it, and this page will notice");
    let words = [Step::say("thinking aloud"), Step::await_file(&sandbox.control("gate"))];
    let command = sandbox.install_agent(&agent(words.into_iter().chain(good("1.1"))));
    let run = sandbox.start(&["run", "--agent-cmd", &command]);
    page.wait_to_see("running");
    page.wait_to_see("1/3");
    page.script(
        "[...document.querySelectorAll('.row')].find((row) => row.textContent.includes('Make 1.1')).click()",
    );
    page.wait_to_see("thinking aloud");
    page.press("Timeline");
    page.wait_until("document.querySelectorAll('rect.bar').length >= 2");
    page.press("Costs");
    page.wait_to_see("Nobody has told what anything costs.");
    page.press("Tasks");
    page.script("window.isSame = true");
    sandbox.release("gate");
    page.wait_to_see("complete");
    page.wait_until("document.querySelector('#live').textContent.includes('done')");
    assert_eq!(page.script("return window.isSame"), true, "the page was not loaded again");
    assert_eq!(page.script("return document.title"), "3/3 demo · tillgreen");
    run.wait().expect_code(0);
    assert_eq!(page.problems(), [""; 0]);
}

#[test]
fn a_run_that_died_and_a_server_that_is_gone_are_told() {
    let sandbox = sandbox();
    let gate = [Step::await_file(&sandbox.control("gate"))];
    let command = sandbox.install_agent(&agent(gate.into_iter().chain(good("1.1"))));
    let mut run = sandbox.start(&["run", "--agent-cmd", &command]);
    let server = Server::start(&sandbox, "127.0.0.1:0");
    let Some(page) = server.look(&sandbox, "browser", Screen::DESK) else { return };
    page.wait_to_see("1/3 tasks");
    page.click(".run");
    page.wait_to_see("running");
    run.signal(Signal::Kill);
    run.wait();
    page.wait_to_see("stopped without an end at ");
    page.wait_to_see("tillgreen run demo goes on");
    sandbox.release("gate");
    sandbox.run(&["run", "--agent-cmd", &command]).expect_code(0);
    page.wait_to_see("complete");

    let address = server.host().to_owned();
    server.process.kill();
    page.wait_to_see("Not connected, last seen ");
    let again = Server::start(&sandbox, &address);
    page.wait_to_see("This page is of an earlier start of `tillgreen serve`");
    page.open(&again.url);
    page.wait_to_see("3/3 tasks");
}

#[test]
fn all_runs_together_and_one_that_was_put_aside() {
    let sandbox = finished();
    let command = sandbox.install_agent(&agent(good("1.1")));
    sandbox.run(&["run", "--agent-cmd", &command, "--model", "large", "--fresh"]).expect_code(0);
    let server = Server::start(&sandbox, "127.0.0.1:0");
    let Some(page) = server.look(&sandbox, "browser", Screen::DESK) else { return };
    page.wait_to_see("put aside");
    page.press("Statistics");
    page.wait_to_see("Right at once");
    page.wait_to_see("its own choice");
    page.wait_to_see("verification_failed");
    page.press("Runs");
    page.wait_to_see("put aside");
    page.script(
        "[...document.querySelectorAll('.run')].find((run) => run.textContent.includes('put aside')).click()",
    );
    page.wait_to_see("put aside by a fresh start");
    page.wait_to_see("1 of 4 attempts failed");
    assert_eq!(page.problems(), [""; 0]);
}

#[test]
fn everything_is_reached_by_keys() {
    const TAB: &str = "\u{e004}";
    const ENTER: &str = "\u{e007}";
    const ESCAPE: &str = "\u{e00c}";
    const DOWN: &str = "\u{e015}";
    let sandbox = finished();
    let server = Server::start(&sandbox, "127.0.0.1:0");
    let Some(page) = server.look(&sandbox, "browser", Screen::DESK) else { return };
    page.wait_to_see("3/3 tasks");
    let tab_to = |what: &str| {
        for _ in 0..40 {
            page.keys(TAB);
            if page.script(&format!("return Boolean(document.activeElement?.matches('{what}'))")) == true {
                return;
            }
        }
        panic!("{what} is not reached by Tab: {}", page.script("return document.activeElement.outerHTML"));
    };
    tab_to(".run");
    page.keys(ENTER);
    page.wait_to_see("Phase 2: Second");
    tab_to("[role=tree]");
    page.keys(DOWN);
    page.wait_until("location.pathname.endsWith('/t/1.2') && document.querySelector('#task-title')?.textContent.includes('Make 1.2')");
    page.keys("3");
    page.wait_to_see("Execute task 1.2");
    page.keys("/");
    page.wait_until("document.activeElement?.getAttribute('aria-label') === 'Find in this text'");
    page.keys(&format!("verify{ENTER}"));
    page.wait_until("/^1 of \\d+$/.test(document.querySelector('.text .faint')?.textContent)");
    page.keys(ESCAPE);
    page.keys("k");
    page.wait_until("document.querySelector('#task-title')?.textContent.includes('Make 1.1')");
    page.keys("T");
    page.wait_until("document.querySelector('.timeline svg') !== null");
    page.keys("?");
    page.wait_until("document.querySelector('dialog[open]')?.textContent.includes('Esc: back')");
    page.keys(ESCAPE);
    page.wait_until("document.querySelector('dialog') === null");
    page.keys(ESCAPE);
    page.wait_until("location.pathname.endsWith('/r/specs-demo')");
    assert_eq!(page.problems(), [""; 0]);
}
