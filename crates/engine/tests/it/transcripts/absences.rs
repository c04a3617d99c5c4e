//! Transcripts: agents that cannot be had.

use insta::assert_snapshot;

use crate::transcript::show;

#[test]
fn agent_away() {
    assert_snapshot!(show("agent away"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 agent away, 1, until 14:31:02
    1.1 attempt 1 (executor)
    1.1 agent away, 2, until 14:32:05
    1.1 attempt 1 (executor)
    1.1 agent away, 3, until 14:33:10
    1.1 attempt 1 (executor)
    1.1 agent away, 4, until 14:34:19
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn agent_away_and_says_until_when() {
    assert_snapshot!(show("agent away and says until when"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 agent away, 1, until 14:47:41
    1.1 attempt 1 (executor)
    1.1 agent away, 2, until 15:05:22
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn agent_stays_away() {
    assert_snapshot!(show("agent stays away"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 agent away, 1, until 14:31:02
    1.1 attempt 1 (executor)
    1.1 agent away, 2, until 14:32:05
    1.1 attempt 1 (executor)
    1.1 agent away, 3, until 14:33:10
    ended: {"unavailable":{"reason":"overloaded"}}
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 agent away, 1, until 14:34:08
    1.1 attempt 1 (executor)
    1.1 agent away, 2, until 14:35:11
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}

#[test]
fn judge_away() {
    assert_snapshot!(show("judge away"), @r#"
    opened, round 1
    1.1 attempt 1 (executor)
    1.1 agent away, 1, until 14:31:02
    1.1 attempt 1 (executor)
    1.1 claims success
    1.1 checks green, Qa judges
    1.1 judge started
    1.1 agent away, 1, until 14:33:10
    1.1 judge started
    1.1 agent away, 2, until 14:34:13
    1.1 judge started
    1.1 judge says yes
    1.1 done, commit c1
    ended: {"complete":{"skipped":0}}
    [x] 1.1
    "#);
}
