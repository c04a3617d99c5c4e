//! Plans and agents that would like to be more than text.

use std::path::Path;

use testkit::{Agent, Sandbox, Screen, Step};

use super::scene::{PROGRAM, Server};

const PLAN: &str = "\
# Tasks

## Phase 1: <img src=x onerror=\"document.title='owned'\">

- [ ] 1.1 Say <script>document.title='owned'</script> \u{202e}turned\u{202c} <b>bold</b>
  - **Do**: <iframe src=\"https://example.invalid\"></iframe>
  - **Verify**: `echo 'FAIL <script>x</script> tests/b.test.ts'; exit 1`

## Phase 2: Later

- [ ] 2.1 Nothing
  - **Verify**: `true`
";

#[test]
fn text_of_others_stays_text() {
    let sandbox = Sandbox::new(Path::new(PROGRAM));
    sandbox.spec("demo", PLAN);
    sandbox.commit_all("plan");
    // Markup, a terminal's title, turned text, binary, and a line of ten megabytes with something to find behind it.
    let hostile = r"printf '<script>document.title=1</script><img src=x onerror=alert(1)>\n\033]0;owned\007\342\200\256turned\n\000\001\377\n'; head -c 10000000 /dev/zero | tr '\0' x; echo; echo needle in a haystack";
    let agent = Agent::new().otherwise([Step::shell(hostile), Step::say("TASK_COMPLETE")]);
    let command = sandbox.install_agent(&agent);
    let flags = ["--max-task-iterations", "1", "--on-exhausted", "ask", "--on-escalation", "pause"];
    sandbox.run(&[&["run", "--agent-cmd", &command], &flags[..]].concat()).expect_code(3);
    let server = Server::start(&sandbox, "127.0.0.1:0");
    let Some(page) = server.look(&sandbox, "browser", Screen::DESK) else { return };
    page.wait_to_see("FAIL <script>x</script> tests/b.test.ts");
    page.click(".run");
    page.wait_to_see("<img src=x onerror=\"document.title='owned'\">");
    page.wait_to_see("<script>document.title=1</script>");
    page.type_into("input[aria-label='Find in this text']", "NEEDLE");
    page.press("Find");
    page.wait_to_see("needle in a haystack");
    for tab in ["Checks", "Prompt", "Diff", "Events", "Timeline", "Costs"] {
        page.press(tab);
        page.wait_until("document.querySelector('main').innerText.length > 20");
    }
    let made = "return document.querySelectorAll('main script, main img, main iframe, main b b').length";
    assert_eq!(page.script(made), 0, "no element came of it");
    assert_eq!(page.script("return document.title"), "0/2 demo · tillgreen");
    assert_eq!(page.script("return document.body.innerText.includes('\\u202e')"), false);
    let seen = page.script("return document.querySelectorAll('*').length").as_u64().expect("a number");
    assert!(seen < 2_000, "of a long text only what is seen is in the page, not {seen} elements");
    assert_eq!(page.problems(), [""; 0]);
}
