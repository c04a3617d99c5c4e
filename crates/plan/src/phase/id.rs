//! Names of plans and tasks: `03-01` and `03-01:task-3`.

use super::front_matter::FrontMatter;

/// The id of a plan, from its front matter and, where that does not say, from the names of its file and folder.
pub(super) fn plan_id(front_matter: Option<&FrontMatter>, hint: &str) -> String {
    let from_hint = Hint::read(hint);
    let phase = front_matter.map_or("", |front_matter| &front_matter.phase);
    let plan = front_matter.map_or("", |front_matter| &front_matter.plan);
    let phase = if phase.trim().is_empty() { from_hint.phase } else { short(phase) };
    let plan = if plan.trim().is_empty() { from_hint.plan } else { short(without_phase(plan, &phase)) };
    match (phase.is_empty(), plan.is_empty()) {
        (false, false) => format!("{phase}-{plan}"),
        (false, true) => phase,
        (true, false) => plan,
        (true, true) => "plan".to_owned(),
    }
}

/// The number of a phase: `02.5` comes after `02` and before `03`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PhaseNumber {
    parts: Vec<u32>,
    /// The letter behind the number, as in `02a`.
    letter: Option<char>,
}

impl PhaseNumber {
    /// The number of the phase that a plan is in, from the plan's id.
    pub(super) fn of_plan(plan_id: &str) -> Option<Self> {
        let number = leading_number(plan_id)?;
        let digits = number.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let parts = digits.split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u32>>>()?;
        Some(Self { parts, letter: number[digits.len()..].chars().next() })
    }
}

/// True if two ids mean one plan: `1-2` is `01-02`.
pub(super) fn is_same_plan(left: &str, right: &str) -> bool {
    let parts =
        |id: &str| id.split('-').map(|part| part.trim_start_matches('0').to_owned()).collect::<Vec<_>>();
    left == right || parts(left) == parts(right)
}

/// The number of the task that a spelling means in this plan: `03-01:task-3`, `03-01-task-3`, `03-01-03`.
pub(super) fn task_number(plan_id: &str, spelled: &str) -> Option<usize> {
    let rest = spelled.trim().strip_prefix(plan_id)?.strip_prefix([':', '-', '/'])?;
    let number = rest.strip_prefix("task-").unwrap_or(rest);
    number.parse().ok().filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The phase and plan that a path names.
#[derive(Debug, Default, PartialEq, Eq)]
struct Hint {
    phase: String,
    plan: String,
}

impl Hint {
    /// Reads `01-foundation/01-02-PLAN.md`, or only one of the two names.
    fn read(hint: &str) -> Hint {
        let hint = hint.trim_end_matches(['/', '\\']);
        let (folder, file) = hint.rsplit_once(['/', '\\']).unwrap_or(("", hint));
        let folder = folder.rsplit(['/', '\\']).next().unwrap_or_default();
        let stem = file.strip_suffix(".md").unwrap_or(file);
        let stem = stem.strip_suffix("PLAN").unwrap_or(stem).trim_end_matches(['-', '_', '.']);
        let outer = leading_number(folder).unwrap_or_default();
        match leading_number(stem) {
            None => Hint { phase: outer.to_owned(), plan: slug(stem) },
            Some(first) => {
                let rest = stem[first.len()..].trim_start_matches(['-', '_']);
                match leading_number(rest) {
                    Some(second) => Hint { phase: first.to_owned(), plan: second.to_owned() },
                    None if outer.is_empty() || outer == first => {
                        Hint { phase: first.to_owned(), plan: String::new() }
                    }
                    None => Hint { phase: outer.to_owned(), plan: first.to_owned() },
                }
            }
        }
    }
}

/// The number that a name begins with: `02.5` of `02.5-parser`, none of `260322-14r`, which is one word.
fn leading_number(text: &str) -> Option<&str> {
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let number = text[..digits].trim_end_matches('.');
    let letter = text[number.len()..].chars().next().filter(char::is_ascii_alphabetic);
    let number = &text[..number.len() + letter.map_or(0, char::len_utf8)];
    let rest = &text[number.len()..];
    let ends = rest.is_empty() || rest.starts_with(|c: char| !c.is_alphanumeric());
    (text.starts_with(|c: char| c.is_ascii_digit()) && ends).then_some(number)
}

/// A phase or plan as it stands in an id: its number, or all of it where it has none.
fn short(text: &str) -> String {
    let text = text.trim();
    let word =
        text.get(..5).filter(|word| word.eq_ignore_ascii_case("phase") || word.eq_ignore_ascii_case("plan "));
    let bare = word.map_or(text, |word| text[word.len()..].trim_start_matches([' ', '-', '_', ':']));
    match leading_number(bare) {
        Some(number) if !is_one_word(bare, number) => number.to_owned(),
        Some(_) | None => slug(text),
    }
}

/// True if the number is only a part of a code such as `260322-14r`.
fn is_one_word(text: &str, number: &str) -> bool {
    let rest = &text[number.len()..];
    let next = rest.trim_start_matches('-').split('-').next().unwrap_or_default();
    rest.starts_with('-')
        && next.contains(|c: char| c.is_ascii_digit())
        && next.contains(|c: char| c.is_ascii_alphabetic())
        && next.starts_with(|c: char| c.is_ascii_digit())
        || number.len() >= 6
}

/// `01` of `22-01` in phase `22`.
fn without_phase<'a>(plan: &'a str, phase: &str) -> &'a str {
    let plan = plan.trim();
    let rest = plan.strip_prefix(phase).and_then(|rest| rest.strip_prefix('-'));
    rest.filter(|rest| !phase.is_empty() && rest.starts_with(|c: char| c.is_ascii_digit())).unwrap_or(plan)
}

/// How long a name may be in an id.
const SLUG_CHARS_MAX: usize = 60;

/// The text as one token.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.trim().chars().take(SLUG_CHARS_MAX) {
        let plain = c.is_alphanumeric() || matches!(c, '.' | '_');
        if plain {
            slug.push(c);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(phase: &str, plan: &str, hint: &str) -> String {
        let front_matter =
            FrontMatter { phase: phase.to_owned(), plan: plan.to_owned(), ..FrontMatter::default() };
        plan_id(Some(&front_matter), hint)
    }

    #[test]
    fn ids_of_plans() {
        for (phase, plan, hint, expected) in [
            ("03-parser", "01", "", "03-01"),
            ("02.5", "01", "", "02.5-01"),
            ("06.1-fix-it", "02", "", "06.1-02"),
            ("24", "01", "", "24-01"),
            ("1", "2", "01-x/01-02-PLAN.md", "1-2"),
            ("22", "22-01", "", "22-01"),
            ("22-session-loop", "22-13", "", "22-13"),
            ("19", "19-00-wave-0-test-harness", "", "19-00"),
            ("Phase 3: Parser", "2", "", "3-2"),
            ("quick", "001", "", "quick-001"),
            ("quick", "260322-14r", "", "quick-260322-14r"),
            ("quick-260526-ffr", "01", "", "quick-260526-ffr-01"),
            ("02a-more", "1b", "", "02a-1b"),
            ("", "", "01-foundation/01-02-PLAN.md", "01-02"),
            ("", "", "02.5-x/02.5-03-slug-PLAN.md", "02.5-03"),
            ("", "01", "002-add-pause/002-PLAN.md", "002-01"),
            ("", "", "39-full/39-PLAN.md", "39"),
            ("", "", "03-x/02-PLAN.md", "03-02"),
            ("", "", "03-x/PLAN.md", "03"),
            ("", "", "PLAN.md", "plan"),
            ("", "", "", "plan"),
            ("", "", "a b/c d-PLAN.md", "c-d"),
        ] {
            assert_eq!(id(phase, plan, hint), expected, "{phase} {plan} {hint}");
        }
        assert_eq!(plan_id(None, "01-02-PLAN.md"), "01-02");
    }

    #[test]
    fn phases_in_order() {
        let numbers = ["0-01", "1-01", "02-01", "02a-01", "02.5-01", "02.10-01", "03-01", "10-01"];
        let numbers = numbers.map(|id| PhaseNumber::of_plan(id).expect("a number"));
        assert!(numbers.is_sorted());
        assert_eq!(PhaseNumber::of_plan("01-02"), PhaseNumber::of_plan("1-07"));
        assert_eq!(PhaseNumber::of_plan("quick-001"), None);
        assert_eq!(PhaseNumber::of_plan("99999999999-01"), None);
        assert!(is_same_plan("1-2", "01-02") && !is_same_plan("1-2", "1-20"));
    }

    #[test]
    fn spellings_of_tasks() {
        for (spelled, number) in [
            ("03-01:task-3", Some(3)),
            ("03-01-task-3", Some(3)),
            ("03-01-03", Some(3)),
            ("03-01-3", Some(3)),
            (" 03-01:3 ", Some(3)),
            ("03-01", None),
            ("03-01-", None),
            ("03-01-task-", None),
            ("03-01-+3", None),
            ("03-011", None),
            ("03-02-03", None),
            ("03-01:task-3.1", None),
        ] {
            assert_eq!(task_number("03-01", spelled), number, "{spelled}");
        }
    }
}
