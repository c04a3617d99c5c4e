//! The time a service asks to be left alone, read from its words. What is not understood whole is no figure: a wait
//! that is too short would only be the next refusal.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The longest time to be left alone that is believed.
pub(super) const WAIT_MAX: Duration = Duration::from_secs(6 * 60 * 60);

/// The words that stand before a time.
const ASKS: [&str; 9] = [
    "retry-after",
    "retry after",
    "retry_after",
    "try again in",
    "retry in",
    "retrying in",
    "reset after",
    "reset in",
    "resets in",
];

/// Words before the second at which an account has something again, as Unix counts them.
const RESETS: &str = "limit reached|";

/// Unix seconds are not that many; milliseconds are.
const SECONDS_MAX: u64 = 100_000_000_000;

/// The time a text asks for: `retry after 30`, `try again in 1.5s`, `retry in 1 minute 30 seconds`, `resets in 1h5m`.
pub(super) fn asked_for(text: &str) -> Option<Duration> {
    let text = text.to_lowercase();
    let told = ASKS.iter().find_map(|ask| {
        let at = text.rfind(ask)?;
        seconds_at(text[at + ask.len()..].trim_start_matches([':', ' ', '"', '=']))
    });
    let told = told.and_then(|seconds| Duration::try_from_secs_f64(seconds.min(WAIT_MAX.as_secs_f64())).ok());
    told.or_else(|| until(number_at(text.split_once(RESETS)?.1)?))
}

/// The time until a time of Unix, in seconds or milliseconds.
pub(super) fn until(time: u64) -> Option<Duration> {
    let since_epoch =
        if time > SECONDS_MAX { Duration::from_millis(time) } else { Duration::from_secs(time) };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(since_epoch.saturating_sub(now).min(WAIT_MAX))
}

/// A number with its unit, and those that follow it. A number alone means seconds.
fn seconds_at(text: &str) -> Option<f64> {
    let (number, mut rest) = decimal_at(text)?;
    let Some((scale, after)) = unit_at(rest) else {
        return is_alone(rest).then_some(number);
    };
    let mut seconds = number * scale;
    rest = after;
    while let Some((more, after)) = part_at(rest) {
        seconds += more;
        rest = after;
    }
    Some(seconds)
}

/// A further part of a time: `30s`, ` 30 seconds`, `, 30 s`, ` and 30 seconds`.
fn part_at(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start_matches([' ', ',']);
    let text = text.strip_prefix("and ").unwrap_or(text).trim_start();
    let (number, rest) = decimal_at(text)?;
    let (scale, rest) = unit_at(rest)?;
    Some((number * scale, rest))
}

/// True if nothing follows a number that could be its unit, or make it a date or a time of day.
fn is_alone(rest: &str) -> bool {
    let goes_on = rest.trim_start_matches([':', '-', '/']);
    let is_date = goes_on.len() < rest.len() && goes_on.starts_with(|next: char| next.is_ascii_digit());
    let is_worded = rest.trim_start_matches(' ').starts_with(char::is_alphabetic);
    !is_date && !is_worded
}

/// The seconds that a unit stands for, and the text that follows it.
fn unit_at(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start_matches(' ');
    let end = text.find(|character: char| !character.is_alphabetic()).unwrap_or(text.len());
    let scale = match &text[..end] {
        "ms" | "millisecond" | "milliseconds" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    };
    Some((scale, &text[end..]))
}

fn number_at(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text[..digits].parse().ok()
}

/// A number, perhaps with a fraction; a full stop after it is left.
fn decimal_at(text: &str) -> Option<(f64, &str)> {
    let length = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let number = text[..length].trim_end_matches('.');
    Some((number.parse().ok()?, &text[number.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<u64>) {
        assert_eq!(asked_for(text), expected.map(Duration::from_millis), "for {text:?}");
    }

    #[test]
    fn how_long_to_wait() {
        check("429, retry after 30 seconds", Some(30_000));
        check("Please try again in 1.5s.", Some(1_500));
        check("please retry in 200ms", Some(200));
        check("Retry-After: 12", Some(12_000));
        check("retry after 12. Then ask again", Some(12_000));
        check("retry after 12 (request 7)", Some(12_000));
        check("try again in 2 minutes", Some(120_000));
        check("try again in a moment", None);
        check("retry after 99999999999999999999999999 hours", Some(6 * 60 * 60 * 1_000));
        check("retry after -5", None);
        check("retry after 1.2.3", None);
        check("too many requests", None);
    }

    #[test]
    fn a_time_of_several_parts_is_read_whole() {
        check("try again in 1m30s", Some(90_000));
        check("try again in 1 minute 30 seconds.", Some(90_000));
        check("try again in 1 minute, and 30 seconds", Some(90_000));
        check("Please try again in 2m30.5s.", Some(150_500));
        check("your quota will reset after 1h5m", Some(3_900_000));
        check("retry in 2m, 3 attempts are left", Some(120_000));
    }

    #[test]
    fn what_is_not_understood_is_no_figure() {
        check("try again in 3 days", Some(6 * 60 * 60 * 1_000));
        check("try again in 3 fortnights", None);
        check("retry after 2031-01-02", None);
        check("retry after 10:30", None);
    }

    #[test]
    fn a_time_of_unix_is_waited_for() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_secs();
        let wait = asked_for(&format!("Claude AI usage limit reached|{}", now + 3_600));
        assert!(wait.is_some_and(|wait| wait > Duration::from_secs(3_000)), "{wait:?}");
        assert!(wait <= Some(Duration::from_secs(3_600)), "{wait:?}");
        assert_eq!(until(now.saturating_sub(5)), Some(Duration::ZERO), "that has passed");
        assert_eq!(until((now + 1_000_000) * 1_000), Some(WAIT_MAX));
        assert_eq!(until(u64::MAX), Some(WAIT_MAX));
        check("usage limit reached|soon", None);
    }
}
