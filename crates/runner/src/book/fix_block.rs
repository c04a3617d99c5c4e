//! The text of a fix task in a dialect whose files are never written: it is made anew from the journal whenever
//! it is needed.

use engine::FixPlan;

/// The fix task for a failing one whose text is given. Files and verification are inherited verbatim; the
/// agent's words are reduced to one harmless line.
pub(super) fn fix_block(fix: &FixPlan, failing: &str) -> String {
    let error = without_tags(&plan::one_line(&fix.error));
    let summary = without_tags(&plan::summary(&fix.error));
    let attempted = fix.attempted_fix.as_deref().map(plan::one_line).map(|text| without_tags(&text));
    let attempted = attempted.unwrap_or_else(|| "No previous fix attempted".to_owned());
    let files = element(failing, "files").unwrap_or_default();
    let verify = element(failing, "verify").unwrap_or_default();
    format!(
        "<task type=\"auto\">\n  <name>Fix: {summary}</name>\n  {files}\n  <action>\nAddress the error: {error}\n\
         1. Analyze the failure: {attempted}\n2. Review related code in Files list\n3. Implement fix for: {error}\n  \
         </action>\n  {verify}\n  <done>Error \"{error}\" no longer occurs</done>\n</task>\n"
    )
}

/// An element of a block, tags included, as it stands there.
fn element<'a>(block: &'a str, name: &str) -> Option<&'a str> {
    let start = block.find(&format!("<{name}>"))?;
    let close = format!("</{name}>");
    let end = start + block[start..].find(&close)? + close.len();
    Some(&block[start..end])
}

/// Text that cannot open or close an element.
fn without_tags(text: &str) -> String {
    text.replace('<', "‹").replace('>', "›")
}
