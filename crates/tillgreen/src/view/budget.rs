//! The budget of a run, for people to read before it begins: also what of it cannot be held.

use engine::{Limits, State};
use runner::{Agent, AgentKind, Settings};

use super::text::took;
use super::usage::grouped;
use crate::settings::format_dollars;

/// The caps on spending, a line each, and who cannot be held to them.
pub(crate) fn lines(state: &State, settings: &Settings) -> Vec<String> {
    let Some(limits) = state.rules().map(|rules| &rules.limits) else { return Vec::new() };
    let mut caps: Vec<String> = Vec::new();
    caps.extend(limits.cost_micros_max.map(|micros| format!("${} are spent", format_dollars(micros))));
    caps.extend(limits.tokens_max.map(|tokens| format!("{} tokens are used", grouped(tokens))));
    caps.extend(limits.time_max.map(|time| format!("{} have passed", took(time))));
    if caps.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![format!("Stop when {}", caps.join(" or "))];
    lines.extend(unheld(limits, settings));
    lines
}

/// The agents that tell too little to be stopped by a cap. Nobody should find that out by the bill.
fn unheld(limits: &Limits, settings: &Settings) -> Vec<String> {
    let one = std::slice::from_ref(&settings.agent);
    let agents = if settings.agents.is_empty() { one } else { &settings.agents };
    let names = |is_silent: &dyn Fn(&&Agent) -> bool| {
        let names: Vec<&str> = agents.iter().filter(is_silent).map(|agent| agent.name.as_str()).collect();
        (!names.is_empty()).then(|| names.join(" and "))
    };
    let costs = limits.cost_micros_max.and_then(|_| names(&|agent| !agent.kind.support().cost));
    let tokens = limits.tokens_max.and_then(|_| names(&|agent| !agent.kind.support().usage));
    let tells_use = |agent: &Agent| agent.kind.support().cost || agent.kind.support().usage;
    let instead = if agents.iter().all(tells_use) { "--max-tokens or --max-time" } else { "--max-time" };
    let costs = costs.map(|names| {
        format!("--max-cost does not hold {names}: what it costs is never told and counts as nothing; {instead} would")
    });
    let tokens = tokens.map(|names| {
        format!("--max-tokens does not hold {names}: what it uses is never told and counts as nothing; --max-time would")
    });
    let maybe = names(&|agent| agent.kind == AgentKind::Acp);
    let maybe = maybe.filter(|_| limits.cost_micros_max.or(limits.tokens_max).is_some());
    let maybe =
        maybe.map(|names| format!("{names} can be held to that only as far as it tells what it uses"));
    costs.into_iter().chain(tokens).chain(maybe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::samples::{self, Story};
    use engine::Rules;

    fn said(limits: Limits, kind: AgentKind) -> String {
        let state = Story::new(Rules { limits, ..Rules::default() }).state();
        lines(&state, &samples::settings(Agent::new("it", kind, "it"))).join("\n")
    }

    #[test]
    fn who_tells_nothing_is_not_held() {
        let limits =
            Limits { cost_micros_max: Some(5_000_000), tokens_max: Some(500_000), ..Limits::default() };
        assert_eq!(
            said(limits.clone(), AgentKind::Claude),
            "Stop when $5.00 are spent or 500 000 tokens are used"
        );
        insta::assert_snapshot!(said(limits.clone(), AgentKind::Codex), @"
        Stop when $5.00 are spent or 500 000 tokens are used
        --max-cost does not hold it: what it costs is never told and counts as nothing; --max-tokens or --max-time would
        ");
        insta::assert_snapshot!(said(limits, AgentKind::Command), @"
        Stop when $5.00 are spent or 500 000 tokens are used
        --max-cost does not hold it: what it costs is never told and counts as nothing; --max-time would
        --max-tokens does not hold it: what it uses is never told and counts as nothing; --max-time would
        ");
        assert_eq!(said(Limits::default(), AgentKind::Command), "");
        let time = Limits { time_max: Some(std::time::Duration::from_secs(90)), ..Limits::default() };
        assert_eq!(said(time.clone(), AgentKind::Acp), "Stop when 1m 30s have passed");
        let tokens = Limits { tokens_max: Some(5), ..time };
        assert_eq!(said(tokens, AgentKind::Acp).lines().count(), 2);
    }
}
