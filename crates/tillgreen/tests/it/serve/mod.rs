//! The page, in a real browser: what a person sees there, does there, and what comes of it; and who is kept out.

mod access;
mod accessibility;
mod hostile;
mod looking;
mod modules;
pub(crate) mod scene;
mod steering;
