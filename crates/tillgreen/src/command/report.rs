//! `tillgreen report`: a run for whoever reviews its work. Takes no part in it: it only reads.

use std::fs;

use jiff::Timestamp;

use crate::args::{Format, ReportArgs};
use crate::cli::{Context, Ended};
use crate::command::{check, status};
use crate::error::Error;
use crate::exit;
use crate::inspect::record::Record;
use crate::settings::FileSettings;
use crate::view::report::{Report, Source, page};
use crate::view::{ci, json};

/// Writes the report of a plan's run.
pub(crate) fn run(context: &mut Context, arguments: &ReportArgs) -> Ended {
    let project = context.project()?;
    let (file, subject) = context.plan(&project, arguments.plan.as_deref())?;
    // What is wrong with the settings is said where they count.
    FileSettings::load(project.root()).unwrap_or_default().mask();
    let record = Record::read(&file.journal())?;
    if let Some(problem) = &record.problem {
        return Err(Error::usage(problem.clone()).hint("`tillgreen status` says more"));
    }
    if record.events.is_empty() {
        return Err(Error::usage(format!("'{}' has not been run yet", subject.name))
            .hint(format!("start it with {}", subject.command("run", ""))));
    }
    let holder = status::holder_of(&file)?;
    let source =
        Source { subject: &subject, record: &record, holder: holder.as_ref(), now: Timestamp::now() };
    let text = if arguments.markdown {
        runner::forge::description(&record.state, &subject.name)
    } else if arguments.junit {
        ci::junit(&subject, &record.state)
    } else {
        let report = Report::of(source);
        match context.format {
            Format::Json => json::text(&report),
            // A plan that cannot be read any more has a record all the same.
            Format::Text => page(&report, source, &check::read(&file).unwrap_or_default()),
        }
    };
    let text = runner::mask(&text);
    match &arguments.output {
        None => context.out.write_all(text.as_bytes())?,
        Some(path) => fs::write(context.dir.join(path), text).map_err(|source| {
            Error::file("write", path, source).hint("see that the folder exists and that you may write there")
        })?,
    }
    Ok(exit::DONE)
}
