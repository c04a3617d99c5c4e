//! How much space trees take, and how much is left for them.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::sys::statvfs::statvfs;

/// How much space has to be left, at least, before a tree is made ready.
pub(super) const FREE_BYTES_MIN: u64 = 1 << 30;

/// How many bytes are left where a folder lies, or the nearest one above it that exists.
pub(super) fn free_bytes(folder: &Path) -> io::Result<u64> {
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    let told = statvfs(there)?;
    Ok(told.blocks_available().saturating_mul(told.fragment_size()))
}

/// How many bytes a folder takes on disk. What cannot be looked at counts for nothing.
pub(crate) fn bytes_in(folder: &Path) -> u64 {
    let mut sum = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            sum += metadata.blocks() * 512;
            if metadata.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    sum
}

/// A number of bytes for people.
pub fn in_words(bytes: u64) -> String {
    let units = [("GB", 30), ("MB", 20), ("kB", 10)];
    let unit = units.into_iter().find(|(_, power)| bytes >> power > 0);
    let Some((name, power)) = unit else { return format!("{bytes} B") };
    let tenths = (bytes.saturating_mul(10)) >> power;
    if tenths < 100 {
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    } else {
        format!("{} {name}", tenths / 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_in_words() {
        let check = |bytes: u64, expected: &str| assert_eq!(in_words(bytes), expected);
        check(0, "0 B");
        check(1023, "1023 B");
        check(1024, "1.0 kB");
        check(1 << 20, "1.0 MB");
        check((15 << 20) + (1 << 19), "15 MB");
        check(3 << 29, "1.5 GB");
        check(u64::MAX, "1717986918 GB");
    }

    #[test]
    fn folders_are_measured_without_following_links() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("inside");
        fs::create_dir_all(inside.join("deep")).unwrap();
        fs::write(inside.join("deep/file"), vec![1; 100_000]).unwrap();
        std::os::unix::fs::symlink(folder.path(), inside.join("up")).unwrap();
        let bytes = bytes_in(&inside);
        assert!((100_000..200_000).contains(&bytes), "{bytes}");
        assert_eq!(bytes_in(&folder.path().join("none")), 0);
        assert!(free_bytes(&inside.join("not/there")).unwrap() > 0);
    }
}
