//! The entries of all Files lists of a plan, each once, and which of them can be about the same file: found out once for
//! the whole plan, instead of task by task and again with every look at it.

use std::collections::BTreeMap;

use plan::ANY_FILE;

use super::pattern::Pattern;

/// How much is compared, in pairs of characters, before the patterns that are left count as being about any file: a look
/// at a huge plan full of patterns has to come to an end.
const EFFORT_MAX: usize = 50_000_000;

/// Lists of numbers, one behind the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    /// Where each list ends.
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// The lists of what belongs to each number below `count`, in the order of the pairs.
    pub(crate) fn of_pairs(count: usize, pairs: &[(u32, u32)]) -> Self {
        let mut ends = vec![0_u32; count];
        pairs.iter().for_each(|(of, _)| ends[index(*of)] += 1);
        let mut sum = 0;
        let mut next: Vec<u32> = Vec::with_capacity(count);
        for end in &mut ends {
            next.push(sum);
            sum += *end;
            *end = sum;
        }
        let mut items = vec![0; pairs.len()];
        for (of, item) in pairs {
            let place = &mut next[index(*of)];
            items[index(*place)] = *item;
            *place += 1;
        }
        Self { ends, items }
    }

    pub(crate) fn of(&self, number: u32) -> &[u32] {
        let at = index(number);
        let begin = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.items[index(begin)..index(self.ends[at])]
    }

    /// How many lists there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }
}

/// A number as a place in a list.
pub(crate) fn index(number: u32) -> usize {
    usize::try_from(number).expect("a plan fits into memory")
}

/// A place in a list as a number.
pub(crate) fn number(index: usize) -> u32 {
    u32::try_from(index).expect("a plan has fewer tasks and files than there are numbers")
}

/// The entries of a plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries {
    /// The entries of each task.
    pub(crate) of_task: Lists,
    /// The others that can be about the same file as each entry.
    pub(crate) related: Lists,
}

impl Entries {
    /// The entries of tasks with these Files.
    pub(crate) fn read<'a>(files: impl Iterator<Item = &'a [String]>) -> Self {
        let mut reading = Reading::default();
        let mut named = Vec::new();
        let mut count = 0;
        for (task, files) in files.enumerate() {
            named.extend(files.iter().map(|entry| (number(task), reading.number_of(entry))));
            count = task + 1;
        }
        let (same, pairs) = reading.relate();
        named.iter_mut().for_each(|(_, entry)| *entry = same[index(*entry)]);
        named.sort_unstable();
        named.dedup();
        Self { of_task: Lists::of_pairs(count, &named), related: Lists::of_pairs(same.len(), &pairs) }
    }
}

/// Entries by what they say. A path stands for itself; with a slash behind it, it is a folder.
#[derive(Default)]
struct Reading<'a> {
    numbers: BTreeMap<&'a str, u32>,
    paths: BTreeMap<(String, bool), u32>,
    /// By their beginning and their number.
    patterns: BTreeMap<(String, u32), Pattern>,
    count: u32,
}

impl<'a> Reading<'a> {
    fn number_of(&mut self, entry: &'a str) -> u32 {
        if let Some(number) = self.numbers.get(entry) {
            return *number;
        }
        let pattern = Pattern::read(entry);
        let next = self.count;
        let number = match pattern.literal() {
            Some(path) => {
                let is_folder = entry.trim().ends_with('/');
                *self.paths.entry((path.to_owned(), is_folder)).or_insert(next)
            }
            None => {
                self.patterns.insert((pattern.head().to_owned(), next), pattern);
                next
            }
        };
        self.count += u32::from(number == next);
        self.numbers.insert(entry, number);
        number
    }

    /// For each entry the one that stands for it, and all pairs of entries that can be about the same file.
    fn relate(mut self) -> (Vec<u32>, Vec<(u32, u32)>) {
        let mut same: Vec<u32> = (0..self.count).collect();
        let mut pairs = self.paths_above();
        let (any, mut effort) = (self.numbers.get(ANY_FILE).copied(), EFFORT_MAX);
        let mut cut_short = Vec::new();
        for (key, pattern) in &self.patterns {
            let mut unlimited = usize::MAX;
            let effort = if any == Some(key.1) { &mut unlimited } else { &mut effort };
            if !self.compare(key, pattern, (effort, &mut pairs)) {
                cut_short.push(key.1);
            }
        }
        if !cut_short.is_empty() {
            let any = self.number_of(ANY_FILE);
            same.resize(index(self.count), any);
            cut_short.iter().for_each(|entry| same[index(*entry)] = any);
            pairs.extend((0..self.count).filter(|other| *other != any).map(|other| (any, other)));
            pairs.retain(|(one, other)| same[index(*one)] == *one && same[index(*other)] == *other);
        }
        let both = pairs.iter().flat_map(|(one, other)| [(*one, *other), (*other, *one)]);
        let mut both: Vec<(u32, u32)> = both.collect();
        both.sort_unstable();
        both.dedup();
        (same, both)
    }

    /// A path and itself as a folder, and a path and all folders above it.
    fn paths_above(&self) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        for ((path, is_folder), number) in &self.paths {
            let itself = (!is_folder).then(|| self.paths.get(&(path.clone(), true))).flatten();
            pairs.extend(itself.map(|folder| (*number, *folder)));
            pairs.extend(self.above(path).map(|folder| (*number, folder)));
        }
        pairs
    }

    /// Everything that a folder above a path is called by.
    fn above(&self, path: &str) -> impl Iterator<Item = u32> {
        let folders = path.match_indices('/').map(|(at, _)| path[..at].to_owned());
        folders
            .flat_map(|folder| {
                [false, true].map(|is_folder| self.paths.get(&(folder.clone(), is_folder)).copied())
            })
            .flatten()
    }

    /// Compares a pattern with all paths and with the patterns behind it; false where that takes too long.
    fn compare(
        &self,
        (head, number): &(String, u32),
        pattern: &Pattern,
        (effort, pairs): (&mut usize, &mut Vec<(u32, u32)>),
    ) -> bool {
        pairs.extend(self.above(head).map(|folder| (*number, folder)));
        let paths = self.paths.range((head.clone(), false)..);
        for ((path, is_folder), other) in paths.take_while(|((path, _), _)| path.starts_with(head.as_str())) {
            let slash = if *is_folder { "/" } else { "" };
            let read = Pattern::read(&format!("{path}{slash}"));
            match meet(effort, pattern, &read) {
                Some(true) => pairs.push((*number, *other)),
                Some(false) => {}
                None => return false,
            }
        }
        let behind = self.patterns.range((head.clone(), *number + 1)..);
        for ((_, other), read) in behind.take_while(|((other, _), _)| other.starts_with(head.as_str())) {
            match meet(effort, pattern, read) {
                Some(true) => pairs.push((*number, *other)),
                Some(false) => {}
                None => return false,
            }
        }
        true
    }
}

/// Whether two have a file in common; none where nobody has the time to find out.
fn meet(effort: &mut usize, one: &Pattern, two: &Pattern) -> Option<bool> {
    *effort = effort.checked_sub(one.size().saturating_mul(two.size()))?;
    Some(one.meets(two))
}
