//! A small coordinator for the tests: keeps one shell command, on a keeper that stood by if told so, and prints how it
//! ended.
use std::path::PathBuf;
use std::time::Duration;

use runner::process::{self, Invocation, ProcessLimits, Program, Standby};

/// How many keepers stand by where any do.
const STANDING_BY: usize = 3;

fn main() {
    process::keep_if_asked();
    let args: Vec<String> = std::env::args().collect();
    let [_, verb, folder, script] = &args[..] else { panic!("usage: keep VERB FOLDER SCRIPT") };
    if verb == "delete-and-run" {
        std::fs::remove_file(std::env::current_exe().expect("known")).expect("removable");
    }
    let folder = PathBuf::from(folder);
    let invocation = Invocation {
        command: Program::Shell(script.clone()),
        cwd: folder.clone(),
        env: vec![],
        stdin: None,
        stdout_log: folder.join("stdout.log"),
        stderr_log: folder.join("stderr.log"),
        limits: ProcessLimits {
            deadline: Duration::from_secs(120),
            no_progress: None,
            grace: Duration::from_secs(1),
            head_bytes_max: 1 << 20,
            tail_bytes_max: 1 << 20,
        },
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let standby = Standby::on(runtime.handle().clone());
    if verb == "stand-by" {
        standby.top_up(STANDING_BY, Duration::ZERO);
        runtime.block_on(until_one_stands_by());
    }
    standby.start(invocation, move |ended| sender.send(ended).expect("awaited"));
    let ended = runtime.block_on(receiver).expect("one end");
    println!("{:?}", ended.exit);
}

/// Waits for a keeper, which may have ended again where it cannot do its work.
async fn until_one_stands_by() {
    let children = || std::fs::read_to_string("/proc/thread-self/children").expect("readable");
    while children().trim().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
