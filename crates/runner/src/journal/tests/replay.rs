use std::fs;
use std::io::Write;

use crate::journal::tests::scratch::{Event, Scratch, note};
use crate::journal::{JournalError, LINE_BYTES_MAX, ReadEnd, read};

#[test]
fn what_was_appended_is_replayed() {
    let scratch = Scratch::new();
    let (mut journal, opened, _) = scratch.open().unwrap();
    assert_eq!((opened.events, opened.torn), (0, None));
    assert_eq!(journal.append(&note("one\ntwo \u{0} ü")).unwrap().get(), 1);
    assert_eq!(journal.append(&Event::Count { number: u64::MAX }).unwrap().get(), 2);
    drop(journal);
    let (mut journal, opened, events) = scratch.open().unwrap();
    assert_eq!(opened.events, 2);
    assert_eq!(events, [note("one\ntwo \u{0} ü"), Event::Count { number: u64::MAX }]);
    assert_eq!(journal.append(&note("three")).unwrap().get(), 3);
    assert_eq!(scratch.read().unwrap().len(), 3);
}

#[test]
fn the_format_is_a_promise() {
    let scratch = Scratch::with(&[note("hello"), Event::Count { number: 7 }]);
    let expected = "{\"tillgreen\":\"journal\",\"version\":2}\n\
        {\"seq\":1,\"crc\":\"6d747c67\",\"event\":{\"note\":\"hello\"}}\n\
        {\"seq\":2,\"crc\":\"ffc5067d\",\"event\":{\"count\":{\"number\":7}}}\n";
    assert_eq!(String::from_utf8(scratch.bytes()).unwrap(), expected);
}

#[test]
fn reading_needs_no_lock_and_stops_before_an_unfinished_line() {
    let scratch = Scratch::with(&[note("one"), note("two")]);
    let mut file = fs::OpenOptions::new().append(true).open(scratch.path()).unwrap();
    file.write_all(b"{\"seq\":3,\"crc\":\"").unwrap();
    let before = scratch.bytes();
    let end = read(&scratch.path(), |_, _: Event| {}).unwrap();
    assert_eq!(end, ReadEnd { events: 2, unfinished_bytes: 16 });
    assert_eq!(scratch.bytes(), before);
}

#[test]
fn a_missing_journal_is_an_error_for_readers() {
    let scratch = Scratch::new();
    let error = scratch.read().unwrap_err();
    assert_eq!(error.io_kind(), Some(std::io::ErrorKind::NotFound));
    assert!(error.to_string().starts_with("cannot open "), "{error}");
    assert!(!scratch.path().exists());
}

#[test]
fn an_event_that_is_too_large_is_refused_and_the_next_goes_on() {
    let scratch = Scratch::new();
    let (mut journal, ..) = scratch.open().unwrap();
    let error = journal.append(&note(&"x".repeat(LINE_BYTES_MAX))).unwrap_err();
    assert!(matches!(error, JournalError::TooLarge { .. }), "{error}");
    assert_eq!(journal.append(&note("small")).unwrap().get(), 1);
    assert_eq!(scratch.read().unwrap().len(), 1);
}

#[test]
fn an_event_that_is_no_json_is_refused() {
    let scratch = Scratch::new();
    let (mut journal, ..) = scratch.open().unwrap();
    let keys = std::collections::BTreeMap::from([(vec![1_u8], 1)]);
    let error = journal.append(&keys).unwrap_err();
    assert!(matches!(error, JournalError::Encode { .. }), "{error}");
    assert_eq!(scratch.read().unwrap(), []);
}
