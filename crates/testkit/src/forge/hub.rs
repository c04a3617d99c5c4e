//! The state of the stand-in.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;

use super::sight::{Moment, Sight};

/// The user who is logged in.
pub(super) const VIEWER: &str = "me";

/// The sight that a look shows at a moment.
pub(super) type Scene = Box<dyn Fn(&Moment) -> Sight + Send>;

/// The state of the stand-in. Tests change it through [`Forge::hub`](super::Forge::hub).
pub struct Hub {
    /// Whose repository is pushed to.
    pub owner: String,
    /// Its name.
    pub repo: String,
    /// `OWNER/NAME` of what it is a fork of.
    pub parent: Option<String>,
    /// The default branch.
    pub default_branch: String,
    /// The pull requests.
    pub pulls: Vec<Pull>,
    /// The issues.
    pub issues: Vec<Issue>,
    /// Failures that the next requests get instead of an answer, one each: a status and a message.
    pub failures: VecDeque<(u16, String)>,
    /// Texts that the next requests are answered with instead, one each, as they are.
    pub garbled: VecDeque<String>,
    /// Every how manieth request is answered with nonsense; none where it is 0. What it asks for is not done.
    pub garbles_every: usize,
    /// True if requests are left without an answer.
    pub hangs: bool,
    /// When the rate limit is lifted, in seconds since 1970, while it is used up.
    pub rate_reset: Option<i64>,
    /// The reviewers who were asked, in order.
    pub requested: Vec<String>,
    /// True if failed jobs may not be run again.
    pub refuses_rerun: bool,
    /// True if the pull request may not be merged.
    pub refuses_merge: bool,
    /// After how many looks a merge is done that was agreed to; at once where it is 0.
    pub merges_after: usize,
    pub(super) queue: Option<(String, usize)>,
    /// Everything that was asked for, in order.
    pub calls: Vec<String>,
    /// Answers in threads: the thread and the text.
    pub answers: Vec<(String, String)>,
    /// Threads that were resolved by the program.
    pub resolved: BTreeSet<String>,
    pub(super) held: Vec<UnixStream>,
    pub(super) bare: PathBuf,
    pub(super) scene: Scene,
    /// Commits of the branch that were seen, in order.
    pub(super) heads: Vec<String>,
    pub(super) looks: BTreeMap<String, usize>,
    pub(super) reruns: BTreeMap<String, usize>,
}

/// A pull request.
#[derive(Clone, Debug)]
pub struct Pull {
    /// Its number.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// Its body.
    pub body: String,
    /// `OPEN`, `CLOSED` or `MERGED`.
    pub state: &'static str,
    /// The branch.
    pub branch: String,
    /// The branch that it is to be merged into.
    pub base: String,
    /// True if it is a draft.
    pub draft: bool,
    /// The commit, where it is not simply where the branch is.
    pub head: Option<String>,
    /// By which method it was merged through the program.
    pub merged_by: Option<String>,
}

/// An issue.
#[derive(Clone, Debug)]
pub struct Issue {
    /// Its number.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// Its text.
    pub body: String,
    /// True if it is closed.
    pub closed: bool,
    /// Its only label.
    pub label: String,
    /// The milestone that it belongs to.
    pub milestone: String,
}

impl Issue {
    /// An open issue.
    pub fn new(number: u64, title: &str, body: &str) -> Issue {
        let [title, body] = [title, body].map(str::to_owned);
        Issue { number, title, body, closed: false, label: "ready".to_owned(), milestone: "1.0".to_owned() }
    }
}

impl Hub {
    pub(super) fn new(bare: PathBuf) -> Self {
        Self {
            owner: "acme".to_owned(),
            repo: "widgets".to_owned(),
            parent: None,
            default_branch: "main".to_owned(),
            pulls: Vec::new(),
            issues: Vec::new(),
            failures: VecDeque::new(),
            garbled: VecDeque::new(),
            garbles_every: 0,
            hangs: false,
            rate_reset: None,
            requested: Vec::new(),
            refuses_rerun: false,
            refuses_merge: false,
            merges_after: 0,
            queue: None,
            calls: Vec::new(),
            answers: Vec::new(),
            resolved: BTreeSet::new(),
            held: Vec::new(),
            bare,
            scene: Box::new(|_| Sight::default()),
            heads: Vec::new(),
            looks: BTreeMap::new(),
            reruns: BTreeMap::new(),
        }
    }

    /// Where pull requests are.
    pub(super) fn upstream(&self) -> String {
        self.parent.clone().unwrap_or_else(|| format!("{}/{}", self.owner, self.repo))
    }

    pub(super) fn url(&self, number: u64) -> String {
        format!("https://github.com/{}/pull/{number}", self.upstream())
    }

    /// Adds a pull request, as somebody else would.
    pub fn open(&mut self, branch: &str, base: &str) -> u64 {
        let number = 7 + u64::try_from(self.pulls.len()).expect("there are few");
        self.pulls.push(Pull {
            number,
            title: String::new(),
            body: String::new(),
            state: "OPEN",
            branch: branch.to_owned(),
            base: base.to_owned(),
            draft: false,
            head: None,
            merged_by: None,
        });
        number
    }

    /// Another look goes by: a merge that was agreed to comes closer.
    pub(super) fn take_turn(&mut self) {
        let Some((id, looks)) = self.queue.take() else { return };
        if looks > 1 {
            self.queue = Some((id, looks - 1));
            return;
        }
        let heads: Vec<String> = self.pulls.iter().map(|pull| self.head(pull)).collect();
        for (pull, head) in self.pulls.iter_mut().zip(heads) {
            if format!("PR_{}", pull.number) == id {
                (pull.state, pull.head) = ("MERGED", Some(head));
            }
        }
    }

    pub(super) fn pull(&self, number: u64) -> Option<&Pull> {
        self.pulls.iter().find(|pull| pull.number == number)
    }

    /// The commit that a branch is at.
    pub(super) fn branch_head(&self, branch: &str) -> String {
        let name = format!("refs/heads/{branch}");
        let output =
            Command::new("git").arg("-C").arg(&self.bare).args(["rev-parse", "--verify", &name]).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
    }

    pub(super) fn head(&self, pull: &Pull) -> String {
        pull.head.clone().unwrap_or_else(|| self.branch_head(&pull.branch))
    }

    /// Takes notice of where the branch is.
    pub(super) fn notice(&mut self, head: &str) {
        if !self.heads.iter().any(|known| known == head) {
            self.heads.push(head.to_owned());
        }
    }

    /// The moment at which a commit is looked at.
    pub(super) fn moment(&self, head: &str) -> Moment {
        let push = self.heads.iter().position(|known| known == head).map_or(0, |place| place + 1);
        Moment {
            push,
            look: self.looks.get(head).copied().unwrap_or_default(),
            reruns: self.reruns.get(head).copied().unwrap_or_default(),
            answers: self.answers.len(),
            requests: self.requested.len(),
        }
    }

    pub(super) fn sight(&self, head: &str) -> Sight {
        (self.scene)(&self.moment(head))
    }

    /// The workflow run at a commit.
    pub(super) fn run_id(&self, head: &str) -> u64 {
        100 + u64::try_from(self.moment(head).push).expect("there are few")
    }

    /// The commit of a workflow run.
    pub(super) fn head_of_run(&self, run: u64) -> Option<String> {
        self.heads.get(usize::try_from(run.checked_sub(101)?).ok()?).cloned()
    }
}
