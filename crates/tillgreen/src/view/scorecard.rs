//! The scorecard of an agent that was put to the test.

use std::path::Path;

use rehearsal::Score;
use serde::Serialize;

use super::paint::Paint;
use super::text::clean;

/// The card for programs.
#[derive(Serialize)]
pub(crate) struct Card<'a> {
    agent: &'a str,
    passed: bool,
    parts: Vec<Row<'a>>,
    /// Where everything is, if it was kept.
    folder: Option<&'a Path>,
}

/// One part of it.
#[derive(Serialize)]
struct Row<'a> {
    part: &'static str,
    passed: bool,
    problems: &'a [String],
    /// How often the scripted model was asked.
    requests: usize,
    elapsed_ms: u64,
}

/// The card for programs.
pub(crate) fn document<'a>(agent: &'a str, scores: &'a [Score], folder: Option<&'a Path>) -> Card<'a> {
    let parts = scores.iter().map(|score| Row {
        part: score.part.name(),
        passed: score.is_passed(),
        problems: &score.problems,
        requests: score.requests,
        elapsed_ms: u64::try_from(score.elapsed.as_millis()).unwrap_or(u64::MAX),
    });
    Card { agent, passed: scores.iter().all(Score::is_passed), parts: parts.collect(), folder }
}

/// One part for people.
pub(crate) fn line(score: &Score, paint: Paint) -> String {
    let mark = if score.is_passed() { paint.good("✓") } else { paint.bad("✗") };
    let asked = match score.requests {
        0 => "the model was not asked".to_owned(),
        1 => "the model was asked once".to_owned(),
        count => format!("the model was asked {count} times"),
    };
    let seconds = score.elapsed.as_secs_f64();
    let mut text = format!("{mark} {:8}{seconds:6.1}s  {}\n", score.part.name(), paint.faint(&asked));
    if !score.is_passed() {
        text.push_str(&format!("    wanted: {}\n", score.part.wanted()));
    }
    for problem in &score.problems {
        text.push_str(&format!("    {}\n", clean(problem)));
    }
    text
}

/// The lines after the last part.
pub(crate) fn summary(scores: &[Score], folder: Option<&Path>) -> String {
    let passed = scores.iter().filter(|score| score.is_passed()).count();
    let kept = folder.map(|folder| format!("; what happened is in {}", folder.display()));
    format!("\n{passed} of {} parts passed{}\n", scores.len(), kept.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rehearsal::Part;

    use super::*;

    fn scores() -> Vec<Score> {
        let score = |part, problems: &[&str], requests| Score {
            part,
            problems: problems.iter().map(|&problem| problem.to_owned()).collect(),
            requests,
            elapsed: Duration::from_millis(1_250),
        };
        vec![score(Part::Success, &[], 2), score(Part::Hang, &["it \u{1b}[31mended"], 0)]
    }

    #[test]
    fn people_see_what_was_wanted() {
        let scores = scores();
        let lines: String = scores.iter().map(|score| line(score, Paint::Plain)).collect();
        insta::assert_snapshot!(lines + &summary(&scores, Some(Path::new("/scratch"))), @r"
        ✓ success    1.2s  the model was asked 2 times
        ✗ hang       1.2s  the model was not asked
            wanted: Wait for ever
            it ␛[31mended

        1 of 2 parts passed; what happened is in /scratch
        ");
    }

    #[test]
    fn programs_see_the_same() {
        let scores = scores();
        let text = serde_json::to_string(&document("a", &scores[..1], None)).unwrap();
        insta::assert_snapshot!(text, @r#"{"agent":"a","passed":true,"parts":[{"part":"success","passed":true,"problems":[],"requests":2,"elapsed_ms":1250}],"folder":null}"#);
    }
}
