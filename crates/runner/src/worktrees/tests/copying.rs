//! Untracked files that work trees are given.

use std::fs;
use std::os::unix::fs::symlink;

use crate::worktrees::tests::bench::Bench;

const IGNORED: &str = "\
.env*
*.local.*
*.db
.npmrc
big.local.txt
secret
data/
node_modules/
target/
dist/
";

fn bench() -> Bench {
    Bench::new(&[(".gitignore", IGNORED), ("app/tracked", ""), ("source", "")])
}

fn paths(list: &[&str]) -> Vec<String> {
    list.iter().map(|path| (*path).to_owned()).collect()
}

#[test]
fn local_settings_are_copied_at_every_use() {
    let bench = bench();
    let write = |path: &str, text: &str| bench.repository.write(path, text);
    write(".env", "A=1\n");
    write("app/.env.test", "B=1\n");
    write("gone/.env", "");
    write("settings.local.json", "{}");
    write("state.local.sqlite", "SQLite format 3\0...");
    write("app.local.db", "");
    write("big.local.txt", &"x".repeat((1 << 20) + 1));
    write("node_modules/x/.env", "");
    write("secret", "");
    symlink("/etc/passwd", bench.project().join(".env.link")).unwrap();
    let head = bench.head();
    let notes = bench.show(&head);
    assert_eq!(
        notes,
        ["agents can read the copies that work trees get of .env, app/.env.test, settings.local.json"]
    );
    for path in
        ["gone", "state.local.sqlite", "app.local.db", "big.local.txt", "node_modules", "secret", ".env.link"]
    {
        assert!(!bench.has(path), "{path}");
    }
    assert_eq!(bench.slots().provided(), [".env", "app/.env.test", "settings.local.json"]);
    bench.agent("echo A=2 >> .env; rm app/.env.test");
    write("settings.local.json", "{\"new\": 1}");
    assert_eq!(bench.show(&head), Vec::<String>::new());
    assert_eq!((bench.read(".env").as_str(), bench.read("app/.env.test").as_str()), ("A=1\n", "B=1\n"));
    assert_eq!(bench.read("settings.local.json"), "{\"new\": 1}");
    assert_eq!(bench.repository.read(".env"), "A=1\n");
}

#[test]
fn a_value_that_leads_into_the_project_is_told_without_it() {
    let bench = bench();
    let root = bench.project().display().to_string();
    bench.repository.write(".env", format!("KEY=secret\nDATABASE=sqlite://{root}/x.db?k=hush\n"));
    let notes = bench.show(&bench.head());
    let expected =
        ".env names the project's own folder (DATABASE): in work trees that still leads into the project";
    assert_eq!(notes.last().unwrap(), expected);
    assert!(!notes.concat().contains("hush"));
}

#[test]
fn what_settings_name_is_copied_but_for_what_is_about_its_place() {
    let mut bench = bench();
    bench.repository.write("secret", "s");
    bench.repository.write("data/deep/x", "x");
    bench.repository.write("data/.cache/y", "");
    bench.repository.write("target/debug/x", "");
    bench.repository.write("node_modules/.bin/x", format!("{}/x", bench.project().display()));
    bench.worktrees.copy = paths(&[
        "secret",
        "data/",
        "target",
        "node_modules",
        "none",
        "n*ne",
        "../up",
        ".git/config",
        "source",
    ]);
    let head = bench.head();
    let notes = bench.show(&head);
    assert_eq!((bench.read("secret").as_str(), bench.read("data/deep/x").as_str()), ("s", "x"));
    assert!(!bench.has("target") && !bench.has("node_modules") && !bench.has("data/.cache"));
    let told = notes.join("\n");
    for line in [
        "agents can read the copies that work trees get of secret",
        "target is neither copied nor linked: it is about the place that it was made in",
        "node_modules is not copied: node_modules/.bin/x holds the project's own path",
        "none is not there, so work trees go without it",
        "n*ne is not there, so work trees go without it: patterns are not understood here",
        "../up is no path that work trees can be given",
        ".git/config is no path that work trees can be given",
    ] {
        assert!(told.lines().any(|note| note.starts_with(line)), "{line}: {told}");
    }
    assert_eq!(notes.len(), 7, "{told}");
    bench.agent("echo other > data/deep/x; touch data/more");
    bench.show(&head);
    assert_eq!((bench.read("data/deep/x").as_str(), bench.has("data/more")), ("x", false));
}

#[test]
fn a_copied_folder_is_what_set_up_begins_with() {
    let mut bench = bench().with_setup("test -e data/seed; echo x >> ../ran; touch data/by-set-up");
    bench.repository.write("data/seed", "");
    bench.worktrees.copy = paths(&["data"]);
    let head = bench.head();
    bench.show(&head);
    bench.show(&head);
    assert!(bench.has("data/by-set-up"));
    let ran = fs::read_to_string(bench.slots().folder().join("ran")).unwrap();
    assert_eq!(ran.lines().count(), 1, "it stays, so set-up need not run again");
    bench.slots().distrust(1);
    bench.agent("touch data/by-agent");
    bench.show(&head);
    assert!(bench.has("data/seed") && !bench.has("data/by-agent"));
}

#[test]
fn links_are_made_on_request_and_git_leaves_them_out() {
    let mut bench = bench();
    bench.repository.write("data/x", "x");
    bench.repository.write("node_modules/a/b", "");
    fs::create_dir_all(bench.project().join("node_modules/@x")).unwrap();
    symlink("../../app", bench.project().join("node_modules/@x/app")).unwrap();
    bench.worktrees.link = paths(&["data", "node_modules", "target"]);
    bench.repository.write("target/x", "");
    let head = bench.head();
    let notes = bench.show(&head);
    assert!(bench.tree().join("data").is_symlink() && !bench.has("node_modules") && !bench.has("target"));
    assert_eq!(
        bench.agent_git(&["status", "--porcelain"]),
        "",
        "a pattern with a slash is about folders alone"
    );
    let told = notes.join("\n");
    let expected = "node_modules is not linked: tests in work trees would load `app` from the project, not from the tree \
                    (link in node_modules/@x/app), and their results would be worthless; ";
    assert!(told.contains(expected), "{told}");
    bench.show(&head);
    assert_eq!(bench.read("data/x"), "x");
    bench.slots().remove_all().unwrap();
    assert!(bench.repository.has("data/x"), "what a link leads to is never removed");
}

#[test]
fn what_the_commit_has_is_not_overwritten() {
    let bench = bench();
    bench.repository.write(".env", "tracked\n");
    bench.repository.git(&["add", "-f", ".env"]);
    let tracked = bench.commit(&[]);
    bench.repository.git(&["rm", "-q", "--cached", ".env"]);
    let untracked = bench.commit(&[]);
    bench.repository.write(".env", "local\n");
    bench.show(&untracked);
    assert_eq!(bench.read(".env"), "local\n");
    bench.show(&tracked);
    assert_eq!(bench.read(".env"), "tracked\n");
    bench.show(&untracked);
    assert_eq!(bench.read(".env"), "local\n");
}
