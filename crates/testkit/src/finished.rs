//! A run of the program under test that has ended.

use std::fmt;
use std::process::ExitStatus;

/// A process that has ended, with everything that it printed.
#[derive(Debug, Clone)]
pub struct Finished {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Finished {
    pub(crate) fn new(status: ExitStatus, stdout: String, stderr: String) -> Finished {
        Finished { code: status.code(), stdout, stderr }
    }

    /// Fails the test, showing everything printed, unless the exit code is this.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Finished {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }
}

impl fmt::Display for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.code.map_or_else(|| "a signal".to_owned(), |code| format!("code {code}"));
        write!(f, "ended by {code}\n--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr)
    }
}
