//! A line that somebody types.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Characters of an answer or a word.
const CHARS_MAX: usize = 4_000;

/// A line that somebody types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Field {
    text: Vec<char>,
    cursor: usize,
}

impl Field {
    /// The text.
    pub(super) fn text(&self) -> String {
        self.text.iter().collect()
    }

    /// The text before and after the cursor.
    pub(super) fn parts(&self) -> (String, String) {
        let (before, after) = self.text.split_at(self.cursor);
        (before.iter().collect(), after.iter().collect())
    }

    /// Takes in text that was pasted: it stays one line.
    pub(super) fn paste(&mut self, text: &str) {
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).for_each(|c| self.insert(c));
    }

    fn insert(&mut self, character: char) {
        if self.text.len() < CHARS_MAX {
            self.text.insert(self.cursor, character);
            self.cursor += 1;
        }
    }

    /// Takes in a key.
    pub(super) fn key(&mut self, key: KeyEvent) {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if let KeyCode::Char(character) = key.code {
            match (is_control, character) {
                (true, 'u') => drop(self.text.drain(..std::mem::take(&mut self.cursor))),
                (true, 'w') => self.delete_word(),
                (true, 'a') => self.cursor = 0,
                (true, 'e') => self.cursor = self.text.len(),
                (true, _) => {}
                (false, _) => self.insert(character),
            }
        } else if key.code == KeyCode::Backspace {
            if self.cursor > 0 {
                self.cursor -= 1;
                self.text.remove(self.cursor);
            }
        } else if key.code == KeyCode::Delete {
            if self.cursor < self.text.len() {
                self.text.remove(self.cursor);
            }
        } else if key.code == KeyCode::Left {
            self.cursor = self.cursor.saturating_sub(1);
        } else if key.code == KeyCode::Right {
            self.cursor = (self.cursor + 1).min(self.text.len());
        } else if key.code == KeyCode::Home {
            self.cursor = 0;
        } else if key.code == KeyCode::End {
            self.cursor = self.text.len();
        }
    }

    fn delete_word(&mut self) {
        let before = &self.text[..self.cursor];
        let trimmed = before.iter().rposition(|c| *c != ' ').map_or(0, |place| place + 1);
        let from = before[..trimmed].iter().rposition(|c| *c == ' ').map_or(0, |place| place + 1);
        self.text.drain(from..self.cursor);
        self.cursor = from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_edited() {
        let mut field = Field::default();
        let key = |code| KeyEvent::new(code, KeyModifiers::NONE);
        let control = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
        field.paste("fix: use\n\u{1b}trim  ");
        field.key(control('w'));
        assert_eq!(field.text(), "fix: use  ");
        field.key(key(KeyCode::Backspace));
        field.key(key(KeyCode::Char('ü')));
        field.key(key(KeyCode::Left));
        field.key(key(KeyCode::Delete));
        assert_eq!(field.parts(), ("fix: use ".to_owned(), String::new()));
        field.key(control('u'));
        assert_eq!(field.text(), "");
    }
}
