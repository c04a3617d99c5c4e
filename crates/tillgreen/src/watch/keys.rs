//! The keys: what each of them does, in one table, which is also what the bar below and the help show.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Move(Motion),
    Enter,
    Back,
    OtherArea,
    Tab(usize),
    Search,
    /// The next hit of a search, or the one before.
    Hit(isize),
    Wrap,
    Filter,
    Follow,
    Timeline,
    Costs,
    Runs,
    Help,
    Answer,
    Tell,
    Pause,
    Skip,
    Cancel,
    Copy,
    Save,
    Edit,
    /// Faster or slower; nearer or wider.
    Speed(isize),
    Halt,
    Step,
    Quit,
}

/// A way to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motion {
    Down,
    Up,
    PageDown,
    PageUp,
    Left,
    Right,
    Start,
    End,
}

/// The part of the help that a key stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Moving,
    Looking,
    Acting,
    Replaying,
}

/// A line of the table: the keys, the command, in a word for the bar and in a few for the help.
pub(super) struct Binding {
    pub(super) keys: &'static [Key],
    pub(super) command: Command,
    pub(super) shown: &'static str,
    pub(super) word: &'static str,
    pub(super) help: &'static str,
    pub(super) group: Group,
}

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    Control(char),
    Code(KeyCode),
}

const fn binding(
    keys: &'static [Key],
    command: Command,
    shown: &'static str,
    (word, help): (&'static str, &'static str),
    group: Group,
) -> Binding {
    Binding { keys, command, shown, word, help, group }
}

use Group::{Acting, Looking, Moving, Replaying};
use Key::{Char, Code, Control};

/// All keys.
pub(super) const BINDINGS: [Binding; 39] = [
    binding(&[Char('j'), Code(KeyCode::Down)], Command::Move(Motion::Down), "j ↓", ("", "down"), Moving),
    binding(&[Char('k'), Code(KeyCode::Up)], Command::Move(Motion::Up), "k ↑", ("", "up"), Moving),
    binding(
        &[Char('l'), Code(KeyCode::Right)],
        Command::Move(Motion::Right),
        "l →",
        ("", "unfold; attempts of a task; to the right"),
        Moving,
    ),
    binding(
        &[Char('h'), Code(KeyCode::Left)],
        Command::Move(Motion::Left),
        "h ←",
        ("", "fold; to the left"),
        Moving,
    ),
    binding(
        &[Control('d'), Code(KeyCode::PageDown), Char(' ')],
        Command::Move(Motion::PageDown),
        "^d",
        ("", "a page down; space as well"),
        Moving,
    ),
    binding(
        &[Control('u'), Code(KeyCode::PageUp)],
        Command::Move(Motion::PageUp),
        "^u",
        ("", "a page up"),
        Moving,
    ),
    binding(
        &[Char('g'), Code(KeyCode::Home)],
        Command::Move(Motion::Start),
        "g",
        ("", "to the start"),
        Moving,
    ),
    binding(
        &[Char('G'), Code(KeyCode::End)],
        Command::Move(Motion::End),
        "G",
        ("", "to the end; output follows from there"),
        Moving,
    ),
    binding(&[Code(KeyCode::Enter)], Command::Enter, "⏎", ("open", "open what is selected"), Moving),
    binding(&[Code(KeyCode::Esc)], Command::Back, "esc", ("back", "back"), Moving),
    binding(
        &[Code(KeyCode::Tab), Code(KeyCode::BackTab)],
        Command::OtherArea,
        "tab",
        ("area", "to the other area"),
        Moving,
    ),
    binding(&[Char('r')], Command::Follow, "r", ("running", "to what is at work, and stay with it"), Moving),
    binding(&[Char('1')], Command::Tab(0), "1", ("", "output"), Looking),
    binding(&[Char('2')], Command::Tab(1), "2", ("", "checks"), Looking),
    binding(&[Char('3')], Command::Tab(2), "3", ("", "prompt and feedback"), Looking),
    binding(&[Char('4')], Command::Tab(3), "4", ("", "diff"), Looking),
    binding(&[Char('5')], Command::Tab(4), "5", ("", "events"), Looking),
    binding(&[Char('/')], Command::Search, "/", ("search", "search"), Looking),
    binding(&[Char('n')], Command::Hit(1), "n", ("", "next hit"), Looking),
    binding(&[Char('N')], Command::Hit(-1), "N", ("", "hit before"), Looking),
    binding(&[Char('w')], Command::Wrap, "w", ("", "wrap long lines, or not"), Looking),
    binding(&[Char('f')], Command::Filter, "f", ("filter", "tasks: all, running, failed, open"), Looking),
    binding(&[Char('T')], Command::Timeline, "T", ("time", "timeline"), Looking),
    binding(&[Char('C')], Command::Costs, "C", ("costs", "costs"), Looking),
    binding(&[Char('R')], Command::Runs, "R", ("runs", "all runs of the project"), Looking),
    binding(&[Char('?')], Command::Help, "?", ("keys", "all keys"), Looking),
    binding(&[Char('y')], Command::Copy, "y", ("", "copy what is shown"), Looking),
    binding(&[Char('e')], Command::Save, "e", ("", "save what is shown to a file"), Looking),
    binding(&[Char('o')], Command::Edit, "o", ("", "open what is shown in $EDITOR"), Looking),
    binding(&[Char('a')], Command::Answer, "a", ("answer", "answer the open question"), Acting),
    binding(&[Char('t')], Command::Tell, "t", ("tell", "tell the next prompt something"), Acting),
    binding(&[Char('p')], Command::Pause, "p", ("pause", "stop after what is under way"), Acting),
    binding(&[Char('x')], Command::Skip, "x", ("skip", "skip the selected task"), Acting),
    binding(&[Char('X')], Command::Cancel, "X", ("", "stop the run at once; nothing is lost"), Acting),
    binding(&[Char('q'), Control('c')], Command::Quit, "q", ("quit", "quit; the run goes on"), Acting),
    binding(
        &[Char('+'), Char('=')],
        Command::Speed(1),
        "+",
        ("faster", "faster; in the timeline nearer"),
        Replaying,
    ),
    binding(&[Char('-')], Command::Speed(-1), "-", ("slower", "slower; in the timeline wider"), Replaying),
    binding(&[Char('.')], Command::Step, ".", ("step", "the next event"), Replaying),
    binding(&[Char('s')], Command::Halt, "s", ("stop", "stop the replay, or go on"), Replaying),
];

/// The command of a key.
pub(super) fn command(event: KeyEvent) -> Option<Command> {
    let is_control = event.modifiers.contains(KeyModifiers::CONTROL);
    let is_meant = |key: &Key| match key {
        Key::Char(character) => event.code == KeyCode::Char(*character) && !is_control,
        Key::Control(character) => event.code == KeyCode::Char(*character) && is_control,
        Key::Code(code) => event.code == *code,
    };
    BINDINGS.iter().find(|binding| binding.keys.iter().any(is_meant)).map(|binding| binding.command)
}

/// The binding of a command.
pub(super) fn of(command: Command) -> Option<&'static Binding> {
    BINDINGS.iter().find(|binding| binding.command == command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things() {
        let keys: Vec<&Key> = BINDINGS.iter().flat_map(|binding| binding.keys).collect();
        for (place, key) in keys.iter().enumerate() {
            assert!(!keys[place + 1..].contains(key), "{key:?}");
        }
        let key = |code| KeyEvent::new(code, KeyModifiers::NONE);
        assert_eq!(command(key(KeyCode::Char('j'))), Some(Command::Move(Motion::Down)));
        assert_eq!(command(key(KeyCode::F(1))), None);
        let control = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(command(control), Some(Command::Quit));
    }
}
