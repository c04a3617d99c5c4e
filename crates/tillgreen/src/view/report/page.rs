//! The report as one page: no script, nothing fetched, and all that others wrote escaped.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use plan::{Plan, TaskId};

use super::document::{Report, Row, Source};
use crate::inspect::output::planned;
use crate::view::chart::{self, escape};
use crate::view::paint::Paint;
use crate::view::statistics::Run;
use crate::view::task_report::Sources;
use crate::view::task_text;
use crate::view::text::{clean_lines, count, moment, one_line, took};
use crate::view::usage::grouped;

const STYLE: &str = include_str!("report.css");
/// What is listed of each kind: a page that is handed round has an end.
const TASKS_MAX: usize = 2_000;
const POINTS_MAX: usize = 60;
const FAILED_MAX: usize = 200;
/// Characters of a cell, a line, and of the record of a task.
const CELL_CHARS_MAX: usize = 160;
const LINE_CHARS_MAX: usize = 600;
const RECORD_CHARS_MAX: usize = 20_000;
/// Characters of a commit's name.
const COMMIT_CHARS: usize = 9;

/// The page.
pub(crate) fn page(report: &Report, source: Source<'_>, plans: &[(PathBuf, Plan)]) -> String {
    let mut body = head(report);
    body.push_str(&look_first(report));
    body.push_str(&tasks(report));
    body.push_str(&chains(report));
    let of = (&source.record.state, &source.record.history);
    let statistics = engine::Statistics::of(of.0, of.1);
    let run = Run { plan: report.plan.clone(), is_archived: false, statistics, proof: None, model: None };
    body.push_str(&section("Over time", &chart::figures(&run)));
    body.push_str(&failed(source, plans));
    body.push_str(&costs(report));
    body.push_str(&made(report));
    let title = cell(&format!("{}: {}", report.plan, report.verdict));
    let (chart_style, chart_page) = (chart::STYLE, chart::PAGE_STYLE);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>{chart_style}{chart_page}{STYLE}</style>\n</head>\n\
         <body>\n<main class=\"report\">\n{body}</main>\n</body>\n</html>\n"
    )
}

fn push(text: &mut String, line: &str) {
    // Writing into a string cannot fail.
    let _ = writeln!(text, "{line}");
}

fn cell(text: &str) -> String {
    escape(&one_line(text, CELL_CHARS_MAX))
}

fn line(text: &str) -> String {
    escape(&one_line(text, LINE_CHARS_MAX))
}

fn section(title: &str, inside: &str) -> String {
    if inside.is_empty() {
        return String::new();
    }
    format!("<section>\n<h2>{title}</h2>\n{inside}\n</section>\n")
}

fn table(heads: &[&str], rows: &str) -> String {
    let heads: String = heads.iter().map(|head| format!("<th scope=\"col\">{head}</th>")).collect();
    format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"table\"><table>\n<thead><tr>{heads}</tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

fn head(report: &Report) -> String {
    let class = if report.is_green { "good" } else { "bad" };
    let mark = if report.is_green { "✓" } else { "✗" };
    let mut text = format!("<header>\n<p class=\"plan\">{}</p>\n", cell(&report.path));
    push(&mut text, &format!("<h1>{}</h1>", cell(&report.plan)));
    push(&mut text, &format!("<p class=\"verdict {class}\">{mark} {}</p>", line(&report.verdict)));
    if let Some(reason) = &report.reason {
        push(&mut text, &format!("<p class=\"soft\">{}</p>", line(reason)));
    }
    let time = took(Duration::from_millis(report.elapsed_ms));
    let attempts = count(report.attempts, "attempt");
    let cost = report.cost_usd.map(|cost| format!(" · ${cost:.2}")).unwrap_or_default();
    let figures = format!("{attempts}, {} failed · {time}{cost}", report.failed_attempts);
    push(&mut text, &format!("<p class=\"soft\">{figures}</p>\n</header>"));
    text
}

fn look_first(report: &Report) -> String {
    let mut items = String::new();
    for point in report.look_first.iter().take(POINTS_MAX) {
        let task = point.task.as_deref().map(|task| format!("<b>{}</b> ", cell(task)));
        push(&mut items, &format!("<li>{}{}</li>", task.unwrap_or_default(), line(&point.text)));
    }
    if report.look_first.len() > POINTS_MAX {
        push(&mut items, &format!("<li>and {} more</li>", report.look_first.len() - POINTS_MAX));
    }
    let items = if items.is_empty() {
        "<p>Nothing stands out.</p>\n".to_owned()
    } else {
        format!("<ul>\n{items}</ul>\n")
    };
    section("Look at these first", &items)
}

fn tasks(report: &Report) -> String {
    let mut rows = String::new();
    report.tasks.iter().take(TASKS_MAX).for_each(|task| push(&mut rows, &row(task)));
    let mut inside = table(&["Task", "", "Rests on", "Attempts", "Time", "Cost", "Commit"], &rows);
    if let Some(proof) = &report.proof {
        push(&mut inside, &format!("<p>Proof: {}.</p>", line(proof)));
    }
    if report.tasks.len() > TASKS_MAX {
        push(&mut inside, &format!("<p>and {} more tasks</p>", report.tasks.len() - TASKS_MAX));
    }
    section("Tasks", &inside)
}

fn row(task: &Row) -> String {
    let (mark, class) = match task.state {
        "done" => ("✓", "good"),
        "skipped" => ("⊘", "odd"),
        "asks" => ("?", "odd"),
        "failed" => ("✗", "bad"),
        _ => ("·", "soft"),
    };
    let time = task.took_ms.map(|ms| took(Duration::from_millis(ms))).unwrap_or_default();
    let cost = task.cost_usd.map(|cost| format!("${cost:.2}")).unwrap_or_default();
    let commit = task.commit.as_deref().map(|commit| commit.get(..COMMIT_CHARS).unwrap_or(commit));
    let indent = task.fix_depth.min(9);
    let attempts = match task.failures {
        0 => task.attempts.to_string(),
        failed => format!("{} ({failed} failed)", task.attempts),
    };
    format!(
        "<tr><td class=\"depth-{indent}\"><b>{}</b> {}</td><td class=\"{class}\">{mark} {}</td><td>{}</td>\
         <td>{attempts}</td><td class=\"figure\">{time}</td><td class=\"figure\">{cost}</td><td><code>{}</code></td></tr>",
        cell(&task.task),
        cell(&task.title),
        task.state,
        cell(&task.rests_on),
        cell(commit.unwrap_or_default()),
    )
}

fn chains(report: &Report) -> String {
    let mut inside = String::new();
    for chain in &report.fix_chains {
        push(&mut inside, &format!("<h3>{}</h3>\n<ul class=\"chain\">", cell(&chain.task)));
        for fix in &chain.fixes {
            let (depth, task) = (fix.depth.min(9), cell(&fix.task));
            push(
                &mut inside,
                &format!("<li class=\"depth-{depth}\"><b>{task}</b> for: {}</li>", line(&fix.error)),
            );
        }
        push(&mut inside, "</ul>");
    }
    section("Fix tasks", &inside)
}

/// Every attempt at the tasks of which one failed.
fn failed(source: Source<'_>, plans: &[(PathBuf, Plan)]) -> String {
    let Source { subject, record, holder, now } = source;
    let mut inside = String::new();
    let tasks = record.state.tasks().iter().filter(|task| !task.failures.is_empty());
    for task in tasks.take(FAILED_MAX) {
        let events = record.events_of(task.id());
        let file = subject.file.as_ref();
        let sources =
            Sources { state: &record.state, history: &record.history, events: &events, file, holder };
        let report = planned(subject, plans, task.id()).with_run(task, &sources);
        let text = task_text::overview(&report, subject, now, Paint::Plain);
        let text: String = clean_lines(&text).chars().take(RECORD_CHARS_MAX).collect();
        let title = cell(&name(task.id(), task.decl.short_title()));
        let failed = count(task.failures.len(), "failed attempt");
        push(
            &mut inside,
            &format!(
                "<details>\n<summary>{title}: {failed}</summary>\n<pre>{}</pre>\n</details>",
                escape(&text)
            ),
        );
    }
    section("What failed", &inside)
}

fn name(id: &TaskId, title: &str) -> String {
    format!("{id} {title}")
}

fn costs(report: &Report) -> String {
    let mut rows = String::new();
    for cost in &report.costs {
        let tokens = cost.tokens.map_or_else(|| "unknown".to_owned(), grouped);
        let price = cost.cost_usd.map_or_else(|| "unknown".to_owned(), |cost| format!("${cost:.2}"));
        let (agent, passed, failed) = (cell(&cost.agent), cost.passed, cost.failed);
        push(
            &mut rows,
            &format!(
                "<tr><td>{agent}</td><td class=\"figure\">{passed}</td><td class=\"figure\">{failed}</td>\
                 <td class=\"figure\">{tokens}</td><td class=\"figure\">{price}</td></tr>"
            ),
        );
    }
    let inside = if rows.is_empty() {
        String::new()
    } else {
        table(&["Agent", "Passed", "Failed", "Tokens", "Cost"], &rows)
    };
    section("Costs", &inside)
}

fn made(report: &Report) -> String {
    let mut rows = String::new();
    for (key, value) in &report.settings {
        push(&mut rows, &format!("<tr><td>{}</td><td>{}</td></tr>", cell(key), cell(value)));
    }
    let settings = if rows.is_empty() {
        "<p>Nothing was set: all is as it comes.</p>\n".to_owned()
    } else {
        table(&["Setting", "Value"], &rows)
    };
    let began = report.began.map(|began| format!("The run began {}. ", moment(began))).unwrap_or_default();
    let made = format!(
        "<p class=\"soft\">{began}Made {} by tillgreen {} from {} of its journal. What a task rests on was found out by the \
         program, which ran the command itself; what an agent says counts for nothing.</p>\n",
        moment(report.made),
        report.version,
        count(report.events, "event"),
    );
    section("Settings", &settings) + &section("How this was made", &made)
}
