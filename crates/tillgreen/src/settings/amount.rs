//! Amounts as people write them: dollars, and numbers of tokens.

/// The largest amount of dollars: more is a slip of the finger.
const DOLLARS_MAX: f64 = 1_000_000.0;

/// Reads an amount of dollars as millionths: `5`, `0.25`, `$3`.
pub(super) fn dollars(text: &str) -> Result<u64, String> {
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

/// Writes millionths so that [`dollars`] reads the same amount.
pub(crate) fn spell_dollars(micros: u64) -> String {
    let (whole, part) = (micros / 1_000_000, micros % 1_000_000);
    let text = format!("{whole}.{part:06}");
    let text = text.trim_end_matches('0');
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    format!("{text}{}", "0".repeat(2_usize.saturating_sub(decimals)))
}

/// Reads a number of tokens: `500000`, `500k`, `2M`.
pub(super) fn tokens(text: &str) -> Result<u64, String> {
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
    fn dollars_as_people_write_them() {
        for (text, micros) in [("5", 5_000_000), ("0.25", 250_000), ("$3", 3_000_000), (" 1.50 ", 1_500_000)]
        {
            assert_eq!(dollars(text), Ok(micros), "for {text:?}");
            assert_eq!(dollars(&spell_dollars(micros)), Ok(micros));
        }
        for text in ["", "0", "-1", "NaN", "inf", "1e300", "five", "1,5", "0.0000001"] {
            assert!(dollars(text).is_err(), "for {text:?}");
        }
        assert_eq!(spell_dollars(19_050), "0.01905");
        assert_eq!(spell_dollars(5_000_000), "5.00");
    }

    #[test]
    fn tokens_as_people_write_them() {
        for (text, number) in [("1", 1), ("500k", 500_000), ("2M", 2_000_000)] {
            assert_eq!(tokens(text), Ok(number), "for {text:?}");
        }
        for text in ["", "0", "0k", "-1", "1.5k", "k", "99999999999999999999", "99999999999999999M"] {
            assert!(tokens(text).is_err(), "for {text:?}");
        }
    }
}
