//! A zip archive without compression, as which logs come.

/// An archive of these files.
pub(super) fn zip(files: &[(String, String)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut directory = Vec::new();
    for (name, text) in files {
        let start = number(bytes.len());
        let entry = entry(name, text);
        bytes.extend_from_slice(b"PK\x03\x04");
        bytes.extend_from_slice(&entry);
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(text.as_bytes());
        directory.extend_from_slice(b"PK\x01\x02\x14\x00");
        directory.extend_from_slice(&entry);
        // No comment, first disk, no attributes.
        directory.extend_from_slice(&[0; 10]);
        directory.extend_from_slice(&start.to_le_bytes());
        directory.extend_from_slice(name.as_bytes());
    }
    let (start, length) = (number(bytes.len()), number(directory.len()));
    let count = u16::try_from(files.len()).expect("few files").to_le_bytes();
    bytes.extend_from_slice(&directory);
    bytes.extend_from_slice(b"PK\x05\x06\x00\x00\x00\x00");
    bytes.extend_from_slice(&count);
    bytes.extend_from_slice(&count);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&start.to_le_bytes());
    bytes.extend_from_slice(&[0; 2]);
    bytes
}

/// The fields that stand in both places: version, flags, method, time, date, checksum, sizes, length of the name.
fn entry(name: &str, text: &str) -> Vec<u8> {
    let size = number(text.len()).to_le_bytes();
    let mut bytes = vec![0x14, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
    bytes.extend_from_slice(&crc32fast::hash(text.as_bytes()).to_le_bytes());
    bytes.extend_from_slice(&size);
    bytes.extend_from_slice(&size);
    bytes.extend_from_slice(&u16::try_from(name.len()).expect("a short name").to_le_bytes());
    bytes.extend_from_slice(&[0; 2]);
    bytes
}

fn number(value: usize) -> u32 {
    u32::try_from(value).expect("a small archive")
}
