//! Enough of the shell's grammar to see pipelines, lists and words. It never fails: what it does not know
//! it marks as compound, and the callers then leave the text alone.

/// A snippet of shell.
#[derive(Debug, Default)]
pub(crate) struct Shell<'a> {
    pub(crate) statements: Vec<Statement<'a>>,
    /// True if there are groups, loops, conditions or functions, whose inside is read only roughly.
    pub(crate) compound: bool,
}

/// A list of pipelines joined by `&&` and `||`.
#[derive(Debug)]
pub(crate) struct Statement<'a> {
    pub(crate) pipelines: Vec<(Join, Pipeline<'a>)>,
    pub(crate) end: End,
    /// Where it ends in the text, before what ended it.
    pub(crate) at: usize,
    /// True if a comment or a heredoc follows on its line, so that nothing can be appended.
    pub(crate) sealed: bool,
}

/// How a pipeline is joined to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    First,
    And,
    Or,
}

/// The end of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Text,
    Newline,
    Semicolon,
    Background,
}

/// Commands joined by `|`.
#[derive(Debug, Default)]
pub(crate) struct Pipeline<'a> {
    pub(crate) negated: bool,
    pub(crate) commands: Vec<Command<'a>>,
}

/// One command: its words without redirections.
#[derive(Debug, Default)]
pub(crate) struct Command<'a> {
    pub(crate) words: Vec<Word<'a>>,
}

/// A word as written, and whether any of it is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    pub(crate) quoted: bool,
}

impl<'a> Command<'a> {
    /// The words after assignments and words that only wrap a command.
    pub(crate) fn bare(&self) -> &[Word<'a>] {
        let wraps = |at: usize| {
            let word = self.words[at].text;
            let asks = self.words.get(at + 1).is_some_and(|next| next.text.starts_with('-'));
            is_assignment(word)
                || (matches!(word, "command" | "builtin" | "env" | "sudo" | "time" | "exec") && !asks)
        };
        let start = (0..self.words.len()).find(|&at| !wraps(at)).unwrap_or(self.words.len());
        &self.words[start..]
    }

    /// The name of the program, without its directory.
    pub(crate) fn name(&self) -> &'a str {
        self.bare().first().map_or("", |word| word.text.rsplit('/').next().unwrap_or_default())
    }
}

pub(crate) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Reads a snippet.
pub(crate) fn read(text: &str) -> Shell<'_> {
    let mut reader = Reader {
        bytes: text.as_bytes(),
        text,
        at: 0,
        shell: Shell::default(),
        statement: Vec::new(),
        join: Join::First,
        pipeline: Pipeline::default(),
        command: Command::default(),
        heredocs: Vec::new(),
        sealed: false,
        skip_word: false,
    };
    while reader.at < reader.bytes.len() {
        reader.step();
    }
    reader.end_statement(End::Text, text.len());
    reader.shell
}

struct Reader<'a> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
    shell: Shell<'a>,
    statement: Vec<(Join, Pipeline<'a>)>,
    join: Join,
    pipeline: Pipeline<'a>,
    command: Command<'a>,
    heredocs: Vec<String>,
    sealed: bool,
    /// True if the next word is the target of a redirection.
    skip_word: bool,
}

impl Reader<'_> {
    fn peek(&self, offset: usize) -> u8 {
        self.bytes.get(self.at + offset).copied().unwrap_or(0)
    }

    fn step(&mut self) {
        match (self.peek(0), self.peek(1)) {
            (b' ' | b'\t' | b'\r', _) => self.at += 1,
            (b'\\', b'\n') => self.at += 2,
            (b'\n', _) => self.newline(),
            (b'#', _) => {
                self.sealed = true;
                self.at = self.text[self.at..].find('\n').map_or(self.bytes.len(), |end| self.at + end);
            }
            (b'&', b'&') => self.join(Join::And),
            (b'|', b'|') => self.join(Join::Or),
            (b'|', _) => self.pipe(),
            (b';', _) => {
                self.shell.compound |= self.peek(1) == b';';
                self.end_statement(End::Semicolon, self.at);
                self.at += 1;
            }
            (b'&', b'>') => self.redirect(2),
            (b'&', _) => {
                self.end_statement(End::Background, self.at);
                self.at += 1;
            }
            (b'(' | b')', _) => {
                self.shell.compound = true;
                self.end_statement(End::Semicolon, self.at);
                self.at += 1;
            }
            (b'<' | b'>', b'(') => self.word(),
            (b'<', b'<') => self.heredoc(),
            (b'<' | b'>', _) => self.redirect(1),
            _ => self.word(),
        }
    }

    fn newline(&mut self) {
        let at = self.at;
        self.at += 1;
        for word in std::mem::take(&mut self.heredocs) {
            self.skip_heredoc(&word);
        }
        // A list goes on after `&&`, `||` and `|` at the end of a line.
        let open = self.command.words.is_empty()
            && (!self.statement.is_empty() || !self.pipeline.commands.is_empty());
        if !open {
            self.end_statement(End::Newline, at);
        }
        self.sealed = false;
    }

    fn skip_heredoc(&mut self, word: &str) {
        while self.at < self.bytes.len() {
            let rest = &self.text[self.at..];
            let line = rest.split_inclusive('\n').next().unwrap_or(rest);
            self.at += line.len();
            if line.trim() == word {
                return;
            }
        }
    }

    fn join(&mut self, join: Join) {
        self.at += 2;
        self.end_pipeline();
        self.join = join;
    }

    fn pipe(&mut self) {
        self.at += 1 + usize::from(self.peek(1) == b'&');
        // A group, a loop or a condition ended before the pipe: its last word stands for all of it.
        if self.shell.compound && self.command.words.is_empty() && self.pipeline.commands.is_empty() {
            self.command.words.push(Word { text: "}", quoted: false });
        }
        self.end_command();
    }

    fn redirect(&mut self, len: usize) {
        // `2>&1` leaves its file descriptor as the last word.
        let digit_before = self.at > 0 && self.bytes[self.at - 1].is_ascii_digit();
        if digit_before && self.command.words.last().is_some_and(is_descriptor) {
            self.command.words.pop();
        }
        self.at += len;
        while matches!(self.peek(0), b'>' | b'&' | b'|') {
            self.at += 1;
        }
        self.skip_word = true;
    }

    fn heredoc(&mut self) {
        self.at += 2;
        if self.peek(0) == b'<' {
            self.at += 1;
            self.skip_word = true;
            return;
        }
        if self.peek(0) == b'-' {
            self.at += 1;
        }
        while matches!(self.peek(0), b' ' | b'\t') {
            self.at += 1;
        }
        let start = self.at;
        self.pass_word();
        let word: String =
            self.text[start..self.at].chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
        self.heredocs.push(word);
        self.sealed = true;
    }

    fn word(&mut self) {
        let start = self.at;
        self.pass_word();
        if self.at == start {
            self.at += self.text[start..].chars().next().map_or(1, char::len_utf8);
        }
        let text = &self.text[start..self.at];
        if std::mem::take(&mut self.skip_word) {
            return;
        }
        if self.command.words.is_empty() && self.keyword(text) {
            return;
        }
        let quoted = text.contains(['\'', '"']);
        self.command.words.push(Word { text, quoted });
    }

    /// Words that shape the grammar rather than name a command.
    fn keyword(&mut self, word: &str) -> bool {
        match word {
            "!" => self.pipeline.negated = !self.pipeline.negated,
            "if" | "then" | "else" | "elif" | "fi" | "while" | "until" | "do" | "done" | "for" | "case"
            | "esac" | "select" | "function" | "{" | "}" | "[[" | "((" => {
                self.shell.compound |= word != "[[";
                return word != "[[";
            }
            _ => return false,
        }
        true
    }

    /// Moves past one word with its quotes and substitutions.
    fn pass_word(&mut self) {
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'|' | b'&' | b')' => return,
                b'(' if self.at > 0 && matches!(self.bytes[self.at - 1], b'$' | b'<' | b'>' | b'=') => {
                    self.pass_parens()
                }
                b'(' => return,
                b'<' | b'>' if self.peek(1) == b'(' => self.at += 1,
                b'<' | b'>' => return,
                b'\\' if self.peek(1) == b'\n' => return,
                b'\\' => self.at = (self.at + 2).min(self.bytes.len()),
                b'\'' => self.pass_until(b'\''),
                b'"' => self.pass_double(),
                b'`' => self.pass_until(b'`'),
                b'$' if self.peek(1) == b'{' => self.pass_until(b'}'),
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.bytes.len());
    }

    fn pass_until(&mut self, close: u8) {
        self.at += 1;
        while self.at < self.bytes.len() && self.peek(0) != close {
            self.at += 1 + usize::from(close != b'\'' && self.peek(0) == b'\\');
        }
        self.at = (self.at + 1).min(self.bytes.len());
    }

    fn pass_double(&mut self) {
        self.at += 1;
        while self.at < self.bytes.len() && self.peek(0) != b'"' {
            match (self.peek(0), self.peek(1)) {
                (b'\\', _) => self.at += 2,
                (b'$', b'(') => {
                    self.at += 1;
                    self.pass_parens();
                }
                _ => self.at += 1,
            }
        }
        self.at = (self.at + 1).min(self.bytes.len());
    }

    /// Moves past balanced parentheses, quotes inside included. Iterative, so that depth costs no stack.
    fn pass_parens(&mut self) {
        let mut depth = 0_usize;
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'(' => depth += 1,
                b')' => depth -= 1,
                b'\\' => self.at += 1,
                b'\'' => {
                    self.pass_until(b'\'');
                    continue;
                }
                b'"' => {
                    self.pass_until(b'"');
                    continue;
                }
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                break;
            }
        }
        self.at = self.at.min(self.bytes.len());
    }

    fn end_command(&mut self) {
        let command = std::mem::take(&mut self.command);
        self.skip_word = false;
        if !command.words.is_empty() {
            self.pipeline.commands.push(command);
        }
    }

    fn end_pipeline(&mut self) {
        self.end_command();
        let pipeline = std::mem::take(&mut self.pipeline);
        if !pipeline.commands.is_empty() {
            self.statement.push((self.join, pipeline));
        }
        self.join = Join::First;
    }

    fn end_statement(&mut self, end: End, at: usize) {
        self.end_pipeline();
        let pipelines = std::mem::take(&mut self.statement);
        if pipelines.is_empty() {
            // A newline after `;` ends the line all the same.
            if end == End::Newline
                && let Some(last) = self.shell.statements.last_mut()
                && last.end == End::Semicolon
            {
                last.end = End::Newline;
                last.sealed = true;
                last.at = at;
            }
            return;
        }
        self.shell.statements.push(Statement { pipelines, end, at, sealed: self.sealed });
    }
}

fn is_descriptor(word: &Word<'_>) -> bool {
    word.text.len() == 1 && word.text.as_bytes()[0].is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> String {
        let mut shape = String::new();
        for statement in read(text).statements {
            for (join, pipeline) in &statement.pipelines {
                shape.push_str(match join {
                    Join::First => "",
                    Join::And => " && ",
                    Join::Or => " || ",
                });
                if pipeline.negated {
                    shape.push_str("! ");
                }
                let commands: Vec<String> = pipeline
                    .commands
                    .iter()
                    .map(|command| command.words.iter().map(|word| word.text).collect::<Vec<_>>().join(" "))
                    .collect();
                shape.push_str(&commands.join(" | "));
            }
            shape.push(';');
        }
        shape
    }

    #[test]
    fn shapes() {
        for (text, expected) in [
            ("a && b || c", "a && b || c;"),
            ("a 2>&1 | tail -5", "a | tail -5;"),
            ("a > out.txt 2> err; b", "a;b;"),
            ("! grep -q 'a|b' f", "! grep -q 'a|b' f;"),
            ("test $(ls | wc -l) -eq 3", "test $(ls | wc -l) -eq 3;"),
            ("echo \"a && $(b | c)\" # d | e", "echo \"a && $(b | c)\";"),
            ("a |\n b &&\n c", "a | b && c;"),
            ("cat <<'E' | wc\n| && ;\nE\nb", "cat | wc;b;"),
            ("a\\\n b", "a b;"),
            ("for f in a; do b | c; done", "f in a;b | c;"),
            ("a &", "a;"),
            ("cat <<< 'x | y'", "cat;"),
            ("a &> log", "a;"),
            ("diff <(a | b) c", "diff <(a | b) c;"),
        ] {
            assert_eq!(shape(text), expected, "{text}");
        }
    }

    #[test]
    fn any_text_ends() {
        for text in [
            "'", "\"", "$(", "\\", "`", "<", "<<", "a <<", "${", ")", "|", "&&", "((((", "é'ü", "a\\é",
            "\"\\é", "$(\\é",
        ] {
            read(text);
        }
        read(&"$(".repeat(100_000));
    }
}
