//! From when on the forge may be asked again, after it was asked too much.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::call::Caller;
use super::command::ForgeCommand;
use super::json::{document, number};
use super::setback::{Away, Setback};

/// What is waited at least and at most: a clock may be wrong.
const WAIT_MIN: Duration = Duration::from_secs(1);
const WAIT_MAX: Duration = Duration::from_secs(2 * 60 * 60);

/// The same setback, with the time after which the limit is lifted where the forge tells.
pub(super) fn with_reset(setback: Setback, caller: &Caller, host: Option<&str>) -> Setback {
    match (setback, host) {
        (Setback::Unavailable { reason, retry_after: None, away: Away::Limited }, Some(host)) => {
            let told = document(&caller.call(&ForgeCommand::rate_limit(host))).ok();
            let retry_after = told.and_then(|told| wait(&told, Timestamp::now()));
            Setback::Unavailable { reason, retry_after, away: Away::Limited }
        }
        (setback, _) => setback,
    }
}

/// How long all that is used up takes to be lifted.
fn wait(told: &Value, now: Timestamp) -> Option<Duration> {
    let resources = ["/resources/core", "/resources/graphql"].map(|path| told.pointer(path));
    let used_up =
        resources.into_iter().flatten().filter(|resource| number(resource, "/remaining") == Some(0));
    let reset = used_up.filter_map(|resource| number(resource, "/reset")).max()?;
    let reset = Timestamp::from_second(i64::try_from(reset).ok()?).ok()?;
    let wait = Duration::try_from(reset.duration_since(now)).unwrap_or_default();
    Some(wait.clamp(WAIT_MIN, WAIT_MAX))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_used_up_decides() {
        let check = |core: (u64, u64), graphql: (u64, u64), expected: Option<u64>| {
            let resource = |(remaining, reset): (u64, u64)| json!({"remaining": remaining, "reset": reset});
            let told = json!({"resources": {"core": resource(core), "graphql": resource(graphql)}});
            let now = Timestamp::from_second(1_000).expect("a moment");
            assert_eq!(wait(&told, now), expected.map(Duration::from_secs), "{told}");
        };
        check((5, 9_000), (0, 1_600), Some(600));
        check((0, 1_300), (0, 1_600), Some(600));
        check((5, 9_000), (5, 9_000), None);
        check((0, 10), (5, 9_000), Some(1));
        check((0, u64::MAX), (5, 9_000), None);
        check((0, 1_000_000), (5, 9_000), Some(7_200));
        assert_eq!(wait(&json!({"resources": 7}), Timestamp::UNIX_EPOCH), None);
    }
}
