//! Files that nobody touched since their tree was made are left unread, and nothing that an agent does to files, times or
//! the index of its tree hides a change.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use proptest::prelude::*;

use super::batch::Linked;
use super::scratch::Scratch;
use crate::git::calls::scratch_index::ScratchIndex;
use crate::git::formats::index_file::{IndexFile, Moment};
use crate::git::formats::index_patch::Patch;
use crate::git::trees::hidden::look_at_all;
use crate::git::trees::pristine::{Pristine, to_read};
use crate::git::{Oid, Pool, TreeWork};

/// The file that is always written last.
const LAST: &str = "last";

fn scratch() -> Scratch {
    filled(Scratch::empty())
}

fn filled(scratch: Scratch) -> Scratch {
    for path in ["one", "two", "deep/three", LAST] {
        scratch.repository.write(path, format!("{path}\n"));
    }
    scratch.repository.commit_all("first");
    scratch
}

/// Has a tree look as if its files were written some time before it was done.
pub(super) fn age(linked: &Linked<'_>) {
    let index = linked.git.state_of(&linked.path).unwrap().join("index");
    let changed = |file: &Path| {
        let looks = fs::symlink_metadata(file).unwrap();
        Duration::new(looks.ctime().cast_unsigned(), u32::try_from(looks.ctime_nsec()).unwrap())
    };
    let (before, deadline) = (changed(&index), Instant::now() + Duration::from_secs(10));
    let new = linked.path.with_extension("new");
    fs::write(&new, "last\n").unwrap();
    while changed(&new) < before + Duration::from_millis(50) {
        assert!(Instant::now() < deadline, "time stands still");
        fs::write(&new, "last\n").unwrap();
    }
    // Git sees that it is another one by its number.
    fs::rename(new, linked.path.join(LAST)).unwrap();
    linked.agent(&["update-index", "--refresh"]);
    linked.git.note_files(&linked.path, &linked.base);
}

/// The files that git has to read when the tree is packed.
fn read(linked: &Linked<'_>) -> Vec<String> {
    let state = linked.git.state_of(&linked.path).unwrap();
    let index = ScratchIndex::copy(&linked.git, &linked.path, &state).unwrap();
    let pristine = linked.git.pristine(&linked.path);
    look_at_all(&index, (&linked.path, &state), pristine.as_deref(), linked.base.width()).unwrap();
    let content = fs::read(index.file()).unwrap();
    let written = fs::metadata(index.file()).unwrap().mtime();
    let entries = IndexFile::parse(&content, linked.base.width()).unwrap().entries;
    let is_read = |entry: &&crate::git::formats::index_file::IndexEntry<'_>| {
        let [_, modified] = entry.times().unwrap();
        let is_forgotten =
            entry.stat.iter().enumerate().all(|(at, byte)| (24..28).contains(&at) || *byte == 0);
        assert!(is_forgotten || i64::from(modified.seconds) < written, "git would read it all the same");
        is_forgotten
    };
    let names = entries.iter().filter(is_read).map(|entry| String::from_utf8_lossy(&entry.name).into_owned());
    names.collect()
}

#[test]
fn files_that_nobody_touched_are_not_read() {
    let scratch = scratch();
    let linked = Linked::new(&scratch, "1.1");
    age(&linked);
    assert_eq!(read(&linked), [LAST]);
    linked.agent(&["status"]);
    assert_eq!(read(&linked), [LAST], "git wrote the index anew");
    linked.write("two", "2wo\n");
    assert_eq!(read(&linked), [LAST, "two"]);
    linked.agent(&["commit", "-qam", "mine"]);
    assert_eq!(read(&linked), [LAST, "two"]);
    assert_eq!(linked.packed(&linked.pack()), ["M two"]);
    for version in ["3", "4", "2"] {
        linked.agent(&["update-index", "--index-version", version]);
        assert_eq!(read(&linked), [LAST, "two"], "version {version}");
    }
}

#[test]
fn where_nobody_saw_the_tree_being_made_all_is_read() {
    let scratch = scratch();
    let mut linked = Linked::new(&scratch, "1.1");
    age(&linked);
    linked.git = scratch.git();
    assert_eq!(read(&linked), ["deep/three", LAST, "one", "two"]);
    assert!(linked.git.pristine(&linked.path).is_none());
    linked.git.add_tree(&linked.path, &linked.base).unwrap();
    assert!(linked.git.pristine(&linked.path).is_some());
    linked.git.remove_tree(&linked.path).unwrap();
    assert!(linked.git.pristine(&linked.path).is_none());
}

/// What is done to a file.
type Act<'a> = &'a dyn Fn(&Linked<'_>, &Path);

#[test]
fn whatever_happens_to_a_file_has_it_read() {
    let acts: &[(&str, Act<'_>)] = &[
        ("written to", &|_, file| fs::write(file, "1ne\n").unwrap()),
        ("written to, with its old time", &|_, file| quietly(file, || fs::write(file, "1ne\n").unwrap())),
        ("touched", &|_, file| set_modified(file, SystemTime::now())),
        ("another of the same time", &|_, file| {
            let other = file.with_extension("other");
            fs::write(&other, "1ne\n").unwrap();
            set_modified(&other, fs::metadata(file).unwrap().modified().unwrap());
            fs::rename(&other, file).unwrap();
        }),
        ("made a program", &|_, file| fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap()),
        ("gone", &|_, file| fs::remove_file(file).unwrap()),
        ("a link", &|_, file| {
            fs::remove_file(file).unwrap();
            symlink("two", file).unwrap();
        }),
        ("a folder", &|_, file| {
            fs::remove_file(file).unwrap();
            fs::create_dir(file).unwrap();
        }),
        ("of another content in the index", &|linked, _| {
            let oid = linked.scratch.repository.git(&["rev-parse", "HEAD:two"]);
            linked.agent(&["update-index", "--cacheinfo", &format!("100644,{},one", oid.trim())]);
        }),
        ("forged", &|linked, file| {
            fs::write(file, "1ne\n").unwrap();
            forge(linked, "one");
        }),
    ];
    for (what, act) in acts {
        let scratch = scratch();
        let linked = Linked::new(&scratch, "1.1");
        age(&linked);
        act(&linked, &linked.path.join("one"));
        assert_eq!(read(&linked), [LAST, "one"], "{what}");
        assert_same_afresh(&linked, what);
    }
}

/// Does something to a file and sets its time back.
pub(super) fn quietly(file: &Path, act: impl FnOnce()) {
    let before = fs::metadata(file).unwrap().modified().unwrap();
    act();
    set_modified(file, before);
}

fn set_modified(file: &Path, time: SystemTime) {
    let times = FileTimes::new().set_modified(time).set_accessed(time);
    File::options().write(true).open(file).unwrap().set_times(times).unwrap();
}

/// Writes into the index of a tree that a file has the content that it had and looks as it does by now, and that this is
/// long known.
pub(super) fn forge(linked: &Linked<'_>, path: &str) {
    let index = linked.git.state_of(&linked.path).unwrap().join("index");
    let (Ok(mut content), Ok(looks)) = (fs::read(&index), fs::symlink_metadata(linked.path.join(path)))
    else {
        return;
    };
    let mut patch = Patch::default();
    let Some(read) = IndexFile::parse(&content, linked.base.width()) else { return };
    let Some(entry) = read.find(path.as_bytes()) else { return };
    patch.file(entry.place, &looks, &Oid::from_bytes(entry.object).unwrap());
    patch.apply(&mut content, linked.base.width()).unwrap();
    fs::write(&index, content).unwrap();
    set_modified(&index, SystemTime::now() + Duration::from_secs(3600));
}

fn assert_same_afresh(linked: &Linked<'_>, what: &str) {
    let work = TreeWork { tree: &linked.path, base: &linked.base, dropped: &[], furnished: &[] };
    let state = linked.git.state_of(&linked.path).unwrap();
    let afresh = linked.git.snapshot_afresh(&work, &state).unwrap();
    assert_eq!(linked.git.content_of(&work).unwrap(), afresh.tree, "{what}");
}

#[test]
fn an_index_that_tells_of_files_as_they_are_by_now_hides_nothing() {
    let scratch = Scratch::new();
    let linked = Linked::new(&scratch, "1.1");
    linked.write("one", "another content\n");
    forge(&linked, "one");
    assert_eq!(linked.packed(&linked.pack()), ["M one"]);
}

#[test]
fn an_index_in_pieces_hides_nothing() {
    let pieces: [&[&str]; 2] =
        [&["update-index", "--split-index"], &["sparse-checkout", "set", "--cone", "--sparse-index", "deep"]];
    for words in pieces {
        let scratch = scratch();
        scratch.repository.write("far/away", "");
        scratch.repository.commit_all("more");
        let linked = Linked::new(&scratch, "1.1");
        age(&linked);
        linked.agent(words);
        let index = linked.git.state_of(&linked.path).unwrap().join("index");
        assert!(IndexFile::parse(&fs::read(index).unwrap(), linked.base.width()).is_none(), "{words:?}");
        assert!(!read(&linked).contains(&"deep/three".to_owned()), "{words:?}");
        linked.write("deep/three", "3eep/three\n");
        linked.agent(&[
            "-c",
            "core.splitIndex=false",
            "-c",
            "index.sparse=false",
            "update-index",
            "--no-split-index",
            "--force-write-index",
        ]);
        forge(&linked, "deep/three");
        linked.agent(words);
        assert_eq!(linked.packed(&linked.pack()), ["M deep/three"], "{words:?}");
        linked.write(".gitattributes", "");
        assert_eq!(linked.packed(&linked.pack()), ["A .gitattributes", "M deep/three"], "{words:?}");
    }
}

#[test]
fn what_is_noted_of_folders_hides_no_new_files() {
    let scratch = scratch();
    let linked = Linked::new(&scratch, "1.1");
    age(&linked);
    linked.agent(&["update-index", "--force-untracked-cache"]);
    linked.agent(&["status"]);
    linked.write("deep/new", "");
    linked.write("new", "");
    assert_eq!(linked.packed(&linked.pack()), ["A deep/new", "A new"]);
}

#[test]
fn other_attributes_have_all_files_read() {
    let scratch = scratch();
    scratch.repository.write("lines", "a\r\nb\r\n");
    scratch.repository.commit_all("lines");
    let linked = Linked::new(&scratch, "1.1");
    age(&linked);
    linked.write("deep/.gitattributes", "* -text\n");
    assert_same_afresh(&linked, "elsewhere");
    linked.write(".gitattributes", "* text\n");
    assert_same_afresh(&linked, "for all");
    assert_eq!(linked.packed(&linked.pack()), ["A .gitattributes", "A deep/.gitattributes", "M lines"]);
}

#[test]
fn a_tree_made_of_another_is_known_as_well() {
    let scratch = scratch();
    let mut linked = Linked::new(&scratch, "1.1");
    let pool = Pool::for_all(&linked.path.with_file_name("spare"));
    let (work, again) = (linked.path.with_file_name("1.2"), linked.path.with_file_name("1.3"));
    linked.git.add_tree_from(&pool, &work, &linked.base).unwrap();
    linked.git.retire_tree(&pool, &work).unwrap();
    assert!(linked.git.pristine(&work).is_none());
    linked.git.add_tree_from(&pool, &again, &linked.base).unwrap();
    assert_eq!(pool.count(), 0);
    linked.path = again;
    assert!(linked.git.pristine(&linked.path).is_some());
    quietly(&linked.path.join("one"), || linked.write("one", "1ne\n"));
    assert_eq!(linked.packed(&linked.pack()), ["M one"]);
}

/// What somebody does in a tree.
#[derive(Debug, Clone, Copy)]
enum Deed {
    /// The same size as before, most often.
    Write(u8),
    /// The same, with the time that the file had.
    WriteQuietly(u8),
    Replace(u8),
    Touch,
    Run,
    Link,
    Remove,
    Forge,
    Git(&'static [&'static str]),
}

/// What an agent asks of git; a path is added to those that end in two dashes.
const GITS: [&[&str]; 14] = [
    &["add", "--all"],
    &["add", "--"],
    &["commit", "-q", "--allow-empty", "-am", "mine"],
    &["status"],
    &["update-index", "--refresh"],
    &["update-index", "--assume-unchanged", "--"],
    &["update-index", "--skip-worktree", "--"],
    &["update-index", "--index-version", "4"],
    &["update-index", "--split-index"],
    &["update-index", "--force-untracked-cache"],
    &["rm", "-q", "--cached", "--"],
    &["reset", "-q"],
    &["reset", "-q", "--hard"],
    &["stash"],
];

fn deeds() -> impl Strategy<Value = Vec<(&'static str, Deed)>> {
    let path = prop::sample::select(vec!["one", "two", "deep/three", LAST, "empty", "new"]);
    let deed = prop_oneof![
        4 => (0..3_u8).prop_map(Deed::Write),
        4 => (0..3_u8).prop_map(Deed::WriteQuietly),
        2 => (0..3_u8).prop_map(Deed::Replace),
        1 => Just(Deed::Touch),
        1 => Just(Deed::Run),
        1 => Just(Deed::Link),
        1 => Just(Deed::Remove),
        2 => Just(Deed::Forge),
        5 => prop::sample::select(GITS.to_vec()).prop_map(Deed::Git),
    ];
    prop::collection::vec((path, deed), 1..8)
}

fn perform(linked: &Linked<'_>, path: &str, deed: Deed) {
    let file = linked.path.join(path);
    let is_file = fs::symlink_metadata(&file).is_ok_and(|looks| looks.is_file());
    let content =
        |letter: u8| if letter == 0 { format!("{path}\n") } else { format!("{letter}{}\n", &path[1..]) };
    match deed {
        Deed::Write(letter) => replace(&file, &content(letter)),
        Deed::WriteQuietly(letter) if is_file => {
            quietly(&file, || fs::write(&file, content(letter)).unwrap());
        }
        Deed::Replace(letter) if is_file => {
            let before = fs::metadata(&file).unwrap().modified().unwrap();
            replace(&file, &content(letter));
            set_modified(&file, before);
        }
        Deed::Touch if is_file => set_modified(&file, SystemTime::now()),
        Deed::Run if is_file => fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap(),
        Deed::Link => {
            let _ = fs::remove_file(&file);
            let _ = symlink("two", &file);
        }
        Deed::Remove => drop(fs::remove_file(&file)),
        Deed::Forge => forge(linked, path),
        Deed::Git(words) => {
            let path = words.ends_with(&["--"]).then_some(path);
            linked.try_agent(&words.iter().copied().chain(path).collect::<Vec<_>>());
        }
        Deed::WriteQuietly(_) | Deed::Replace(_) | Deed::Touch | Deed::Run => {}
    }
}

/// Another file in the place of this one.
fn replace(file: &Path, content: &str) {
    let _ = fs::remove_file(file);
    let _ = fs::create_dir_all(file.parent().unwrap());
    fs::write(file, content).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn work_is_what_is_in_the_files(
        rounds in prop::collection::vec(deeds(), 1..3),
        is_aged in any::<bool>(),
        is_long in any::<bool>(),
    ) {
        let scratch = filled(if is_long { Scratch::with_long_names() } else { Scratch::empty() });
        scratch.repository.write("empty", "");
        scratch.repository.commit_all("empty");
        let linked = Linked::new(&scratch, "1.1");
        if is_aged {
            age(&linked);
        }
        for deeds in &rounds {
            deeds.iter().for_each(|(path, deed)| perform(&linked, path, *deed));
            assert_same_afresh(&linked, &format!("{rounds:?}"));
        }
    }
}

/// What is made of an index, whatever is in it.
fn look_through(content: &[u8], width: usize) {
    let Some(index) = IndexFile::parse(content, width) else { return };
    let mut patch = Patch::default();
    let pristine = Pristine::of(&index, Moment { seconds: u32::MAX, nanos: u32::MAX });
    for pristine in [None, Some(&pristine)] {
        to_read(pristine, &index, Path::new("/nowhere")).into_iter().for_each(|place| patch.forget(place));
    }
    let mut changed = content.to_vec();
    patch.apply(&mut changed, width).unwrap();
    assert_eq!(changed.len(), content.len());
    assert!(IndexFile::parse(&changed, width).is_some());
}

#[test]
fn any_bytes_can_be_an_index() {
    let scratch = scratch();
    scratch.repository.git(&["update-index", "--index-version", "4"]);
    let index = fs::read(scratch.repository.root().join(".git/index")).unwrap();
    look_through(&index, 20);
    let config = ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() };
    let flips = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8);
    proptest!(config, |(flips in flips, end in any::<prop::sample::Index>(), is_cut in any::<bool>(), width in 0..40_usize)| {
        let mut content = index.clone();
        flips.iter().for_each(|(at, byte)| content[at.index(index.len())] = *byte);
        if is_cut {
            content.truncate(end.index(index.len()));
        }
        look_through(&content, 20);
        look_through(&content, 32);
        let _ = IndexFile::parse(&content, width);
    });
}
