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
    scratch.repository.git(&["tag", "kept", oid.as_str()]);
    scratch.repository.git(&["gc", "--quiet", "--prune=now"]);
    git.hold_on_to_all();
    assert!(!file_of(&scratch, &oid).exists(), "it is in a pack");
}
