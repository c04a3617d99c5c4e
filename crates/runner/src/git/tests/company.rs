//! Work of several tasks that comes in at once: history, index and files must be as if it had come in one by one, and
//! whatever is not quite ordinary leaves everything as it was.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use proptest::prelude::*;

use super::batch::{Linked, TRAILER};
use super::scratch::Scratch;
use crate::git::{Books, Commit, Dropped, Following, Landing, Link, Novelty, Oid, Stamps};

/// The plan after each of some tasks.
struct Ledger {
    root: PathBuf,
    texts: Vec<String>,
    written: usize,
    /// Whether the program dies before it writes anything. Then what it had noted is kept here.
    dies: Option<Vec<u8>>,
}

const PLAN: &str = "specs/tasks.md";
const NEW: &str = "specs/.progress.md";
const NOTE: &str = ".git/tillgreen-landing.json";

impl Ledger {
    fn of(scratch: &Scratch, tasks: usize) -> Ledger {
        let texts = (1..=tasks).map(|done| format!("plan, {done} done\n")).collect();
        Ledger { root: scratch.repository.root().to_owned(), texts, written: 0, dies: None }
    }
}

impl Books for Ledger {
    fn follow(&mut self, place: usize, work: &Oid) -> Option<Following> {
        let text = self.texts.get(place)?.clone().into_bytes();
        assert_eq!(work.as_str().len(), 40);
        let files = [PLAN, NEW].map(|path| (path.to_owned(), text.clone())).to_vec();
        Some(Following { files, message: format!("complete {place}") })
    }

    fn write(&mut self) {
        self.written += 1;
        if let Some(noted) = &mut self.dies {
            *noted = fs::read(self.root.join(NOTE)).unwrap();
            return;
        }
        for path in [PLAN, NEW] {
            fs::write(self.root.join(path), self.texts.last().unwrap()).unwrap();
        }
    }
}

/// Work that came in.
#[derive(Debug, PartialEq, Eq)]
struct Came {
    paths: Vec<Vec<String>>,
    stamps: Stamps,
}

/// Tasks with their work packed.
struct Company<'a> {
    scratch: &'a Scratch,
    members: Vec<(Linked<'a>, Oid)>,
    messages: Vec<String>,
}

const KEYS: [&str; 4] = ["1.1", "1.2", "1.3", "1.4"];

type Work<'a> = &'a dyn Fn(&Linked<'_>);

impl<'a> Company<'a> {
    /// Each changes the tree that it is given.
    fn new(scratch: &'a Scratch, works: &[Work<'_>]) -> Company<'a> {
        let linked: Vec<Linked<'_>> =
            works.iter().zip(KEYS).map(|(_, key)| Linked::new(scratch, key)).collect();
        let packed = |(linked, work): (Linked<'a>, &Work<'_>)| {
            work(&linked);
            let commit = linked.pack();
            (linked, commit)
        };
        let members = linked.into_iter().zip(works).map(packed).collect();
        Company { scratch, members, messages: KEYS.map(|key| format!("work of {key}")).to_vec() }
    }

    fn landings(&self) -> Vec<Landing<'_>> {
        let mut landings = Vec::new();
        for ((linked, commit), key) in self.members.iter().zip(KEYS) {
            let (base, trailer) = (&linked.base, (TRAILER, key));
            landings.push(Landing { commit, base, trailer, novelty: Novelty::New });
        }
        landings
    }

    /// Has all of it come in, piece by piece.
    fn apply(&self) -> Option<Came> {
        let git = self.scratch.git();
        let mut arrival = git.expect_together(&self.landings()).unwrap().ok()?;
        for place in 0..self.members.len() {
            assert!(arrival.put(&git, place).unwrap(), "nothing is in the way");
        }
        Some(Came { paths: arrival.paths(), stamps: arrival.complete(&git).unwrap() })
    }

    fn commit(&self, came: &Came) -> Option<Vec<Oid>> {
        let mut ledger = Ledger::of(self.scratch, self.members.len());
        let made = self.commit_with(came, &mut ledger);
        assert_eq!(ledger.written, usize::from(made.is_some()), "files are written once it is committed");
        made
    }

    fn commit_with(&self, came: &Came, ledger: &mut Ledger) -> Option<Vec<Oid>> {
        let links: Vec<Link<'_>> = self
            .landings()
            .into_iter()
            .zip(&self.messages)
            .map(|(landing, message)| Link { landing, message })
            .collect();
        self.scratch.git().commit_together(&links, &came.stamps, ledger).unwrap()
    }
}

/// A repository with a plan.
fn planned() -> Scratch {
    let scratch = Scratch::new();
    scratch.repository.write(PLAN, "plan, 0 done\n");
    scratch.repository.commit_all("plan");
    scratch
}

/// What each commit holds, from the newest on, with its message.
fn history(scratch: &Scratch) -> Vec<String> {
    let log = scratch.repository.git(&["log", "--format=%T %B"]);
    log.lines().map(str::to_owned).collect()
}

#[test]
fn all_of_it_comes_in_and_is_committed_task_by_task() {
    let scratch = planned();
    let company = Company::new(
        &scratch,
        &[&|tree| tree.write("one", "by the first\n"), &|tree| tree.write("new/two", "by the second\n")],
    );
    let came = company.apply().expect("it is plain");
    assert_eq!(came.paths, [vec!["one".to_owned()], vec!["new/two".to_owned()]]);
    assert_eq!(scratch.repository.read("new/two"), "by the second\n");
    let made = company.commit(&came).expect("nothing is in the way");
    assert_eq!(made.len(), 2);
    let subjects = ["first", "plan", "work of 1.1", "complete 0", "work of 1.2", "complete 1"];
    assert_eq!(scratch.repository.subjects(), subjects);
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
    assert_eq!(scratch.last_commit(), ["M specs/.progress.md", "M specs/tasks.md"]);
    scratch.repository.git(&["diff-files", "--quiet"]);
    scratch.repository.git(&["fsck", "--strict"]);
    assert_eq!(scratch.git().drop_landing().unwrap(), Dropped::Nothing);
    for (linked, commit) in &company.members {
        let applied = linked.apply(commit);
        assert!(matches!(applied, crate::git::Applied::Already(_)), "{applied:?}");
    }
}

#[test]
fn each_piece_comes_in_on_top_of_those_before_it() {
    let scratch = planned();
    let works: [Work<'_>; 2] =
        [&|tree| tree.write("one", "by the first\n"), &|tree| tree.write("new", "by the second\n")];
    let (company, git) = (Company::new(&scratch, &works), scratch.git());
    let mut arrival = git.expect_together(&company.landings()).unwrap().expect("it is plain");
    assert_eq!(scratch.repository.dirt(), Vec::<String>::new());
    assert!(arrival.put(&git, 0).unwrap());
    assert_eq!(scratch.repository.dirt(), [" M one"]);
    assert!(arrival.put(&git, 1).unwrap());
    assert_eq!(scratch.repository.dirt(), [" M one", "?? new"]);
    assert!(!arrival.put(&git, 2).unwrap(), "there are but two");
}

#[test]
fn what_somebody_puts_in_its_place_meanwhile_stays() {
    let check = |path: &str, person: &dyn Fn(&Scratch), left: &[&str]| {
        let scratch = planned();
        let works: [Work<'_>; 2] =
            [&|tree| tree.write("one", "by the first\n"), &|tree| tree.write(path, "by the second\n")];
        let (company, git) = (Company::new(&scratch, &works), scratch.git());
        let mut arrival = git.expect_together(&company.landings()).unwrap().expect("it is plain");
        assert!(arrival.put(&git, 0).unwrap());
        person(&scratch);
        assert!(!arrival.put(&git, 1).unwrap());
        arrival.give_up(&git).unwrap();
        assert_eq!(git.drop_landing().unwrap(), Dropped::PutBack);
        assert_eq!(scratch.repository.dirt(), left);
        assert_eq!(scratch.repository.read("one"), "one\n");
    };
    let mine = |path: &'static str| move |scratch: &Scratch| scratch.repository.write(path, "mine\n");
    check("two", &mine("two"), &[" M two"]);
    check("new", &mine("new"), &["?? new"]);
    check("folder/new", &mine("folder"), &["?? folder"]);
    let link = |scratch: &Scratch| symlink("deep", scratch.repository.root().join("folder")).unwrap();
    check("folder/new", &link, &["?? folder"]);
}

#[test]
fn what_is_not_plain_comes_in_one_by_one_and_nothing_is_changed() {
    let check = |what: &str, first: Work<'_>, person: &dyn Fn(&Scratch)| {
        let scratch = planned();
        let company = Company::new(&scratch, &[first, &|tree| tree.write("two", "by the second\n")]);
        person(&scratch);
        let before = (scratch.repository.dirt(), history(&scratch));
        assert_eq!(company.apply(), None, "{what}");
        assert_eq!((scratch.repository.dirt(), history(&scratch)), before, "{what}");
        assert_eq!(scratch.git().drop_landing().unwrap(), Dropped::Nothing, "{what}");
    };
    let plain: Work<'_> = &|tree| tree.write("one", "by the first\n");
    check("the same file", &|tree| tree.write("two", "by the first\n"), &|_| {});
    check("a deleted file", &|tree| fs::remove_file(tree.path.join("one")).unwrap(), &|_| {});
    check("a link", &|tree| symlink("two", tree.path.join("link")).unwrap(), &|_| {});
    check("attributes", &|tree| tree.write(".gitattributes", "* text\n"), &|_| {});
    check("changed by a person", plain, &|scratch| scratch.repository.write("one", "mine\n"));
    check("deleted by a person", plain, &|scratch| {
        fs::remove_file(scratch.repository.root().join("one")).unwrap();
    });
    check("staged by a person", plain, &|scratch| {
        scratch.repository.write("mine", "mine\n");
        scratch.repository.git(&["add", "mine"]);
    });
    check("hooks", plain, &|scratch| scratch.hook("pre-commit", "exit 0"));
}

#[test]
fn what_is_no_longer_as_it_came_in_is_not_committed() {
    let check = |what: &str, change: &dyn Fn(&Scratch), left: &[&str]| {
        let scratch = planned();
        let works: [Work<'_>; 2] =
            [&|tree| tree.write("one", "by the first\n"), &|tree| tree.write("new", "by the second\n")];
        let company = Company::new(&scratch, &works);
        let came = company.apply().expect("it is plain");
        change(&scratch);
        let before = history(&scratch);
        assert_eq!(company.commit(&came), None, "{what}");
        assert_eq!(history(&scratch), before, "{what}");
        scratch.git().drop_landing().unwrap();
        assert_eq!(scratch.repository.dirt(), left, "{what}");
        let last = company.members.last().unwrap().0.land();
        assert!(scratch.git().contains(last.as_str()).unwrap(), "{what}: it comes in by itself");
    };
    check("a file of it", &|scratch| scratch.repository.write("one", "formatted\n"), &[]);
    check(
        "somebody stages",
        &|scratch| {
            scratch.repository.write("mine", "mine\n");
            scratch.repository.git(&["add", "mine"]);
        },
        &["A  mine"],
    );
    check(
        "somebody commits",
        &|scratch| {
            scratch.repository.git(&["commit", "-q", "--allow-empty", "-m", "mine"]);
        },
        &[],
    );
    check("a hook", &|scratch| scratch.hook("commit-msg", "exit 0"), &[]);
    check(
        "a plan that can be run",
        &|scratch| {
            let file = scratch.repository.root().join(PLAN);
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(file, mode).unwrap();
        },
        &[" M specs/tasks.md"],
    );
}

/// The program may die right after what is checked out has moved: what it noted is still there then, and the files that
/// follow are not written. Those that somebody has written to meanwhile stay as they are.
#[test]
fn whoever_was_killed_after_all_of_it_was_committed_finds_it_there() {
    let check = |person: &dyn Fn(&Scratch), left: &[&str]| {
        let scratch = planned();
        let works: [Work<'_>; 2] = [&|tree| tree.write("one", "1\n"), &|tree| tree.write("new", "2\n")];
        let company = Company::new(&scratch, &works);
        let came = company.apply().expect("it is plain");
        let mut ledger = Ledger { dies: Some(Vec::new()), ..Ledger::of(&scratch, 2) };
        let made = company.commit_with(&came, &mut ledger).expect("nothing is in the way");
        fs::write(scratch.repository.root().join(NOTE), ledger.dies.unwrap()).unwrap();
        person(&scratch);
        let last = made.last().unwrap().clone();
        assert_eq!(scratch.git().drop_landing().unwrap(), Dropped::Committed(last));
        assert_eq!(scratch.repository.dirt(), left);
        assert_eq!(scratch.repository.read(NEW), "plan, 2 done\n");
        assert_eq!(scratch.git().drop_landing().unwrap(), Dropped::Nothing);
    };
    check(&|_| {}, &[]);
    check(&|scratch| scratch.repository.write(PLAN, "plan of a person\n"), &[" M specs/tasks.md"]);
    check(
        &|scratch| {
            scratch.repository.write("mine", "mine\n");
            scratch.repository.git(&["add", "mine"]);
            scratch.repository.git(&["commit", "-q", "-m", "mine"]);
        },
        &[],
    );
}

#[test]
fn whoever_was_killed_before_finds_everything_as_it_was() {
    let scratch = planned();
    let works: [Work<'_>; 2] = [&|tree| tree.write("one", "1\n"), &|tree| tree.write("new/file", "2\n")];
    let company = Company::new(&scratch, &works);
    let before = history(&scratch);
    company.apply().expect("it is plain");
    assert_eq!(scratch.git().drop_landing().unwrap(), Dropped::PutBack);
    assert_eq!((scratch.repository.dirt(), history(&scratch)), (Vec::new(), before));
    assert_eq!(scratch.repository.read("one"), "one\n");
}

/// Files by their paths, with what they hold; no two tasks have the same.
fn works() -> impl Strategy<Value = Vec<Vec<(String, String)>>> {
    let files = prop::collection::btree_map("([a-c]{1,2}/){0,2}[a-c]{1,2}\\.x", "[a-z\n]{1,9}", 2..9);
    (files, 2..=4_usize).prop_map(|(files, tasks)| {
        let mut works = vec![Vec::new(); tasks];
        files.into_iter().enumerate().for_each(|(place, file)| works[place % tasks].push(file));
        works.retain(|work| !work.is_empty());
        works
    })
}

/// What is to be seen in the end.
fn see(works: &[Vec<(String, String)>], is_together: bool) -> (Vec<String>, String, Vec<String>) {
    let scratch = planned();
    let put = |work: &Vec<(String, String)>| {
        let work = work.clone();
        move |tree: &Linked<'_>| work.iter().for_each(|(path, content)| tree.write(path, content))
    };
    let puts: Vec<_> = works.iter().map(put).collect();
    let works: Vec<Work<'_>> = puts.iter().map(|put| put as Work<'_>).collect();
    let company = Company::new(&scratch, &works);
    if is_together {
        let came = company.apply().expect("it is plain");
        company.commit(&came).expect("nothing is in the way");
    } else {
        let mut ledger = Ledger::of(&scratch, works.len());
        for (place, (linked, _)) in company.members.iter().enumerate() {
            let work = linked.land();
            let following = ledger.follow(place, &work).unwrap();
            for (path, content) in &following.files {
                scratch.repository.write(path, content);
            }
            let paths: Vec<String> = following.files.iter().map(|(path, _)| path.clone()).collect();
            scratch.git().commit(&Commit::new(&paths, &following.message)).unwrap().unwrap();
        }
    }
    scratch.repository.git(&["fsck", "--strict"]);
    (history(&scratch), scratch.repository.git(&["ls-files", "--stage"]), scratch.repository.dirt())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn it_is_as_if_it_had_come_in_one_by_one(works in works()) {
        prop_assert_eq!(see(&works, true), see(&works, false));
    }
}
