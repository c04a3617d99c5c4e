//! Likely secrets in what an attempt adds. An agent's files and commits are left as they are, so a person is told.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::git::Oid;
use crate::mask::likely_secret;

/// The bytes of a file that are looked at.
const BYTES_MAX: u64 = 1024 * 1024;

/// The findings that are told; more say no more.
const TOLD_MAX: usize = 5;

/// True if a file has anything like a key in it, new or not.
pub(crate) fn has_likely_key(file: &Path) -> bool {
    let is_plain = file.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    let mut content = Vec::new();
    let mut read = || File::open(file).and_then(|file| file.take(BYTES_MAX).read_to_end(&mut content));
    is_plain
        && read().is_ok()
        && String::from_utf8_lossy(&content).lines().any(|line| likely_secret(line).is_some())
}

/// What is told of a difference: a key's issuer and the file, never the key.
pub(crate) fn likely_keys(difference: &str) -> Vec<String> {
    let mut path = "";
    let mut found: Vec<String> = Vec::new();
    for line in difference.lines() {
        if let Some(named) = line.strip_prefix("+++ ") {
            path = named.strip_prefix("b/").unwrap_or(named);
        } else if let Some(likely) = line.strip_prefix('+').and_then(likely_secret) {
            let told = format!("{path} has {likely}: it is committed as it is");
            if !found.contains(&told) && found.len() < TOLD_MAX {
                found.push(told);
            }
        }
    }
    found
}

/// What is told of the messages of commits that agents made.
pub(crate) fn likely_keys_of_messages(messages: &[(Oid, String)]) -> Vec<String> {
    let told = |(commit, message): &(Oid, String)| {
        let likely = message.lines().find_map(likely_secret)?;
        Some(format!("the message of commit {} has {likely}: it stays as it is", commit.short()))
    };
    messages.iter().filter_map(told).take(TOLD_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::likely_keys;

    #[test]
    fn only_what_is_added_is_told_and_never_the_key() {
        let difference = "\
diff --git a/old.js b/old.js
--- a/old.js
+++ b/old.js
-const key = \"ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\";
 const other = \"ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\";
+const none = process.env.API_KEY;
--- /dev/null
+++ b/conf/new.env
+A=AKIAIOSFODNN7EXAMPLE
+B=AKIAIOSFODNN7EXAMPLX
+-----BEGIN RSA PRIVATE KEY-----
+++ b/src/parse.rs
+if text.starts_with(\"-----BEGIN RSA PRIVATE KEY-----\") {
+let url = \"postgres://user:password@localhost/app\";
+++ b/compose.yml
+  URL: postgres://bob:k9Xw2mQ7@db.acme-prod.net/app
";
        assert_eq!(
            likely_keys(difference),
            [
                "conf/new.env has what looks like a key (aws): it is committed as it is",
                "conf/new.env has what looks like a key (private key): it is committed as it is",
                "compose.yml has what looks like a password in an address: it is committed as it is",
            ]
        );
    }
}
