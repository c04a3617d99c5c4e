//! How thoroughly a matrix of cases is gone through: every case once in a while, a part of them each time.

/// Set by `./test.sh --all`.
const ALL: &str = "TILLGREEN_TEST_ALL";

/// The distance between two cases that are tried: one where all are, else so many.
pub fn stride(usual: usize) -> usize {
    if std::env::var_os(ALL).is_some() { 1 } else { usual }
}
