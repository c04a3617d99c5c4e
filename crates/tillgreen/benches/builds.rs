//! What a reused slot is worth: a real Rust and a real Node project are built by two tasks, one after the other, in the same
//! slot, and by hand in the project itself, before and after an edit of one file. Builds are what takes time in slots, so
//! the second one there should cost about what it does in the project.

mod scratch;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use scratch::{Scratch, megabytes};

/// Notes how long a command takes: its place, and milliseconds.
const TIMED: &str = "#!/bin/sh\nfrom=$(date +%s%N)\n\"$@\" > /dev/null 2>&1 || exit 1\n\
                     echo \"${TILLGREEN_SLOT:-by-hand} $((($(date +%s%N) - from) / 1000000))\" >> \"$TIMES\"\n";

const RUST: [(&str, &str); 4] = [
    (
        "Cargo.toml",
        "[package]\nname = \"bench\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\n\
         serde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"\n",
    ),
    ("src/lib.rs", "pub mod a;\n\n#[test]\nfn works() {\n    assert_eq!(a::text(), \"[1]\");\n}\n"),
    ("src/a.rs", "pub fn text() -> String {\n    serde_json::to_string(&[1]).unwrap()\n}\n"),
    (".gitignore", "/target\n"),
];

const NODE: [(&str, &str); 4] = [
    (
        "package.json",
        "{\"name\":\"bench\",\"private\":true,\"devDependencies\":{\"typescript\":\"5.9.3\",\"eslint\":\"9.39.1\"}}\n",
    ),
    (
        "tsconfig.json",
        "{\"compilerOptions\":{\"strict\":true,\"outDir\":\"dist\",\"incremental\":true,\"types\":[]},\"include\":[\"src\"]}\n",
    ),
    ("src/a.ts", "export const text = (): string => JSON.stringify([1]);\n"),
    (".gitignore", "/node_modules\n/dist\n*.tsbuildinfo\n"),
];

fn main() {
    report("Rust", &RUST, ("cargo generate-lockfile", None, "cargo test --offline"), "src/a.rs");
    let install = "npm install --no-audit --no-fund --ignore-scripts";
    report("Node", &NODE, (install, Some(install), "npx --no-install tsc"), "src/a.ts");
}

fn report(
    name: &str,
    files: &[(&str, &str)],
    (prepare, setup, build): (&str, Option<&str>, &str),
    edited: &str,
) {
    let plan = (1..=2).map(|number| {
        format!("- [ ] 1.{number} Edit {number}\n  - **Files**: {edited}\n  - **Verify**: `./timed.sh {build}`\n\n")
    });
    let mut all: Vec<(String, String)> =
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    all.push(("timed.sh".to_owned(), TIMED.to_owned()));
    all.push(("specs/.current-spec".to_owned(), "bench\n".to_owned()));
    all.push(("specs/bench/tasks.md".to_owned(), format!("# Tasks\n\n{}", plan.collect::<String>())));
    if let Some(setup) = setup {
        all.push(("tillgreen.toml".to_owned(), format!("worktree_setup = {setup:?}\n")));
    }
    let agent = format!("#!/bin/sh\ncat > /dev/null\necho // >> {edited}\necho TASK_COMPLETE\n");
    let scratch = Scratch::new(&agent, &all);
    let times = scratch.root().with_file_name("times");
    let commit = "chmod +x timed.sh; git add -A; git commit -q -m 'chore: prepared'";
    by_hand(&scratch, &times, &format!("{prepare} > /dev/null 2>&1; {commit}"));
    // The project is built once, and once more after an edit.
    by_hand(&scratch, &times, &format!("./timed.sh {build}; echo // >> {edited}; ./timed.sh {build}"));
    by_hand(&scratch, &times, &format!("git checkout -q -- {edited}"));
    let words = ["run", "bench", "--agent-cmd", "./agent.sh", "--isolate"];
    let taken = scratch.run(&words, &[("TIMES", times.clone())]);
    let noted = fs::read_to_string(&times).expect("builds were timed");
    let of = |place: &str| -> Vec<f64> {
        let lines = noted.lines().filter_map(|line| line.strip_prefix(place)?.trim().parse().ok());
        lines.collect()
    };
    let (project, slot, landing) = (of("by-hand "), of("1 "), of("0 "));
    let told = |times: &[f64]| match times {
        [first, .., last] => format!("first {first:.0} ms, last {last:.0} ms"),
        _ => format!("{times:?}"),
    };
    println!("{name}: in the project {}", told(&project));
    println!(
        "      the run took {:.1?}, {:.1?} of them its own, and {:.1} MB at most",
        taken.time,
        taken.busy,
        megabytes(taken.memory)
    );
    println!("      in a slot {}; in the landing tree {}", told(&slot), told(&landing));
    if let (Some(ours), Some(theirs)) = (slot.last(), project.last()) {
        println!("      the second build in a slot takes {:.2} times that in the project", ours / theirs);
    }
}

fn by_hand(scratch: &Scratch, times: &PathBuf, script: &str) {
    let mut command = Command::new("sh");
    command.args(["-e", "-c", script]).current_dir(scratch.root()).env("TIMES", times);
    assert!(command.status().expect("sh runs").success(), "{script}");
}
