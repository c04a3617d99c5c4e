//! Commands for tasks that have none of their own, from the settings: one for all, or by the files that a task is about.

use plan::{Fields, Script};

use crate::check::covers;

/// The commands for tasks that have none of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    /// For those about files that match a pattern, in this order.
    pub paths: Vec<(String, String)>,
    /// For all others.
    pub all: Option<String>,
}

impl Defaults {
    /// The command for a task with these fields.
    pub fn of(&self, fields: &Fields) -> Option<Script> {
        let files = fields.files.as_ref().map(|files| files.paths.as_slice()).unwrap_or_default();
        let is_about = |pattern: &str| {
            files.iter().any(|file| covers(pattern, file) || covers(pattern, &format!("{file}x")))
        };
        let mut commands: Vec<String> = Vec::new();
        for (_, command) in self.paths.iter().filter(|(pattern, _)| is_about(pattern)) {
            if !commands.contains(command) {
                commands.push(command.clone());
            }
        }
        if commands.is_empty() {
            commands.extend(self.all.clone());
        }
        (!commands.is_empty()).then(|| Script::new(commands))
    }
}

#[cfg(test)]
mod tests {
    use plan::{Format, Plan, Reading};

    use super::*;

    #[test]
    fn commands_by_files() {
        let defaults = Defaults {
            paths: vec![
                ("backend/**".to_owned(), "pytest".to_owned()),
                ("web/**".to_owned(), "npm test".to_owned()),
            ],
            all: Some("make".to_owned()),
        };
        for (task, expected) in [
            ("- [ ] T001 Create backend/a.py", &["pytest"][..]),
            ("- [ ] T001 Create structure in backend/", &["pytest"]),
            ("- [ ] T001 Create web/a.ts and backend/a.py", &["pytest", "npm test"]),
            ("- [ ] T001 Create docs/a.md", &["make"]),
            ("- [ ] T001 Create", &["make"]),
        ] {
            let reading = Reading::of(Format::SpecKit);
            let plan = Plan::parse_as(reading, task.to_owned(), "".as_ref());
            let script = defaults.of(&plan.fields(&plan.tasks()[0])).unwrap();
            assert_eq!(script.snippets, expected, "{task}");
        }
        assert_eq!(Defaults::default().of(&Fields::default()), None);
    }
}
