//! Acting on a run from the page.

use testkit::{Screen, wait_for};

use super::scene::{Server, asking, sandbox};

#[test]
fn a_question_is_answered_once_and_the_other_browser_is_told() {
    let sandbox = sandbox();
    let run = asking(&sandbox);
    let server = Server::start(&sandbox, "127.0.0.1:0");
    let Some(first) = server.look(&sandbox, "first", Screen::DESK) else { return };
    let Some(second) = server.look(&sandbox, "second", Screen::PHONE) else { return };
    first.wait_to_see("? demo: 1.1 Make 1.1");
    first.wait_to_see("FAIL tests/1.1.test.ts");
    second.click(".run");
    second.wait_to_see("waiting for an answer");
    second.wait_to_see("? demo: 1.1 Make 1.1");
    first.type_into("input[aria-label='What to do']", "write good into 1.1.txt");
    first.press("Fix");
    first.wait_to_see("has taken the answer about task 1.1");
    second.wait_to_see("Answered by ");
    second.wait_to_see("fix: write good into 1.1.txt");
    second.wait_until("[...document.querySelectorAll('.card button')].every((button) => button.disabled)");

    // A card that has not heard of it: the run's own word counts.
    let late = r#"
        const response = await fetch("/api/say", { method: "POST", body: JSON.stringify({
            what: "answer", run: "specs-demo", task: "1.1", since: "2026-01-01T00:00:00Z", text: "retry" }) });
        return `${response.status} ${(await response.json()).error}`;"#;
    let told = second.promise(late);
    assert_eq!(told, "409 somebody else was first: the question about task 1.1 is answered already");
    sandbox.release("gate");
    second.wait_to_see("complete");
    run.wait().expect_code(0);
    assert!(sandbox.agent_calls().iter().any(|call| call.prompt.contains("write good into 1.1.txt")));
}

#[test]
fn telling_skipping_and_pausing() {
    let sandbox = sandbox();
    let run = asking(&sandbox);
    let server = Server::start(&sandbox, "127.0.0.1:0");
    let Some(page) = server.look(&sandbox, "browser", Screen::DESK) else { return };
    page.wait_to_see("? demo: 1.1 Make 1.1");
    page.click(".run");
    page.wait_to_see("waiting for an answer");
    page.press("Abort");
    page.wait_to_see("End the run at task 1.1?");
    page.press("Leave it");
    page.wait_until("document.querySelector('dialog') === null");
    page.click(".card .buttons button:nth-child(2)");
    page.wait_to_see("has taken the answer about task 1.1: skip");
    page.script(
        "[...document.querySelectorAll('.row')].find((row) => row.textContent.includes('Make 2.1')).click()",
    );
    page.wait_until("document.querySelector('#task-title')?.textContent.includes('Make 2.1')");
    page.press("Tell");
    page.type_into("input[aria-label='A word to the next prompt of task 2.1']", "mind the gap");
    page.keys("\u{e007}");
    page.wait_to_see("tells it to the next prompt of task 2.1");
    page.keys("p");
    page.wait_to_see("Stop after what is under way?");
    page.click("dialog .danger");
    page.wait_to_see("pauses after what is under way");
    page.wait_to_see("pausing");
    sandbox.release("gate");
    page.wait_to_see("paused");
    run.wait().expect_code(3);

    // Without a run it is kept for the next one; the page starts nothing.
    page.press("Tell");
    page.type_into("input[aria-label='A word to the next prompt of task 2.1']", "and the stairs");
    page.keys("\u{e007}");
    page.wait_to_see("No run of 'demo' is under way; the next `tillgreen run demo` takes it.");
    sandbox.run(&["run"]).expect_code(0);
    page.wait_to_see("complete");
    let prompts: Vec<String> = sandbox.agent_calls().into_iter().map(|call| call.prompt).collect();
    let last = prompts.last().expect("somebody was started");
    assert!(last.contains("mind the gap") && last.contains("and the stairs"), "{last}");
    wait_for("the run to be gone", || sandbox.processes().len() <= 1);
}
