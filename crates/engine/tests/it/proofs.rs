//! Tables about the final proof: when it is wanted, what it is a fact about, and what ends a run without it.

use engine::{
    Attempt, End, Opening, Proof, ProofVerdict, Prove, PullRequestRules, Rules, Rung, Seen, Toggle, What,
};

use crate::decisions::Case;
use crate::people::{proved, red_proof};
use crate::script::plan;

/// A run that has nothing left to do but its proof.
fn done() -> Case {
    Case::until("proof green", |what| *what == What::RegressionPassed)
}

fn proof(case: &Case, verdict: &ProofVerdict) -> Proof {
    proved(&case.state, verdict)
}

fn taken(proof: Proof) -> Seen {
    Seen::ProofTaken { proof: Box::new(proof) }
}

#[test]
fn a_proof_comes_after_the_regression_command_and_before_the_end() {
    let mut case = done();
    assert_eq!(case.wanted(), ["prove"]);
    assert_eq!(case.due(), None);
    let proof = proof(&case, &red_proof());
    assert_eq!(case.see(taken(proof.clone())), Some(What::Proved(Box::new(proof))));
    assert_eq!(case.wanted(), [""; 0]);
    assert_eq!(case.due(), Some(What::Ended(End::Complete { skipped: 0 })));
    let red: Vec<String> =
        case.state.proof().into_iter().flat_map(Proof::red).map(|red| red.task.to_string()).collect();
    assert_eq!(red, ["1.1"], "what was ticked before is none of the run's claims");
    let record = case.state.task(&"1.1".into()).and_then(|task| task.proof.clone()).expect("a record");
    assert_eq!((record.commit.as_str(), record.tree.as_str()), ("4ead", "7ree"));
}

#[test]
fn a_late_proof_says_nothing_of_a_plan_that_has_changed() {
    let mut case = done();
    let late = taken(proof(&case, &ProofVerdict::NotReached));
    case.see(Seen::PlanRead(plan(&["1.1 done", "1.2 done", "1.3"])));
    assert_eq!(case.see(late), None);
    assert!(!case.wanted().contains(&"prove".to_owned()));
}

#[test]
fn an_interrupted_proof_leaves_a_complete_run() {
    let mut case = done();
    assert_eq!(case.see(Seen::Interrupted), Some(What::Ended(End::Complete { skipped: 0 })));
    assert!(case.state.lacks_proof());
}

#[test]
fn time_that_is_up_ends_the_proof_only() {
    let mut case = done();
    let mut rules = case.state.rules().expect("rules").clone();
    rules.limits.time_max = Some(std::time::Duration::from_secs(1));
    case.open(&plan(&["1.1 done", "1.2 done"]), rules);
    case.now = case.now.checked_add(jiff::SignedDuration::from_hours(1)).expect("a time");
    assert_eq!(case.due(), Some(What::Ended(End::Complete { skipped: 0 })));
}

#[test]
fn nothing_is_pushed_after_an_interrupted_proof() {
    let mut case = done();
    let rules = case.state.rules().expect("rules").clone();
    let pull_request = PullRequestRules { lifecycle: Toggle::On, ..PullRequestRules::default() };
    case.open(&plan(&["1.1 done", "1.2 done"]), Rules { pull_request, ..rules });
    assert_eq!(case.wanted(), ["prove"]);
    assert_eq!(case.see(Seen::Interrupted), Some(What::Ended(End::Interrupted)));
}

#[test]
fn a_commit_that_was_proved_is_not_proved_again() {
    for (verdict, head, is_wanted) in [
        (ProofVerdict::Green { exit_code: 0 }, "4ead", false),
        (red_proof(), "4ead", false),
        (ProofVerdict::LeftOut { reason: "it asks git".to_owned() }, "4ead", false),
        (ProofVerdict::Green { exit_code: 0 }, "5eed", true),
        (ProofVerdict::NotProved { reason: "no .venv".to_owned() }, "4ead", true),
        (ProofVerdict::NotReached, "4ead", true),
    ] {
        let mut case = done();
        let proof = proof(&case, &verdict);
        case.see(taken(proof));
        case.due().expect("the end");
        let rules = case.state.rules().expect("rules").clone();
        let tasks = plan(&["1.1 done", "1.2 done"]);
        let head = Some(head.to_owned());
        case.see(Seen::Started(Opening { rules, tasks, head: head.clone(), ..Opening::default() }));
        assert_eq!(case.state.lacks_proof(), is_wanted, "{verdict:?} {head:?}");
    }
}

#[test]
fn surroundings_are_what_is_there_when_a_run_begins() {
    let tasks = plan(&["1.1"]);
    let start = |paths: &[&str]| {
        let rules = Rules { prove: Prove::Report, ..Rules::default() };
        let surroundings = paths.iter().map(|path| (*path).to_owned()).collect();
        Seen::Started(Opening { rules, tasks: tasks.clone(), surroundings, ..Opening::default() })
    };
    let mut case = Case::until("proof green", |_| true);
    case.state = engine::State::default();
    case.see(start(&[".venv/"]));
    case.see(Seen::Interrupted);
    case.see(start(&[".venv/", "out.txt"]));
    assert_eq!(case.state.surroundings(), Some(&[".venv/".to_owned()][..]));
}

#[test]
fn what_a_run_left_is_no_surroundings_of_the_next_until_it_is_proved() {
    let tasks = || plan(&["1.1 done", "1.2 done"]);
    for (verdict, expected) in [
        (Some(ProofVerdict::Green { exit_code: 0 }), vec!["out/"]),
        (Some(red_proof()), vec![]),
        (None, vec![]),
    ] {
        let mut case = done();
        let rules = case.state.rules().expect("rules").clone();
        let open = |prove: Prove, surroundings: &[&str]| {
            let rules = Rules { prove, ..rules.clone() };
            let surroundings = surroundings.iter().map(|path| (*path).to_owned()).collect();
            Seen::Started(Opening { rules, tasks: tasks(), surroundings, ..Opening::default() })
        };
        match &verdict {
            Some(verdict) => {
                let proof = proof(&case, verdict);
                case.see(taken(proof));
            }
            None => {
                case.see(open(Prove::Off, &["out/"]));
            }
        }
        assert_eq!(case.due(), Some(What::Ended(End::Complete { skipped: 0 })), "{verdict:?}");
        case.see(open(Prove::Report, &["out/"]));
        assert_eq!(case.state.surroundings().unwrap_or_default(), expected, "{verdict:?}");
    }
}

/// A run of two tasks that has nothing left to do but its proof, which is required.
fn required() -> Case {
    let mut case = Case::until(
        "proof required",
        |what| matches!(what, What::TaskDone { task, .. } if *task == "1.2".into()),
    );
    assert_eq!(case.wanted(), ["prove"]);
    case.due();
    case
}

fn reopened(what: Option<What>) -> (String, Rung, String) {
    let Some(What::Reopened { task, failure }) = what else { panic!("{what:?}") };
    (task.to_string(), failure.rung, failure.error.clone() + "\n" + &failure.details)
}

#[test]
fn what_is_red_has_to_be_mended_where_that_is_required() {
    let mut case = required();
    let mut proof = proof(&case, &red_proof());
    if let ProofVerdict::Red { differs, .. } = &mut proof.results[1].verdict {
        *differs = None;
    }
    case.see(taken(proof));
    let (task, rung, told) = reopened(case.due());
    assert_eq!((task.as_str(), rung), ("1.1", Rung::Retry));
    assert!(
        told.starts_with(
            "its command is red in a clean checkout (`out.txt` is ignored by git): 1 failed
"
        ),
        "{told}"
    );
    assert_eq!(reopened(case.due()).0, "1.2", "all of them before anybody starts");
    assert_eq!(case.due(), Some(What::RetryPlanned { task: "1.1".into(), attempt: Attempt(2) }));
}

#[test]
fn what_one_difference_makes_red_is_mended_once() {
    let mut case = required();
    let proof = proof(&case, &red_proof());
    case.see(taken(proof));
    let (task, _, told) = reopened(case.due());
    assert_eq!(task, "1.1");
    assert!(told.contains("- task 1.1 (") && told.contains("- task 1.2 ("), "{told}");
    assert_eq!(case.due(), Some(What::RetryPlanned { task: "1.1".into(), attempt: Attempt(2) }));
}

#[test]
fn who_broke_it_later_has_to_mend_it() {
    let mut case = required();
    let mut proof = proof(&case, &ProofVerdict::Green { exit_code: 0 });
    let error = "1 failed".to_owned();
    proof.results[0].verdict = ProofVerdict::Superseded { by: vec!["1.2".into()], exit_code: Some(1), error };
    case.see(taken(proof));
    let (task, rung, told) = reopened(case.due());
    assert_eq!((task.as_str(), rung), ("1.2", Rung::Retry));
    let expected = "the command of task 1.1 is red in a clean checkout since this task's commit: 1 failed
";
    assert!(told.starts_with(expected), "{told}");
    assert!(told.contains("- task 1.1: `make test`: 1 failed\n"), "{told}");
    assert_eq!(case.due(), Some(What::RetryPlanned { task: "1.2".into(), attempt: Attempt(2) }));
}
