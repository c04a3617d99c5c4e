//! The text of one task, taken out of its plan: what a running task is held to, whatever happens to the plan. The text
//! of a task that stands in no file, a fix of a `*-PLAN.md` or a request of the pull request's, is made from the record
//! whenever it is needed.

use std::path::Path;

use engine::{FixPlan, Origin, Request};
use plan::{Dialect, Fields, Plan, Reading, RequestTask, Rung, Script, Task, Verify};

use crate::plan_file::{Defaults, files};
use crate::project::PlanFile;

/// The text of one task.
#[derive(Debug)]
pub(crate) struct Excerpt {
    plan: Plan,
    /// The command of the settings, where the text has none.
    default: Option<Script>,
}

impl Excerpt {
    /// Reads a task's text; none if there is no task in it.
    pub(crate) fn read(reading: Reading, text: &str) -> Option<Self> {
        let plan = Plan::parse_as(reading, text.to_owned(), Path::new(""));
        (!plan.tasks().is_empty()).then_some(Self { plan, default: None })
    }

    /// Reads a text of a task of a plan.
    pub(crate) fn of(file: &PlanFile, text: &str) -> Option<Self> {
        let excerpt = Self::read(file.reading, text)?;
        let default = files::default_script(&excerpt.plan, excerpt.task(), &file.defaults);
        Some(Self { default, ..excerpt })
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

    /// The values of its fields.
    pub(crate) fn fields(&self) -> Fields {
        self.plan.fields(self.task())
    }

    /// The script that is run, and where it stands.
    pub(crate) fn script(&self) -> Option<(Script, Rung)> {
        match (self.plan.proof(self.task()), &self.default) {
            ((Verify::Runnable(script), rung), _) => Some((script, rung)),
            ((Verify::Prose(_) | Verify::Absent, _), default) => Some((default.clone()?, Rung::Settings)),
        }
    }

    /// The user story that it belongs to.
    pub(crate) fn story(&self) -> Option<&str> {
        self.task().markers.story.as_deref()
    }

    /// The digest of the text, as the record knows it.
    pub(crate) fn digest(&self) -> u32 {
        files::digest(&self.plan, self.task())
    }

    /// True if another text says the same.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        says_the_same((&self.plan, self.task()), (&other.plan, other.task()))
    }

    /// True of a `[RED]` task, whose test has to fail at first.
    pub(crate) fn is_red(&self) -> bool {
        self.task().markers.red
    }

    /// The declaration for the engine.
    pub(super) fn decl(&self, defaults: &Defaults) -> engine::TaskDecl {
        files::decl(&self.plan, self.task(), defaults)
    }

    /// True if it is a fix task by its marker.
    pub(crate) fn is_fix(&self) -> bool {
        self.task().is_fix()
    }
}

/// True if two texts of a task differ in white space, bullets, boxes and the commit message at most, and not in what is run.
pub(super) fn says_the_same(one: (&Plan, &Task), other: (&Plan, &Task)) -> bool {
    let verify = |(plan, task): (&Plan, &Task)| plan.verify(task);
    files::kind(one.1) == files::kind(other.1) && verify(one) == verify(other) && words(one) == words(other)
}

/// The words of a text, with all boxes open, and without what its work is committed as.
fn words((plan, task): (&Plan, &Task)) -> Vec<String> {
    let block = plan.block(task).trim_end();
    let body = block.find('\n').map_or("", |newline| &block[newline..]);
    let body: String = body.lines().filter(|line| !is_commit(line)).map(|line| format!("{line}\n")).collect();
    let text = format!("{} {body}", plan.title(task)).replace("[x]", "[ ]").replace("[X]", "[ ]");
    let is_bullet = |word: &&str| matches!(*word, "-" | "*" | "+");
    text.split_whitespace().filter(|word| !is_bullet(word)).map(str::to_owned).collect()
}

/// True of a line that is a task's Commit field.
fn is_commit(line: &str) -> bool {
    let line = line.trim_start_matches(|character: char| "-*+_ \t".contains(character)).to_lowercase();
    line.strip_prefix("commit").is_some_and(|rest| rest.starts_with([':', '*', '_']))
}

/// The fix task for a failing one whose text is given. Files and verification are inherited verbatim; the
/// agent's words are reduced to one harmless line.
pub(super) fn fix_block(fix: &FixPlan, failing: &str) -> String {
    let error = without_tags(&plan::one_line(&fix.error));
    let summary = without_tags(&plan::summary(&fix.error));
    let attempted = fix.attempted_fix.as_deref().map(plan::one_line).map(|text| without_tags(&text));
    let attempted = attempted.unwrap_or_else(|| "No previous fix attempted".to_owned());
    let files = element(failing, "files").unwrap_or_default();
    let verify = element(failing, "verify").unwrap_or_default();
    format!(
        "<task type=\"auto\">\n  <name>Fix: {summary}</name>\n  {files}\n  <action>\nAddress the error: {error}\n\
         1. Analyze the failure: {attempted}\n2. Review related code in Files list\n3. Implement fix for: {error}\n  \
         </action>\n  {verify}\n  <done>Error \"{error}\" no longer occurs</done>\n</task>\n"
    )
}

/// An element of a block, tags included, as it stands there.
fn element<'a>(block: &'a str, name: &str) -> Option<&'a str> {
    let start = block.find(&format!("<{name}>"))?;
    let close = format!("</{name}>");
    let end = start + block[start..].find(&close)? + close.len();
    Some(&block[start..end])
}

/// Text that cannot open or close an element.
fn without_tags(text: &str) -> String {
    text.replace('<', "‹").replace('>', "›")
}

/// Lines of a log or a thread that the task shows.
const LINES_MAX: usize = 30;

/// The words of a task, from what asks for it.
pub(super) struct Wording {
    title: String,
    goal: String,
    details: Vec<String>,
    files: Vec<String>,
    done_when: String,
    commit: String,
}

impl Wording {
    pub(super) fn of(request: &Request) -> Self {
        let head = request.head.get(..7).unwrap_or(&request.head);
        let summary = plan::summary(&request.summary);
        let (goal, done_when, kind) = match &request.origin {
            Origin::Check { check, step, url } => {
                let step = step.as_ref().map(|step| format!(", in step {step}")).unwrap_or_default();
                let url = if url.is_empty() { String::new() } else { format!(" ({url})") };
                let goal = format!("Make the check {check} pass. It failed at {head}{step}{url}");
                (goal, format!("The check {check} passes"), "CI failure")
            }
            Origin::Thread { author, .. } => (
                format!("Do what {author} asks for in a review thread at {head}"),
                addressed(author),
                "review",
            ),
            Origin::Review { author, .. } => {
                (format!("Do what {author} asks for in a review at {head}"), addressed(author), "review")
            }
        };
        Self {
            title: request.title(),
            goal,
            details: details(request),
            files: request.file.iter().chain(&request.more_files).cloned().collect(),
            done_when,
            commit: format!("fix: address {kind} - {summary}"),
        }
    }

    /// As the plan crate writes it.
    pub(super) fn task<'a>(&'a self, request: &'a Request, verify: Option<&'a Script>) -> RequestTask<'a> {
        RequestTask {
            id: &request.id,
            title: &self.title,
            goal: &self.goal,
            details: &self.details,
            files: &self.files,
            done_when: &self.done_when,
            verify,
            commit: &self.commit,
        }
    }

    /// A block of either dialect, standing alone.
    pub(super) fn block(&self, request: &Request, verify: Option<&Script>, dialect: Dialect) -> String {
        match dialect {
            Dialect::Spec => self.task(request, verify).block(),
            Dialect::Phase => self.element(verify),
        }
    }

    fn element(&self, verify: Option<&Script>) -> String {
        let plain = |text: &str| plan::one_line(text).replace('<', "‹").replace('>', "›");
        let details: String = self.details.iter().map(|line| format!("- {}\n", plain(line))).collect();
        let files: Vec<String> = self.files.iter().map(|file| plain(file)).collect();
        let verify = verify.map(|script| {
            let command = script.source().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            format!("  <verify><automated>{command}</automated></verify>\n")
        });
        format!(
            "<task type=\"auto\">\n  <name>{}</name>\n  <files>{}</files>\n  <action>\n{}\n{details}  </action>\n\
             {}  <done>{}</done>\n</task>\n",
            plain(&self.title),
            files.join(", "),
            plain(&self.goal),
            verify.unwrap_or_default(),
            plain(&self.done_when)
        )
    }
}

fn addressed(author: &str) -> String {
    format!("The code does what the comment by {author} asks for")
}

fn details(request: &Request) -> Vec<String> {
    let place = request.file.as_ref().map(|file| match request.line {
        Some(line) => format!("At: {file}, line {line}"),
        None => format!("At: {file}"),
    });
    let lines: Vec<&str> = request.text.lines().filter(|line| !line.trim().is_empty()).collect();
    let (from, word) = match request.origin {
        Origin::Check { .. } => (lines.len().saturating_sub(LINES_MAX), "Log"),
        Origin::Thread { .. } | Origin::Review { .. } => (0, "Said"),
    };
    let said = lines[from..].iter().take(LINES_MAX).map(|line| format!("{word}: {}", plan::one_line(line)));
    let is_check = matches!(request.origin, Origin::Check { .. });
    let unread = (is_check && lines.is_empty()).then(|| "No log of it could be read".to_owned());
    place.into_iter().chain(unread).chain(said).collect()
}
