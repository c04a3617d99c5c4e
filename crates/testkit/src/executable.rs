//! Scripts that are made to be started.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a script that can be started as a program, making its folders.
///
/// Another process writes it. What is started by other tests in this very moment would inherit a descriptor of ours that
/// is open for writing, and as long as anybody has one, the system refuses to start the script ("text file busy").
pub fn write_executable(file: &Path, script: &str) {
    let write = "mkdir -p -- \"$(dirname -- \"$1\")\" && cat > \"$1\" && chmod 755 -- \"$1\"";
    let mut command = Command::new("sh");
    command.args(["-c", write, "sh"]).arg(file).stdin(Stdio::piped());
    let mut writer = command.spawn().expect("a shell is installed");
    let mut input = writer.stdin.take().expect("it is piped");
    input.write_all(script.as_bytes()).expect("the shell reads");
    drop(input);
    let status = writer.wait().expect("a child can be waited for");
    assert!(status.success(), "{} can be written", file.display());
}
