use std::fs;

use proptest::prelude::*;

use crate::journal::tests::scratch::{Event, Scratch, note};
use crate::journal::{JournalError, LineProblem};

fn three() -> Scratch {
    Scratch::with(&[note("first"), Event::Count { number: 2 }, note("thïrd { } \" , last")])
}

/// The offsets of a journal's lines, and its end.
fn boundaries(bytes: &[u8]) -> Vec<usize> {
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(ends).collect()
}

/// The number of whole events before a cut.
fn whole_events(bytes: &[u8], cut: usize) -> usize {
    boundaries(bytes).iter().filter(|end| **end <= cut).count().saturating_sub(2)
}

#[test]
fn a_journal_cut_at_any_byte_keeps_every_whole_event_and_goes_on() {
    let whole = three();
    let (bytes, (.., events)) = (whole.bytes(), whole.open().unwrap());
    for cut in 0..=bytes.len() {
        let scratch = Scratch::new();
        scratch.set(&bytes[..cut]);
        assert_eq!(scratch.read().unwrap().len(), whole_events(&bytes, cut), "cut at {cut}");
        let (mut journal, opened, kept) = scratch.open().unwrap();
        assert_eq!(kept, events[..whole_events(&bytes, cut)], "cut at {cut}");
        let start = *boundaries(&bytes).iter().rfind(|start| **start <= cut).unwrap();
        let torn = opened.torn.map(|torn| (torn.bytes as usize, fs::read(torn.kept_in).unwrap()));
        let expected = (cut > start).then(|| (cut - start, [&bytes[start..cut], b"\n"].concat()));
        assert_eq!(torn, expected, "cut at {cut}");
        journal.append(&note("after")).unwrap();
        let (_, opened, again) = scratch.open().unwrap();
        assert_eq!((again.len(), opened.torn), (kept.len() + 1, None), "cut at {cut}");
    }
}

#[test]
fn a_flipped_bit_anywhere_is_refused() {
    let bytes = three().bytes();
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let scratch = Scratch::new();
        scratch.set(&flipped);
        assert!(scratch.read().is_err(), "bit {bit}: not noticed by who only reads");
        assert!(scratch.open().is_err(), "bit {bit}: not noticed");
        assert_eq!(scratch.bytes(), flipped, "bit {bit}: refused, but changed");
        assert!(!scratch.torn_path().exists(), "bit {bit}: taken for a torn line");
    }
}

#[test]
fn torn_lines_are_all_kept() {
    let scratch = three();
    for text in ["{\"seq\":4", "", "\u{0}\u{0}\u{0}"] {
        let bytes = [&scratch.bytes(), text.as_bytes()].concat();
        scratch.set(&bytes);
        scratch.open().unwrap();
    }
    assert_eq!(fs::read_to_string(scratch.torn_path()).unwrap(), "{\"seq\":4\n\u{0}\u{0}\u{0}\n");
}

#[test]
fn a_first_line_that_is_no_header_is_refused() {
    let check = |text: &str| {
        let scratch = Scratch::new();
        scratch.set(text.as_bytes());
        for error in [scratch.open().map(drop).unwrap_err(), scratch.read().map(drop).unwrap_err()] {
            assert!(matches!(error, JournalError::NotAJournal { .. }), "{text:?}: {error}");
        }
        assert_eq!(scratch.bytes(), text.as_bytes());
    };
    check("\n");
    check("not a journal");
    check("{\"tillgreen\":\"journal\",\"version\":0}\n");
    check("{\"tillgreen\":\"journal\",\"version\":2}\r\n");
    check("{\"tillgreen\":\"settings\",\"version\":2}\n");
    check("{\"seq\":1,\"crc\":\"00000000\",\"event\":{}}\n");
}

#[test]
fn a_newer_version_is_refused_by_its_number() {
    let scratch = Scratch::new();
    scratch.set(b"{\"tillgreen\":\"journal\",\"version\":12,\"more\":true}\nwhatever\n");
    let error = scratch.open().map(drop).unwrap_err();
    assert!(error.to_string().ends_with("has journal format 12, this program reads format 2"), "{error}");
}

#[test]
fn an_older_version_is_refused_by_its_number() {
    let scratch = Scratch::new();
    let text = b"{\"tillgreen\":\"journal\",\"version\":1}\nwhatever\n";
    scratch.set(text);
    for error in [scratch.open().map(drop).unwrap_err(), scratch.read().map(drop).unwrap_err()] {
        assert!(matches!(error, JournalError::OlderVersion { found: 1, .. }), "{error}");
        let told = "was written by an older program (journal format 1, this one reads format 2)";
        assert!(error.to_string().ends_with(told), "{error}");
    }
    assert_eq!(scratch.bytes(), text);
}

#[test]
fn an_empty_file_becomes_a_journal() {
    let scratch = Scratch::new();
    scratch.set(b"");
    let (mut journal, opened, _) = scratch.open().unwrap();
    assert_eq!(opened.torn, None);
    journal.append(&note("one")).unwrap();
    assert_eq!(scratch.read().unwrap().len(), 1);
}

/// Changes the lines of a journal of three events and expects this problem at this line.
#[track_caller]
fn check_lines(change: impl FnOnce(&mut Vec<String>), line: u64, expected: &str) {
    let scratch = three();
    let text = String::from_utf8(scratch.bytes()).unwrap();
    let mut lines: Vec<_> = text.lines().map(|line| format!("{line}\n")).collect();
    change(&mut lines);
    let bytes = lines.concat().into_bytes();
    scratch.set(&bytes);
    let found = scratch.read().unwrap_err().to_string();
    assert!(found.contains(&format!("at line {line} ")) && found.ends_with(expected), "{found}");
    assert_eq!(scratch.open().map(drop).unwrap_err().to_string(), found);
    assert_eq!(scratch.bytes(), bytes);
    assert!(!scratch.torn_path().exists());
}

#[test]
fn damage_is_named_with_its_line() {
    check_lines(|lines| drop(lines.remove(2)), 3, "event 2 expected, 3 found");
    check_lines(|lines| drop(lines.remove(1)), 2, "event 1 expected, 2 found");
    check_lines(|lines| lines.insert(2, lines[1].clone()), 3, "event 2 expected, 1 found");
    check_lines(|lines| lines.swap(2, 3), 3, "event 2 expected, 3 found");
    check_lines(|lines| lines.insert(2, "garbage\n".to_owned()), 3, "not a journal line");
    check_lines(|lines| lines.push("\n".to_owned()), 5, "not a journal line");
    check_lines(|lines| lines[1] = lines[1].replace("first", "fierst"), 2, "found");
    check_lines(|lines| lines[1] = lines[1].replace("\"seq\":1", "\"seq\":01"), 2, "not a journal line");
    check_lines(|lines| lines[1] = lines[1].replace("}}", "}}\r"), 2, "not a journal line");
}

#[test]
fn a_whole_event_of_another_program_is_refused_as_unknown() {
    let scratch = three();
    let text = "{\"dance\":\"tango\"}";
    let crc = crc32fast::hash(text.as_bytes());
    let line = format!("{{\"seq\":4,\"crc\":\"{crc:08x}\",\"event\":{text}}}\n");
    let bytes = [&scratch.bytes(), line.as_bytes()].concat();
    scratch.set(&bytes);
    let error = scratch.open().map(drop).unwrap_err();
    assert!(matches!(error, JournalError::UnknownEvent { line: 5, .. }), "{error}");
    assert_eq!(scratch.bytes(), bytes);
}

#[test]
fn a_line_without_end_is_refused_before_it_fills_the_memory() {
    let scratch = three();
    let file = fs::OpenOptions::new().write(true).open(scratch.path()).unwrap();
    // A hole reads as zeros and takes no room on the disk.
    file.set_len(1 << 40).unwrap();
    let error = scratch.read().unwrap_err();
    let too_long = |problem: &LineProblem| matches!(problem, LineProblem::TooLong { .. });
    assert!(matches!(&error, JournalError::Damaged { problem, .. } if too_long(problem)), "{error}");
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        any::<String>().prop_map(Event::Note),
        any::<u64>().prop_map(|number| Event::Count { number })
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cut_and_flipped_anywhere_nothing_is_invented(
        events in prop::collection::vec(any_event(), 0..6),
        cut in any::<prop::sample::Index>(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u8), 0..3),
    ) {
        let whole = Scratch::with(&events);
        let mut bytes = whole.bytes();
        bytes.truncate(cut.index(bytes.len() + 1));
        let untouched = flips.is_empty() || bytes.is_empty();
        if !bytes.is_empty() {
            for (at, bit) in &flips {
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << bit;
            }
        }
        let scratch = Scratch::new();
        scratch.set(&bytes);
        let read = scratch.read().map(|events| events.into_iter().map(|(_, event)| event).collect::<Vec<_>>());
        match scratch.open() {
            Ok((_, _, kept)) => {
                prop_assert!(events.starts_with(&kept), "{kept:?} is no beginning of {events:?}");
                prop_assert_eq!(read.unwrap(), kept.clone());
                if untouched {
                    prop_assert_eq!(kept.len(), whole_events(&whole.bytes(), bytes.len()));
                }
            }
            Err(error) => {
                prop_assert!(!untouched, "a cut alone was refused: {}", error);
                prop_assert_eq!(scratch.bytes(), bytes);
            }
        }
    }

    #[test]
    fn any_bytes_at_all_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300), header in any::<bool>()) {
        let scratch = Scratch::with(&[]);
        let before = if header { scratch.bytes() } else { Vec::new() };
        let bytes = [before, bytes].concat();
        scratch.set(&bytes);
        if scratch.open().is_err() {
            prop_assert_eq!(scratch.bytes(), bytes);
        }
    }
}
