//! Finding single bytes eight at a time. The standard library looks for one byte only and starts anew after
//! each, which is most of the work where lines are short.

/// The low seven bits of each byte of a word.
const LOW: u64 = u64::from_ne_bytes([0x7f; 8]);

/// Where in `bytes` one of the `needles` is, in order. They are ASCII and not NUL.
pub(crate) fn each_of<const N: usize>(bytes: &[u8], needles: [u8; N]) -> EachOf<'_, N> {
    let (words, rest) = bytes.as_chunks::<8>();
    let repeated = needles.map(|needle| u64::from_ne_bytes([needle; 8]));
    EachOf { words: words.iter(), rest, repeated, hits: 0, next: 0 }
}

/// Where the `needle` first is in `bytes`.
pub(crate) fn first(bytes: &[u8], needle: u8) -> Option<usize> {
    each_of(bytes, [needle]).next()
}

/// See [`each_of`].
pub(crate) struct EachOf<'a, const N: usize> {
    words: std::slice::Iter<'a, [u8; 8]>,
    /// What is left after the last whole word.
    rest: &'a [u8],
    repeated: [u64; N],
    /// A bit for each needle in the word before `next` that was not given out yet.
    hits: u64,
    /// The position of the next word.
    next: usize,
}

impl<const N: usize> EachOf<'_, N> {
    fn next_word(&mut self) -> Option<[u8; 8]> {
        if let Some(word) = self.words.next() {
            return Some(*word);
        }
        let rest = std::mem::take(&mut self.rest);
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        (!rest.is_empty()).then_some(word)
    }
}

impl<const N: usize> Iterator for EachOf<'_, N> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.hits == 0 {
            let word = self.next_word()?;
            self.hits = equal_bytes(u64::from_le_bytes(word), self.repeated);
            self.next += 8;
        }
        let offset = (self.hits.trailing_zeros() / 8) as usize;
        self.hits &= self.hits - 1;
        Some(self.next - 8 + offset)
    }
}

/// The highest bit of each byte of `word` that equals one of the needles; all other bits are zero.
fn equal_bytes<const N: usize>(word: u64, repeated: [u64; N]) -> u64 {
    // Adding 0x7f carries into the highest bit unless the seven bits below are all zero, and never beyond.
    let differs = repeated.iter().fold(u64::MAX, |differs, needle| differs & (((word & LOW) ^ needle) + LOW));
    !(differs | word) & !LOW
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_a_plain_loop_finds() {
        let mut text: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        for _ in 0..16 {
            text.remove(0);
            let found: Vec<usize> = each_of(&text, *b"\n`<\x7f").collect();
            let expected = (0..text.len()).filter(|&at| b"\n`<\x7f".contains(&text[at]));
            assert_eq!(found, expected.collect::<Vec<_>>());
            assert_eq!(first(&text, b'`'), text.iter().position(|&byte| byte == b'`'));
            assert_eq!(first(&text[..9], b'`'), None);
        }
    }
}
