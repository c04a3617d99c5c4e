//! The text of a task that the pull request asks for: in the plan where that can be written, elsewhere made anew
//! from the record whenever it is needed.

use engine::{Origin, Request};
use plan::{Dialect, RequestTask, Script};

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
