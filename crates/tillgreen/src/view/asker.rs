//! Asks the person at the terminal, in a thread of its own, and hands the answer to the run.

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use engine::{Question, Response};
use plan::TaskId;
use runner::Responder;

use crate::answer;
use crate::args::Format;
use crate::checkpoint::Checkpoint;

/// Asks the person at the terminal. There is one keyboard, so there is one thread that reads it, whatever the number of
/// questions: what is typed is the answer to the latest one.
#[derive(Default)]
pub(crate) struct Asker {
    questions: Option<Sender<Put>>,
    /// True if a question was put and not taken back.
    is_asking: bool,
}

/// A message to the thread at the keyboard.
enum Put {
    Asked(Box<Asked>),
    /// The latest question is not open any more.
    Withdrawn,
}

/// A question that was put.
pub(crate) struct Asked {
    /// The question, to be read by a person.
    pub(crate) text: String,
    /// The kind of question.
    pub(crate) question: Question,
    /// The checkpoint that asks, if one does.
    pub(crate) checkpoint: Option<Checkpoint>,
    /// The task in question.
    pub(crate) task: TaskId,
}

/// The outcome of a line that was typed.
#[derive(Debug, PartialEq, Eq)]
enum Heard {
    Answer(TaskId, Response),
    /// The keyboard is gone.
    Nobody(TaskId),
}

impl Asker {
    /// Prints the question and waits for an answer without holding up the run. Silence is never consent: without an
    /// answer the question stays open.
    pub(crate) fn ask(&mut self, asked: Asked, responder: Responder) {
        self.is_asking = true;
        // Nobody may be reading any more; the run goes on all the same.
        let _ = put(&asked, &mut io::stderr());
        let questions = self.questions.get_or_insert_with(|| listen(responder));
        // Without a thread there is nobody to ask; the question stays open and `tillgreen answer` takes it.
        let _ = questions.send(Put::Asked(Box::new(asked)));
    }

    /// Takes the latest question back: it is open no longer. False if there is none.
    pub(crate) fn withdraw(&mut self) -> bool {
        let Some(questions) = self.questions.as_ref().filter(|_| self.is_asking) else { return false };
        self.is_asking = false;
        // As above.
        let _ = questions.send(Put::Withdrawn);
        true
    }
}

/// Begins to listen at the keyboard.
fn listen(responder: Responder) -> Sender<Put> {
    let (sender, questions) = channel();
    let listening = move || {
        converse(&questions, &mut io::stdin().lock(), &mut io::stderr(), |heard| match heard {
            Heard::Answer(task, response) => responder.answer(task, response),
            Heard::Nobody(task) => responder.nobody_answers(task),
        });
    };
    // Without a thread, as above.
    let _ = thread::Builder::new().name("asker".to_owned()).spawn(listening);
    sender
}

fn put(asked: &Asked, output: &mut impl Write) -> io::Result<()> {
    writeln!(output, "\n{}", asked.text)?;
    prompt(output)
}

fn prompt(output: &mut impl Write) -> io::Result<()> {
    write!(output, "Your answer: ")?;
    output.flush()
}

/// Reads answers for as long as there are questions. The keyboard is read only while one is open, or was when it began.
fn converse(
    questions: &Receiver<Put>,
    input: &mut impl BufRead,
    output: &mut impl Write,
    mut hear: impl FnMut(Heard),
) {
    while let Ok(mut latest) = questions.recv() {
        while matches!(latest, Put::Asked(_)) {
            let mut line = String::new();
            let read = input.read_line(&mut line);
            // While somebody typed, it may have been answered elsewhere, and another may have been put.
            latest = questions.try_iter().last().unwrap_or(latest);
            let Put::Asked(asked) = &latest else {
                // Nobody may be reading any more.
                let _ = writeln!(output, "That question is answered already; this answer is dropped.");
                break;
            };
            if !matches!(read, Ok(1..)) {
                let _ = writeln!(output, "\nNo answer; the question stays open.");
                hear(Heard::Nobody(asked.task.clone()));
                break;
            }
            match answer::read(&line, asked.question, asked.checkpoint.as_ref()) {
                Ok(response) => {
                    hear(Heard::Answer(asked.task.clone(), response));
                    break;
                }
                Err(error) => {
                    let said = output.write_all(error.render(Format::Text).as_bytes());
                    // As above.
                    let _ = said.and_then(|()| prompt(output));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what_now(question: Question, task: &str) -> Put {
        let text = "WHAT NOW?".to_owned();
        Put::Asked(Box::new(Asked { text, question, checkpoint: None, task: task.into() }))
    }

    /// Types `input` while these questions are put.
    fn typed(input: &str, puts: impl IntoIterator<Item = Put>) -> (Vec<Heard>, String) {
        let (sender, questions) = channel();
        puts.into_iter().for_each(|put| sender.send(put).unwrap());
        drop(sender);
        let (mut heard, mut output) = (Vec::new(), Vec::new());
        converse(&questions, &mut input.as_bytes(), &mut output, |one| heard.push(one));
        (heard, String::from_utf8(output).unwrap())
    }

    #[test]
    fn it_asks_until_it_is_answered() {
        let input = "\nyes\napprove\nfix: use trim\n";
        let (heard, shown) = typed(input, [what_now(Question::Exhausted, "1.1")]);
        assert_eq!(heard, [Heard::Answer("1.1".into(), Response::Fix("use trim".to_owned()))]);
        assert_eq!(shown.matches("Your answer: ").count(), 3, "{shown}");
        assert!(shown.contains("there is no result to judge"), "{shown}");
    }

    #[test]
    fn silence_is_no_answer() {
        let (heard, _) = typed("", [what_now(Question::Judge, "1.1")]);
        assert_eq!(heard, [Heard::Nobody("1.1".into())]);
    }

    #[test]
    fn what_is_typed_answers_the_latest_question() {
        let asked = || what_now(Question::Exhausted, "1.1");
        let (heard, shown) = typed("retry\n", [asked(), Put::Withdrawn]);
        assert!(heard.is_empty() && shown.contains("answered already"), "{heard:?} {shown}");
        let later = [asked(), Put::Withdrawn, what_now(Question::Exhausted, "1.2")];
        assert_eq!(typed("retry\n", later).0, [Heard::Answer("1.2".into(), Response::Retry)]);
        assert!(typed("retry\n", [Put::Withdrawn]).0.is_empty(), "nothing is read where nothing is asked");
    }
}
