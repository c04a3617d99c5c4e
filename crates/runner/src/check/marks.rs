//! Marks of a conflict that nobody resolved.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// The bytes of a file that are looked at.
const BYTES_MAX: u64 = 4 * 1024 * 1024;

/// True if a file has the marks of a conflict in it, all three of them and in order.
pub(crate) fn has_conflict_marks(file: &Path) -> bool {
    let is_plain = std::fs::symlink_metadata(file).is_ok_and(|metadata| metadata.is_file());
    let mut content = Vec::new();
    let mut read = || File::open(file).and_then(|file| file.take(BYTES_MAX).read_to_end(&mut content));
    is_plain && read().is_ok() && is_marked(&String::from_utf8_lossy(&content))
}

fn is_marked(content: &str) -> bool {
    let marks = ["<<<<<<< ", "=======", ">>>>>>> "];
    let mut wanted = marks.iter().peekable();
    for line in content.lines() {
        if wanted.peek().is_some_and(|mark| line.starts_with(**mark)) {
            wanted.next();
        }
    }
    wanted.peek().is_none()
}

#[cfg(test)]
mod tests {
    use super::is_marked;

    #[test]
    fn marks_count_in_their_order_at_the_beginning_of_lines() {
        assert!(is_marked("a\n<<<<<<< one\nb\n=======\nc\n>>>>>>> two\nd\n"));
        assert!(!is_marked("Title\n=======\n\ntext\n"));
        assert!(!is_marked("let a = \"<<<<<<< one\";\n=======\n>>>>>>> two\n"));
        assert!(!is_marked(">>>>>>> two\n=======\n<<<<<<< one\n"));
        assert!(!is_marked(""));
    }
}
