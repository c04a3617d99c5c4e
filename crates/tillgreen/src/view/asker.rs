//! Asks the person at the terminal, in a thread of its own, and hands the answer to the run.

use std::io::{self, BufRead, Write};
use std::thread;

use engine::{Question, Response};
use plan::TaskId;
use runner::Responder;

use crate::answer;
use crate::args::Format;

/// Prints the question and waits for an answer without holding up the run. Silence is never consent: without an
/// answer the question stays open.
pub(crate) fn ask(text: String, task: TaskId, question: Question, responder: Responder) {
    let asking = move || {
        let response = converse(&text, question, &mut io::stdin().lock(), &mut io::stderr());
        if let Ok(Some(response)) = response {
            responder.answer(task, response);
        }
    };
    // Without a thread there is nobody to ask; the question stays open and `tillgreen answer` takes it.
    let _ = thread::Builder::new().name("asker".to_owned()).spawn(asking);
}

/// Asks until there is an answer that fits, or nobody is there any more.
fn converse(
    text: &str,
    question: Question,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> io::Result<Option<Response>> {
    writeln!(output, "\n{text}")?;
    loop {
        write!(output, "Your answer: ")?;
        output.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            writeln!(output, "\nNo answer; the question stays open. Ctrl-C pauses the run.")?;
            return Ok(None);
        }
        let answered = answer::parse(&line).and_then(|response| {
            answer::fits(&response, question)?;
            Ok(response)
        });
        match answered {
            Ok(response) => return Ok(Some(response)),
            Err(error) => output.write_all(error.render(Format::Text).as_bytes())?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_asks_until_it_is_answered() {
        let mut output = Vec::new();
        let mut input = "\nyes\napprove\nfix: use trim\n".as_bytes();
        let response = converse("WHAT NOW?", Question::Exhausted, &mut input, &mut output).unwrap();
        assert_eq!(response, Some(Response::Fix("use trim".to_owned())));
        let shown = String::from_utf8(output).unwrap();
        assert_eq!(shown.matches("Your answer: ").count(), 4, "{shown}");
        assert!(shown.contains("there is no result to judge"), "{shown}");
    }

    #[test]
    fn silence_is_no_answer() {
        let mut output = Vec::new();
        let response = converse("WHAT NOW?", Question::Judge, &mut "".as_bytes(), &mut output).unwrap();
        assert_eq!(response, None);
    }
}
