//! Objects that are written without git: git has to find in them what it would have written itself.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::scratch::Scratch;
use crate::git::Oid;
use crate::git::formats::loose_object::Kind;

/// The file that an object is in.
fn file_of(scratch: &Scratch, oid: &Oid) -> std::path::PathBuf {
    let (folder, name) = oid.as_str().split_at(2);
    scratch.repository.root().join(".git/objects").join(folder).join(name)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn git_reads_what_was_stored(
        content in prop::collection::vec(any::<u8>(), 0..2_000),
        times in 1..40_usize,
        is_long in any::<bool>(),
    ) {
        let scratch = if is_long { Scratch::with_long_names() } else { Scratch::empty() };
        let content = content.repeat(times);
        let oid = scratch.git().store_object(Kind::Blob, &content, if is_long { 32 } else { 20 }).unwrap();
        let file = scratch.notes().join("content");
        fs::write(&file, &content).unwrap();
        let told = scratch.repository.git(&["hash-object", "--no-filters", file.to_str().unwrap()]);
        prop_assert_eq!(told.trim(), oid.as_str());
        let size = scratch.repository.git(&["cat-file", "-s", oid.as_str()]);
        prop_assert_eq!(size.trim(), content.len().to_string());
        scratch.repository.git(&["fsck", "--strict"]);
    }
}

#[test]
fn an_object_is_a_file_like_those_of_git() {
    let scratch = Scratch::new();
    let oid = scratch.git().store_object(Kind::Blob, b"content\n", 20).unwrap();
    let mode = |oid: &Oid| fs::metadata(file_of(&scratch, oid)).unwrap().permissions().mode();
    let by_git = scratch.repository.git(&["rev-parse", "HEAD:one"]);
    assert_eq!(mode(&oid), mode(&Oid::parse(by_git.trim()).unwrap()));
    let left: Vec<_> = fs::read_dir(file_of(&scratch, &oid).parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing unfinished stays");
}

/// Git removes objects that belong to nobody once they are old enough.
#[test]
fn what_is_stored_again_is_as_young_as_what_is_new() {
    let scratch = Scratch::new();
    let git = scratch.git();
    let oid = git.store_object(Kind::Blob, b"content\n", 20).unwrap();
    let old = SystemTime::now() - Duration::from_secs(3_000_000);
    fs::File::open(file_of(&scratch, &oid)).unwrap().set_modified(old).unwrap();
    assert_eq!(git.store_object(Kind::Blob, b"content\n", 20).unwrap(), oid);
    scratch.repository.git(&["prune", "--expire=1.week.ago"]);
    assert_eq!(scratch.repository.git(&["cat-file", "blob", oid.as_str()]), "content\n");
}

#[test]
fn git_stores_objects_where_more_is_wanted_of_them() {
    for (name, value) in
        [("core.sharedRepository", "group"), ("core.fsync", "all"), ("core.fsyncObjectFiles", "true")]
    {
        let scratch = Scratch::new();
        scratch.repository.git(&["config", name, value]);
        assert_eq!(scratch.git().store_object(Kind::Blob, b"content\n", 20), None, "{name}");
    }
}

#[test]
fn git_tells_what_is_in_the_way_of_an_object() {
    let scratch = Scratch::new();
    let git = scratch.git();
    let oid = git.store_object(Kind::Blob, b"content\n", 20).unwrap();
    let folder = file_of(&scratch, &oid).parent().unwrap().to_owned();
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "").unwrap();
    assert_eq!(git.store_object(Kind::Blob, b"content\n", 20), None);
}

#[test]
fn what_a_program_left_that_died_while_it_wrote_an_object_goes() {
    let scratch = Scratch::new();
    let git = scratch.git();
    let folder = file_of(&scratch, &git.store_object(Kind::Blob, b"content\n", 20).unwrap())
        .parent()
        .unwrap()
        .to_owned();
    let left = |pid: u32| folder.join(format!("tmp_obj_tillgreen-{pid}-7"));
    let (dead, alive) = (left(u32::MAX - 1), left(std::process::id()));
    [&dead, &alive].into_iter().for_each(|file| fs::write(file, "").unwrap());
    git.remove_unfinished_objects();
    assert_eq!((dead.exists(), alive.exists()), (false, true));
    assert_eq!(fs::read_dir(folder).unwrap().count(), 2, "objects stay");
}

/// The packs that are there, and the objects that are files of their own.
fn stored(scratch: &Scratch) -> (Vec<String>, usize) {
    let objects = scratch.repository.root().join(".git/objects");
    let names = |folder: &std::path::Path| -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let folders = names(&objects).into_iter().filter(|name| name.len() == 2);
    (names(&objects.join("pack")), folders.map(|name| names(&objects.join(name)).len()).sum())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn git_reads_what_was_stored_together(
        contents in prop::collection::btree_set(prop::collection::vec(any::<u8>(), 0..200), 1..60),
        times in 1..60_usize,
        is_long in any::<bool>(),
    ) {
        let scratch = if is_long { Scratch::with_long_names() } else { Scratch::empty() };
        let collecting = scratch.git().collecting();
        let store = |content: &Vec<u8>| {
            collecting.store_object(Kind::Blob, &content.repeat(times), if is_long { 32 } else { 20 }).unwrap()
        };
        let names: Vec<Oid> = contents.iter().map(store).collect();
        prop_assert_eq!(stored(&scratch), (Vec::new(), 0), "nothing is written before all of it is");
        collecting.write_collected().unwrap();
        let (packs, loose) = stored(&scratch);
        let different: std::collections::BTreeSet<&Oid> = names.iter().collect();
        let is_packed = different.len() >= 24;
        prop_assert_eq!((packs.len(), loose), if is_packed { (2, 0) } else { (0, different.len()) });
        for (name, content) in names.iter().zip(&contents) {
            let size = scratch.repository.git(&["cat-file", "-s", name.as_str()]);
            prop_assert_eq!(size.trim(), (content.len() * times).to_string());
        }
        scratch.repository.git(&["fsck", "--strict", "--full"]);
        packs.iter().filter(|name| name.ends_with("idx")).for_each(|name| {
            scratch.repository.git(&["verify-pack", &format!(".git/objects/pack/{name}")]);
        });
        scratch.repository.git(&["repack", "-a", "-d", "-q", "--keep-unreachable"]);
        scratch.repository.git(&["cat-file", "-e", names[0].as_str()]);
    }
}

/// Whoever asks for objects all the time finds those of a pack that came since.
#[test]
fn a_git_that_stays_finds_what_was_stored_together() {
    let scratch = Scratch::new();
    let git = scratch.git();
    let (head, collecting) = (git.head().unwrap().unwrap(), git.collecting());
    git.tree_of(&head).unwrap();
    let names: Vec<Oid> =
        (0..30_u8).map(|number| collecting.store_object(Kind::Blob, &[number], 20).unwrap()).collect();
    assert_eq!(git.read_blob(&names[7], 10), None);
    collecting.write_collected().unwrap();
    assert_eq!(git.read_blob(&names[7], 10), Some(vec![7]));
}

#[test]
fn what_is_stored_together_is_written_one_by_one_where_it_cannot_be_packed() {
    let scratch = Scratch::new();
    let folder = scratch.repository.root().join(".git/objects/pack");
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "no folder\n").unwrap();
    let collecting = scratch.git().collecting();
    let names: Vec<Oid> =
        (0..30_u8).map(|number| collecting.store_object(Kind::Blob, &[number], 20).unwrap()).collect();
    collecting.write_collected().unwrap();
    fs::remove_file(&folder).unwrap();
    for name in names {
        scratch.repository.git(&["cat-file", "-e", name.as_str()]);
    }
}

/// Killed between its two files: a pack that git does not know of, and an index that bears no name yet.
#[test]
fn half_a_pack_of_a_program_that_died_goes() {
    let scratch = Scratch::new();
    let git = scratch.git();
    let collecting = git.collecting();
    for number in 0..30_u8 {
        collecting.store_object(Kind::Blob, &[number], 20).unwrap();
    }
    collecting.write_collected().unwrap();
    let folder = scratch.repository.root().join(".git/objects/pack");
    let (packs, _) = stored(&scratch);
    let index = packs.iter().find(|name| name.ends_with("idx")).unwrap();
    let left = |pid: u32| folder.join(format!("tmp_obj_tillgreen-{pid}-7"));
    // One of somebody who is still at it, and one whose index is there.
    fs::copy(folder.join(index), left(std::process::id())).unwrap();
    fs::copy(folder.join(index), left(u32::MAX - 1)).unwrap();
    git.remove_unfinished_objects();
    assert_eq!(stored(&scratch).0.len(), 3);
    fs::rename(folder.join(index), left(u32::MAX - 1)).unwrap();
    git.remove_unfinished_objects();
    fs::remove_file(left(std::process::id())).unwrap();
    assert_eq!(stored(&scratch).0, Vec::<String>::new());
}

#[test]
fn what_is_gone_is_written_again_and_what_git_packed_is_left_to_it() {
    let scratch = Scratch::new();
    let git = scratch.git();
    let oid = git.store_object(Kind::Blob, b"content\n", 20).unwrap();
    fs::remove_file(file_of(&scratch, &oid)).unwrap();
    git.hold_on();
    assert_eq!(scratch.repository.git(&["cat-file", "blob", oid.as_str()]), "content\n");
    scratch.repository.git(&["prune", "--expire=now"]);
    assert!(!file_of(&scratch, &oid).exists());
    git.hold_on_to_all();
    assert_eq!(scratch.repository.git(&["cat-file", "blob", oid.as_str()]), "content\n");
    fs::remove_file(file_of(&scratch, &oid)).unwrap();
    git.hold_on_to_the_end();
    scratch.repository.git(&["tag", "kept", oid.as_str()]);
    scratch.repository.git(&["gc", "--quiet", "--prune=now"]);
    git.hold_on_to_all();
    assert!(!file_of(&scratch, &oid).exists(), "it is in a pack");
}

/// A pack that somebody tidied away, with what was in it.
#[test]
fn what_was_stored_together_is_written_again_as_well() {
    let scratch = Scratch::new();
    let git = scratch.git();
    let collecting = git.collecting();
    let names: Vec<Oid> =
        (0..30_u8).map(|number| collecting.store_object(Kind::Blob, &[number], 20).unwrap()).collect();
    collecting.write_collected().unwrap();
    let (packs, loose) = stored(&scratch);
    git.hold_on();
    git.hold_on_to_all();
    assert_eq!(stored(&scratch), (packs, loose), "they are there");
    scratch.repository.git(&["repack", "-a", "-d", "-q"]);
    assert!(!scratch.repository.try_git(&["cat-file", "-e", names[3].as_str()]).status.success());
    git.hold_on();
    for name in names {
        scratch.repository.git(&["cat-file", "-e", name.as_str()]);
    }
}
