//! Tokens and money for people to read. What is not known is said to be unknown.

use engine::Usage;

use crate::settings::format_dollars;

/// The usage, in words; none where nothing is known.
pub(crate) fn words(usage: Usage) -> Option<String> {
    (!usage.is_unknown()).then(|| format!("{}, {}", tokens(usage), cost(usage)))
}

/// The tokens, in words.
pub(crate) fn tokens(usage: Usage) -> String {
    let Some(all) = usage.tokens() else { return "tokens unknown".to_owned() };
    let parts = [(usage.input, "in"), (usage.cached, "cached"), (usage.output, "out")];
    let parts: Vec<String> =
        parts.into_iter().filter_map(|(number, name)| Some(format!("{} {name}", grouped(number?)))).collect();
    format!("{} tokens ({})", grouped(all), parts.join(", "))
}

/// The price, in words.
pub(crate) fn cost(usage: Usage) -> String {
    usage
        .cost_micros
        .map_or_else(|| "cost unknown".to_owned(), |micros| format!("${}", format_dollars(micros)))
}

/// A number or `unknown`, for a cell of a table.
pub(crate) fn cell(number: Option<u64>) -> String {
    number.map_or_else(|| "unknown".to_owned(), grouped)
}

/// The price in dollars, for programs.
#[expect(clippy::cast_precision_loss, reason = "no price is so large that a millionth of a dollar is lost")]
pub(crate) fn dollars(usage: Usage) -> Option<f64> {
    usage.cost_micros.map(|micros| micros as f64 / 1_000_000.0)
}

/// A number with its thousands set apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_is_not_zero() {
        let usage = Usage { input: Some(1_234_567), output: Some(92), ..Usage::default() };
        assert_eq!(words(usage).as_deref(), Some("1 234 659 tokens (1 234 567 in, 92 out), cost unknown"));
        let paid = Usage { cost_micros: Some(19_050), ..Usage::default() };
        assert_eq!(words(paid).as_deref(), Some("tokens unknown, $0.01905"));
        assert_eq!(words(Usage::default()), None);
        assert_eq!(cell(None), "unknown");
        assert_eq!(cell(Some(0)), "0");
    }
}
