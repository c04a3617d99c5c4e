//! A sweep kills what carries the marker, and nothing else.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};

use runner::process::sweep;

use super::bench::{Bench, marked};

fn sleeper(marker: &str) -> Child {
    let (variable, value) = marker.split_once('=').unwrap();
    Command::new("sleep").arg("1000").env(variable, value).spawn().unwrap()
}

#[test]
fn only_the_exact_marker_is_swept() {
    let bench = Bench::new();
    let longer = format!("{}0", bench.marker);
    let mut spared = sleeper(&longer);
    let mut hit = [sleeper(&bench.marker), sleeper(&bench.marker)];
    // One that was just started has no environment for a moment.
    bench.until("all to be seen", || marked(&bench.marker).len() == 2 && marked(&longer).len() == 1);
    assert_eq!(sweep(&bench.marker), 2);
    for child in &mut hit {
        assert_eq!(child.wait().unwrap().signal(), Some(9));
    }
    assert_eq!(marked(&longer), [spared.id()]);
    assert_eq!(sweep(&longer), 1);
    spared.wait().unwrap();
}
