//! Text of others without what does more than being read: commands for terminals, characters that turn the direction of
//! reading round, and those that nobody sees. Everything that is shown, written or sent on goes through here.

/// The form in which a character of somebody else's may be shown: control characters as visible signs, invisible ones not
/// at all. Line feeds and tabs are for the caller to decide about; here they are control characters.
#[must_use]
pub fn harmless(character: char) -> Option<char> {
    match character {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(character)),
        '\u{7f}' => Some('\u{2421}'),
        '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => Some(char::REPLACEMENT_CHARACTER),
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some(char::REPLACEMENT_CHARACTER)
        }
        invisible if is_invisible(invisible) => None,
        other => Some(other),
    }
}

/// True for what takes no room: joiners, fillers, selectors of variants, tags.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2065}'
            | '\u{206a}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// The text with nothing but harmless characters; line feeds and tabs stay.
#[must_use]
pub fn harmless_lines(text: &str) -> String {
    let each =
        |character| if matches!(character, '\n' | '\t') { Some(character) } else { harmless(character) };
    text.chars().filter_map(each).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_read_stays() {
        let text = "Grüße, 世界 – naïve “quotes” ½ × 10⁶ → ✅ 👍🏽 العربية עברית हिन्दी\n\ttab";
        assert_eq!(harmless_lines(text), text);
    }

    #[test]
    fn what_does_more_than_being_read_goes() {
        let check = |text: &str, expected: &str| assert_eq!(harmless_lines(text), expected);
        check("\u{1b}[31mred\u{1b}]0;title\u{7}", "\u{241b}[31mred\u{241b}]0;title\u{2407}");
        check("a\rb\0c\u{7f}d\u{9b}e", "a\u{240d}b\u{2400}c\u{2421}d\u{fffd}e");
        check("abc\u{202e}fdp.exe\u{202c}", "abc\u{fffd}fdp.exe\u{fffd}");
        check("in\u{200b}vi\u{feff}si\u{e0041}ble\u{ad}", "invisible");
        check("one\u{2028}two\u{2029}", "one\u{fffd}two\u{fffd}");
    }
}
