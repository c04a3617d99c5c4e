//! The sums that git names objects by and ends its index with: SHA-1, or where a repository wants that, SHA-256.

use sha1::Sha1;
use sha2::{Digest, Sha256};

/// The sum of some parts, one after the other, in as many bytes. None: git has no sum of this length.
pub(in crate::git) fn checksum(parts: &[&[u8]], width: usize) -> Option<Vec<u8>> {
    match width {
        20 => Some(sum::<Sha1>(parts)),
        32 => Some(sum::<Sha256>(parts)),
        _ => None,
    }
}

fn sum<D: Digest>(parts: &[&[u8]]) -> Vec<u8> {
    let mut digest = D::new();
    parts.iter().for_each(|part| digest.update(part));
    digest.finalize().to_vec()
}

#[cfg(test)]
mod tests {
    use super::checksum;
    use crate::git::history::digits;

    #[test]
    fn the_sums_are_those_of_git() {
        let check = |content: &str, width, expected: &str| {
            let header = format!("blob {}\0", content.len());
            let sum = checksum(&[header.as_bytes(), content.as_bytes()], width).unwrap();
            assert_eq!(digits(&sum), expected, "{content:?}");
        };
        check("", 20, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        check("", 32, "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813");
        check("hello\n", 20, "ce013625030ba8dba906f756967f9e9ca394464a");
        assert_eq!(checksum(&[b"a"], 16), None);
    }
}
