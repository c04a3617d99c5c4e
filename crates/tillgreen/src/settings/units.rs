//! Values with units as people write them: durations (`90s`, `30m`, `1h30m`), dollars, numbers of tokens.

use std::time::Duration;

/// The units of time, largest first.
const TIME_UNITS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
/// The largest amount of dollars: more is a slip of the finger.
const DOLLARS_MAX: f64 = 1_000_000.0;

/// Reads a duration. Parts go from large to small, each unit at most once.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
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
    let mut units = TIME_UNITS.iter();
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

/// Writes a duration so that [`parse_duration`] reads the same one, down to the millisecond.
pub(crate) fn format_duration(duration: Duration) -> String {
    let mut left = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let mut text = String::new();
    for (unit, scale) in TIME_UNITS {
        let count = left / scale;
        left %= scale;
        if count > 0 {
            text.push_str(&format!("{count}{unit}"));
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

/// Reads an amount of dollars as millionths: `5`, `0.25`, `$3`.
pub(crate) fn parse_dollars(text: &str) -> Result<u64, String> {
    let number = text.trim().trim_start_matches('$');
    let amount: f64 = number.parse().map_err(|_| "must be an amount of dollars like 5 or 0.25".to_owned())?;
    let is_fit = amount.is_finite() && (0.000_001..=DOLLARS_MAX).contains(&amount);
    if !is_fit {
        return Err(format!("must be more than 0 and at most {DOLLARS_MAX} dollars"));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range was looked at just now"
    )]
    let micros = (amount * 1_000_000.0).round() as u64;
    Ok(micros)
}

/// Writes millionths so that [`parse_dollars`] reads the same amount.
pub(crate) fn format_dollars(micros: u64) -> String {
    let (whole, part) = (micros / 1_000_000, micros % 1_000_000);
    let text = format!("{whole}.{part:06}");
    let text = text.trim_end_matches('0');
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    format!("{text}{}", "0".repeat(2_usize.saturating_sub(decimals)))
}

/// Reads a number of tokens: `500000`, `500k`, `2M`.
pub(crate) fn parse_tokens(text: &str) -> Result<u64, String> {
    let wrong = || "must be a whole number from 1, like 500000, 500k or 2M".to_owned();
    let text = text.trim();
    let (digits, scale) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => text.strip_suffix('M').map_or((text, 1), |digits| (digits, 1_000_000)),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(scale).filter(|number| *number > 0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_as_people_write_them() {
        let check = |text: &str, ms: u64| {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(ms)), "for {text:?}")
        };
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
            let error = parse_duration(text).unwrap_err();
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
    fn durations_are_read_back() {
        for ms in [1, 999, 1_000, 61_001, 5_400_000, 90_061_007] {
            let duration = Duration::from_millis(ms);
            assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
        }
        assert_eq!(format_duration(Duration::from_secs(5_400)), "1h30m");
    }

    #[test]
    fn dollars_as_people_write_them() {
        for (text, micros) in [("5", 5_000_000), ("0.25", 250_000), ("$3", 3_000_000), (" 1.50 ", 1_500_000)]
        {
            assert_eq!(parse_dollars(text), Ok(micros), "for {text:?}");
            assert_eq!(parse_dollars(&format_dollars(micros)), Ok(micros));
        }
        for text in ["", "0", "-1", "NaN", "inf", "1e300", "five", "1,5", "0.0000001"] {
            assert!(parse_dollars(text).is_err(), "for {text:?}");
        }
        assert_eq!(format_dollars(19_050), "0.01905");
        assert_eq!(format_dollars(5_000_000), "5.00");
    }

    #[test]
    fn tokens_as_people_write_them() {
        for (text, number) in [("1", 1), ("500k", 500_000), ("2M", 2_000_000)] {
            assert_eq!(parse_tokens(text), Ok(number), "for {text:?}");
        }
        for text in ["", "0", "0k", "-1", "1.5k", "k", "99999999999999999999", "99999999999999999M"] {
            assert!(parse_tokens(text).is_err(), "for {text:?}");
        }
    }
}
