//! What a task's text, prompts and logs say, put together for people. Only reads.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use plan::{Plan, TaskId};
use runner::{AgentKind, KeptText};

use crate::error::Error;
use crate::settings::{FileSettings, find_agent};
use crate::view::subject::Subject;
use crate::view::task_report::{AttemptReport, TaskReport};
use crate::view::task_text::Section;

/// Those who print besides the verify command.
const AGENTS: [&str; 2] = ["agent", "judge"];
/// The two outputs of a process.
const STREAMS: [&str; 2] = ["standard output", "standard error"];

/// What tells whether files are as they were: the time of the last change, and the bytes. The end of a long output is
/// replaced in place.
pub(crate) type Stamp = (Option<SystemTime>, u64);

/// The stamp of files, of which some may not be there yet.
pub(crate) fn stamp(paths: &[PathBuf]) -> Stamp {
    let all = paths.iter().filter_map(|path| fs::metadata(path).ok());
    all.fold((None, 0), |(changed, bytes), metadata| {
        (changed.max(metadata.modified().ok()), bytes + metadata.len())
    })
}

/// The task as the plan has it; one that lives in the record alone has no text.
pub(crate) fn planned(subject: &Subject, plans: &[(PathBuf, Plan)], id: &TaskId) -> TaskReport {
    let found = plans.iter().find_map(|(_, plan)| Some((plan, plan.task(id)?)));
    let of = (subject.name.as_str(), subject.path.as_str());
    match found {
        Some((plan, task)) => TaskReport::planned(of, id, plan.short_title(task), &plan.fields(task)),
        None => TaskReport::planned(of, id, "", &plan::Fields::default()),
    }
}

/// The feedback that an attempt was given, taken out of its prompt. Where that is gone, nothing is known.
pub(crate) fn feedback(attempt: &AttemptReport) -> Option<String> {
    const END: &str = "</retry_context>";
    let prompt = attempt.files.as_ref()?.read(KeptText::Prompt).ok()??;
    let begin = prompt.find("<retry_context ")?;
    let end = prompt.rfind(END)?;
    prompt.get(begin..end + END.len()).map(str::to_owned)
}

/// Everything that was printed in the course of an attempt, in the order in which it was.
pub(crate) fn sections(attempt: &AttemptReport) -> Result<Vec<Section>, Error> {
    let agent = [KeptText::AgentOutput, KeptText::AgentErrors];
    let verify = [KeptText::VerifyOutput, KeptText::VerifyErrors];
    let own = attempt
        .files
        .iter()
        .flat_map(|files| [(AGENTS[0], files.clone(), agent), ("verify command", files.clone(), verify)]);
    let judges = attempt.judges.iter().map(|files| (AGENTS[1], files.clone(), agent));
    let joined = attempt
        .files
        .iter()
        .map(|files| ("verify command on all that came together", files.joined(), verify));
    let mut sections = Vec::new();
    for (of, files, texts) in own.chain(judges).chain(joined) {
        for (stream, text) in STREAMS.into_iter().zip(texts) {
            let kept = files.read(text).map_err(|error| Error::file("read", files.dir(), error))?;
            sections.extend(kept.map(|text| Section { of, stream, text }));
        }
    }
    Ok(sections)
}

/// The kind of an attempt's agent, where the settings still know it.
pub(crate) fn agent_kind(root: &Path, attempt: &AttemptReport) -> Option<AgentKind> {
    // Settings that cannot be read are no reason to show nothing.
    let settings = FileSettings::load(root).unwrap_or_default();
    attempt.agent().and_then(|name| find_agent(name, &settings)).map(|agent| agent.kind)
}

/// Replaces an agent's JSON by words, where its language is known.
pub(crate) fn retold(kind: Option<&AgentKind>, sections: Vec<Section>) -> Vec<Section> {
    let retell = |section: Section| {
        let transcript = kind.and_then(|kind| runner::transcript(kind, &section.text));
        match transcript.filter(|_| AGENTS.contains(&section.of) && section.stream == STREAMS[0]) {
            Some(transcript) => Section::retold(section.of, &transcript),
            None => section,
        }
    };
    sections.into_iter().map(retell).collect()
}
