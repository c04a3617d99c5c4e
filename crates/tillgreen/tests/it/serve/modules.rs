//! The modules of the page say of what types things are; a compiler looks whether that is so.

use std::path::Path;
use std::process::Command;

use testkit::RealAgent;

#[test]
fn the_modules_of_the_page_fit_together() {
    let Some(tsc) = RealAgent::find("tsc") else { return };
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/serve/page");
    let checked =
        Command::new("node").arg(tsc.program).arg("--project").arg(page).output().expect("node runs");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}
