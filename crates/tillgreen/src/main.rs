//! The program: a keeper, where it was started as one, else the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    runner::process::keep_if_asked();
    tillgreen::main()
}
