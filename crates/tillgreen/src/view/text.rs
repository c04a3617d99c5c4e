//! Text that others wrote (plans, agents, commands), made safe and short enough for a line on a terminal.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text without what could move the cursor, change colours, turn the reading direction round or not be seen.
pub(crate) fn clean(text: &str) -> String {
    text.chars().filter_map(on_line).collect()
}

/// A text of several lines, made safe in the same way: line feeds and tabs stay.
pub(crate) fn clean_lines(text: &str) -> String {
    plan::harmless_lines(&text.replace('\r', " "))
}

fn on_line(character: char) -> Option<char> {
    if matches!(character, '\n' | '\r' | '\t') { Some(' ') } else { plan::harmless(character) }
}

/// The text on one line, at most so many characters long.
pub(crate) fn one_line(text: &str, chars_max: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    for character in text.trim().chars().filter_map(on_line) {
        if character == ' ' && line.ends_with(' ') {
            continue;
        }
        if count == chars_max {
            line.pop();
            line.truncate(line.trim_end().len());
            line.push('…');
            break;
        }
        line.push(character);
        count += 1;
    }
    line
}

/// A script with a sign for the end of each of its lines, so that it is not read as one command.
pub(crate) fn script_line(script: &str) -> String {
    script.trim().lines().map(str::trim).collect::<Vec<_>>().join(" ↵ ")
}

/// How long something took, to the precision that matters to people.
pub(crate) fn took(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match seconds {
        0..10 => format!("{:.1}s", duration.as_secs_f64()),
        10..60 => format!("{seconds}s"),
        60..3_600 => format!("{minutes}m {}s", seconds % 60),
        3_600..86_400 => format!("{hours}h {minutes}m"),
        _ => format!("{days}d {hours}h"),
    }
}

/// How long it is from one moment to another; nothing if the clock was turned back.
pub(crate) fn between(since: Timestamp, until: Timestamp) -> Duration {
    Duration::try_from(until.duration_since(since)).unwrap_or_default()
}

/// A moment to the second, the same wherever one reads it.
pub(crate) fn moment(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%SZ").to_string()
}

/// A moment of today's run.
pub(crate) fn clock(at: Timestamp) -> String {
    at.strftime("%H:%M:%SZ").to_string()
}

/// A moment of today's run, in the time of whoever looks.
pub(crate) fn zoned_clock(at: Timestamp) -> String {
    at.to_zoned(zone()).strftime("%H:%M:%S").to_string()
}

/// The time zone of whoever looks. Tests look from one place.
pub(crate) fn zone() -> TimeZone {
    if cfg!(test) { TimeZone::UTC } else { TimeZone::system() }
}

/// A time that runs, as a clock shows it: `01:12`, `1:02:03`.
pub(crate) fn running(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds / 3_600 {
        0 => format!("{:02}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

/// The columns that a text takes on a terminal.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// The text made safe, in exactly so many columns: cut with an ellipsis, or filled with spaces. Only as much of it is
/// looked at as there is room for.
pub(crate) fn fit(text: &str, columns_max: usize) -> String {
    let (mut fitted, mut used) = cut(text, columns_max);
    while used < columns_max {
        fitted.push(' ');
        used += 1;
    }
    fitted
}

/// The text made safe, in at most so many columns, with how many it takes.
pub(crate) fn cut(text: &str, columns_max: usize) -> (String, usize) {
    let (mut line, mut used) = (String::new(), 0);
    // The place to cut at, should it turn out to be too long.
    let mut before_last = (0, 0);
    for character in text.chars().filter_map(on_line) {
        let width = character.width().unwrap_or(0);
        if used + width > columns_max {
            line.truncate(before_last.0);
            used = before_last.1;
            if columns_max > 0 {
                line.push('…');
                used += 1;
            }
            break;
        }
        if used + width < columns_max {
            before_last = (line.len() + character.len_utf8(), used + width);
        }
        line.push(character);
        used += width;
    }
    (line, used)
}

/// A number with its noun: `1 task`, `2 tasks`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    let plural = match noun {
        "fix" => "fixes",
        "open checkbox" => "open checkboxes",
        _ => return format!("{number} {noun}{}", if number == 1 { "" } else { "s" }),
    };
    format!("{number} {}", if number == 1 { noun } else { plural })
}

/// A folder or file as an argument to type.
pub(crate) fn quoted(argument: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "-_./:=+@%".contains(character);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_safe_and_short() {
        assert_eq!(one_line("  a\n\tb  c ", 20), "a b c");
        assert_eq!(one_line("abcdef", 4), "abc…");
        assert_eq!(one_line("abcd", 4), "abcd");
        assert_eq!(one_line("äöü and so on", 4), "äöü…");
        assert_eq!(one_line("\u{1b}[31mred\u{202e}", 20), "\u{241b}[31mred\u{fffd}");
        assert_eq!(one_line("", 4), "");
        assert_eq!(clean("a\u{7}\u{200b}b"), "a\u{2407}b");
        assert_eq!(clean_lines("a\n\tb\r\u{1b}"), "a\n\tb \u{241b}");
    }

    #[test]
    fn text_fits_into_columns() {
        let check = |text: &str, room: usize, expected: &str| {
            assert_eq!(fit(text, room), expected, "{text:?}");
            assert_eq!(columns(expected), room, "{text:?}");
        };
        check("abc", 5, "abc  ");
        check("abcdef", 4, "abc…");
        check("abcd", 4, "abcd");
        check("日本語です", 5, "日本…");
        check("日本語です", 6, "日本… ");
        check("a\u{1b}[2J", 3, "a\u{241b}…");
        check("abc", 0, "");
        check("abc", 1, "…");
    }

    #[test]
    fn durations_read_well() {
        assert_eq!(running(Duration::from_secs(72)), "01:12");
        assert_eq!(running(Duration::from_secs(3_723)), "1:02:03");
        let check = |ms: u64, expected: &str| assert_eq!(took(Duration::from_millis(ms)), expected);
        check(400, "0.4s");
        check(42_000, "42s");
        check(125_000, "2m 5s");
        check(3_780_000, "1h 3m");
        check(90_000_000, "1d 1h");
    }

    #[test]
    fn numbers_and_arguments() {
        assert_eq!(count(1, "task"), "1 task");
        assert_eq!(count(0, "task"), "0 tasks");
        assert_eq!(count(2, "fix"), "2 fixes");
        assert_eq!(quoted("auth"), "auth");
        assert_eq!(quoted("my spec's"), "'my spec'\\''s'");
    }
}
