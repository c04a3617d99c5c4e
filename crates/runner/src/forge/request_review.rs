//! Asks those who said no to look again.

use engine::{ForgeReport, Reviewer};

use super::call::Caller;
use super::command::ForgeCommand;
use super::json::{document, list, text};
use super::remote::Slug;
use super::setback::Setback;

/// Asks each of them who is not asked already. Somebody who cannot be asked is no reason to stop.
pub(super) fn request_review(
    caller: &Caller,
    slug: &Slug,
    number: u64,
    reviewers: &[Reviewer],
) -> Result<ForgeReport, Setback> {
    let asked = document(&caller.call(&ForgeCommand::requested(slug, number)))?;
    let is_asked = |login: &str| list(&asked, "/users").iter().any(|user| text(user, "/login") == login);
    let mut failed = Vec::new();
    for login in reviewers.iter().map(|reviewer| &reviewer.login).filter(|login| !is_asked(login)) {
        match document(&caller.call(&ForgeCommand::request_review(slug, number, login))) {
            Ok(_) => {}
            Err(away @ Setback::Unavailable { .. }) => return Err(away),
            Err(Setback::Obstructed(obstacle)) => {
                failed.push(format!(
                    "{login} could not be asked to look again: {}",
                    super::setback::said(obstacle)
                ));
            }
        }
    }
    Ok(ForgeReport::ReviewRequested { failed })
}
