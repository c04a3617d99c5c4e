//! Where a chart goes; the name says in which form.

use std::path::PathBuf;

/// A file for a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChartFile {
    /// Where.
    pub(crate) path: PathBuf,
    /// In which form.
    pub(crate) kind: ChartKind,
}

/// The form of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChartKind {
    /// A picture.
    Svg,
    /// A page with the picture and a table.
    Html,
}

impl ChartFile {
    /// A file as named by a person.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        let kind = match extension.as_deref() {
            Some("svg") => ChartKind::Svg,
            Some("html" | "htm") => ChartKind::Html,
            Some(_) | None => return Err("must end in .svg or .html".to_owned()),
        };
        Ok(Self { path, kind })
    }
}
