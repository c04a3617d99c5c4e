//! The sandbox, used on a program that every machine has: the shell.

mod agents;
mod processes;
mod repositories;
