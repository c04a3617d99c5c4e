//! A person's answer, as typed. Anything that is no answer is refused, and the question stays open.

use engine::{Question, Response};

use crate::checkpoint::Checkpoint;
use crate::error::Error;

/// Reads the answer to a question. Silence is never consent, so there is no default.
pub(crate) fn read(
    text: &str,
    question: Question,
    checkpoint: Option<&Checkpoint>,
) -> Result<Response, Error> {
    let parsed = parse(text, question);
    let response = match (parsed, checkpoint) {
        (Ok(response @ (Response::Skip | Response::Abort | Response::Fix(_))), _) => response,
        (_, Some(checkpoint)) if question == Question::Checkpoint => checkpoint.answer(text)?,
        (parsed, _) => parsed?,
    };
    fits(&response, question)?;
    Ok(response)
}

/// Reads the words that questions know.
fn parse(text: &str, question: Question) -> Result<Response, Error> {
    let text = text.trim();
    let (word, rest) = text.split_once(':').map_or((text, None), |(word, rest)| (word, Some(rest.trim())));
    let word = word.trim().to_ascii_lowercase();
    match (word.as_str(), rest) {
        ("retry", None) => Ok(Response::Retry),
        ("skip", None) => Ok(Response::Skip),
        ("abort", None) => Ok(Response::Abort),
        ("approve", None) => Ok(Response::Approve),
        ("fix", Some(text)) if !text.is_empty() => Ok(Response::Fix(text.to_owned())),
        ("reject", Some(text)) if !text.is_empty() => Ok(Response::Reject(text.to_owned())),
        ("fix" | "reject", _) => Err(Error::usage(format!("`{word}` needs to say what: '{word}: …'"))
            .hint(format!("put it in quotation marks: tillgreen answer '{word}: what to do'"))),
        _ => {
            Err(Error::usage(format!("`{text}` is not an answer; the question stays open"))
                .hint(offer(question)))
        }
    }
}

/// What answers a question.
pub(crate) fn offer(question: Question) -> &'static str {
    match question {
        Question::Judge | Question::HooksGone => "answer approve, 'reject: …', skip or abort",
        Question::Mended => "answer approve, retry, 'fix: …', skip or abort",
        Question::Checkpoint => "give its answer, 'fix: …', skip or abort",
        Question::InTheWay => {
            "commit or stash the changes that are in its way and answer retry; or skip, abort or 'fix: …'"
        }
        Question::Exhausted
        | Question::PermissionDenied
        | Question::HistoryRewritten
        | Question::Blocked
        | Question::Impossible
        | Question::ConflictingRequirements
        | Question::ServiceUnavailable
        | Question::NotProved
        | Question::RedBefore
        | Question::VerifyCannotStart => "answer retry, skip, abort or 'fix: …'",
    }
}

/// The words that answer a question, those first that are meant most often; one that ends with a colon needs more.
pub(crate) fn words(question: Question) -> &'static [&'static str] {
    match question {
        Question::Judge | Question::HooksGone => &["approve", "reject:", "skip", "abort"],
        Question::Mended => &["approve", "retry", "fix:", "skip", "abort"],
        Question::Checkpoint => &[":", "fix:", "skip", "abort"],
        Question::Exhausted
        | Question::PermissionDenied
        | Question::HistoryRewritten
        | Question::Blocked
        | Question::Impossible
        | Question::ConflictingRequirements
        | Question::ServiceUnavailable
        | Question::InTheWay
        | Question::NotProved
        | Question::RedBefore
        | Question::VerifyCannotStart => &["retry", "fix:", "skip", "abort"],
    }
}

/// Refuses an answer that does not fit the question.
fn fits(response: &Response, question: Question) -> Result<(), Error> {
    let (is_answer, problem) = match question {
        Question::Judge => (
            matches!(response, Response::Approve | Response::Reject(_)),
            "the question is whether the result is right; it stays open",
        ),
        Question::HooksGone => (
            matches!(response, Response::Approve | Response::Reject(_)),
            "the question is whether to go on as git is set up now; it stays open",
        ),
        Question::Mended => (
            matches!(response, Response::Approve | Response::Retry | Response::Fix(_)),
            "the question is whether to commit the changes as the task's work; it stays open",
        ),
        Question::Checkpoint => (
            matches!(response, Response::Reply(_) | Response::Fix(_)),
            "that is not what the checkpoint asks for; the question stays open",
        ),
        Question::InTheWay => (
            matches!(response, Response::Retry | Response::Fix(_)),
            "the result was judged already and waits to come in; the question stays open",
        ),
        Question::Exhausted
        | Question::PermissionDenied
        | Question::HistoryRewritten
        | Question::Blocked
        | Question::Impossible
        | Question::ConflictingRequirements
        | Question::ServiceUnavailable
        | Question::NotProved
        | Question::RedBefore
        | Question::VerifyCannotStart => (
            matches!(response, Response::Retry | Response::Fix(_)),
            "there is no result to judge; the question stays open",
        ),
    };
    if is_answer || matches!(response, Response::Skip | Response::Abort) {
        return Ok(());
    }
    Err(Error::usage(problem).hint(offer(question)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers() {
        let check = |text: &str, expected: Response| {
            assert_eq!(parse(text, Question::Judge).unwrap(), expected, "for {text:?}")
        };
        check("retry", Response::Retry);
        check(" Skip ", Response::Skip);
        check("ABORT", Response::Abort);
        check("approve", Response::Approve);
        check("fix: use trim(): it helps", Response::Fix("use trim(): it helps".to_owned()));
        check("fix:x", Response::Fix("x".to_owned()));
        check("reject: wrong colour", Response::Reject("wrong colour".to_owned()));
    }

    #[test]
    fn what_is_no_answer() {
        for text in ["", "yes", "fix", "fix:", "fix: ", "reject", "retry now", "retry:", "skip: x", "fixx: a"]
        {
            let error = parse(text, Question::Judge).unwrap_err();
            assert_eq!(error.code(), crate::exit::USAGE, "for {text:?}");
        }
    }

    #[test]
    fn only_what_the_question_offers_is_named() {
        let hint = |question| read("nonsense", question, None).unwrap_err().render(crate::args::Format::Text);
        assert!(hint(Question::Exhausted).ends_with("hint: answer retry, skip, abort or 'fix: …'\n"));
        assert!(hint(Question::Judge).ends_with("hint: answer approve, 'reject: …', skip or abort\n"));
    }

    #[test]
    fn an_answer_fits_its_question() {
        let fix = Response::Fix("x".to_owned());
        let reject = Response::Reject("x".to_owned());
        for question in [Question::Exhausted, Question::PermissionDenied] {
            assert!(fits(&Response::Retry, question).is_ok() && fits(&fix, question).is_ok());
            assert!(fits(&Response::Approve, question).is_err() && fits(&reject, question).is_err());
        }
        assert!(fits(&Response::Approve, Question::Judge).is_ok() && fits(&reject, Question::Judge).is_ok());
        assert!(fits(&Response::Retry, Question::Judge).is_err() && fits(&fix, Question::Judge).is_err());
        for question in [Question::Exhausted, Question::PermissionDenied, Question::Judge] {
            assert!(fits(&Response::Skip, question).is_ok() && fits(&Response::Abort, question).is_ok());
        }
    }
}
