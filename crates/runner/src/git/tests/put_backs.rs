use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::scratch::{Scratch, owned};

#[test]
fn files_are_as_in_the_index_again_and_what_they_held_is_kept() {
    let scratch = Scratch::new();
    let (repository, git) = (&scratch.repository, scratch.git());
    let into = tempfile::tempdir_in(repository.root().join(".git")).unwrap();
    repository.write("two", "staged\n");
    repository.git(&["add", "two"]);
    repository.write("one", "litter\n");
    repository.write("two", "litter\n");
    fs::remove_dir_all(repository.root().join("deep")).unwrap();
    let paths = owned(&["deep/three", "one", "two"]);
    assert_eq!(git.edited().unwrap().into_iter().collect::<Vec<_>>(), paths);
    assert_eq!(git.put_back_files(&paths, into.path()).unwrap(), paths);
    assert_eq!(repository.dirt(), ["M  two"]);
    assert_eq!((repository.read("one"), repository.read("two")), ("one\n".to_owned(), "staged\n".to_owned()));
    assert_eq!(fs::read_to_string(into.path().join("one")).unwrap(), "litter\n");
}

#[test]
fn a_mode_alone_is_put_back_and_times_alone_are_no_edit() {
    let scratch = Scratch::new();
    let (repository, git) = (&scratch.repository, scratch.git());
    let into = tempfile::tempdir_in(repository.root().join(".git")).unwrap();
    fs::set_permissions(repository.root().join("one"), fs::Permissions::from_mode(0o755)).unwrap();
    repository.write("two", repository.read("two"));
    assert_eq!(git.edited().unwrap().into_iter().collect::<Vec<_>>(), ["one"]);
    git.put_back_files(&owned(&["one"]), into.path()).unwrap();
    assert_eq!(repository.dirt(), [""; 0]);
}

#[test]
fn what_stands_in_another_way_stays_as_it_is() {
    let scratch = Scratch::new();
    let (repository, git) = (&scratch.repository, scratch.git());
    let into = tempfile::tempdir_in(repository.root().join(".git")).unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("three"), "precious\n").unwrap();
    fs::remove_file(repository.root().join("one")).unwrap();
    repository.write("one/inside", "mine\n");
    fs::remove_dir_all(repository.root().join("deep")).unwrap();
    symlink(outside.path(), repository.root().join("deep")).unwrap();
    let before = repository.dirt();
    assert_eq!(git.put_back_files(&owned(&["deep/three", "one"]), into.path()).unwrap(), [""; 0]);
    assert_eq!(repository.dirt(), before);
    assert_eq!(repository.read("one/inside"), "mine\n");
    assert_eq!(fs::read_to_string(outside.path().join("three")).unwrap(), "precious\n");
}

#[test]
fn where_git_cannot_write_a_file_it_is_what_it_was() {
    let scratch = Scratch::new();
    let (repository, git) = (&scratch.repository, scratch.git());
    let into = tempfile::tempdir_in(repository.root().join(".git")).unwrap();
    repository.write("one", "litter\n");
    repository.git(&["config", "filter.away.clean", "cat"]);
    repository.git(&["config", "filter.away.smudge", "false"]);
    repository.git(&["config", "filter.away.required", "true"]);
    repository.write(".git/info/attributes", "one filter=away\n");
    assert_eq!(git.put_back_files(&owned(&["one"]), into.path()).unwrap(), [""; 0]);
    assert_eq!(repository.read("one"), "litter\n");
}
