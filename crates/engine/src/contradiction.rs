//! Words by which an answer that claims success admits failure. The table of sentences in the tests is the definition;
//! the code is phrases, negation near them, and a short list of openers. It knows no grammar.

use crate::claim::is_signal;

/// Phrases that admit failure.
const ADMISSIONS: [&str; 5] =
    ["requires manual", "cannot be automated", "could not complete", "needs human", "manual intervention"];

/// The one of them that is a noun.
const NOUN: &str = "manual intervention";

/// Words that turn a phrase round.
const NEGATIONS: [&str; 10] =
    ["no", "not", "never", "none", "nothing", "neither", "nor", "zero", "cannot", "unnecessary"];

/// Beginnings of words that do so, unless they are themselves negated: not without, cannot avoid.
const REMOVALS: [&str; 8] =
    ["without", "instead", "rather", "around", "avoid", "remov", "eliminat", "replac"];

/// Words that say that something is over.
const PAST: [&str; 4] = ["previously", "formerly", "originally", "earlier"];

/// Beginnings of sentences about what was wrong before, or about a case that is dealt with.
const OPENERS: [&str; 13] = [
    "fixed",
    "fixes",
    "fix",
    "resolved",
    "bug",
    "the bug",
    "root cause",
    "the root cause",
    "the problem was",
    "the issue was",
    "before this change",
    "before the fix",
    "if",
];

/// Words behind which a sentence begins anew: what is negated before them is not negated after them.
const CONTRASTS: [&str; 5] = ["but", "however", "although", "though", "except"];

/// Verbs with which something is said of a phrase before them.
const VERBS: [&str; 11] =
    ["is", "are", "was", "were", "be", "been", "will", "should", "would", "does", "has"];

/// Words that end what is said of it.
const NEEDS: [&str; 3] = ["needed", "required", "necessary"];

/// How many words before a phrase a negation may stand.
const REACH_BEFORE: usize = 5;

/// How many words behind it.
const REACH_BEHIND: usize = 3;

/// The first phrase by which a message admits failure: as whole words, outside code and quotes, and neither negated nor
/// said of the past.
pub fn contradiction(message: &str) -> Option<&'static str> {
    let prose = without_code_and_quotes(message).to_lowercase().replace('’', "'");
    clauses(&prose).iter().find_map(|clause| ADMISSIONS.into_iter().find(|phrase| clause.admits(phrase)))
}

/// True if a text has a phrase in it, as whole words and outside code and quotes.
pub(crate) fn mentions(text: &str, phrase: &str) -> bool {
    let prose = without_code_and_quotes(text).to_lowercase();
    clauses(&prose).iter().any(|clause| clause.starts(phrase).next().is_some())
}

/// A part of a sentence, as words.
struct Clause<'a> {
    words: Vec<&'a str>,
    /// True if its sentence is about what was wrong before.
    is_told_of: bool,
}

impl Clause<'_> {
    /// Where a phrase begins, and where it ends.
    fn starts(&self, phrase: &str) -> impl Iterator<Item = (usize, usize)> {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        let places = 0..self.words.len();
        places.filter_map(move |start| {
            self.words[start..].starts_with(&phrase).then_some((start, start + phrase.len()))
        })
    }

    fn admits(&self, phrase: &str) -> bool {
        let is_meant = |(start, end): (usize, usize)| {
            let (before, behind) = (&self.words[..start], &self.words[end..]);
            // A noun without a verb of its own may be one of several that the same word negates.
            let is_listed = phrase == NOUN && !behind.first().is_some_and(|word| is_verb(word));
            !is_turned_before(before, is_listed) && !is_turned_behind(behind)
        };
        !self.is_told_of && self.starts(phrase).any(is_meant)
    }
}

/// True if what stands before a phrase turns it round. The nearest such word decides, and only behind the last comma,
/// unless the phrase is one of a list.
fn is_turned_before(before: &[&str], is_listed: bool) -> bool {
    let near = &before[before.len().saturating_sub(REACH_BEFORE)..];
    let is_over =
        near.iter().any(|word| PAST.contains(word)) || near.windows(2).any(|two| two == ["used", "to"]);
    let last = near.iter().rposition(|word| matches!(*word, "and" | ","));
    let near = &near[last.filter(|_| !is_listed).map_or(0, |at| at + 1)..];
    let nearest = near.iter().rposition(|word| is_negation(word) || is_removal(word));
    is_over
        || nearest.is_some_and(|at| {
            let ahead = &near[at.saturating_sub(REACH_BEHIND)..at];
            !(is_removal(near[at]) && ahead.iter().any(|word| is_firm_negation(word)))
        })
}

/// True if what stands right behind a phrase turns it round: `is not needed`, `was removed`.
fn is_turned_behind(behind: &[&str]) -> bool {
    let end = behind.iter().position(|word| NEEDS.contains(word)).unwrap_or(behind.len());
    let near = &behind[..end.min(REACH_BEHIND)];
    let is_said =
        near.windows(2).any(|two| VERBS.contains(&two[0]) && (is_negation(two[1]) || is_removal(two[1])));
    is_said || near.iter().any(|word| word.ends_with("n't") || PAST.contains(word))
}

fn is_verb(word: &str) -> bool {
    VERBS.contains(&word) || NEEDS.contains(&word)
}

fn is_negation(word: &str) -> bool {
    NEGATIONS.contains(&word) || word.ends_with("n't")
}

fn is_removal(word: &str) -> bool {
    REMOVALS.iter().any(|beginning| word.starts_with(beginning))
}

/// True for what negates a removal right behind it. `No errors and without …` is no such thing, `no way around` is.
fn is_firm_negation(word: &str) -> bool {
    matches!(word, "not" | "never" | "cannot" | "way") || word.ends_with("n't")
}

/// Sentences as words and commas, parted where they change their mind.
fn clauses(prose: &str) -> Vec<Clause<'_>> {
    let sentences = prose.split(['.', '!', '?', ';', '\n']);
    sentences.flat_map(clauses_of).collect()
}

fn clauses_of(sentence: &str) -> Vec<Clause<'_>> {
    let is_word = |character: char| character.is_alphanumeric() || matches!(character, '\'' | '_');
    let pieces = sentence.split_inclusive(|character| !is_word(character));
    let words: Vec<&str> = pieces
        .flat_map(|piece| {
            let word = piece.trim_end_matches(|character| !is_word(character));
            [word, if piece.ends_with(',') { "," } else { "" }]
        })
        .filter(|word| !word.is_empty())
        .collect();
    let opens = OPENERS.iter().any(|opener| words.starts_with(&opener.split(' ').collect::<Vec<_>>()));
    let parts = words.split(|word| CONTRASTS.contains(word)).enumerate();
    parts.map(|(number, words)| Clause { words: words.to_vec(), is_told_of: opens && number == 0 }).collect()
}

/// The message with fenced blocks, code spans, block quotes and quoted text taken out. A line break is kept
/// only where the next line starts a new block: else the sentence goes on.
fn without_code_and_quotes(message: &str) -> String {
    let mut kept = String::with_capacity(message.len());
    let mut fence: Option<&str> = None;
    for line in message.lines() {
        let trimmed = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|marker| trimmed.starts_with(marker));
        match (fence, marker) {
            (None, Some(marker)) => {
                kept.push('\n');
                fence = Some(marker);
            }
            (Some(open), Some(marker)) if open == marker => fence = None,
            (Some(_), _) => {}
            (None, None) if trimmed.starts_with('>') => kept.push('\n'),
            (None, None) => {
                kept.push(if starts_block(trimmed) { '\n' } else { ' ' });
                push_prose(&mut kept, line);
            }
        }
    }
    kept
}

/// True if a line does not go on with the sentence of the line before it.
fn starts_block(line: &str) -> bool {
    let is_numbered =
        line.trim_start_matches(|character: char| character.is_ascii_digit()).starts_with(['.', ')']);
    line.is_empty() || line.starts_with(['-', '*', '+', '#', '|', '_']) || is_numbered || is_signal(line)
}

/// Adds a line without what stands between backticks or double quotes on it.
fn push_prose(kept: &mut String, line: &str) {
    let mut rest = line;
    while let Some(start) = rest.find(['`', '"', '“']) {
        let open = rest[start..].chars().next().unwrap_or('`');
        let close = if open == '“' { '”' } else { open };
        let after = &rest[start + open.len_utf8()..];
        kept.push_str(&rest[..start]);
        let Some(end) = after.find(close) else {
            rest = after;
            break;
        };
        kept.push_str(" quoted ");
        rest = &after[end + close.len_utf8()..];
    }
    kept.push_str(rest);
}
