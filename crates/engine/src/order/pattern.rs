//! Entries of Files lists, and which of them can be about the same file. Entries are paths, folders and patterns with `*`,
//! `**`, `?`, `[…]` and `{a,b}`. Where nobody can tell, they can.

use std::collections::BTreeSet;

/// How many spellings an entry is looked at in.
const SPELLINGS_MAX: usize = 64;
/// Tokens of one entry, in all its spellings; beyond them it counts for all that begins like it.
const SIZE_MAX: usize = 4_096;

/// An entry of a Files list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The text before the first wildcard.
    head: String,
    /// The patterns without braces that it stands for, one of them at a time.
    spellings: Vec<Spelling>,
    is_literal: bool,
}

/// An entry without braces, name by name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Spelling {
    steps: Vec<Step>,
    /// True if it may be a folder, and so stand for all below it, even where the other entry does not name it.
    is_open: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// One name.
    Name(Vec<Token>),
    /// `**`: any number of names.
    Any,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// This character.
    Just(char),
    /// `?`, or one out of several.
    OneOf(Class),
    /// `*`: any number of characters.
    Many,
}

/// A class of characters.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Class {
    ranges: Vec<(char, char)>,
    is_negated: bool,
}

impl Pattern {
    pub(super) fn read(entry: &str) -> Self {
        let entry = entry.trim();
        let path = plain_path(entry);
        let head_end = path.find(is_wild).unwrap_or(path.len());
        let head = path[..head_end].to_owned();
        let is_literal = head_end == path.len() && !path.is_empty();
        let is_folder = entry.ends_with('/');
        // A person who writes `*.md` may mean those in folders as well.
        let is_deep = path.starts_with('*') && !path.contains('/');
        let path = if is_deep { format!("**/{path}") } else { path };
        let texts = if is_literal { Some(vec![path]) } else { spellings(&path) };
        let read = |texts: Vec<String>| texts.iter().map(|text| Spelling::read(text, is_folder)).collect();
        let spellings: Vec<Spelling> = texts.map(read).unwrap_or_default();
        let size: usize = spellings.iter().map(Spelling::size).sum();
        let read = Self { head, spellings, is_literal };
        let is_too_much = read.spellings.is_empty() || (size > SIZE_MAX && !is_literal);
        if is_too_much { read.all_that_begins_alike() } else { read }
    }

    /// The pattern of everything that has the same beginning.
    pub(super) fn all_that_begins_alike(self) -> Self {
        Self { spellings: vec![Spelling::all_that_begins(&self.head)], ..self }
    }

    /// The path, where it is one and not a pattern.
    pub(super) fn literal(&self) -> Option<&str> {
        self.is_literal.then_some(self.head.as_str())
    }

    /// The text before its first wildcard.
    pub(super) fn head(&self) -> &str {
        &self.head
    }

    /// The folder that everything it stands for is in.
    fn folder(&self) -> &str {
        self.head.rfind('/').map_or("", |at| &self.head[..at])
    }

    /// True if a look at the beginnings is enough to tell that two have nothing in common.
    fn begins_otherwise(&self, other: &Self) -> bool {
        !self.head.starts_with(&other.head) && !other.head.starts_with(&self.head)
    }

    /// True if a file can be in both.
    pub(super) fn meets(&self, other: &Self) -> bool {
        !self.begins_otherwise(other)
            && self.spellings.iter().any(|one| other.spellings.iter().any(|two| one.meets(two)))
    }

    /// True if the path itself is one of those that the pattern stands for, rather than something below it.
    pub(super) fn is_matched_by(&self, pattern: &Self) -> bool {
        let is_matched = |one: &Spelling| pattern.spellings.iter().any(|two| one.is_same(two));
        self.is_literal && self.spellings.iter().any(is_matched)
    }

    /// True if all that the other stands for is in the folder that this one names.
    pub(super) fn is_above(&self, other: &Self) -> bool {
        let is_all = self.head.is_empty() && self.spellings.iter().all(|spelling| spelling.steps.is_empty());
        let folder = other.folder().strip_prefix(&self.head);
        is_all || (self.is_literal && folder.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    }
}

impl Spelling {
    fn read(path: &str, is_folder: bool) -> Self {
        let names = path.split('/').filter(|name| !name.is_empty());
        let step = |name: &str| if name.contains("**") { Step::Any } else { Step::Name(tokens(name)) };
        let steps: Vec<Step> = names.map(step).collect();
        let is_file = path.rsplit('/').next().is_some_and(has_ending);
        Self { steps, is_open: is_folder || !is_file }
    }

    fn all_that_begins(head: &str) -> Self {
        let mut spelling = Self::read(&format!("{head}*"), true);
        spelling.steps.push(Step::Any);
        spelling
    }

    fn size(&self) -> usize {
        let size = |step: &Step| match step {
            Step::Name(tokens) => tokens.len() + 1,
            Step::Any => 1,
        };
        self.steps.iter().map(size).sum::<usize>() + 1
    }

    /// Follows both name by name. Whoever has come to its end at a name that the other has too is a folder of the
    /// other's, or the same; elsewhere only what does not look like a file stands for what is below it.
    fn meets(&self, other: &Self) -> bool {
        self.follow(other, |ended, arrival| match arrival {
            Arrival::Named => true,
            Arrival::Passed => ended.is_open,
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        self.follow(other, |_, _| false)
    }

    fn follow(&self, other: &Self, is_enough: impl Fn(&Self, Arrival) -> bool) -> bool {
        let (own, others) = (self.steps.as_slice(), other.steps.as_slice());
        let mut seen = BTreeSet::new();
        let mut left = vec![(0, 0, Arrival::Passed)];
        while let Some((one, two, arrival)) = left.pop() {
            let (at_end, other_at_end) = (one == own.len(), two == others.len());
            let is_own_enough = at_end && (other_at_end || is_enough(self, arrival));
            if is_own_enough || (other_at_end && is_enough(other, arrival)) {
                return true;
            }
            if !seen.insert((one, two, arrival)) {
                continue;
            }
            let ways = onward(own.get(one), others.get(two));
            left.extend(ways.into_iter().map(|(by, other_by, arrival)| (one + by, two + other_by, arrival)));
        }
        false
    }
}

/// How far one gets on both sides at once.
fn onward(first: Option<&Step>, second: Option<&Step>) -> Vec<(usize, usize, Arrival)> {
    if let (Some(Step::Name(name)), Some(Step::Name(named))) = (first, second) {
        let arrival = if name == named { Arrival::Named } else { Arrival::Passed };
        return if have_one_in_common(name, named) { vec![(1, 1, arrival)] } else { Vec::new() };
    }
    let mut ways = Vec::new();
    // Any number of names: none, or the other's next one.
    if first == Some(&Step::Any) {
        ways.push((1, 0, Arrival::Passed));
        ways.extend(second.map(|_| (0, 1, Arrival::Passed)));
    }
    if second == Some(&Step::Any) {
        ways.push((0, 1, Arrival::Passed));
        ways.extend(first.map(|_| (1, 0, Arrival::Passed)));
    }
    ways
}

/// How the last name was come by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Arrival {
    /// Both entries have it, letter by letter.
    Named,
    /// It is one of several.
    Passed,
}

/// True if a name can be meant by both.
fn have_one_in_common(name: &[Token], other: &[Token]) -> bool {
    // Whether the tokens so far of the one have something in common with so many of the other's.
    let mut row = vec![false; other.len() + 1];
    row[0] = true;
    close(&mut row, other);
    for token in name {
        let mut next = vec![false; row.len()];
        let mut reached = row.iter().enumerate().filter(|(_, is_reached)| **is_reached).map(|(at, _)| at);
        match token {
            // Any number of characters: whatever the other's next ones are.
            Token::Many => reached.next().into_iter().for_each(|at| next[at..].fill(true)),
            Token::Just(_) | Token::OneOf(_) => reached.for_each(|at| step(&mut next, at, token, other)),
        }
        close(&mut next, other);
        row = next;
    }
    row[other.len()]
}

/// Marks which of the other's tokens are reached by one more character of the one's.
fn step(next: &mut [bool], at: usize, token: &Token, other: &[Token]) {
    match (token, other.get(at)) {
        (Token::Just(one), Some(Token::Just(two))) => next[at + 1] |= one == two,
        (Token::Just(one), Some(Token::OneOf(class))) | (Token::OneOf(class), Some(Token::Just(one))) => {
            next[at + 1] |= class.has(*one);
        }
        (Token::OneOf(_), Some(Token::OneOf(_))) => next[at + 1] = true,
        (Token::Many, Some(_)) | (_, Some(Token::Many)) => next[at] = true,
        (_, None) => {}
    }
}

/// `*` may stand for nothing.
fn close(row: &mut [bool], other: &[Token]) {
    for (at, token) in other.iter().enumerate() {
        row[at + 1] |= row[at] && *token == Token::Many;
    }
}

impl Class {
    fn has(&self, character: char) -> bool {
        let is_in = self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&character));
        is_in != self.is_negated
    }

    /// Reads the text between two brackets.
    fn read(inside: &str) -> Self {
        let is_negated = inside.starts_with(['!', '^']);
        let members: Vec<char> = inside.chars().skip(usize::from(is_negated)).collect();
        let mut ranges = Vec::new();
        let mut rest = members.as_slice();
        while let [first, others @ ..] = rest {
            (ranges, rest) = match others {
                ['-', last, others @ ..] => (with(ranges, (*first, *last)), others),
                others => (with(ranges, (*first, *first)), others),
            };
        }
        Self { ranges, is_negated }
    }
}

fn with(mut ranges: Vec<(char, char)>, range: (char, char)) -> Vec<(char, char)> {
    ranges.push(range);
    ranges
}

fn is_wild(character: char) -> bool {
    matches!(character, '*' | '?' | '[' | '{' | '\\')
}

/// True if the last name of a path looks like that of a file: it has an ending with a letter in it.
fn has_ending(name: &str) -> bool {
    let ending = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, ending)| ending);
    ending.is_some_and(|ending| {
        ending.chars().all(char::is_alphanumeric) && ending.chars().any(char::is_alphabetic)
    })
}

/// A name's tokens. Brackets were taken apart before: those that are left as `[` stand for themselves.
fn tokens(name: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = name.chars();
    while let Some(character) = rest.next() {
        tokens.push(match character {
            '*' => Token::Many,
            '?' => Token::OneOf(Class { ranges: Vec::new(), is_negated: true }),
            CLASS_BEGINS => {
                let inside: String = rest.by_ref().take_while(|next| *next != CLASS_ENDS).collect();
                Token::OneOf(Class::read(&inside))
            }
            other => Token::Just(other),
        });
    }
    tokens
}

/// The characters for brackets that are meant as such, since those of `app/[id]/page.tsx` are part of a name. A path with
/// these in it is not to be had: they are characters of control.
const CLASS_BEGINS: char = '\u{1}';
const CLASS_ENDS: char = '\u{2}';

/// All that braces and brackets can mean; none if that is too much.
fn spellings(path: &str) -> Option<Vec<String>> {
    if path.len() > SIZE_MAX {
        return None;
    }
    let mut found = Vec::new();
    // What is spelled out, and what is not yet.
    let mut left = vec![(String::new(), path.to_owned())];
    while let Some((done, rest)) = left.pop() {
        if found.len() + left.len() >= SPELLINGS_MAX || done.len() > SIZE_MAX {
            return None;
        }
        let Some(at) = rest.find(['[', '{', '\\']) else {
            found.push(done + &rest);
            continue;
        };
        let (before, group) = rest.split_at(at);
        let done = done + before;
        left.extend(meanings(group).into_iter().map(|(meant, rest)| (format!("{done}{meant}"), rest)));
    }
    Some(found)
}

/// The meanings of a text that begins with a brace, a bracket or a backslash: what it begins with then, and what is left
/// to be read.
fn meanings(group: &str) -> Vec<(String, String)> {
    let as_it_is = || {
        let end = group.chars().next().map_or(0, char::len_utf8);
        (group[..end].to_owned(), group[end..].to_owned())
    };
    if let Some(rest) = group.strip_prefix('\\') {
        return vec![(String::new(), rest.to_owned())];
    }
    if let Some(inside) = group.strip_prefix('[') {
        let class = inside.split_once(']').filter(|(inside, _)| !inside.is_empty() && !inside.contains('/'));
        let class =
            class.map(|(inside, rest)| (format!("{CLASS_BEGINS}{inside}{CLASS_ENDS}"), rest.to_owned()));
        return class.into_iter().chain([as_it_is()]).collect();
    }
    let Some(end) = closing(group) else { return vec![as_it_is()] };
    let rest = &group[end + 1..];
    let choices = choices(&group[1..end]);
    let is_list = choices.len() > 1;
    let chosen = choices.into_iter().map(|choice| (String::new(), format!("{choice}{rest}")));
    chosen.chain((!is_list).then(as_it_is)).collect()
}

/// Where the brace that a text begins with is closed.
fn closing(group: &str) -> Option<usize> {
    let mut depth = 0_usize;
    group.char_indices().find_map(|(at, character)| {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0).then_some(at)
    })
}

/// The parts between commas outside of inner braces.
fn choices(inside: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let is_border = |character: char| {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && character == ','
    };
    inside.split(is_border).collect()
}

/// A path without what leads nowhere: dots, doubled slashes, folders that are left again.
fn plain_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests;
