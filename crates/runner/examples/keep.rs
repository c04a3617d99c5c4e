//! A small coordinator for the tests: keeps one shell command and prints how it ended.
use std::path::PathBuf;
use std::time::Duration;

use runner::process::{self, Invocation, ProcessLimits, Program};

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
        env_remove: Vec::new(),
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
    process::start(runtime.handle(), invocation, move |ended| sender.send(ended).expect("awaited"));
    let ended = runtime.block_on(receiver).expect("one end");
    println!("{:?}", ended.exit);
}
