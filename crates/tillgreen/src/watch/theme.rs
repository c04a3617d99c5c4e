//! Colours of the screen, where they are wanted. Nothing is told by a colour alone.

use ratatui::style::{Color, Modifier, Style};

use crate::inspect::reading::Tone;
use crate::view::paint::Paint;

impl Tone {
    /// Its style.
    pub(super) fn style(self, paint: Paint) -> Style {
        let (colour, modifier) = match self {
            Self::Plain => (None, Modifier::empty()),
            Self::Strong => (None, Modifier::BOLD),
            Self::Faint => (None, Modifier::DIM),
            Self::Good => (Some(Color::Green), Modifier::empty()),
            Self::Bad => (Some(Color::Red), Modifier::BOLD),
            Self::Odd => (Some(Color::Yellow), Modifier::empty()),
            Self::Busy => (Some(Color::Cyan), Modifier::empty()),
        };
        let style = Style::new().add_modifier(modifier);
        match (paint, colour) {
            (Paint::Colours, Some(colour)) => style.fg(colour),
            (Paint::Colours, None) | (Paint::Plain, _) => style,
        }
    }
}

/// The style of what is selected.
pub(super) fn selected(has_focus: Focused) -> Style {
    match has_focus {
        Focused::Yes => Style::new().add_modifier(Modifier::REVERSED),
        Focused::No => Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
    }
}

/// True for the part of the screen that keys go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Focused {
    Yes,
    No,
}
