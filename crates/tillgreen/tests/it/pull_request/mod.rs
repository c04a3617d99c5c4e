//! The pull request lifecycle with the real `gh`, a stand-in for GitHub and a bare repository as the remote.

mod killed;
mod lifecycle;
mod obstacles;
mod scratch;
mod situations;
