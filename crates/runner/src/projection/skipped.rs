//! `STATE.md`: which tasks were left out, noted in its body for people and agents that come later.

use std::fs;
use std::io;
use std::path::Path;

use jiff::Timestamp;
use plan::TaskId;

use crate::atomic;

const HEADING: &str = "## Skipped Tasks";
const LIST: &str = "skipped_tasks:";

/// Notes a skipped task, unless it is noted already. Nothing else in the file changes.
pub(crate) fn note_skipped(path: &Path, task: &TaskId, reason: &str, at: Timestamp) -> io::Result<()> {
    let known = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => "# State\n".to_owned(),
        Err(error) => return Err(error),
    };
    let entry = format!("  - task: \"{task}\"\n");
    if known.contains(&entry) {
        return Ok(());
    }
    let reason = plan::one_line(reason).replace('"', "'");
    let entry = format!(
        "{entry}    reason: \"{reason}\"\n    timestamp: \"{}\"\n",
        at.strftime("%Y-%m-%dT%H:%M:%SZ")
    );
    atomic::replace(path, &with_entry(&known, &entry))
}

fn with_entry(known: &str, entry: &str) -> String {
    let list = known.find(&format!("{HEADING}\n")).and_then(|heading| {
        let from = heading + known[heading..].find(&format!("\n{LIST}\n"))? + LIST.len() + 2;
        Some(from + entries_length(&known[from..]))
    });
    if let Some(at) = list {
        return format!("{}{entry}{}", &known[..at], &known[at..]);
    }
    let gap = if known.is_empty() || known.ends_with("\n\n") {
        ""
    } else if known.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    format!("{known}{gap}{HEADING}\n\n```yaml\n{LIST}\n{entry}```\n")
}

/// How long the list's entries are: everything that is indented.
fn entries_length(text: &str) -> usize {
    text.split_inclusive('\n').take_while(|line| line.starts_with("  ")).map(str::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_added_once_and_nothing_else_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("STATE.md");
        fs::write(&path, "---\nphase: 3\n---\n\n# State\n\nAll is well.").unwrap();
        let at = "2026-01-26T14:40:00Z".parse().unwrap();
        let note = |id: &str, reason: &str| note_skipped(&path, &TaskId::new(id), reason, at).unwrap();
        note("03-01:task-3", "User escalation - \"automated\" recovery failed");
        note("03-01:task-4", "no time");
        note("03-01:task-3", "again");
        insta::assert_snapshot!(fs::read_to_string(&path).unwrap(), @r#"
        ---
        phase: 3
        ---

        # State

        All is well.

        ## Skipped Tasks

        ```yaml
        skipped_tasks:
          - task: "03-01:task-3"
            reason: "User escalation - 'automated' recovery failed"
            timestamp: "2026-01-26T14:40:00Z"
          - task: "03-01:task-4"
            reason: "no time"
            timestamp: "2026-01-26T14:40:00Z"
        ```
        "#);
    }
}
