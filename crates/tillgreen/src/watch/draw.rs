//! The screen as it is drawn: a line on the run, one for an open question, the tasks with the detail of one, and the keys.

use engine::{State, Usage};
use jiff::Timestamp;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};

use super::app::{App, Area, Purpose, Typing, View};
use super::detail::Tab;
use super::keys::{BINDINGS, Binding, Command, Group, of};
use super::pager::Pager;
use super::theme::{Focused, selected};
use super::tree::{Filter, Row, RowOf, mark};
use crate::inspect::reading::Tone;
use crate::inspect::record::Outcome;
use crate::view::block::{Total, bar, cents};
use crate::view::paint::Paint;
use crate::view::question;
use crate::view::status::{Phase, phase};
use crate::view::text::{between, columns, cut, fit, one_line, running, took, zoned_clock};
use crate::view::usage::{cell, cost};

/// The least that can be drawn on.
const COLUMNS_MIN: u16 = 40;
const ROWS_MIN: u16 = 10;
/// Columns from which on tree and detail stand side by side, and of these the tree's part in percent.
const WIDE: u16 = 100;
const TREE_PERCENT: u16 = 38;

/// Draws everything.
pub(super) fn draw(app: &mut App, frame: &mut Frame<'_>) {
    let area = frame.area();
    if area.width < COLUMNS_MIN || area.height < ROWS_MIN {
        let text = format!("too small: {}×{}, needs {COLUMNS_MIN}×{ROWS_MIN}", area.width, area.height);
        frame.buffer_mut().set_stringn(area.x, area.y, text, usize::from(area.width), Style::new());
        return;
    }
    let now = app.replay.map_or(app.now, |replay| replay.clock);
    header(app, now, line(area, 0), frame.buffer_mut());
    let has_question = question::open(&app.record.state).is_some();
    if has_question {
        inbox(app, now, line(area, 1), frame.buffer_mut());
    }
    let top = 1 + u16::from(has_question);
    let body = Rect { y: area.y + top, height: area.height - top - 1, ..area };
    match app.view {
        View::Tasks => tasks(app, now, body, frame.buffer_mut()),
        View::Timeline => {
            let until = end_of(&app.record, now, app.holder.is_some());
            app.timeline.draw((&app.record, until), body, frame.buffer_mut(), app.paint);
        }
        View::Costs => costs(app, body, frame.buffer_mut()),
        View::Runs => runs(app, body, frame.buffer_mut()),
        View::Help => help(app, body, frame.buffer_mut()),
    }
    let last = line(area, area.height - 1);
    let cursor = bottom(app, body, last, frame.buffer_mut());
    cursor.into_iter().for_each(|cursor| frame.set_cursor_position(cursor));
}

fn line(area: Rect, row: u16) -> Rect {
    Rect { y: area.y + row, height: 1, ..area }
}

/// The moment up to which something is known of the run.
fn end_of(record: &crate::inspect::record::Record, now: Timestamp, is_live: bool) -> Timestamp {
    let goes_on = is_live && record.state.end().is_none();
    if goes_on { now } else { record.latest().unwrap_or(now) }
}

/// Words in their tones, one after the other, as far as there is room.
fn put(buffer: &mut Buffer, area: Rect, words: &[(Tone, String)], paint: Paint) {
    let mut x = area.x;
    for (tone, word) in words {
        let room = usize::from(area.right().saturating_sub(x));
        let (word, used) = cut(word, room);
        buffer.set_string(x, area.y, word, tone.style(paint));
        x += u16::try_from(used).unwrap_or(0);
    }
}

fn header(app: &App, now: Timestamp, area: Rect, buffer: &mut Buffer) {
    let state = &app.record.state;
    let branch = app.branch.as_ref().map(|branch| format!(" on {}", one_line(branch, 30)));
    let mut words = vec![
        (Tone::Strong, format!(" {}", one_line(&app.subject.name, 30))),
        (Tone::Faint, branch.unwrap_or_default()),
        (Tone::Plain, "  ".to_owned()),
    ];
    words.push(standing(app));
    if state.opened().is_some() && area.width > 60 {
        let total = Total::of(state, &app.record.work);
        let bar_columns = if area.width >= WIDE { 14 } else { 6 };
        words.push((Tone::Good, format!("  {}", bar(total.done, total.all, bar_columns))));
        words.push((Tone::Plain, format!("  {}", total.parts().join(" · "))));
        let since = state.elapsed();
        let more = app.record.latest().filter(|_| app.holder.is_some() && state.end().is_none());
        let elapsed = since + more.map(|latest| between(latest, now)).unwrap_or_default();
        words.push((Tone::Faint, format!(" · {}", running(elapsed))));
    }
    put(buffer, area, &words, app.paint);
}

/// How the run stands, in a word or a sentence.
fn standing(app: &App) -> (Tone, String) {
    let state = &app.record.state;
    if let Some(replay) = app.replay {
        let speed = if replay.is_paused { "stopped".to_owned() } else { format!("{}×", replay.speed) };
        let at = zoned_clock(replay.clock);
        return (Tone::Odd, format!("REPLAY {speed} {at} {}/{}", replay.played, replay.all));
    }
    if let Some(trouble) = app.trouble.as_ref().or(app.record.problem.as_ref()) {
        return (Tone::Bad, one_line(trouble, 400));
    }
    if state.opened().is_none() {
        return (Tone::Faint, "not started".to_owned());
    }
    let (phase, reason) = phase(state, app.holder.as_ref());
    let pausing = state.pause().is_some();
    let is_waiting = question::open(state).is_some() && app.record.work.under_way(state).next().is_none();
    match phase {
        Phase::Running if is_waiting => (Tone::Odd, "WAITING FOR AN ANSWER".to_owned()),
        Phase::Running if pausing => (Tone::Odd, "PAUSING".to_owned()),
        Phase::Running => (Tone::Busy, "RUNNING".to_owned()),
        Phase::Complete => (Tone::Good, "COMPLETE".to_owned()),
        Phase::Crashed => {
            let at = app.record.latest().map(zoned_clock).unwrap_or_default();
            let again = app.subject.command("run", "");
            (Tone::Bad, format!("stopped without an end at {at}; {again} goes on"))
        }
        Phase::NotStarted | Phase::Paused | Phase::Interrupted => (Tone::Odd, named(phase, reason)),
        Phase::Stopped | Phase::Aborted => (Tone::Bad, named(phase, reason)),
    }
}

fn named(phase: Phase, reason: Option<String>) -> String {
    let reason = reason.map(|reason| format!(": {}", one_line(&reason, 60))).unwrap_or_default();
    format!("{}{reason}", phase.word(Paint::Plain).to_uppercase())
}

fn inbox(app: &App, now: Timestamp, area: Rect, buffer: &mut Buffer) {
    let Some((task, asked)) = question::open(&app.record.state) else { return };
    let since = took(between(asked.since, now));
    let error = task.last_failure().map(|failure| format!(": {}", one_line(&failure.error, 200)));
    let text = format!(" ? task {} asks, for {since}{}", task.id(), error.unwrap_or_default());
    let hint = "  a answers ";
    let room = usize::from(area.width).saturating_sub(columns(hint));
    let style = Tone::Odd.style(app.paint).add_modifier(Modifier::REVERSED);
    buffer.set_string(area.x, area.y, format!("{}{hint}", fit(&text, room)), style);
}

fn tasks(app: &mut App, now: Timestamp, body: Rect, buffer: &mut Buffer) {
    if app.record.state.opened().is_none() {
        let run = app.subject.command("run", "");
        let text = match app.trouble {
            Some(_) => format!("The record of the run cannot be read. {run} says why, and what can be done."),
            None => format!("No run of this plan. {run} starts one; this screen will notice."),
        };
        return put(
            buffer,
            Rect { x: body.x + 1, y: body.y + 1, height: 1, ..body },
            &[(Tone::Plain, text)],
            app.paint,
        );
    }
    if body.width < WIDE {
        match app.area {
            Area::Tree => tree(app, now, Focused::Yes, body, buffer),
            Area::Detail => detail(app, Focused::Yes, body, buffer),
        }
        return;
    }
    let tree_columns = body.width * TREE_PERCENT / 100;
    let left = Rect { width: tree_columns, ..body };
    let right = Rect { x: body.x + tree_columns + 1, width: body.width - tree_columns - 1, ..body };
    let focus = |area| if app.area == area { Focused::Yes } else { Focused::No };
    let (of_tree, of_detail) = (focus(Area::Tree), focus(Area::Detail));
    tree(app, now, of_tree, left, buffer);
    for row in body.top()..body.bottom() {
        buffer.set_string(body.x + tree_columns, row, "│", Tone::Faint.style(app.paint));
    }
    detail(app, of_detail, right, buffer);
}

fn tree(app: &mut App, now: Timestamp, focus: Focused, area: Rect, buffer: &mut Buffer) {
    let title = match app.tree.filter {
        Filter::All => " Tasks".to_owned(),
        filter @ (Filter::Running | Filter::Failed | Filter::Open) => format!(" Tasks: {}", filter.word()),
    };
    heading(&title, focus, line(area, 0), buffer, app.paint);
    let list = Rect { y: area.y + 1, height: area.height - 1, ..area };
    let rows: Vec<Row> = app.tree.seen(usize::from(list.height)).to_vec();
    if rows.is_empty() {
        put(buffer, line(list, 0), &[(Tone::Faint, " No such task; f shows others.".to_owned())], app.paint);
    }
    for (place, row) in rows.iter().enumerate() {
        let is_selected = app.tree.top + place == app.tree.cursor;
        let at = line(list, u16::try_from(place).unwrap_or(0));
        put(buffer, at, &tree_row(app, row, now, usize::from(area.width)), app.paint);
        if is_selected {
            buffer.set_style(at, selected(focus));
        }
    }
    let (above, below) = app.tree.out_of_sight(&app.record);
    for (number, arrow, row) in [(above, '▲', 0), (below, '▼', list.height - 1)] {
        if number > 0 {
            let text = fit(&format!(" {arrow} {number} running (r)"), usize::from(list.width));
            let style = Tone::Busy.style(app.paint).add_modifier(Modifier::REVERSED);
            buffer.set_string(list.x, list.y + row, text, style);
        }
    }
}

fn heading(title: &str, focus: Focused, area: Rect, buffer: &mut Buffer, paint: Paint) {
    let tone = if focus == Focused::Yes { Tone::Strong } else { Tone::Faint };
    put(buffer, area, &[(tone, title.to_owned())], paint);
}

fn tree_row(app: &App, row: &Row, now: Timestamp, width: usize) -> Vec<(Tone, String)> {
    let indent = " ".repeat(1 + 2 * row.depth.min(8));
    match &row.of {
        RowOf::Phase { title, done, all, is_folded, .. } => {
            let arrow = if *is_folded { '▸' } else { '▾' };
            let counts = format!(" {done}/{all} ");
            let room = width.saturating_sub(columns(&counts) + 3);
            vec![(Tone::Strong, format!(" {arrow} {}", fit(title, room))), (Tone::Faint, counts)]
        }
        RowOf::Attempt { attempt, outcome, .. } => {
            let name =
                attempt.map_or_else(|| "command alone".to_owned(), |attempt| format!("attempt {attempt}"));
            let (word, tone) = match outcome {
                Outcome::Open => ("under way", Tone::Busy),
                Outcome::Passed => ("passed", Tone::Good),
                Outcome::Failed => ("failed", Tone::Bad),
                Outcome::Lost => ("lost", Tone::Odd),
            };
            vec![(Tone::Faint, format!("{indent}{name} ")), (tone, word.to_owned())]
        }
        RowOf::Task(id) => {
            let Some(task) = app.record.state.task(id) else { return Vec::new() };
            let (sign, word, tone) = mark(task);
            let attempts = (task.attempted > 1).then(|| format!(" ×{}", task.attempted));
            let time = match app.record.work.step(id) {
                Some(step) => Some(running(between(step.since, now))),
                None if task.status.is_settled() => app.record.state.time_of(task).map(took),
                None => None,
            };
            let word = if word.is_empty() { String::new() } else { format!(" {word}") };
            let right = [Some(word), attempts, time.map(|time| format!(" {time}"))];
            let right: String = right.into_iter().flatten().collect::<String>() + " ";
            let left = format!("{indent}{sign} ");
            let room = width.saturating_sub(columns(&left) + columns(&right));
            let name = fit(&format!("{id} {}", task.decl.short_title()), room);
            let name_tone = if task.status.is_active() { Tone::Strong } else { Tone::Plain };
            vec![(tone, left), (name_tone, name), (tone, right)]
        }
    }
}

fn detail(app: &mut App, focus: Focused, area: Rect, buffer: &mut Buffer) {
    let of_task = app.tree.selected().and_then(|(id, _)| app.record.state.task(id));
    let name = of_task.map(|task| format!(" {} {}", task.id(), task.decl.short_title()));
    heading(&name.unwrap_or_default(), focus, line(area, 0), buffer, app.paint);
    let mut words = vec![(Tone::Plain, " ".to_owned())];
    for (place, tab) in Tab::ALL.into_iter().enumerate() {
        let tone = if tab == app.detail.tab { Tone::Strong } else { Tone::Faint };
        let name = format!("{} {}", place + 1, tab.word());
        let name = if tab == app.detail.tab { format!("[{name}]") } else { format!(" {name} ") };
        words.push((tone, name));
    }
    let body = Rect { x: area.x + 1, y: area.y + 2, width: area.width - 1, height: area.height - 2 };
    pager(&mut app.detail.pager, body, buffer, app.paint);
    let follows = if app.detail.pager.follows && !app.detail.pager.is_empty() { "↓" } else { "" };
    words.push((Tone::Faint, format!("  {}{follows}", app.detail.pager.place())));
    put(buffer, line(area, 1), &words, app.paint);
    if app.detail.pager.is_empty() {
        let text = if app.detail.is_loading { "reading …" } else { &app.detail.empty };
        put(buffer, line(body, 0), &[(Tone::Faint, text.to_owned())], app.paint);
    }
}

fn pager(pager: &mut Pager, area: Rect, buffer: &mut Buffer, paint: Paint) {
    let rows = pager.rows(usize::from(area.width), usize::from(area.height));
    for (place, row) in rows.iter().enumerate() {
        let at = line(area, u16::try_from(place).unwrap_or(0));
        put(buffer, at, &[(row.line.tone, row.text.clone())], paint);
        if row.is_hit {
            buffer.set_style(at, Style::new().add_modifier(Modifier::REVERSED));
        }
    }
}

fn costs(app: &App, area: Rect, buffer: &mut Buffer) {
    let state = &app.record.state;
    let mut rows: Vec<(Tone, String)> =
        vec![(Tone::Strong, " Costs".to_owned()), (Tone::Plain, String::new())];
    rows.push((Tone::Faint, table_row("agent", ["starts", "tokens", "cost"])));
    let mut agents: std::collections::BTreeMap<&str, (usize, Usage)> = std::collections::BTreeMap::new();
    for spent in app.record.history.spent() {
        let (starts, usage) = agents.entry(&spent.agent).or_default();
        (*starts, *usage) = (*starts + 1, usage.plus(spent.usage));
    }
    for (agent, (starts, usage)) in &agents {
        rows.push((
            Tone::Plain,
            table_row(agent, [&starts.to_string(), &cell(usage.tokens()), &money(*usage)]),
        ));
    }
    rows.push((Tone::Plain, String::new()));
    rows.push((Tone::Faint, table_row("phase", ["tasks", "tokens", "cost"])));
    for (name, tasks, usage) in phases(app, state) {
        rows.push((
            Tone::Plain,
            table_row(&name, [&tasks.to_string(), &cell(usage.tokens()), &money(usage)]),
        ));
    }
    rows.push((Tone::Plain, String::new()));
    let limits = state.rules().map(|rules| &rules.limits);
    let cap = limits.and_then(|limits| limits.cost_micros_max).map(|cap| {
        let since = cost(state.round_usage());
        format!("; since the start {since} of ${}", cents(cap))
    });
    let all = state.usage();
    rows.push((Tone::Strong, format!(" in all: {}{}", cost(all), cap.unwrap_or_default())));
    for (place, row) in rows.into_iter().enumerate().take(usize::from(area.height)) {
        put(buffer, line(area, u16::try_from(place).unwrap_or(0)), &[row], app.paint);
    }
}

/// The name of each phase with its tasks and what they used; the name of the plan where there is one phase.
fn phases(app: &App, state: &State) -> Vec<(String, usize, Usage)> {
    let mut sums: std::collections::BTreeMap<u32, (usize, Usage)> = std::collections::BTreeMap::new();
    for task in state.tasks() {
        let (tasks, usage) = sums.entry(task.decl.stage).or_default();
        (*tasks, *usage) = (*tasks + 1, usage.plus(task.usage));
    }
    sums.into_iter().map(|(stage, (tasks, usage))| (app.tree.phase_name(stage), tasks, usage)).collect()
}

fn table_row(name: &str, [first, second, third]: [&str; 3]) -> String {
    format!(" {} {first:>7} {second:>14} {third:>12}", fit(name, 28))
}

fn money(usage: Usage) -> String {
    usage.cost_micros.map_or_else(|| "unknown".to_owned(), |micros| format!("${}", cents(micros)))
}

fn runs(app: &App, area: Rect, buffer: &mut Buffer) {
    put(buffer, line(area, 0), &[(Tone::Strong, " All runs of this project".to_owned())], app.paint);
    if app.runs.rows.is_empty() {
        let text = " No plan was found here. `tillgreen new NAME` makes one.".to_owned();
        put(buffer, line(area, 2), &[(Tone::Faint, text)], app.paint);
    }
    let height = usize::from(area.height.saturating_sub(2)).max(1);
    let top = (app.runs.cursor + 1).saturating_sub(height);
    for (place, row) in app.runs.rows.iter().enumerate().skip(top).take(height) {
        let at = line(area, u16::try_from(place - top + 2).unwrap_or(0));
        let progress = format!("{}/{}", row.done, row.all);
        let question = row.question.as_ref().map(|task| format!("? task {task} asks"));
        let words = [
            (Tone::Plain, format!(" {} ", fit(&row.name, 36))),
            (Tone::Plain, fit(&row.state, 15)),
            (Tone::Plain, format!("{progress:>9}  ")),
            (Tone::Odd, question.unwrap_or_default()),
        ];
        put(buffer, at, &words, app.paint);
        if place == app.runs.cursor {
            buffer.set_style(at, selected(Focused::Yes));
        }
    }
}

fn help(app: &App, area: Rect, buffer: &mut Buffer) {
    let groups = [
        (Group::Moving, "Moving"),
        (Group::Looking, "Looking"),
        (Group::Acting, "Acting; what has an effect is asked once more"),
        (Group::Replaying, "A replay, and the timeline"),
    ];
    let mut rows: Vec<(Tone, String)> = Vec::new();
    for (group, title) in groups {
        rows.push((Tone::Strong, format!(" {title}")));
        let of_group = BINDINGS.iter().filter(|binding| binding.group == group);
        rows.extend(
            of_group.map(|binding| (Tone::Plain, format!("  {} {}", fit(binding.shown, 4), binding.help))),
        );
    }
    let height = usize::from(area.height).max(1);
    let columns = rows.len().div_ceil(height).max(1);
    let width = usize::from(area.width) / columns;
    for (place, (tone, text)) in rows.into_iter().enumerate() {
        let x = area.x + u16::try_from(place / height * width).unwrap_or(0);
        let y = area.y + u16::try_from(place % height).unwrap_or(0);
        put(
            buffer,
            Rect { x, y, width: u16::try_from(width).unwrap_or(0), height: 1 },
            &[(tone, text)],
            app.paint,
        );
    }
}

/// The last line: what is typed, what is asked once more, what came of a deed, or the keys. The place of the cursor where
/// somebody types.
fn bottom(app: &mut App, body: Rect, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    let paint = app.paint;
    if let Some((question, _)) = &app.confirm {
        let style = Tone::Odd.style(paint).add_modifier(Modifier::REVERSED);
        let text = format!(" {question} y yes, any other key no");
        buffer.set_string(area.x, area.y, fit(&text, usize::from(area.width)), style);
        return None;
    }
    if let Some(typing) = &mut app.typing {
        return Some(typed(typing, body, area, buffer, paint));
    }
    if let Some(said) = &app.said {
        put(buffer, area, &[(Tone::Odd, format!(" {}", one_line(said, 400)))], paint);
        return None;
    }
    put(buffer, area, &key_words(app.view, &shown_keys(app), usize::from(area.width)), paint);
    None
}

/// Keys with what they do, as many as there is room for. How to learn of the others, and how to leave, is always shown.
fn key_words(view: View, keys: &[Command], width: usize) -> Vec<(Tone, String)> {
    let word = |command: &Command| {
        let word = |binding: &Binding| match (view, command) {
            (View::Timeline, Command::Speed(1)) => "nearer",
            (View::Timeline, Command::Speed(_)) => "wider",
            _ => binding.word,
        };
        of(*command).map(|binding| (format!(" {}", binding.shown), format!(" {} ", word(binding))))
    };
    let last: Vec<(String, String)> = [Command::Help, Command::Quit].iter().filter_map(word).collect();
    let taken = |(key, what): &(String, String)| columns(key) + columns(what);
    let mut room = width.saturating_sub(last.iter().map(taken).sum());
    let mut shown: Vec<(String, String)> = Vec::new();
    for word in keys.iter().filter_map(word) {
        let Some(left) = room.checked_sub(taken(&word)) else { break };
        room = left;
        shown.push(word);
    }
    shown.into_iter().chain(last).flat_map(|(key, what)| [(Tone::Strong, key), (Tone::Faint, what)]).collect()
}

/// The keys that are shown: those that do something here.
fn shown_keys(app: &App) -> Vec<Command> {
    let mut keys = Vec::new();
    if question::open(&app.record.state).is_some() && app.replay.is_none() {
        keys.push(Command::Answer);
    }
    if app.replay.is_some() {
        keys.extend([Command::Halt, Command::Speed(1), Command::Speed(-1), Command::Step]);
    }
    match (app.view, app.area) {
        (View::Tasks, Area::Tree) => keys.extend([Command::Enter, Command::Filter]),
        (View::Tasks, Area::Detail) => keys.extend([Command::Back, Command::Search]),
        (View::Timeline, _) => keys.extend([Command::Back, Command::Speed(1), Command::Speed(-1)]),
        (View::Runs, _) => keys.extend([Command::Enter, Command::Back]),
        (View::Costs | View::Help, _) => keys.push(Command::Back),
    }
    if app.holder.is_some() && app.replay.is_none() {
        keys.extend([Command::Tell, Command::Pause, Command::Skip]);
    }
    keys.extend([Command::Timeline, Command::Costs, Command::Runs]);
    let mut seen = Vec::new();
    keys.retain(|key| {
        let is_new = !seen.contains(key);
        seen.push(*key);
        is_new
    });
    keys
}

fn typed(typing: &mut Typing, body: Rect, area: Rect, buffer: &mut Buffer, paint: Paint) -> Position {
    let label = match &mut typing.purpose {
        Purpose::Search => " /".to_owned(),
        Purpose::Tell(Some(task)) => format!(" To the next prompt of {task}: "),
        Purpose::Tell(None) => " To whatever starts next: ".to_owned(),
        Purpose::Answer(answering) => {
            blank(body, buffer);
            let title = format!(
                " Task {} asks. Enter answers, esc leaves it open, page up and down scroll.",
                answering.task
            );
            put(buffer, line(body, 0), &[(Tone::Strong, title)], paint);
            let text = Rect { x: body.x + 1, y: body.y + 2, width: body.width - 2, height: body.height - 3 };
            pager(&mut answering.text, text, buffer, paint);
            let offer = format!(" {}", crate::answer::offer(answering.question));
            put(buffer, line(body, body.height - 1), &[(Tone::Odd, offer)], paint);
            " Your answer: ".to_owned()
        }
    };
    if let Some(problem) = &typing.problem {
        let at = line(body, body.height - 1);
        blank(at, buffer);
        put(buffer, at, &[(Tone::Bad, format!(" {}", one_line(problem, 400)))], paint);
    }
    let (before, after) = typing.field.parts();
    // The end of a long line is what is typed at.
    let room = usize::from(area.width).saturating_sub(columns(&label) + 2);
    let mut seen: String = before;
    while columns(&seen) > room {
        seen = seen.chars().skip(1).collect();
    }
    let at = area.x + u16::try_from(columns(&label) + columns(&seen)).unwrap_or(0);
    put(buffer, area, &[(Tone::Odd, label), (Tone::Plain, seen), (Tone::Plain, after)], paint);
    Position { x: at, y: area.y }
}

fn blank(area: Rect, buffer: &mut Buffer) {
    let spaces = " ".repeat(usize::from(area.width));
    for row in area.top()..area.bottom() {
        buffer.set_string(area.x, row, &spaces, Style::reset());
    }
}
