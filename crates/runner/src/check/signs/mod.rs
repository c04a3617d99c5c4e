//! Signs of work that is put off or silenced, in the lines that the attempts at a task added.

mod added;
mod language;
mod look;
mod others;
mod words;
