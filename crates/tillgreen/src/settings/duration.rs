//! Durations as people write them: `90s`, `30m`, `2h`, `500ms`, `1h30m`.

use std::time::Duration;

/// The units, largest first.
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Reads a duration. Parts go from large to small, each unit at most once.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("needs a unit: write {text}s, {text}m or {text}h"));
    }
    let total = total_ms(text).ok_or("must be a duration like 90s, 30m, 2h, 500ms or 1h30m")?;
    if total == 0 {
        return Err("must be longer than zero".to_owned());
    }
    Ok(Duration::from_millis(total))
}

fn total_ms(text: &str) -> Option<u64> {
    let mut rest = text;
    let mut units = UNITS.iter();
    let mut total = 0_u64;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (_, scale) = units.find(|(unit, _)| *unit == &rest[..letters])?;
        rest = &rest[letters..];
        total = total.checked_add(number.checked_mul(*scale)?)?;
    }
    (!text.is_empty()).then_some(total)
}

/// Writes a duration so that [`parse`] reads the same one, down to the millisecond.
pub(crate) fn spell(duration: Duration) -> String {
    let mut left = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let mut text = String::new();
    for (unit, scale) in UNITS {
        let count = left / scale;
        left %= scale;
        if count > 0 {
            text.push_str(&format!("{count}{unit}"));
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write() {
        let check =
            |text: &str, ms: u64| assert_eq!(parse(text), Ok(Duration::from_millis(ms)), "for {text:?}");
        check("90s", 90_000);
        check("30m", 1_800_000);
        check("2h", 7_200_000);
        check("500ms", 500);
        check("1h30m", 5_400_000);
        check("1d", 86_400_000);
        check(" 1m ", 60_000);
    }

    #[test]
    fn what_is_no_duration() {
        let check = |text: &str, part: &str| {
            let error = parse(text).unwrap_err();
            assert!(error.contains(part), "for {text:?}: {error}");
        };
        check("30", "write 30s, 30m or 30h");
        check("", "must be a duration like");
        check("m", "must be a duration like");
        check("30m1h", "must be a duration like");
        check("1h1h", "must be a duration like");
        check("1.5h", "must be a duration like");
        check("-1s", "must be a duration like");
        check("1 h", "must be a duration like");
        check("0s", "longer than zero");
        check("99999999999999999999s", "must be a duration like");
        check("18446744073709551615h", "must be a duration like");
        check("5é", "must be a duration like");
    }

    #[test]
    fn spelling_is_read_back() {
        for ms in [1, 999, 1_000, 61_001, 5_400_000, 90_061_007] {
            let duration = Duration::from_millis(ms);
            assert_eq!(parse(&spell(duration)), Ok(duration));
        }
        assert_eq!(spell(Duration::from_secs(5_400)), "1h30m");
    }
}
