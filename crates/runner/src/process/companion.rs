//! Programs that are installed beside this one.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::agent::find_program;

/// Goes on as another program, which is installed beside this one or on the path. It comes back only where that cannot be;
/// with no error where there is no such program.
pub fn become_companion(name: &str, arguments: &[OsString]) -> Option<io::Error> {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(name));
    let found = beside.filter(|program| program.is_file()).or_else(|| find_program(name, Path::new(".")))?;
    Some(Command::new(found).args(arguments).exec())
}
