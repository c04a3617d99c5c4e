use std::path::Path;

use testkit::Sandbox;

#[test]
fn commits_are_the_same_on_every_machine() {
    let names: Vec<_> = (0..2)
        .map(|_| {
            let sandbox = Sandbox::new(Path::new("/bin/sh"));
            sandbox.spec("demo", "- [ ] 1.1 One\n");
            sandbox.commit_all("plan");
            sandbox.git(&["rev-parse", "HEAD"])
        })
        .collect();
    assert_eq!(names[0], names[1]);
}

#[test]
fn a_spec_is_written_and_made_active() {
    let sandbox = Sandbox::new(Path::new("/bin/sh"));
    assert_eq!(sandbox.subjects(), Vec::<String>::new());
    sandbox.spec("demo", "- [ ] 1.1 One\n");
    assert_eq!(sandbox.tasks("demo"), "- [ ] 1.1 One\n");
    assert_eq!(sandbox.read("specs/.current-spec"), "demo\n");
    assert_eq!(sandbox.dirt(), ["?? specs/.current-spec", "?? specs/demo/tasks.md"]);
    sandbox.commit_all("plan");
    assert_eq!(sandbox.subjects(), ["plan"]);
    assert!(sandbox.dirt().is_empty());
    assert!(sandbox.has("specs/demo") && !sandbox.has("specs/other"));
}

#[test]
fn without_git_there_is_no_repository() {
    let sandbox = Sandbox::without_git(Path::new("/bin/sh"));
    assert!(!sandbox.try_git(&["status"]).status.success());
}
