//! The pull request lifecycle with the real `gh`, a stand-in for GitHub and a bare repository as the remote.

mod beforehand;
mod interruption;
mod killed;
mod lifecycle;
mod nonsense;
mod obstacles;
mod scratch;
mod situations;
mod text;
