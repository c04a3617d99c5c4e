//! Whatever an agent prints is read without a panic, and in a bounded way.

use engine::{Claim, Dialect, Role, contradiction};
use proptest::prelude::*;

/// Text that is made of what claims are made of, and of anything else.
fn message() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("TASK_COMPLETE".to_owned()),
        Just("Task 1.3: name FAILED".to_owned()),
        Just("- Error: ".to_owned()),
        Just("status: failure".to_owned()),
        Just("status: ".to_owned()),
        Just("```yaml".to_owned()),
        Just("```".to_owned()),
        Just("error: {a: [b".to_owned()),
        Just("“requires manual".to_owned()),
        Just("`\"".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n\r".to_owned()),
        Just("  - ".to_owned()),
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.join("\n"))
}

proptest! {
    #[test]
    fn any_message_is_read(message in message()) {
        for dialect in [Dialect::Spec, Dialect::Phase] {
            let claim = Claim::read(&message, dialect, Role::Executor);
            prop_assert_eq!(&claim, &Claim::read(&message, dialect, Role::Executor));
            if let Claim::Failed(failed) = claim {
                prop_assert!(!failed.error.contains('\n') || dialect == Dialect::Phase || message.contains("status:"));
            }
        }
        let admission = contradiction(&message);
        prop_assert!(admission.is_none_or(|phrase| message.to_lowercase().contains("manual") || phrase != "requires manual"));
    }

    #[test]
    fn a_claim_of_another_line_is_none(before in "[a-z ]{0,9}[a-z]", after in "[a-z][a-z ]{0,9}") {
        let message = format!("{before} TASK_COMPLETE {after}");
        prop_assert_eq!(Claim::read(&message, Dialect::Spec, Role::Executor), Claim::Silent);
    }
}
