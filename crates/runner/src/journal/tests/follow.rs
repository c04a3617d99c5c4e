use std::fs;
use std::io::Write;

use crate::journal::tests::scratch::{Event, Scratch, note};
use crate::journal::{Follower, News};

fn poll(follower: &mut Follower) -> Vec<Event> {
    let news = follower.poll().unwrap();
    assert!(matches!(news, News::More(_)), "{news:?}");
    news.into_events().into_iter().map(|(_, event)| event).collect()
}

#[test]
fn each_event_comes_once() {
    let scratch = Scratch::new();
    let mut follower = Follower::new(&scratch.path());
    assert_eq!(poll(&mut follower), []);
    let (mut journal, ..) = scratch.open().unwrap();
    assert_eq!(poll(&mut follower), []);
    journal.append(&note("one")).unwrap();
    journal.append(&note("two")).unwrap();
    assert_eq!(poll(&mut follower), [note("one"), note("two")]);
    assert_eq!(poll(&mut follower), []);
    journal.append(&note("three")).unwrap();
    assert_eq!(poll(&mut follower), [note("three")]);
}

#[test]
fn a_line_comes_when_it_is_whole() {
    let scratch = Scratch::with(&[note("one")]);
    let bytes = scratch.bytes();
    scratch.set(b"");
    let mut follower = Follower::new(&scratch.path());
    let mut file = fs::OpenOptions::new().append(true).open(scratch.path()).unwrap();
    for byte in &bytes[..bytes.len() - 1] {
        file.write_all(&[*byte]).unwrap();
        assert_eq!(poll(&mut follower), []);
    }
    file.write_all(b"\n").unwrap();
    assert_eq!(poll(&mut follower), [note("one")]);
}

#[test]
fn a_replaced_journal_is_read_from_its_beginning() {
    let scratch = Scratch::with(&[note("old")]);
    let mut follower = Follower::new(&scratch.path());
    assert_eq!(poll(&mut follower), [note("old")]);
    fs::rename(scratch.path(), scratch.path().with_extension("old")).unwrap();
    assert_eq!(poll(&mut follower), []);
    let (mut journal, ..) = scratch.open().unwrap();
    journal.append(&note("new")).unwrap();
    let news = follower.poll::<Event>().unwrap();
    assert!(matches!(news, News::Replaced(_)), "{news:?}");
    assert_eq!(news.into_events()[0].1, note("new"));
    assert_eq!(poll(&mut follower), []);
}

#[test]
fn damage_is_an_error_here_too() {
    let scratch = Scratch::with(&[note("one")]);
    let mut follower = Follower::new(&scratch.path());
    assert_eq!(poll(&mut follower), [note("one")]);
    let mut file = fs::OpenOptions::new().append(true).open(scratch.path()).unwrap();
    file.write_all(b"garbage\n").unwrap();
    let error = follower.poll::<Event>().unwrap_err();
    assert!(error.to_string().contains("is damaged at line 3 "), "{error}");
}
