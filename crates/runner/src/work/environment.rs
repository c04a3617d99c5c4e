//! Variables and paths that lead into the project: what agents, set-up and verify commands are given instead.

use std::ffi::OsString;
use std::path::Path;

/// Changes to the inherited environment in a place: a value to set, or none to remove. `slot` is 0 in the landing tree and
/// in the project itself.
pub(crate) fn environment(
    project: &Path,
    place: &Path,
    slot: u32,
    inherited: impl Iterator<Item = (OsString, OsString)>,
    for_verification: bool,
) -> Vec<(OsString, Option<OsString>)> {
    let _ = (project, place, inherited, for_verification);
    vec![("TILLGREEN_SLOT".into(), Some(slot.to_string().into()))]
}

/// A command with the project's own root at the start of absolute paths replaced by the place's root; none if there is
/// nothing to replace.
pub(crate) fn relocated(text: &str, project: &Path, place: &Path) -> Option<String> {
    let (project, place) = (project.to_str()?, place.to_str()?);
    text.contains(project).then(|| text.replace(project, place))
}
