//! How outcomes look and what they are called: one class of the style sheet for each.

use engine::{FailureType, Span, SpanKind, SpanOutcome};

/// How an outcome looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tone {
    Passed,
    VerificationFailed,
    ExecutionError,
    Timeout,
    ArchitectRejected,
    Lost,
    Unavailable,
    Undecided,
}

impl Tone {
    /// The tone of a span.
    pub(super) fn of(span: &Span) -> Self {
        match &span.outcome {
            SpanOutcome::Passed => Self::Passed,
            SpanOutcome::Failed { cause, .. } => Self::of_type(cause.failure_type()),
            SpanOutcome::Lost => Self::Lost,
            SpanOutcome::Unavailable => Self::Unavailable,
            SpanOutcome::Undecided => Self::Undecided,
        }
    }

    /// The tone of a type of failure.
    pub(super) fn of_type(failure_type: FailureType) -> Self {
        match failure_type {
            FailureType::ExecutionError => Self::ExecutionError,
            FailureType::VerificationFailed => Self::VerificationFailed,
            FailureType::Timeout => Self::Timeout,
            FailureType::ArchitectRejected => Self::ArchitectRejected,
        }
    }

    /// The tone of a failure's name; none for other words.
    pub(super) fn named(name: &str) -> Option<Self> {
        let types = [
            FailureType::ExecutionError,
            FailureType::VerificationFailed,
            FailureType::Timeout,
            FailureType::ArchitectRejected,
        ];
        types.into_iter().find(|failure_type| failure_type.name() == name).map(Self::of_type)
    }

    /// Its class in the style sheet.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::VerificationFailed => "verification",
            Self::ExecutionError => "execution",
            Self::Timeout => "timeout",
            Self::ArchitectRejected => "architect",
            Self::Lost => "lost",
            Self::Unavailable => "unavailable",
            Self::Undecided => "undecided",
        }
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::VerificationFailed => FailureType::VerificationFailed.name(),
            Self::ExecutionError => FailureType::ExecutionError.name(),
            Self::Timeout => FailureType::Timeout.name(),
            Self::ArchitectRejected => FailureType::ArchitectRejected.name(),
            Self::Lost => "lost",
            Self::Unavailable => "agent unavailable",
            Self::Undecided => "undecided or under way",
        }
    }
}

/// The mark on a bar: the number of the attempt, or that it is a command without an agent.
pub(super) fn mark(span: &Span) -> String {
    match &span.kind {
        SpanKind::Attempt { attempt, .. } => attempt.to_string(),
        SpanKind::Proof => "V".to_owned(),
    }
}

/// A span in words.
pub(super) fn words(span: &Span) -> String {
    match &span.kind {
        SpanKind::Attempt { attempt, role, agent } => format!("attempt {attempt} ({}, {agent})", role.name()),
        SpanKind::Proof => "verify command".to_owned(),
    }
}
