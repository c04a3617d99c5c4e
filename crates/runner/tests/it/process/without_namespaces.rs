//! Runs all the tests of processes again as a user that may not make namespaces.

use std::process::Command;

use super::bench::namespaces_allowed;

#[test]
fn all_tests_pass_where_namespaces_are_not_allowed() {
    if !namespaces_allowed() {
        println!("skipped: this user may not make namespaces, so the other tests are these");
        return;
    }
    let output = Command::new("setpriv")
        .args(["--bounding-set=-sys_admin", "--inh-caps=-sys_admin", "--"])
        .arg(std::env::current_exe().unwrap())
        .args(["process::", "--skip", "all_tests_pass_where_namespaces_are_not_allowed"])
        .output();
    match output {
        Err(error) => println!("skipped: cannot give up the right to namespaces: setpriv: {error}"),
        Ok(output) => assert!(
            output.status.success(),
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ),
    }
}
