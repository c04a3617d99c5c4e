//! One task's text, taken out of its plan: what a running task is held to, whatever happens to the plan.

use std::path::Path;

use plan::{Dialect, Fields, Plan, Task, Verify};

/// The text of one task.
#[derive(Debug)]
pub(crate) struct Excerpt {
    plan: Plan,
}

impl Excerpt {
    /// Reads a task's text; none if there is no task in it.
    pub(crate) fn read(dialect: Dialect, text: &str) -> Option<Self> {
        let plan = Plan::parse_as(dialect, text.to_owned(), Path::new(""));
        (!plan.tasks().is_empty()).then_some(Self { plan })
    }

    fn task(&self) -> &Task {
        &self.plan.tasks()[0]
    }

    /// The task's title.
    pub(crate) fn title(&self) -> &str {
        self.plan.short_title(self.task())
    }

    /// The text, without the white space after it.
    pub(crate) fn block(&self) -> &str {
        self.plan.block(self.task()).trim_end()
    }

    /// What its fields say.
    pub(crate) fn fields(&self) -> Fields {
        self.plan.fields(self.task())
    }

    /// How it is verified.
    pub(crate) fn verify(&self) -> Verify {
        self.plan.verify(self.task())
    }

    /// The digest of the text, as the record knows it.
    pub(crate) fn digest(&self) -> u32 {
        super::digest(&self.plan, self.task())
    }

    /// Whether another text differs in white space and boxes at most, and not in what is run.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        let kind = |excerpt: &Self| super::kind(excerpt.task());
        let words =
            |excerpt: &Self| excerpt.words().split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        kind(self) == kind(other) && self.verify() == other.verify() && words(self) == words(other)
    }

    /// What the digest is made of, with all boxes open.
    fn words(&self) -> String {
        let block = self.block();
        let body = block.find('\n').map_or("", |newline| &block[newline..]);
        format!("{} {body}", self.plan.title(self.task())).replace("[x]", "[ ]").replace("[X]", "[ ]")
    }

    /// What the engine has to know of it.
    pub(super) fn decl(&self) -> engine::TaskDecl {
        super::decl(&self.plan, self.task())
    }

    /// Whether it is a fix task by its marker.
    pub(crate) fn is_fix(&self) -> bool {
        self.task().is_fix()
    }
}
