//! The answer to an agent that asks for permission: chosen by the kind of each option, never by its place.

use serde_json::{Value, json};

use crate::agent::launch::{Duty, Permission};
use crate::agent::line::{items, text};

/// Kinds of tools that change files.
const EDITING: [&str; 3] = ["edit", "delete", "move"];

/// Kinds of tools that change nothing.
const READING: [&str; 4] = ["read", "search", "think", "fetch"];

/// The kind of the option that gives leave for one time.
const ONCE: &str = "allow_once";

/// Modes that ask for nothing, of the agents that are known.
const FULL_MODES: [&str; 3] = ["bypassPermissions", "yolo", "full-access"];

/// The answer to a request for permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leave {
    /// However the agent wants to have it.
    Given,
    /// For this time.
    GivenOnce,
    Refused,
}

/// The answer to what a request asks.
pub(super) fn leave((permission, duty): (Permission, Duty), params: &Value) -> Leave {
    let kind = text(params, &["toolCall", "kind"]).unwrap_or_default();
    let is_reading = READING.contains(&kind);
    if duty == Duty::Judge && EDITING.contains(&kind) {
        return Leave::Refused;
    }
    match permission {
        Permission::Full => Leave::Given,
        // What can be given for good only is not given.
        Permission::Workspace if option(ONCE, params).is_some() => Leave::GivenOnce,
        Permission::ReadOnly if is_reading && option(ONCE, params).is_some() => Leave::GivenOnce,
        Permission::Workspace | Permission::ReadOnly => Leave::Refused,
    }
}

/// The answer that says so. Where no option fits, the question is called off.
pub(super) fn answer(leave: Leave, params: &Value) -> Value {
    let wanted: &[&str] = match leave {
        Leave::Given => &[ONCE, "allow_always"],
        Leave::GivenOnce => &[ONCE],
        Leave::Refused => &["reject_once", "reject_always"],
    };
    match wanted.iter().find_map(|kind| option(kind, params)) {
        Some(id) => json!({ "outcome": { "outcome": "selected", "optionId": id } }),
        None => json!({ "outcome": { "outcome": "cancelled" } }),
    }
}

/// The option of a kind.
fn option<'a>(kind: &str, params: &'a Value) -> Option<&'a str> {
    let options = items(params, &["options"]);
    let of_kind = options.iter().find(|option| text(option, &["kind"]) == Some(kind));
    of_kind.and_then(|option| text(option, &["optionId"]))
}

/// The mode that has to be set, if the session's own does not fit.
pub(super) fn mode((permission, duty): (Permission, Duty), session: &Value) -> Option<String> {
    let modes: Vec<&str> =
        items(session, &["modes", "availableModes"]).iter().filter_map(|mode| text(mode, &["id"])).collect();
    let current = text(session, &["modes", "currentModeId"]);
    let wanted = match permission {
        // In a mode that asks for nothing a judge could not be refused anything.
        Permission::Full | Permission::Workspace if duty == Duty::Judge => None,
        Permission::Full => FULL_MODES.into_iter().find(|mode| modes.contains(mode)),
        // One agent begins in a mode in which it cannot write at all.
        Permission::Workspace if current == Some("read-only") => {
            Some("auto").filter(|mode| modes.contains(mode))
        }
        Permission::ReadOnly => Some("read-only").filter(|mode| modes.contains(mode)),
        Permission::Workspace => None,
    };
    wanted.filter(|mode| current != Some(mode)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(kind: &str) -> Value {
        json!({
            "toolCall": { "kind": kind },
            "options": [
                { "optionId": "cancel", "kind": "reject_once" },
                { "optionId": "always", "kind": "allow_always" },
                { "optionId": "once", "kind": "allow_once" },
            ],
        })
    }

    #[test]
    fn options_are_chosen_by_their_kind() {
        let check = |permission: Permission, kind: &str, expected: &str| {
            let params = asked(kind);
            let answer = answer(leave((permission, Duty::Work), &params), &params);
            assert_eq!(text(&answer, &["outcome", "optionId"]), Some(expected), "{permission:?} {kind}");
        };
        check(Permission::Workspace, "execute", "once");
        check(Permission::Full, "edit", "once");
        check(Permission::ReadOnly, "read", "once");
        check(Permission::ReadOnly, "edit", "cancel");
        check(Permission::ReadOnly, "", "cancel");
    }

    #[test]
    fn a_judge_is_refused_what_edits_and_nothing_else() {
        for permission in [Permission::Workspace, Permission::Full] {
            let judge = |kind: &str| leave((permission, Duty::Judge), &asked(kind));
            assert_eq!(judge("edit"), Leave::Refused);
            assert_eq!(judge("delete"), Leave::Refused);
            assert_ne!(judge("execute"), Leave::Refused);
            assert_ne!(judge("read"), Leave::Refused);
        }
    }

    #[test]
    fn what_would_hold_for_ever_is_refused_where_once_was_said() {
        let params = json!({
            "toolCall": { "kind": "read" },
            "options": [
                { "optionId": "always", "kind": "allow_always" },
                { "optionId": "no", "kind": "reject_once" },
            ],
        });
        for (permission, expected) in
            [(Permission::Workspace, "no"), (Permission::ReadOnly, "no"), (Permission::Full, "always")]
        {
            let answer = answer(leave((permission, Duty::Work), &params), &params);
            assert_eq!(text(&answer, &["outcome", "optionId"]), Some(expected), "{permission:?}");
        }
    }

    #[test]
    fn without_an_option_that_fits_the_question_is_called_off() {
        for params in [json!({}), json!({ "options": [{ "kind": "other", "optionId": 3 }] }), Value::Null] {
            assert_eq!(answer(Leave::Given, &params), json!({ "outcome": { "outcome": "cancelled" } }));
        }
    }

    #[test]
    fn modes_are_set_where_they_have_to_be() {
        let session = |current: &str, modes: &[&str]| {
            let modes: Vec<Value> = modes.iter().map(|id| json!({ "id": id })).collect();
            json!({ "modes": { "currentModeId": current, "availableModes": modes } })
        };
        let gemini = session("default", &["default", "autoEdit", "yolo", "plan"]);
        assert_eq!(mode((Permission::Workspace, Duty::Work), &gemini), None);
        assert_eq!(mode((Permission::Full, Duty::Work), &gemini).as_deref(), Some("yolo"));
        assert_eq!(mode((Permission::ReadOnly, Duty::Work), &gemini), None);
        let codex = session("read-only", &["read-only", "auto", "full-access"]);
        assert_eq!(mode((Permission::Workspace, Duty::Work), &codex).as_deref(), Some("auto"));
        assert_eq!(mode((Permission::Full, Duty::Work), &codex).as_deref(), Some("full-access"));
        assert_eq!(mode((Permission::ReadOnly, Duty::Work), &codex), None, "it is there already");
        assert_eq!(mode((Permission::Full, Duty::Work), &json!({})), None);
        assert_eq!(
            mode((Permission::Full, Duty::Judge), &gemini),
            None,
            "it could not be refused anything there"
        );
    }
}
