//! Asks the person at the terminal, in a thread of its own, and hands the answer to the run.

use std::io::{self, BufRead, Write};
use std::thread;

use engine::{Question, Response};
use plan::TaskId;
use runner::Responder;

use crate::answer;
use crate::args::Format;
use crate::checkpoint::Checkpoint;

/// Prints the question and waits for an answer without holding up the run. Silence is never consent: without an
/// answer the question stays open.
pub(crate) fn ask(asked: Asked, task: TaskId, responder: Responder) {
    let asking = move || {
        let response = converse(&asked, &mut io::stdin().lock(), &mut io::stderr());
        match response {
            Ok(Some(response)) => responder.answer(task, response),
            Ok(None) | Err(_) => responder.nobody_answers(task),
        }
    };
    // Without a thread there is nobody to ask; the question stays open and `tillgreen answer` takes it.
    let _ = thread::Builder::new().name("asker".to_owned()).spawn(asking);
}

/// What is asked.
pub(crate) struct Asked {
    /// The question, to be read by a person.
    pub(crate) text: String,
    /// What kind of question it is.
    pub(crate) question: Question,
    /// The checkpoint that asks, if one does.
    pub(crate) checkpoint: Option<Checkpoint>,
}

/// Asks until there is an answer that fits, or nobody is there any more.
fn converse(
    asked: &Asked,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<Option<Response>> {
    writeln!(output, "\n{}", asked.text)?;
    loop {
        write!(output, "Your answer: ")?;
        output.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            writeln!(output, "\nNo answer; the question stays open.")?;
            return Ok(None);
        }
        match answer::read(&line, asked.question, asked.checkpoint.as_ref()) {
            Ok(response) => return Ok(Some(response)),
            Err(error) => output.write_all(error.render(Format::Text).as_bytes())?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what_now(question: Question) -> Asked {
        Asked { text: "WHAT NOW?".to_owned(), question, checkpoint: None }
    }

    #[test]
    fn it_asks_until_it_is_answered() {
        let mut output = Vec::new();
        let mut input = "\nyes\napprove\nfix: use trim\n".as_bytes();
        let response = converse(&what_now(Question::Exhausted), &mut input, &mut output).unwrap();
        assert_eq!(response, Some(Response::Fix("use trim".to_owned())));
        let shown = String::from_utf8(output).unwrap();
        assert_eq!(shown.matches("Your answer: ").count(), 4, "{shown}");
        assert!(shown.contains("there is no result to judge"), "{shown}");
    }

    #[test]
    fn silence_is_no_answer() {
        let mut output = Vec::new();
        let response = converse(&what_now(Question::Judge), &mut "".as_bytes(), &mut output).unwrap();
        assert_eq!(response, None);
    }
}
