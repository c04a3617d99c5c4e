//! The folder that an agent works in, as its own prompt tells the model. Tools for files want absolute paths.

/// What stands before the folder in the prompts that are known, as JSON carries it, the surest first.
const BEFORE: [&str; 5] = [
    "Primary working directory: ",
    "Working directory: ",
    "<cwd>",
    r"Workspace Directories:**\n  - ",
    "working directory is ",
];

/// Characters that end it.
const AFTER: [char; 8] = [' ', '\\', '<', '"', '\n', '\'', '`', ','];

/// The folder that a request's body names.
pub(super) fn folder_in(body: &str) -> Option<&str> {
    BEFORE.iter().find_map(|before| {
        let rest = &body[body.find(before)? + before.len()..];
        let folder = rest.split(AFTER).next()?.trim_end_matches(['.', ';', ':', ')']);
        folder.starts_with('/').then_some(folder)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_found_in_what_agents_say() {
        let check = |body: &str, expected: Option<&str>| assert_eq!(folder_in(body), expected, "{body}");
        check(r#"{"system":"x\n - Primary working directory: /tmp/a b\n"}"#, Some("/tmp/a"));
        check(r#"{"text":"<environment_context>\n  <cwd>/w/p</cwd>"}"#, Some("/w/p"));
        check(r#"{"text":"- **Workspace Directories:**\n  - /w/p\n- x"}"#, Some("/w/p"));
        check(r#"{"text":"Working directory: none, later <cwd>/w</cwd>"}"#, Some("/w"));
        check("Working directory: ", None);
        check("", None);
    }
}
