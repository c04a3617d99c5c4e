//! The screen as it is seen, at several sizes, and what keys make of it.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use engine::{End, Event, Recovery, Response, Rules, Rung, Said};
use plan::TaskId;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;
use runner::Project;
use runner::journal::Holder;

use super::app::{App, Area, Deed, ReplayShown, View};
use super::detail::Detail;
use super::draw::draw;
use super::load::Loaded;
use super::runs::Runs;
use super::source::Came;
use super::timeline::Timeline;
use super::tree::Tree;
use crate::inspect::reading::Tone;
use crate::inspect::reading::lines;
use crate::inspect::record::Record;
use crate::view::paint::Paint;
use crate::view::samples::{self, Story};

/// A screen without a terminal.
struct Scene {
    app: App,
    loaded: Receiver<Loaded>,
    _folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (sender, loaded) = channel();
        let app = App {
            project: Project::discover(folder.path()).unwrap(),
            subject: samples::subject(),
            plans: Vec::new(),
            branch: Some("main".to_owned()),
            record: Record::default(),
            holder: None,
            trouble: None,
            replay: None,
            tree: Tree::new(),
            detail: Detail::new(move |read| drop(sender.send(read))),
            timeline: Timeline::default(),
            runs: Runs::default(),
            view: View::Tasks,
            area: Area::Tree,
            typing: None,
            confirm: None,
            said: None,
            paint: Paint::Plain,
            now: samples::time(300),
        };
        Self { app, loaded, _folder: folder }
    }

    /// A run that is under way.
    fn of(story: &Story) -> Self {
        let mut scene = Self::new();
        scene.app.holder =
            Some(Holder { pid: 1, started: samples::time(0), command: "tillgreen run".to_owned() });
        scene.tell(story.replay().into_iter().map(|(event, _)| event).collect());
        scene
    }

    fn tell(&mut self, events: Vec<Event>) {
        self.app.take(Came { is_new: false, events });
        self.settle();
    }

    /// Waits for what is read.
    fn settle(&mut self) {
        while self.app.detail.is_loading {
            let loaded = self.loaded.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
            self.app.loaded(loaded);
        }
    }

    fn press(&mut self, keys: &str) -> Option<Deed> {
        let mut deed = None;
        for character in keys.chars() {
            let code = match character {
                '\n' => KeyCode::Enter,
                '\u{1b}' => KeyCode::Esc,
                '\t' => KeyCode::Tab,
                other => KeyCode::Char(other),
            };
            deed = self.app.key(KeyEvent::new(code, KeyModifiers::NONE));
            self.settle();
        }
        deed
    }

    fn seen(&mut self, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(&mut self.app, frame)).unwrap();
        let buffer = terminal.backend().buffer();
        let rows = (0..height).map(|y| {
            let mut row = String::new();
            let mut x = 0;
            while x < width {
                let symbol = buffer[(x, y)].symbol();
                row.push_str(symbol);
                x += u16::try_from(crate::view::text::columns(symbol)).unwrap().max(1);
            }
            row.trim_end().to_owned()
        });
        rows.collect::<Vec<_>>().join("\n")
    }
}

/// Two phases, a fix of a fix at work, and a task beside it.
fn busy() -> Story {
    let rules = Rules { recovery: Recovery::On, ..Rules::default() };
    let mut later = samples::decl("2.1", "Say how to use it, in words that everybody understands");
    later.stage = 1;
    let added = vec![later];
    Story::new(rules)
        .then(engine::What::PlanChanged(engine::PlanChanges { added, ..engine::PlanChanges::default() }))
        .fails_by("1.2", "no parser", Rung::Fix)
        .plans_fix("1.2", "1.2.1", "no parser")
        .fails_by("1.2.1", "AssertionError: expected 2, got 3", Rung::Fix)
        .plans_fix("1.2.1", "1.2.1.1", "no file")
        .starts("1.2.1.1")
}

/// A question, and a task beside it.
fn asking() -> Story {
    Story::new(Rules::default())
        .fails("1.2", "AssertionError: expected 2, got 3")
        .escalates("1.2")
        .starts("1.3")
}

#[test]
fn a_run_under_way_at_three_sizes() {
    let mut scene = Scene::of(&busy());
    insta::assert_snapshot!(scene.seen(80, 24), @"
    auth on main  RUNNING  █░░░░░  1/6 · 2 fixes · 05:00
    Tasks
    ▾ Phase 1                                                                  1/5
      ✓ 1.1 Set up
      ✗ 1.2 Add a parser                                                     waits
        ✗ 1.2.1 Fix: no parser                                               waits
          ▶ 1.2.1.1 Fix: no file                                       works 03:20
      · 1.3 Use the parser
    ▾ Phase 2                                                                  0/1
      · 2.1 Say how to use it, in words that everybody understands













    ⏎ open  f filter  t tell  p pause  x skip  T time  C costs  ? keys  q quit
    ");
    insta::assert_snapshot!(scene.seen(140, 14), @"
    auth on main  RUNNING  ██░░░░░░░░░░░░  1/6 · 2 fixes · 05:00
    Tasks                                               │ 1.2.1.1 Fix: no file
    ▾ Phase 1                                       1/5 │ [1 Output] 2 Checks  3 Prompt  4 Diff  5 Events
      ✓ 1.1 Set up                                      │ The agent was started 3m 20s ago and has said nothing yet.
      ✗ 1.2 Add a parser                          waits │
        ✗ 1.2.1 Fix: no parser                    waits │
          ▶ 1.2.1.1 Fix: no file            works 03:20 │
      · 1.3 Use the parser                              │
    ▾ Phase 2                                       0/1 │
      · 2.1 Say how to use it, in words that everybody… │
                                                        │
                                                        │
                                                        │
    ⏎ open  f filter  t tell  p pause  x skip  T time  C costs  R runs  ? keys  q quit
    ");
    insta::assert_snapshot!(scene.seen(40, 10), @"
    auth on main  RUNNING
    Tasks
      ✓ 1.1 Set up
      ✗ 1.2 Add a parser             waits
        ✗ 1.2.1 Fix: no parser       waits
          ▶ 1.2.1.1 Fix: no f… works 03:20
      · 1.3 Use the parser
    ▾ Phase 2                          0/1
      · 2.1 Say how to use it, in words t…
    ⏎ open  f filter  ? keys  q quit
    ");
    assert_eq!(scene.seen(39, 10), "too small: 39×10, needs 40×10".to_owned() + &"\n".repeat(9));
}

#[test]
fn the_tabs_of_a_task() {
    let mut scene = Scene::of(&busy());
    scene.press("gjjjj2");
    insta::assert_snapshot!(scene.seen(120, 24), @"
    auth on main  RUNNING  ██░░░░░░░░░░░░  1/6 · 2 fixes · 05:00
    Tasks                                       │ 1.2.1.1 Fix: no file
    ▾ Phase 1                               1/5 │  1 Output [2 Checks] 3 Prompt  4 Diff  5 Events   11 lines
      ✓ 1.1 Set up                              │ Task      1.2.1.1 Fix: no file
      ✗ 1.2 Add a parser                  waits │ Plan      auth (specs/auth/tasks.md)
        ✗ 1.2.1 Fix: no parser            waits │ State     executor at work, attempt 1, for 3m 20s
          ▶ 1.2.1.1 Fix: no file    works 03:20 │ Fix of    1.2.1: no file
      · 1.3 Use the parser                      │ Fix of    1.2: no parser
    ▾ Phase 2                               0/1 │
      · 2.1 Say how to use it, in words that e… │ ▶ attempt 1 (executor, command): under way; began 2026-01-26 14:31:40Z, 0
                                                │ .0s
                                                │
                                                │ one attempt, whole      tillgreen show 1.2.1.1 --attempt 1
                                                │ what an agent was told  tillgreen show 1.2.1.1 --attempt 1 --prompt
                                                │ what was printed        tillgreen show 1.2.1.1 --attempt 1 --output
                                                │
                                                │
                                                │
                                                │
                                                │
                                                │
                                                │
                                                │
    ⏎ open  f filter  t tell  p pause  x skip  T time  C costs  R runs  ? keys  q quit
    ");
    scene.press("5");
    insta::assert_snapshot!(scene.seen(120, 12), @"
    auth on main  RUNNING  ██░░░░░░░░░░░░  1/6 · 2 fixes · 05:00
    Tasks                                       │ 1.2.1.1 Fix: no file
    ▾ Phase 1                               1/5 │  1 Output  2 Checks  3 Prompt  4 Diff [5 Events]  2 lines
      ✓ 1.1 Set up                              │ 14:31:30 · 1.2.1.1 stands in the plan
      ✗ 1.2 Add a parser                  waits │ 14:31:40 ▶ 1.2.1.1 Fix: no file: attempt 1 (executor)
        ✗ 1.2.1 Fix: no parser            waits │
          ▶ 1.2.1.1 Fix: no file    works 03:20 │
      · 1.3 Use the parser                      │
    ▾ Phase 2                               0/1 │
      · 2.1 Say how to use it, in words that e… │
                                                │
    ⏎ open  f filter  t tell  p pause  x skip  T time  C costs  R runs  ? keys  q quit
    ");
    scene.press("4\n");
    insta::assert_snapshot!(scene.seen(70, 10), @"
    auth on main  RUNNING  █░░░░░  1/6 · 2 fixes · 05:00
    1.2.1.1 Fix: no file
     1 Output  2 Checks  3 Prompt [4 Diff] 5 Events   1 line
    the project is no git repository





    esc back  / search  t tell  p pause  x skip  T time  ? keys  q quit
    ");
}

#[test]
fn a_question_is_seen_everywhere_and_answered() {
    let mut scene = Scene::of(&asking());
    insta::assert_snapshot!(scene.seen(80, 10), @"
    auth on main  RUNNING  ██░░░░  1/3 · 05:00
    ? task 1.2 asks, for 4m 30s: AssertionError: expected 2, got 3       a answers
    Tasks
    ✓ 1.1 Set up
    ? 1.2 Add a parser                                                        asks
    ▶ 1.3 Use the parser                                               works 04:20



    a answer  ⏎ open  f filter  t tell  p pause  x skip  T time  ? keys  q quit
    ");
    assert_eq!(scene.press("a"), None);
    insta::assert_snapshot!(scene.seen(80, 24), @"
    auth on main  RUNNING  ██░░░░  1/3 · 05:00
    ? task 1.2 asks, for 4m 30s: AssertionError: expected 2, got 3       a answers
    Task 1.2 asks. Enter answers, esc leaves it open, page up and down scroll.

    ## Task Escalation Required

    **Task:** 1.2 Add a parser
    **Plan:** auth
    **Attempts:** 1 of 5

    ### Failure Summary

    This task has failed 1 time. Automated recovery has been exhausted.

    ### Attempt History

    | Attempt | Timestamp | Failure Type | Error |
    |---------|-----------|--------------|-------|
    | 1 | 2026-01-26 14:30 | verification_failed | AssertionError: expected 2, got
     3 |

    ### Last Error Details
    answer retry, skip, abort or 'fix: …'
    Your answer:
    ");
    assert_eq!(scene.press("yes\n"), None, "that is no answer");
    let text = scene.seen(80, 24);
    assert!(text.contains("`yes` is not an answer") && text.contains("Your answer: yes"), "{text}");
    let deed = scene.press("\u{1b}afix: use trim\n").unwrap();
    let Deed::Send(Said::Answer { task, response, .. }) = deed else { panic!("{deed:?}") };
    assert_eq!((task, response), (TaskId::new("1.2"), Response::Fix("use trim".to_owned())));
    scene.press("a");
    let task = TaskId::new("1.2");
    let answered = engine::What::Answered { task, response: Response::Retry };
    scene.tell(vec![Event::new(samples::time(200), answered)]);
    assert!(scene.app.typing.is_none(), "somebody else was first");
    assert!(scene.seen(80, 24).contains("answered already"));
}

#[test]
fn what_has_an_effect_is_asked_once_more() {
    let mut scene = Scene::of(&busy());
    assert_eq!(scene.press("x"), None);
    assert!(scene.seen(80, 24).contains("Skip task 1.2.1.1?"));
    assert_eq!(scene.press("n"), None);
    assert_eq!(scene.press("xy"), Some(Deed::Send(Said::Skip { task: TaskId::new("1.2.1.1") })));
    assert_eq!(scene.press("py"), Some(Deed::Send(Said::Pause)));
    assert_eq!(scene.press("Xy"), Some(Deed::Cancel));
    let told = scene.press("tuse tabs\n").unwrap();
    assert_eq!(
        told,
        Deed::Send(Said::Tell { task: Some(TaskId::new("1.2.1.1")), text: "use tabs".to_owned() })
    );
    assert_eq!(scene.press("q"), Some(Deed::Quit));
    let replay = ReplayShown { speed: 10, is_paused: false, played: 3, all: 9, clock: samples::time(60) };
    scene.app.replay = Some(replay);
    assert_eq!(scene.press("x"), None);
    assert!(scene.app.confirm.is_none(), "a replay reaches no run");
    assert_eq!(scene.press("+"), Some(Deed::Speed(1)));
    assert!(scene.seen(100, 10).contains("REPLAY 10× 14:31:00 3/9"));
}

#[test]
fn the_tree_is_folded_filtered_and_keeps_its_place() {
    let mut scene = Scene::of(&busy());
    scene.press("gjjj");
    assert_eq!(scene.app.tree.selected().unwrap().0, &TaskId::new("1.2.1"));
    scene.press("l");
    assert!(scene.seen(80, 24).contains("attempt 1 failed"));
    scene.press("f");
    let text = scene.seen(80, 24);
    assert!(
        text.contains("Tasks: running") && text.contains("1.2.1.1") && !text.contains("Set up"),
        "{text}"
    );
    scene.press("fff");
    scene.press("gh");
    let text = scene.seen(80, 24);
    assert!(text.contains("▸ Phase 1") && !text.contains("1.2.1") && text.contains("2.1 Say"), "{text}");
    scene.press("lr");
    assert_eq!(scene.app.tree.selected().unwrap().0, &TaskId::new("1.2.1.1"), "what is at work");
}

#[test]
fn who_is_at_work_out_of_sight_is_told() {
    let added = (1..=50).map(|number| samples::decl(&format!("3.{number}"), "More")).collect();
    let changes = engine::PlanChanges { added, ..engine::PlanChanges::default() };
    let story = Story::new(Rules::default()).then(engine::What::PlanChanged(changes)).starts("1.2");
    let mut scene = Scene::of(&story);
    scene.press("G");
    assert!(scene.seen(80, 12).contains(" ▲ 1 running (r)"));
    scene.press("g");
    assert!(!scene.seen(80, 12).contains("running (r)"));
}

#[test]
fn bad_states_are_said() {
    let mut scene = Scene::new();
    assert!(scene.seen(80, 10).contains("No run of this plan. `tillgreen run` starts one"));
    scene.app.trouble = Some("journal.jsonl has journal format 9, this program reads format 2".to_owned());
    let text = scene.seen(80, 10);
    assert!(text.contains("has journal format 9, this program reads format 2"), "{text}");
    assert!(text.contains("The record of the run cannot be read. `tillgreen run` says why"), "{text}");
    let mut scene = Scene::of(&busy());
    scene.app.holder = None;
    let text = scene.seen(80, 10);
    assert!(text.contains("stopped without an end at 14:31:40; `tillgreen run` goes on"), "{text}");
    let mut scene = Scene::of(&samples::fixed().end(End::Complete { skipped: 0 }));
    assert!(scene.seen(80, 10).contains("COMPLETE"));
}

#[test]
fn hostile_output_stays_where_it_is() {
    let mut scene = Scene::of(&busy());
    let hostile = format!("\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}txt\n{}\n", "日本".repeat(2_000_000));
    scene.app.detail.pager.show(lines(&hostile, Tone::Plain), false);
    scene.app.area = Area::Detail;
    let text = scene.seen(80, 24);
    assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text}");
    assert!(text.contains("\u{241b}]0;owned\u{2407}\u{241b}[2J\u{fffd}txt"), "{text}");
    assert!(text.lines().all(|line| crate::view::text::columns(line) <= 80), "{text}");
}

#[test]
fn output_is_searched() {
    let mut scene = Scene::of(&busy());
    let text: String = (1..=100).map(|line| format!("line {line}\n")).collect();
    scene.app.detail.pager.show(lines(&text, Tone::Plain), true);
    scene.app.area = Area::Detail;
    assert!(scene.seen(80, 24).contains("line 100"));
    scene.press("/LINE 42\n");
    let text = scene.seen(80, 24);
    assert!(text.contains("line 42") && !text.contains("line 100"), "{text}");
    scene.press("/nowhere\n");
    assert!(scene.seen(80, 24).contains("\"nowhere\" is nowhere"));
}

#[test]
fn the_timeline_and_the_costs() {
    let mut scene = Scene::of(&busy());
    scene.press("T");
    insta::assert_snapshot!(scene.seen(80, 10), @"
    auth on main  RUNNING  █░░░░░  1/6 · 2 fixes · 05:00
       ╷14:30:20           ╷14:31:34           ╷14:32:49           ╷14:34:04
     1 ███       ████       1.2.1.1·1█████████████████████████████████████████████





    █ agent  ▓ checks  ░ coming in   ✓ green passed  ✗ red failed  ! yellow lost
    esc back  + nearer  - wider  t tell  p pause  x skip  T time  ? keys  q quit
    ");
    scene.press("++h");
    assert!(scene.seen(80, 10).contains("▓ checks"));
    scene.press("C");
    insta::assert_snapshot!(scene.seen(80, 14), @"
    auth on main  RUNNING  █░░░░░  1/6 · 2 fixes · 05:00
    Costs

    agent                         starts         tokens         cost

    phase                          tasks         tokens         cost
    Phase 1                            5        unknown      unknown
    Phase 2                            1        unknown      unknown

    in all: cost unknown



    esc back  t tell  p pause  x skip  T time  C costs  R runs  ? keys  q quit
    ");
    scene.press("?");
    insta::assert_snapshot!(scene.seen(100, 26), @"
    auth on main  RUNNING  ██░░░░░░░░░░░░  1/6 · 2 fixes · 05:00
    Moving                                             T    timeline
     j ↓  down                                         C    costs
     k ↑  up                                           R    all runs of the project
     l →  unfold; attempts of a task; to the right     ?    all keys
     h ←  fold; to the left                            y    copy what is shown
     ^d   a page down; space as well                   e    save what is shown to a file
     ^u   a page up                                    o    open what is shown in $EDITOR
     g    to the start                                Acting; what has an effect is asked once more
     G    to the end; output follows from there        a    answer the open question
     ⏎    open what is selected                        t    tell the next prompt something
     esc  back                                         p    stop after what is under way
     tab  to the other area                            x    skip the selected task
     r    to what is at work, and stay with it         X    stop the run at once; nothing is lost
    Looking                                            q    quit; the run goes on
     1    output                                      A replay, and the timeline
     2    checks                                       +    faster; in the timeline nearer
     3    prompt and feedback                          -    slower; in the timeline wider
     4    diff                                         .    the next event
     5    events                                       s    stop the replay, or go on
     /    search
     n    next hit
     N    hit before
     w    wrap long lines, or not
     f    tasks: all, running, failed, open
    esc back  t tell  p pause  x skip  T time  C costs  R runs  ? keys  q quit
    ");
    scene.press("?");
    assert_eq!(scene.app.view, View::Tasks);
}

#[test]
fn colours_only_where_they_are_wanted() {
    let has_colour = |paint| {
        let mut scene = Scene::of(&asking());
        scene.app.paint = paint;
        let mut terminal = Terminal::new(TestBackend::new(140, 24)).unwrap();
        terminal.draw(|frame| draw(&mut scene.app, frame)).unwrap();
        let buffer = terminal.backend().buffer();
        buffer.content().iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset)
    };
    assert!(has_colour(Paint::Colours) && !has_colour(Paint::Plain));
}

#[test]
fn all_runs_are_listed() {
    let mut scene = Scene::new();
    let folder = scene.app.project.root().to_owned();
    let write = |path: &str, text: &str| {
        let path: PathBuf = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("specs/auth/tasks.md", "# Tasks\n- [x] 1.1 One\n- [ ] 1.2 Two\n");
    write("specs/search/tasks.md", "# Tasks\n- [ ] 1.1 One\n");
    scene.app.project = Project::discover(&folder).unwrap();
    scene.app.runs = Runs::look(&scene.app.project).unwrap();
    scene.app.view = View::Runs;
    let text = scene.seen(80, 10);
    assert!(text.contains(" auth ") && text.contains("1/2") && text.contains(" search "), "{text}");
    assert_eq!(scene.press("j\n"), Some(Deed::OpenRun(1)));
}
