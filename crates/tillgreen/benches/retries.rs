//! What failures cost beyond the agents that they start: a plan of a thousand tasks, one in ten of which fails
//! once, against the same plan without failures, per agent start.

mod scratch;

use scratch::{Scratch, Taken, megabytes};

const TASKS: u32 = 1_000;
const PLANS: u32 = 10;

/// Fails the first attempt at every tenth task when it is told to.
const AGENT: &str = r#"#!/bin/sh
cat > /dev/null
n=${TILLGREEN_TASK_ID##*-}
if [ -f fails ] && [ "$TILLGREEN_ATTEMPT" = 1 ] && [ $((n % 10)) = 0 ]; then
    printf 'status: failure\nerror: not today\nsuggested_fix: tomorrow\n'
    exit 0
fi
echo work > "src/$TILLGREEN_TASK_ID.txt"
printf 'status: success\n'
"#;

fn main() {
    let smooth = run(&[]);
    let bumpy = run(&[("fails".to_owned(), "yes\n".to_owned())]);
    let starts = f64::from(TASKS + TASKS / 10) / f64::from(TASKS);
    let ratio = bumpy.time.as_secs_f64() / smooth.time.as_secs_f64() / starts;
    println!(
        "{TASKS} tasks, one in ten fails once: {ratio:.2} times the time per agent start of a run without failures; \
         {:.1} MB against {:.1} MB, {:.1?} of its own against {:.1?}",
        megabytes(bumpy.memory),
        megabytes(smooth.memory),
        bumpy.busy,
        smooth.busy
    );
}

fn run(more: &[(String, String)]) -> Taken {
    let mut files = vec![("src/.keep".to_owned(), String::new())];
    for plan in 1..=PLANS {
        files.push((format!("plans/01-{plan:02}-PLAN.md"), text(plan)));
    }
    files.extend(more.iter().cloned());
    Scratch::new(AGENT, &files)
        .run(&["run", "plans", "--agent-cmd", "./agent.sh", "--max-global-iterations", "1000000"], &[])
}

fn text(plan: u32) -> String {
    let mut text =
        format!("---\nphase: 01-bench\nplan: {plan:02}\nwave: {plan}\ndepends_on: []\n---\n\n<tasks>\n");
    for number in 1..=TASKS / PLANS {
        text.push_str(&format!(
            "<task type=\"auto\">\n  <name>Task {number}: Write a file</name>\n  <files>src/01-{plan:02}:task-{number}.txt</files>\n  \
             <action>Write it</action>\n  <verify>test -f src/01-{plan:02}:task-{number}.txt</verify>\n  <done>It is there</done>\n</task>\n\n"
        ));
    }
    text.push_str("</tasks>\n");
    text
}
