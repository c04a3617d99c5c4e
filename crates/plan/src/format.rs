//! Formats: which tool a plan was written for, told by where the file lies and what it looks like.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::import::Imported;
use crate::phase::Dialect;

/// The way in which a plan is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// A `tasks.md` with fields.
    #[default]
    Spec,
    /// A `*-PLAN.md`.
    Phase,
    /// The `tasks.md` of spec-kit.
    SpecKit,
    /// The `tasks.md` of a change in OpenSpec.
    OpenSpec,
    /// The `tasks.md` of Kiro and cc-sdd.
    Kiro,
    /// A `tasks.md` with fields, made from what a tracker lists: the first word of a task is its id.
    Imported,
}

/// What becomes of tasks that their author marked as optional, `[ ]*`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Optional {
    /// They are no tasks.
    #[default]
    LeftOut,
    /// They are tasks like others.
    Included,
}

/// How the text of a plan is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The way in which it is written.
    pub format: Format,
    /// What becomes of optional tasks.
    pub optional: Optional,
}

impl Reading {
    /// Without optional tasks.
    #[must_use]
    pub fn of(format: Format) -> Self {
        Self { format, optional: Optional::LeftOut }
    }
}

impl Format {
    /// The format of the plan at a path from the project's root, whose text is given.
    #[must_use]
    pub fn of(path: &Path, text: &str) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name == "PLAN.md" || name.ends_with("-PLAN.md") {
            return Self::Phase;
        }
        if Imported::of(text).is_some() {
            return Self::Imported;
        }
        let folders: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
        let lies_in = |place: &[&str]| folders.windows(place.len()).any(|folders| folders == place);
        if lies_in(&["openspec", "changes"]) {
            return Self::OpenSpec;
        }
        if lies_in(&[".kiro", "specs"]) {
            return Self::Kiro;
        }
        let look = Look::of(text);
        let is_numbered = folders.iter().rev().nth(1).is_some_and(|folder| is_numbered(folder));
        if look.has_fields() {
            Self::Spec
        } else if look.numbered > 0 || (is_numbered && lies_in(&["specs"])) {
            Self::SpecKit
        } else if look.has_requirements && look.with_fields == 0 && !lies_in(&["specs"]) {
            Self::Kiro
        } else {
            Self::Spec
        }
    }

    /// The kind of file that it is.
    #[must_use]
    pub fn dialect(self) -> Dialect {
        match self {
            Self::Phase => Dialect::Phase,
            Self::Spec | Self::SpecKit | Self::OpenSpec | Self::Kiro | Self::Imported => Dialect::Spec,
        }
    }

    /// True for the plans of other tools, whose tasks have no fields: what is said of a task is in its words.
    #[must_use]
    pub fn is_foreign(self) -> bool {
        match self {
            Self::SpecKit | Self::OpenSpec | Self::Kiro => true,
            Self::Spec | Self::Phase | Self::Imported => false,
        }
    }

    /// Its name, for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Spec => "tasks.md",
            Self::Phase => "PLAN.md",
            Self::SpecKit => "spec-kit",
            Self::OpenSpec => "OpenSpec",
            Self::Kiro => "Kiro",
            Self::Imported => "imported",
        }
    }
}

/// `001-photo-albums`, as spec-kit names its folders.
fn is_numbered(folder: &str) -> bool {
    let digits = folder.bytes().take_while(u8::is_ascii_digit).count();
    digits >= 3 && folder[digits..].starts_with('-')
}

/// The look of a text.
#[derive(Debug, Default)]
struct Look {
    /// How many of its boxes at the margin there are, and how many of them have fields such as `**Verify**:`. Fix tasks
    /// have some in any plan.
    boxes: usize,
    with_fields: usize,
    /// How many of its lines begin a task that is called `T001`.
    numbered: usize,
    /// True if it refers to requirements as Kiro does.
    has_requirements: bool,
}

impl Look {
    fn of(text: &str) -> Self {
        let mut look = Self::default();
        let mut is_counted = true;
        for line in text.lines() {
            let is_box = begins_box(line);
            look.boxes += usize::from(is_box);
            is_counted = if is_box { line.contains("[FIX") } else { is_counted };
            let line = line.trim_start();
            let item = line.strip_prefix(['-', '*', '+']).map_or(line, str::trim_start);
            let is_field = ["**Do**", "**Verify**", "**Do:**", "**Verify:**", "**Done when**"]
                .iter()
                .any(|field| item.starts_with(field));
            look.with_fields += usize::from(is_field && !is_counted);
            is_counted |= is_field;
            look.has_requirements |= item.starts_with("_Requirements:");
            look.numbered += usize::from(begins_numbered(item));
        }
        look
    }

    /// True if most of its tasks have fields.
    fn has_fields(&self) -> bool {
        self.with_fields > 0 && self.with_fields * 2 >= self.boxes
    }
}

/// `- [ ] …` at the margin.
fn begins_box(line: &str) -> bool {
    let item = line.strip_prefix(['-', '*', '+']).map(str::trim_start);
    item.is_some_and(|item| item.starts_with('[') && item.get(2..).is_some_and(|rest| rest.starts_with(']')))
}

/// `[ ] T001 …`, `### T-001: …`.
fn begins_numbered(item: &str) -> bool {
    let boxed = || item.strip_prefix('[').and_then(|rest| rest.get(rest.find(']')? + 1..));
    let heading = item.trim_start_matches('#');
    let rest = if heading.len() < item.len() { Some(heading) } else { boxed() };
    let Some(rest) = rest else { return false };
    let rest = rest.trim_start_matches([' ', '*']);
    let rest = rest.strip_prefix("[P] ").unwrap_or(rest);
    let digits = rest.strip_prefix('T').map(|rest| rest.strip_prefix('-').unwrap_or(rest));
    digits.is_some_and(|digits| digits.bytes().take_while(u8::is_ascii_digit).count() >= 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_told_by_place_and_look() {
        let check = |path: &str, text: &str, expected: Format| {
            assert_eq!(Format::of(Path::new(path), text), expected, "{path} {text:?}");
        };
        check("specs/001-photos/tasks.md", "- [ ] T001 [P] Create a\n", Format::SpecKit);
        check("specs/001-photos/tasks.md", "- [ ] Create a\n", Format::SpecKit);
        check("specs/photos/tasks.md", "### T-001: Create a\n", Format::SpecKit);
        check("specs/photos/tasks.md", "- [ ] Create a\n", Format::Spec);
        check("specs/photos/tasks.md", "- [ ] T001 Create\n  - **Verify**: `make`\n", Format::Spec);
        let fixed =
            "- [ ] T001 a\n- [ ] T002 b\n- [ ] T002.1 [FIX T002] c\n  - **Do**: d\n  - **Verify**: `make`\n";
        check("specs/photos/tasks.md", fixed, Format::SpecKit);
        check("specs/photos/tasks.md", "- [ ] 1.1 Create a\n", Format::Spec);
        check("openspec/changes/add-x/tasks.md", "- [ ] 1.1 Create a\n", Format::OpenSpec);
        check("sub/.kiro/specs/x/tasks.md", "- [ ] 1. Create a\n", Format::Kiro);
        check("x/tasks.md", "- [ ] 1. Create\n  - _Requirements: 1.2_\n", Format::Kiro);
        check("phases/01-01-PLAN.md", "", Format::Phase);
        let imported = "---\nimported_from: \"prd.json\"\n---\n\n- [ ] US-001 Create a\n";
        check("specs/001-photos/tasks.md", imported, Format::Imported);
        check("specs/photos/tasks.md", &imported.replace("imported_from", "from"), Format::Spec);
    }
}
