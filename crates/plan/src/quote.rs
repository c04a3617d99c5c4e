//! Parts of the documents beside a plan that its tasks point at: requirements by their numbers, user stories by theirs.

use crate::markdown::{LineKind, Regions, heading_level, indent_of, regions};

/// The words before the number of a requirement in a heading, in the languages that people write them in.
const REQUIREMENT: [&str; 8] =
    ["requirement", "req", "要件", "需求", "要求", "requisito", "anforderung", "exigence"];
const STORY: [&str; 3] = ["user story", "story", "us"];

/// The part of a document with requirements that a reference such as `1.2`, `3` or `Requirement 3` points at: the heading,
/// the words below it, and of the criteria the one that is meant.
#[must_use]
pub fn requirement(document: &str, reference: &str) -> Option<String> {
    let number = reference.trim().trim_start_matches(|c: char| !c.is_ascii_digit());
    let (whole, criterion) = match number.split_once('.') {
        Some((whole, criterion)) => (whole, criterion.parse::<u32>().ok()),
        None => (number, None),
    };
    let section = section(document, whole.parse().ok()?, &REQUIREMENT)?;
    let Some(criterion) = criterion else { return Some(section) };
    Some(with_criterion(&section, criterion))
}

/// The part of a specification that is about a user story, such as `US1`.
#[must_use]
pub fn user_story(document: &str, story: &str) -> Option<String> {
    let number = story.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
    section(document, number, &STORY)
}

/// The section whose heading has one of the words and the number behind it.
fn section(document: &str, number: u32, words: &[&str]) -> Option<String> {
    let regions = regions(document);
    let levels = headings(document, &regions);
    let at =
        levels.iter().position(|(line, _)| is_named(regions.lines[*line].of(document), number, words))?;
    let (first, level) = levels[at];
    let end = levels[at + 1..].iter().find(|(_, other)| *other <= level);
    let end = end.map_or(document.len(), |(line, _)| regions.lines[*line].start);
    Some(document[regions.lines[first].start..end].trim_end().to_owned())
}

fn headings(text: &str, regions: &Regions) -> Vec<(usize, usize)> {
    let lines = regions.lines.iter().zip(&regions.kinds).enumerate();
    let lines = lines.filter(|(_, (_, kind))| **kind == LineKind::Text);
    lines.filter_map(|(at, (line, _))| Some((at, heading_level(line.of(text))?))).collect()
}

fn is_named(heading: &str, number: u32, words: &[&str]) -> bool {
    let heading = heading.trim_start_matches(['#', ' ', '*']).to_lowercase();
    let rest = words.iter().find_map(|word| heading.strip_prefix(word)).unwrap_or(&heading);
    let rest = rest.trim_start_matches([' ', '#', '-', ':']);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let ends = !rest[digits..].starts_with(|c: char| c.is_alphanumeric())
        && !rest[digits..]
            .strip_prefix('.')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    ends && rest[..digits].parse() == Ok(number)
}

/// A section with one of the items of its numbered list.
fn with_criterion(section: &str, criterion: u32) -> String {
    let mut kept = String::new();
    let mut is_kept = true;
    for line in section.split_inclusive('\n') {
        if let Some(number) = item_number(line) {
            is_kept = number == criterion;
        } else if heading_level(line).is_some() || (!line.trim().is_empty() && indent_of(line) == 0) {
            is_kept = true;
        }
        if is_kept {
            kept.push_str(line);
        }
    }
    kept.trim_end().to_owned()
}

/// The number of a list item: `2. …`, or `1.2 …` and `- 1.2 …` with the requirement's before it.
fn item_number(line: &str) -> Option<u32> {
    let line = line.trim_end().strip_prefix(['-', '*']).map_or(line, str::trim_start);
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let first = digits(line);
    let rest = line[..].get(first..)?.strip_prefix(['.', ')'])?;
    let second = digits(rest);
    let number = if second > 0 { &rest[..second] } else { &line[..first] };
    number.parse().ok().filter(|_| first > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUIREMENTS: &str = "# Requirements\n\n### Requirement 1: Login\n\n**User Story:** As a user\n\n#### Acceptance \
        Criteria\n\n1. WHEN a\n   THEN b\n2. WHEN c\n3. WHEN d\n\n### Requirement 10\n\n1. WHEN e\n";

    #[test]
    fn a_reference_points_at_a_criterion() {
        let quoted = requirement(REQUIREMENTS, "1.2").unwrap();
        assert_eq!(
            quoted,
            "### Requirement 1: Login\n\n**User Story:** As a user\n\n#### Acceptance Criteria\n\n2. WHEN c"
        );
        assert_eq!(requirement(REQUIREMENTS, "Requirement 10").unwrap(), "### Requirement 10\n\n1. WHEN e");
        assert!(requirement(REQUIREMENTS, "1.1").unwrap().ends_with("1. WHEN a\n   THEN b"));
        assert_eq!(requirement(REQUIREMENTS, "2.1"), None);
        assert_eq!(requirement(REQUIREMENTS, "NFR"), None);
    }

    #[test]
    fn a_user_story_is_a_section() {
        let spec = "# Spec\n\n### User Story 1 - Photos (Priority: P1)\n\nAs a user\n\n**Independent Test**: x\n\n### User Story 12\n";
        assert!(user_story(spec, "US1").unwrap().ends_with("**Independent Test**: x"));
        assert_eq!(user_story(spec, "US2"), None);
    }
}
