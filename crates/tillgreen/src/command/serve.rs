//! `tillgreen serve`: runs on a page in a browser. Takes no part in them; what is told to them goes through their inboxes.

use std::io::{self, Write};

use serde_json::json;

use crate::args::{Format, ServeArgs};
use crate::cli::{Context, Ended};
use crate::error::Error;
use crate::exit;
use crate::serve::{Serving, serve};
use crate::settings::FileSettings;
use crate::view::json;

/// Serves until it is ended.
pub(crate) fn run(context: &mut Context, arguments: &ServeArgs) -> Ended {
    let project = context.project()?;
    project.refuse_foreign_record()?;
    // What is wrong with the settings is said where they count.
    FileSettings::load(project.root()).unwrap_or_default().mask();
    let address = arguments.listen;
    if !address.ip().is_loopback() {
        let warning = "warning: whoever can reach this address and has the token can steer your runs, and nothing on the way \
                       is encrypted; an ssh tunnel to a port on loopback would be";
        // Where nobody reads it, serving is what was asked for all the same.
        let _ = writeln!(io::stderr(), "{warning}");
    }
    let (format, out) = (context.format, &mut context.out);
    serve(Serving { project, address }, |url| {
        match format {
            Format::Json => json::line(out, &json!({ "url": url }))?,
            Format::Text => {
                writeln!(out, "Open {url}")?;
                out.flush()?;
            }
        }
        Ok::<(), Error>(())
    })?;
    Ok(exit::DONE)
}
