//! Finding single bytes, many at a time. The standard library looks for one byte only and starts anew after
//! each, which is most of the work where lines are short.

/// How many bytes are compared at once. The loops over a block have no branches, so that the compiler can
/// make vector instructions of them.
const BLOCK: usize = 32;

/// Calls `found` with the position of each byte of `bytes` that is one of the `needles`, in order. NUL cannot
/// be a needle.
pub(crate) fn each_of<const N: usize>(bytes: &[u8], needles: [u8; N], mut found: impl FnMut(usize)) {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    for (number, block) in blocks.iter().chain([&last]).enumerate() {
        let equal = equal_bytes(block, needles);
        for (part, word) in equal.as_chunks::<8>().0.iter().enumerate() {
            let mut hits = u64::from_le_bytes(*word);
            while hits != 0 {
                found(number * BLOCK + part * 8 + (hits.trailing_zeros() / 8) as usize);
                hits &= hits - 1;
            }
        }
    }
}

/// One for each byte of `block` that is one of the needles, zero for the others.
fn equal_bytes<const N: usize>(block: &[u8; BLOCK], needles: [u8; N]) -> [u8; BLOCK] {
    block.map(|byte| needles.iter().fold(0, |equal, &needle| equal | u8::from(byte == needle)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_a_plain_loop_finds() {
        let mut text: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        while text.pop().is_some() {
            let mut found = Vec::new();
            each_of(&text, *b"\n`<\xff", |at| found.push(at));
            let expected = (0..text.len()).filter(|&at| b"\n`<\xff".contains(&text[at]));
            assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }
}
