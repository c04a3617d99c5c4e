//! Variables and paths that lead into the project: what agents, set-up and verify commands are given instead.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Variables that have tools look elsewhere than in the work tree that they are run in.
const UNSET: [&str; 7] = [
    "BUNDLE_GEMFILE",
    "GOWORK",
    "NODE_PATH",
    "OLDPWD",
    "PYTHONPATH",
    "UV_PROJECT_ENVIRONMENT",
    "VIRTUAL_ENV",
];

/// Variables that are about the user and not about the project, wherever they lead.
const OF_THE_USER: [&str; 4] = ["HOME", "TEMP", "TMP", "TMPDIR"];

/// Variables that reach agents and commands in any case: nothing works without them.
const NEEDED: [&str; 12] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LC_*",
    "TZ",
    "TMPDIR",
    "XDG_*",
    "TILLGREEN_*",
];

/// The inherited variables that reach agents and commands: all, unless somebody says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// Patterns of names that do not; `*` stands for any characters.
    pub block: Vec<String>,
    /// Patterns of names that alone do; none: all.
    pub pass: Vec<String>,
}

impl Variables {
    /// Those of some names that are to be taken away.
    pub(crate) fn withheld(&self, names: impl Iterator<Item = OsString>) -> Vec<OsString> {
        let is_among =
            |patterns: &[String], name: &str| patterns.iter().any(|pattern| is_like(name, pattern));
        let is_needed = |name: &str| NEEDED.iter().any(|pattern| is_like(name, pattern));
        let is_withheld = |name: &OsString| {
            let name = name.to_string_lossy();
            let is_passed = self.pass.is_empty() || is_needed(&name) || is_among(&self.pass, &name);
            is_among(&self.block, &name) || !is_passed
        };
        names.filter(is_withheld).collect()
    }

    /// Those of this process that are to be taken away.
    pub(crate) fn withheld_here(&self) -> Vec<OsString> {
        self.withheld(std::env::vars_os().map(|(name, _)| name))
    }
}

/// True if a name is as a pattern says.
fn is_like(name: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Changes to the inherited environment in a place: a value to set, or none to remove. `slot` is 0 in the landing tree and
/// in the project itself, where variables may well lead into it.
pub(crate) fn environment(
    project: &Path,
    place: &Path,
    slot: u32,
    inherited: impl Iterator<Item = (OsString, OsString)>,
    for_verification: bool,
) -> Vec<(OsString, Option<OsString>)> {
    let inherited: BTreeMap<OsString, OsString> = inherited.collect();
    let mut changes: BTreeMap<OsString, Option<OsString>> = BTreeMap::new();
    if place != project {
        changes.extend(led_into(project, place, &inherited));
        let target = place.join("target").into_os_string();
        changes.insert("CARGO_BUILD_BUILD_DIR".into(), Some(target.clone()));
        changes.insert("CARGO_TARGET_DIR".into(), Some(target));
        changes.insert("PWD".into(), Some(place.as_os_str().to_owned()));
        changes.extend(UNSET.map(|name| (name.into(), None)));
    }
    // A file of bytecode is taken for current where a source of the same size was written in the same second.
    changes.insert("PYTHONDONTWRITEBYTECODE".into(), Some("1".into()));
    changes.insert("TILLGREEN_SLOT".into(), Some(slot.to_string().into()));
    if for_verification {
        changes.insert("GOFLAGS".into(), Some(uncached(inherited.get(OsStr::new("GOFLAGS")))));
    }
    changes.into_iter().collect()
}

/// Variables whose paths lead into the project, with those of the place instead.
fn led_into(
    project: &Path,
    place: &Path,
    inherited: &BTreeMap<OsString, OsString>,
) -> BTreeMap<OsString, Option<OsString>> {
    let home = inherited.get(OsStr::new("HOME"));
    // Whose home is the project has all programs in it.
    if home.is_some_and(|home| Path::new(home).starts_with(project)) {
        return BTreeMap::new();
    }
    // Those of git are taken away from everybody.
    let own =
        |name: &OsStr| OF_THE_USER.iter().any(|known| name == *known) || name.as_bytes().starts_with(b"GIT_");
    let others = inherited.iter().filter(|(name, _)| !own(name));
    let led = others.filter_map(|(name, value)| Some((name.clone(), moved_list(value, project, place)?)));
    led.map(|(name, value)| (name, Some(value))).collect()
}

/// A list of paths with those inside the project moved; none if there are none.
fn moved_list(list: &OsStr, project: &Path, place: &Path) -> Option<OsString> {
    let mut moved = Vec::new();
    let mut is_moved = false;
    for (number, entry) in list.as_bytes().split(|byte| *byte == b':').enumerate() {
        if number > 0 {
            moved.push(b':');
        }
        match Path::new(OsStr::from_bytes(entry)).strip_prefix(project) {
            Ok(rest) => {
                is_moved = true;
                let there = if rest.as_os_str().is_empty() { place.to_owned() } else { place.join(rest) };
                moved.extend_from_slice(there.as_os_str().as_bytes());
            }
            Err(_) => moved.extend_from_slice(entry),
        }
    }
    is_moved.then(|| OsString::from_vec(moved))
}

/// Go's flags, so that no result of an earlier test is taken for this one's.
fn uncached(flags: Option<&OsString>) -> OsString {
    const UNCACHED: &str = "-count=1";
    match flags.map(|flags| flags.to_string_lossy().into_owned()) {
        Some(flags) if flags.split_whitespace().any(|flag| flag.starts_with("-count=")) => flags.into(),
        Some(flags) if !flags.trim().is_empty() => format!("{flags} {UNCACHED}").into(),
        Some(_) | None => UNCACHED.into(),
    }
}

/// A command with the project's own root at the start of absolute paths replaced by the place's root; none if there is
/// nothing to replace.
pub(crate) fn relocated(text: &str, project: &Path, place: &Path) -> Option<String> {
    let (project, place) = (project.to_str()?, place.to_str()?);
    let mut moved = String::new();
    let mut done = 0;
    for (start, _) in text.match_indices(project) {
        let end = start + project.len();
        if begins_path(&text[..start]) && ends_name(&text[end..]) {
            moved.push_str(&text[done..start]);
            moved.push_str(place);
            done = end;
        }
    }
    if done == 0 {
        return None;
    }
    moved.push_str(&text[done..]);
    Some(moved)
}

/// True if what follows a text is no part of a path that began in it.
fn begins_path(before: &str) -> bool {
    let is_of_path = |character: char| character.is_alphanumeric() || "._-/~".contains(character);
    if !before.ends_with(is_of_path) || before.ends_with("://") {
        return true;
    }
    // `-I/usr/include`: a flag of one letter.
    let word = before.rsplit(|character: char| character.is_whitespace() || "'\"".contains(character)).next();
    word.is_some_and(|word| word.len() == 2 && word.starts_with('-') && !word.ends_with(['-', '/', '.']))
}

/// True if the name of a folder is at its end before this text.
fn ends_name(after: &str) -> bool {
    let mut characters = after.chars();
    match characters.next() {
        Some('.') => characters.next().is_none_or(|next| !next.is_alphanumeric()),
        Some(character) => !(character.is_alphanumeric() || "_-".contains(character)),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROJECT: &str = "/home/u/app";
    const PLACE: &str = "/home/u/.cache/tillgreen/app-1/p/slot-1";

    fn changes(inherited: &[(&str, &str)], place: &str, for_verification: bool) -> Vec<String> {
        let inherited = inherited.iter().map(|(name, value)| (name.into(), value.into()));
        let changes = environment(Path::new(PROJECT), Path::new(place), 3, inherited, for_verification);
        let told = |(name, value): (OsString, Option<OsString>)| {
            let name = name.into_string().unwrap();
            match value {
                Some(value) => format!("{name}={}", value.into_string().unwrap().replace(PLACE, "<slot>")),
                None => format!("{name} -"),
            }
        };
        changes.into_iter().map(told).collect()
    }

    #[test]
    fn nothing_leads_into_the_project() {
        let inherited = [
            ("PATH", "/home/u/app/.venv/bin:/usr/bin:/home/u/app-two/bin:node_modules/.bin"),
            ("VIRTUAL_ENV", "/home/u/app/.venv"),
            ("PYTHONPATH", "src"),
            ("HOME", "/home/u"),
            ("APP_ROOT", "/home/u/app"),
            ("TMPDIR", "/home/u/app/tmp"),
            ("EDITOR", "vi"),
        ];
        let expected = [
            "APP_ROOT=<slot>",
            "BUNDLE_GEMFILE -",
            "CARGO_BUILD_BUILD_DIR=<slot>/target",
            "CARGO_TARGET_DIR=<slot>/target",
            "GOWORK -",
            "NODE_PATH -",
            "OLDPWD -",
            "PATH=<slot>/.venv/bin:/usr/bin:/home/u/app-two/bin:node_modules/.bin",
            "PWD=<slot>",
            "PYTHONDONTWRITEBYTECODE=1",
            "PYTHONPATH -",
            "TILLGREEN_SLOT=3",
            "UV_PROJECT_ENVIRONMENT -",
            "VIRTUAL_ENV -",
        ];
        assert_eq!(changes(&inherited, PLACE, false), expected);
    }

    #[test]
    fn in_the_project_the_users_own_environment_holds() {
        let inherited = [("PATH", "/home/u/app/bin"), ("VIRTUAL_ENV", "/home/u/app/.venv")];
        let expected = ["PYTHONDONTWRITEBYTECODE=1", "TILLGREEN_SLOT=3"];
        assert_eq!(changes(&inherited, PROJECT, false), expected);
    }

    #[test]
    fn a_home_that_is_the_project_keeps_its_programs() {
        let inherited = [("HOME", "/home/u/app"), ("PATH", "/home/u/app/.cargo/bin:/bin")];
        assert!(!changes(&inherited, PLACE, false).iter().any(|change| change.starts_with("PATH")));
    }

    #[test]
    fn verification_takes_no_result_from_a_cache() {
        let check = |flags: &[(&str, &str)], expected: &str| {
            assert!(changes(flags, PROJECT, true).contains(&format!("GOFLAGS={expected}")), "{flags:?}");
        };
        check(&[], "-count=1");
        check(&[("GOFLAGS", "")], "-count=1");
        check(&[("GOFLAGS", "-mod=mod")], "-mod=mod -count=1");
        check(&[("GOFLAGS", "-count=2")], "-count=2");
    }

    #[test]
    fn variables_are_blocked_and_passed_by_pattern() {
        let check = |block: &[&str], pass: &[&str], expected: &[&str]| {
            let list = |patterns: &[&str]| patterns.iter().map(|&pattern| pattern.to_owned()).collect();
            let variables = Variables { block: list(block), pass: list(pass) };
            let names = ["AWS_SECRET_ACCESS_KEY", "AWS_REGION", "HOME", "NPM_TOKEN", "TILLGREEN_RUN"];
            assert_eq!(variables.withheld(names.map(OsString::from).into_iter()), expected);
        };
        check(&[], &[], &[]);
        check(&["AWS_*", "NPM_TOKEN"], &[], &["AWS_SECRET_ACCESS_KEY", "AWS_REGION", "NPM_TOKEN"]);
        check(&["*_KEY", "A*_R*N"], &[], &["AWS_SECRET_ACCESS_KEY", "AWS_REGION"]);
        check(&[], &["NPM_*"], &["AWS_SECRET_ACCESS_KEY", "AWS_REGION"]);
        check(&["HOME", "*TOKEN"], &["AWS_REGION"], &["AWS_SECRET_ACCESS_KEY", "HOME", "NPM_TOKEN"]);
        check(&["AWS", "OME"], &[], &[]);
    }

    #[test]
    fn the_projects_root_is_replaced_at_the_start_of_paths() {
        let check = |text: &str, expected: Option<&str>| {
            let moved = relocated(text, Path::new(PROJECT), Path::new("/slot"));
            assert_eq!(moved.as_deref(), expected, "{text}");
        };
        check("cd /home/u/app && npm test", Some("cd /slot && npm test"));
        check("/home/u/app/bin/check '/home/u/app/a b'", Some("/slot/bin/check '/slot/a b'"));
        check("npm --prefix=/home/u/app/web test", Some("npm --prefix=/slot/web test"));
        check("cc -I/home/u/app/include x.c", Some("cc -I/slot/include x.c"));
        check("curl file:///home/u/app/x", Some("curl file:///slot/x"));
        check("PATH=/bin:/home/u/app/bin x", Some("PATH=/bin:/slot/bin x"));
        check("test -d /home/u/app.", Some("test -d /slot."));
        check("npm test", None);
        check("ls /home/u/app-two /home/u/app2 /home/u/app.bak", None);
        check("ls /mnt/home/u/app ./home/u/app x/home/u/app", None);
    }
}
