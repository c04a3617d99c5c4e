//! The page for those who see it otherwise: a known checker, dark and light; and on a telephone.

use std::fs;

use serde_json::Value;
use testkit::{Browser, RealAgent, Screen};

use super::scene::{Server, asking, finished, sandbox};

/// What the checker finds, each with where.
fn violations(page: &Browser, checker: &str) -> Vec<String> {
    page.script(&format!("if (!window.axe) {{ {checker} }}"));
    let found = page.promise(
        "const { violations } = await axe.run(document, { resultTypes: ['violations'] });
         return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html + ' ' + node.failureSummary).join(' | ')}`)",
    );
    let found = found.as_array().cloned().unwrap_or_else(|| panic!("the checker ended with {found}"));
    found.iter().map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned)).collect()
}

#[test]
fn a_checker_finds_nothing_dark_or_light() {
    let Some(axe) = RealAgent::find("axe") else { return };
    let checker = fs::read_to_string(axe.program).expect("the checker can be read");
    let sandbox = finished();
    let server = Server::start(&sandbox, "127.0.0.1:0");
    let Some(page) = server.look(&sandbox, "browser", Screen::DESK) else { return };
    let places = [
        ("/", "3/3 tasks"),
        ("/r/specs-demo/t/1.1", "attempt 2"),
        ("/r/specs-demo/timeline", "under way; paler"),
        ("/r/specs-demo/costs", "What failed"),
        ("/statistics", "Failures by day"),
    ];
    for colours in ["light", "dark"] {
        page.prefer("prefers-color-scheme", colours);
        for (place, words) in places {
            page.open(&format!("{}{place}", server.base()));
            page.wait_to_see(words);
            assert_eq!(violations(&page, &checker), [""; 0], "{place}, {colours}");
        }
    }
}

#[test]
fn a_telephone_has_room_and_what_is_pressed_is_large_enough() {
    let sandbox = sandbox();
    let run = asking(&sandbox);
    let server = Server::start(&sandbox, "127.0.0.1:0");
    let Some(page) = server.look(&sandbox, "browser", Screen::PHONE) else { return };
    let fits = |place: &str| {
        let width = page.script("return document.documentElement.scrollWidth").as_u64();
        assert!(width <= Some(390), "{place} is {width:?} wide");
        let small: Value = page.script(
            "return [...document.querySelectorAll('button, a[href]:not(.number):not(.skip), input, [role=treeitem]')]
                .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height > 0)
                .filter((one) => one.getBoundingClientRect().height < 43.5).map((one) => one.outerHTML)",
        );
        assert_eq!(small, Value::Array(Vec::new()), "{place}");
    };
    page.wait_to_see("? demo: 1.1 Make 1.1");
    fits("the list");
    page.click(".run");
    page.wait_to_see("Phase 2: Second");
    fits("the run");
    page.script(
        "[...document.querySelectorAll('.row')].find((row) => row.textContent.includes('Make 1.1')).click()",
    );
    page.wait_to_see("‹ all tasks");
    page.wait_to_see("attempt 1");
    assert!(!page.text().contains("Phase 2: Second"), "the task is a view of its own");
    fits("a task");
    page.press("‹ all tasks");
    page.wait_to_see("Phase 2: Second");
    page.press("Timeline");
    page.wait_until("document.querySelector('.timeline svg') !== null");
    fits("the timeline");
    page.prefer("prefers-reduced-motion", "reduce");
    let moves = "return getComputedStyle(document.querySelector('button')).transitionDuration";
    assert_eq!(page.script(moves), "0s");
    run.kill();
}
