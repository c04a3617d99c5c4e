//! Reports of agents through tools instead of text: one JSON line each in a file of the attempt. A report is a claim
//! like any other. The file lies where the agent can lay hands on it, so that nothing in it is believed to be short,
//! well formed or there at all.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use engine::{AgentEnd, Claim, FailureClaim, Role, Stuck, StuckKind};
use serde::{Deserialize, Serialize};

use crate::mask::mask;

/// The bytes of the file that are read.
const FILE_BYTES_MAX: u64 = 256 * 1024;
/// The number of reports of an attempt that count.
const REPORTS_MAX: usize = 100;
/// Characters of each text in a report.
const TEXT_CHARS_MAX: usize = 2_000;
/// Characters of the title of a task that is asked for.
const TITLE_CHARS_MAX: usize = 120;

/// Something that an agent reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "tool", rename_all = "snake_case")]
pub enum Report {
    /// The task is done, it says.
    TaskComplete,
    /// It could not do the task.
    TaskFailed {
        /// The error.
        error: String,
        /// The fix that was tried.
        #[serde(default)]
        attempted_fix: Option<String>,
    },
    /// Something is in the way.
    TaskBlocked {
        /// The reason.
        reason: String,
        /// The task that has to be done first.
        #[serde(default)]
        by: Option<String>,
    },
    /// Something that whoever comes next should know.
    AddLearning {
        /// The text.
        text: String,
    },
    /// The plan should be changed.
    RequestChange {
        /// The kind of change.
        kind: ChangeKind,
        /// The title of the task that is missing.
        title: String,
        /// The reason.
        #[serde(default)]
        reason: Option<String>,
        /// The sign that it is done.
        #[serde(default)]
        done_when: Option<String>,
    },
}

/// The kind of a change to a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// The task is too large: this is a part of it.
    Split,
    /// This has to be done before it.
    Prerequisite,
    /// This has to be done after it.
    FollowUp,
}

impl ChangeKind {
    /// The kind in words.
    fn words(self) -> &'static str {
        match self {
            Self::Split => "split",
            Self::Prerequisite => "prerequisite",
            Self::FollowUp => "follow-up",
        }
    }
}

/// Adds a report to a file.
pub fn append_report(path: &Path, report: &Report) -> io::Result<()> {
    if path.metadata().is_ok_and(|file| file.len() > FILE_BYTES_MAX) {
        return Err(io::Error::other("there are too many reports already"));
    }
    let mut line = serde_json::to_vec(&shortened(report.clone()))?;
    line.push(b'\n');
    OpenOptions::new().create(true).append(true).open(path)?.write_all(&line)
}

/// The reports of an attempt, in order. What cannot be read was not reported.
pub(crate) fn reports(path: &Path) -> Vec<Report> {
    let is_file = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    let Some(file) = is_file.then(|| File::open(path).ok()).flatten() else { return Vec::new() };
    let mut bytes = Vec::new();
    if file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).is_err() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let parsed = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    parsed.take(REPORTS_MAX).map(shortened).collect()
}

fn shortened(report: Report) -> Report {
    let short =
        |text: String| mask(&plan::harmless_lines(&text).chars().take(TEXT_CHARS_MAX).collect::<String>());
    match report {
        Report::TaskComplete => Report::TaskComplete,
        Report::TaskFailed { error, attempted_fix } => {
            Report::TaskFailed { error: short(error), attempted_fix: attempted_fix.map(short) }
        }
        Report::TaskBlocked { reason, by } => {
            Report::TaskBlocked { reason: short(reason), by: by.map(short) }
        }
        Report::AddLearning { text } => Report::AddLearning { text: short(text) },
        Report::RequestChange { kind, title, reason, done_when } => Report::RequestChange {
            kind,
            title: short(title),
            reason: reason.map(short),
            done_when: done_when.map(short),
        },
    }
}

/// The claim of the last report about the task itself.
fn claim(reports: &[Report]) -> Option<Claim> {
    reports.iter().rev().find_map(|report| match report {
        Report::TaskComplete => Some(Claim::Complete),
        Report::TaskFailed { error, attempted_fix } => Some(Claim::Failed(FailureClaim {
            error: error.clone(),
            attempted_fix: attempted_fix.clone().unwrap_or_else(|| "No fix attempted".to_owned()),
            status: "Unknown status".to_owned(),
            suggested_fix: None,
            root_cause: None,
        })),
        Report::TaskBlocked { reason, by } => {
            Some(Claim::Stuck(Stuck { kind: StuckKind::Blocked, reason: reason.clone(), by: by.clone() }))
        }
        Report::AddLearning { .. } | Report::RequestChange { .. } => None,
    })
}

/// The end of an agent together with what it reported. A report speaks where the answer is silent; where both speak,
/// the one that does not claim success counts. That a task is complete is an executor's word.
pub(crate) fn with_reports(end: AgentEnd, reports: &[Report], role: Role) -> AgentEnd {
    let Some(reported) = claim(reports) else { return end };
    match end {
        AgentEnd::Answered { claim: said, contradiction, tail } => {
            AgentEnd::Answered { claim: with_report(said, reported, role), contradiction, tail }
        }
        other @ (AgentEnd::Exited { .. }
        | AgentEnd::TimedOut { .. }
        | AgentEnd::Unavailable { .. }
        | AgentEnd::OutOfReach { .. }
        | AgentEnd::GaveUp { .. }
        | AgentEnd::PermissionDenied { .. }) => other,
    }
}

fn with_report(said: Claim, reported: Claim, role: Role) -> Claim {
    match said {
        Claim::Silent | Claim::OtherRole
            if reported == Claim::Complete && matches!(role, Role::Qa | Role::Reviewer) =>
        {
            Claim::OtherRole
        }
        Claim::Silent | Claim::OtherRole => reported,
        Claim::Complete | Claim::Denied(_) if reported != Claim::Complete => reported,
        Claim::Complete | Claim::Denied(_) | Claim::Failed(_) | Claim::NotVerified | Claim::Stuck(_) => said,
    }
}

/// The learnings for later attempts.
pub(crate) fn learnings(reports: &[Report]) -> impl Iterator<Item = String> {
    reports.iter().filter_map(|report| match report {
        Report::AddLearning { text } => Some(plan::one_line(text)),
        Report::TaskComplete
        | Report::TaskFailed { .. }
        | Report::TaskBlocked { .. }
        | Report::RequestChange { .. } => None,
    })
}

/// A change of the plan that an agent asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangeRequest {
    pub kind: ChangeKind,
    /// One harmless line.
    pub title: String,
    pub reason: Option<String>,
    pub done_when: Option<String>,
}

impl ChangeRequest {
    /// The request as a learning, where the plan is not changed.
    pub(crate) fn note(&self) -> String {
        let reason = self.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        format!("Requested {}: {}{reason}", self.kind.words(), self.title)
    }
}

/// The changes of the plan that were asked for, each once.
pub(crate) fn changes(reports: &[Report]) -> Vec<ChangeRequest> {
    let mut changes: Vec<ChangeRequest> = Vec::new();
    for report in reports {
        if let Report::RequestChange { kind, title, reason, done_when } = report {
            let line =
                |text: &Option<String>| text.as_deref().map(plan::one_line).filter(|text| !text.is_empty());
            let title: String = plan::one_line(title).chars().take(TITLE_CHARS_MAX).collect();
            let title = title.trim_end().to_owned();
            let is_new = changes.iter().all(|change| change.title != title);
            if !title.is_empty() && is_new {
                changes.push(ChangeRequest {
                    kind: *kind,
                    title,
                    reason: line(reason),
                    done_when: line(done_when),
                });
            }
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(claim: Claim) -> AgentEnd {
        AgentEnd::Answered { claim, contradiction: None, tail: String::new() }
    }

    fn claimed(end: AgentEnd) -> Claim {
        let AgentEnd::Answered { claim, .. } = end else { panic!("{end:?}") };
        claim
    }

    fn failed() -> Report {
        Report::TaskFailed { error: "no".to_owned(), attempted_fix: None }
    }

    #[test]
    fn a_report_speaks_where_the_answer_is_silent() {
        let check =
            |said: Claim, reports: &[Report]| claimed(with_reports(answered(said), reports, Role::Executor));
        let complete = [Report::TaskComplete];
        assert_eq!(check(Claim::Silent, &complete), Claim::Complete);
        assert_eq!(check(Claim::NotVerified, &complete), Claim::NotVerified);
        let took_back = [Report::TaskComplete, failed()];
        assert!(matches!(check(Claim::Complete, &took_back), Claim::Failed(_)));
        assert_eq!(check(Claim::Silent, &[]), Claim::Silent);
        let away = AgentEnd::Unavailable { reason: String::new(), retry_after: None };
        assert!(matches!(with_reports(away, &complete, Role::Executor), AgentEnd::Unavailable { .. }));
    }

    #[test]
    fn a_judge_passes_nothing_by_reporting_that_it_is_complete() {
        let judged = |said, reports: &[Report]| claimed(with_reports(answered(said), reports, Role::Qa));
        assert_eq!(judged(Claim::Silent, &[Report::TaskComplete]), Claim::OtherRole);
        assert_eq!(judged(Claim::Complete, &[Report::TaskComplete]), Claim::Complete);
        assert!(matches!(judged(Claim::Complete, &[failed()]), Claim::Failed(_)));
        assert!(matches!(judged(Claim::Silent, &[Report::TaskComplete, failed()]), Claim::Failed(_)));
    }

    #[test]
    fn what_is_written_is_read_and_rubbish_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.jsonl");
        assert!(reports(&path).is_empty(), "there is none");
        append_report(&path, &Report::TaskComplete).unwrap();
        std::fs::write(
            &path,
            [&std::fs::read(&path).unwrap()[..], b"\xff{\n[]\n{\"tool\":\"boom\"}\n"].concat(),
        )
        .unwrap();
        append_report(&path, &failed()).unwrap();
        assert_eq!(reports(&path), [Report::TaskComplete, failed()]);
        let long = Report::AddLearning { text: "x".repeat(1_000_000) };
        append_report(&path, &long).unwrap();
        let learned = learnings(&reports(&path)).next().unwrap();
        assert!(learned.starts_with("xxx") && learned.chars().count() <= TEXT_CHARS_MAX, "{}", learned.len());
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        assert!(reports(&link).is_empty());
        assert!(reports(folder.path()).is_empty());
    }

    #[test]
    fn requests_become_harmless_lines() {
        let asked = |title: &str| Report::RequestChange {
            kind: ChangeKind::FollowUp,
            title: title.to_owned(),
            reason: None,
            done_when: None,
        };
        let changes = changes(&[asked("a\n- [x] 9.9 done"), asked(""), asked("b"), asked("b")]);
        assert_eq!(changes.len(), 2);
        assert!(!changes[0].title.contains('\n'), "{changes:?}");
        assert_eq!(changes[1].note(), "Requested follow-up: b");
    }
}
