//! PHPUnit, and PHP where it does not get that far.

use crate::output::failing::{Item, ItemStage, Tool};
use crate::output::reading::{Finding, Found};
use crate::output::text::{end_of_block, labelled, number};

/// After `There were 3 failures:`: `1) CalcTest::testAdd` and the error below it; or `✘ Add`, with the error in a frame.
pub(super) fn phpunit(lines: &[&str], found: &mut Found) {
    let mut class = "";
    for (at, line) in lines.iter().enumerate() {
        if let Some((tests, _)) =
            line.strip_prefix("Tests: ").filter(|count| count.contains("Assertions: ")).and_then(number)
        {
            let left_out =
                ["Skipped: ", "Incomplete: "].iter().filter_map(|label| labelled(line, label)).sum();
            found.ran(Tool::Phpunit, tests.saturating_sub(left_out));
        }
        if line.starts_with("No tests executed!") {
            found.ran(Tool::Phpunit, 0);
        }
        if let Some(test) = listed_test(line) {
            let end = end_of_block(lines, at + 1, str::is_empty);
            let told: Vec<&str> = lines[at + 1..end].iter().take(2).copied().collect();
            let end = end_of_block(lines, end + 1, str::is_empty);
            found.test(Tool::Phpunit, test, &told.join(": "), at..end);
        }
        if !line.is_empty() && !line.starts_with(' ') {
            class = line;
        }
        if let Some(title) = line.strip_prefix(" ✘ ") {
            let end = end_of_block(lines, at + 1, str::is_empty);
            let told = lines[at + 1..end].iter().find_map(|line| line.trim_start().strip_prefix("├ "));
            found.test(
                Tool::Phpunit,
                &format!("{class} > {title}"),
                told.unwrap_or_default().trim(),
                at..end,
            );
        }
        fatal(line, at, found);
    }
}

/// The test of `1) CalcTest::testPairs with data set "ones" (1, 1)`, without the data.
fn listed_test(line: &str) -> Option<&str> {
    let (number, test) = line.split_once(") ")?;
    let is_listed = number.parse::<u32>().is_ok() && test.contains("::");
    let test = if test.contains(" with data set ") { test.split(" (").next().unwrap_or(test) } else { test };
    is_listed.then_some(test)
}

/// `PHP Parse error:  syntax error, unexpected token ";" in BadTest.php on line 3`.
fn fatal(line: &str, at: usize, found: &mut Found) {
    let told = ["PHP Parse error:", "PHP Fatal error:"].iter().find_map(|kind| line.strip_prefix(kind));
    let Some(told) = told.map(str::trim) else { return };
    let unplaced = told.split(" on line ").next().unwrap_or(told);
    let unplaced =
        unplaced.trim_end_matches(|character: char| character.is_ascii_digit() || character == ':');
    let line =
        labelled(told, " on line ").or_else(|| told.rsplit(':').next().and_then(|line| line.parse().ok()));
    let item = Item { tool: Tool::Php, stage: ItemStage::Build, name: unplaced.to_owned(), line, count: 1 };
    found.diagnostic(Finding { item, error: told.to_owned(), lines: at..at + 1 });
}
