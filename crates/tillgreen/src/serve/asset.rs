//! The files of the page: they are part of the program.

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asset {
    pub(super) kind: &'static str,
    pub(super) text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The page itself, whatever it is to show.
pub(super) const PAGE: Asset = Asset { kind: HTML, text: include_str!("page/index.html") };

/// The file of that name.
pub(super) fn asset(name: &str) -> Option<Asset> {
    let (kind, text) = match name {
        "style.css" => (CSS, include_str!("page/style.css")),
        "app.js" => (SCRIPT, include_str!("page/app.js")),
        "api.js" => (SCRIPT, include_str!("page/api.js")),
        "dom.js" => (SCRIPT, include_str!("page/dom.js")),
        "runs.js" => (SCRIPT, include_str!("page/runs.js")),
        "run.js" => (SCRIPT, include_str!("page/run.js")),
        "tree.js" => (SCRIPT, include_str!("page/tree.js")),
        "task.js" => (SCRIPT, include_str!("page/task.js")),
        "text.js" => (SCRIPT, include_str!("page/text.js")),
        "timeline.js" => (SCRIPT, include_str!("page/timeline.js")),
        "costs.js" => (SCRIPT, include_str!("page/costs.js")),
        "question.js" => (SCRIPT, include_str!("page/question.js")),
        "steer.js" => (SCRIPT, include_str!("page/steer.js")),
        "stats.js" => (SCRIPT, include_str!("page/stats.js")),
        _ => return None,
    };
    Some(Asset { kind, text })
}
