//! Checkboxes of a plan that are no tasks and part of none: what to say of them. Which lines these are is found out
//! by the parser.

use super::task_line::Checkbox;
use crate::one_line::one_line;
use crate::problem::Problem;

/// Characters of a box's text that are told.
const TITLE_CHARS_MAX: usize = 60;

/// Why a box is no task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stray {
    /// Nothing before its text is an id.
    Unnamed,
    /// There is a space before it.
    Shifted,
    /// It is a part of something that is no task.
    Nested,
}

impl Stray {
    /// What is wrong with a box in this line.
    pub(super) fn problem(self, text: &str, line: usize, found: &Checkbox) -> Problem {
        let Some(id) = found.head.id.clone().map(|id| &text[id]) else { return unnamed(text, line, found) };
        let message = match self {
            Self::Unnamed => return unnamed(text, line, found),
            Self::Shifted => format!("there is a space before the checkbox of {id}, so it is no task"),
            Self::Nested => {
                format!("the checkbox of {id} is part of something that is no task, so it is none")
            }
        };
        Problem::warning(line, message).hint(format!("write `- [ ] {id}` at the start of the line"))
    }
}

fn unnamed(text: &str, line: usize, found: &Checkbox) -> Problem {
    let title: String = one_line(&text[found.head.title.clone()]).chars().take(TITLE_CHARS_MAX).collect();
    let named = if title.is_empty() { String::new() } else { format!(" “{title}”") };
    let message = format!("the checkbox{named} has no id, so it is no task");
    Problem::warning(line, message).hint(
        "begin it with an id of letters, digits, dots and dashes that has a digit in it, such as `- [ ] 1.4 …`; \
         indented by two spaces it is part of the task above",
    )
}
