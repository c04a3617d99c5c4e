//! Every file of ours, cut at any byte, as a loss of power may leave it: the run comes to the same end, or a clear error
//! says what is wrong. No task is lost, none is done twice.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::{Agent, Finished, Sandbox, Step, stride, wait_for};

const HOME: &str = ".tillgreen/specs-demo";
const JOURNAL: &str = ".tillgreen/specs-demo/journal.jsonl";
const PLAN: &str = "specs/demo/tasks.md";

const TASKS: &str = "\
# Tasks

- [ ] 1.1 First
  - **Verify**: `grep -q right first.txt`
  - **Commit**: `feat: first`

- [ ] 1.2 Second
  - **Verify**: `test -f second.txt`
  - **Commit**: `feat: second`
";

/// A word to the run, whose sender was killed with it.
const WORD: &str = r#"{"version":1,"directive":{"id":"00001769437800000000-7","from":"ada","said":{"tell":{"text":"use tabs"}}}}"#;

/// A notice that has not arrived yet.
const NOTICE: &str = r#"{"channel":"command","notification":{"plan":"demo","event":"stopped","text":"it stopped","at":"2026-01-26T14:30:00Z"},"tries":1}"#;

/// A run that was killed while an agent was at work on its second task, and a copy of the project as it was left.
struct Scene {
    sandbox: Sandbox,
    agent: String,
    copy: PathBuf,
}

/// What has to be the same wherever a file was cut.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    subjects: Vec<String>,
    tree: String,
    plan: String,
    dirt: Vec<String>,
}

impl Scene {
    fn new() -> Self {
        let sandbox = Sandbox::new(Path::new(env!("CARGO_BIN_EXE_tillgreen")));
        sandbox.spec("demo", TASKS);
        sandbox.write("tillgreen.toml", "[notify]\ncommand = \"cat > /dev/null\"\n");
        sandbox.commit_all("plan");
        let done = || Step::say("TASK_COMPLETE");
        let begun = sandbox.control("begun").display().to_string();
        let wait = format!("test -e {begun} || {{ : > {begun}; while :; do sleep 600; done; }}");
        let agent = Agent::new()
            .on_attempt("1.1", 1, [Step::write("first.txt", "wrong\n"), done()])
            .on("1.1", [Step::write("first.txt", "right\n"), done()])
            .on("1.2", [Step::write("second.txt", "second\n"), Step::shell(&wait), done()]);
        let agent = sandbox.install_agent(&agent);
        let run = sandbox.start(&["run", "--agent-cmd", &agent]);
        wait_for("the second task to be worked on", || sandbox.control("begun").exists());
        run.kill();
        sandbox.wait_until_quiet();
        sandbox.write(&format!("{HOME}/inbox/00001769437800000000-7.json"), WORD);
        sandbox.write(&format!("{HOME}/notices/1769437800000000000-command.json"), NOTICE);
        // The plan as it was about to be replaced.
        sandbox.write("specs/demo/.tillgreen-4294967294-tasks.md", TASKS.replace("[ ]", "[x]"));
        let copy = sandbox.control("copy");
        copy_folder(sandbox.root(), &copy);
        Self { sandbox, agent, copy }
    }

    /// The files that can be cut. A plan is replaced as a whole, and what stands in it is its author's.
    fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        let mut folders = vec![self.copy.join(".tillgreen"), self.copy.join("specs")];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path())
            {
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(&self.copy).expect("below it").display().to_string();
                    files.push(name);
                }
            }
        }
        files.retain(|file| file != PLAN && !file.ends_with(".current-spec"));
        files.sort();
        files
    }

    /// The project as the run left it, but for one file, which is cut.
    fn cut(&self, file: &str, length: usize) {
        for entry in fs::read_dir(self.sandbox.root()).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }
                .expect("removable");
        }
        copy_folder(&self.copy, self.sandbox.root());
        let path = self.sandbox.root().join(file);
        let bytes = fs::read(&path).expect("a file");
        fs::write(&path, &bytes[..length]).expect("writable");
    }

    fn run(&self) -> Finished {
        self.sandbox.run(&["run", "--agent-cmd", &self.agent])
    }

    fn outcome(&self) -> Outcome {
        let sandbox = &self.sandbox;
        Outcome {
            subjects: sandbox.subjects(),
            tree: sandbox.git(&["ls-tree", "-r", "HEAD", "--", "first.txt", "second.txt", PLAN]),
            plan: sandbox.tasks("demo"),
            dirt: sandbox.dirt(),
        }
    }

    /// Expects a run to come to this end; one that refuses says why and what to type, and touches nothing.
    #[track_caller]
    fn expect_end(&self, expected: &Outcome, file: &str, length: usize) {
        self.cut(file, length);
        let before = self.outcome();
        let run = self.run();
        self.sandbox.wait_until_quiet();
        let told = format!("{file} cut after {length} bytes: {run}");
        match run.code {
            Some(0) => assert_eq!(self.outcome(), *expected, "{told}"),
            Some(2) => {
                assert!(run.stderr.to_lowercase().contains("error: "), "{told}");
                assert!(run.stderr.contains("hint: "), "{told}");
                assert_eq!(self.outcome(), before, "{told}");
            }
            _ => panic!("{told}"),
        }
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    let copied = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().expect("cp is there");
    assert!(copied.success());
}

/// The places at which a file is cut: the ends and the middles of its lines.
fn places(bytes: &[u8]) -> Vec<usize> {
    let mut places = vec![0];
    let mut start = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        places.extend([start + line.len() / 2, start + line.len() - 1, start + line.len()]);
        start += line.len();
    }
    places.dedup();
    places
}

#[test]
fn a_run_comes_to_the_same_end_wherever_a_file_of_ours_was_cut() {
    let scene = Scene::new();
    let whole = fs::metadata(scene.copy.join(JOURNAL)).expect("a journal").len();
    scene.cut(JOURNAL, usize::try_from(whole).expect("a length"));
    let run = scene.run().expect_code(0);
    scene.sandbox.wait_until_quiet();
    let expected = scene.outcome();
    assert_eq!(expected.plan, TASKS.replace("[ ]", "[x]"), "{run}");
    let files = scene.files();
    for file in
        [JOURNAL, ".tillgreen/logs/retry.jsonl", "specs/demo/.ralph-state.json", "specs/demo/.progress.md"]
    {
        assert!(files.iter().any(|known| known == file), "{file} is not in {files:?}");
    }
    for (place, file) in files.iter().enumerate() {
        let bytes = fs::read(scene.copy.join(file)).expect("a file");
        // What an attempt leaves is for people to read: that it is cut is seen at once, or never.
        let is_evidence = file.contains("/attempts/") || file.contains("/before/");
        let step = if is_evidence { usize::MAX } else { stride(4) };
        for length in places(&bytes).into_iter().skip(place % stride(4)).step_by(step) {
            scene.expect_end(&expected, file, length);
        }
    }
}

#[test]
fn a_journal_that_lacks_what_was_done_is_refused_and_one_that_is_gone_is_begun_anew() {
    let scene = Scene::new();
    let journal = fs::read_to_string(scene.copy.join(JOURNAL)).expect("a journal");
    let last =
        journal.rfind("\"attempt_started\"").and_then(|at| journal[..at].rfind('\n')).expect("a start");
    scene.cut(JOURNAL, last + 1);
    let run = scene.run().expect_code(2);
    assert!(run.stderr.contains("ends before what was done: attempts/00003-1.2-1 is not in it"), "{run}");
    assert!(run.stderr.contains("`tillgreen run --fresh`"), "{run}");
    let sandbox = &scene.sandbox;
    fs::remove_file(sandbox.root().join(JOURNAL)).expect("removable");
    fs::remove_file(sandbox.root().join("second.txt")).expect("removable");
    sandbox.run(&["run", "--agent-cmd", "true", "--max-task-iterations", "1"]).expect_code(1);
    let run = scene.run().expect_code(0);
    assert_eq!(sandbox.subjects().iter().filter(|subject| *subject == "feat: first").count(), 1, "{run}");
    assert_eq!(sandbox.tasks("demo"), TASKS.replace("[ ]", "[x]"), "{run}");
}
