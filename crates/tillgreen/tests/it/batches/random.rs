//! Batches made up from a seed: members of all tempers, some runs killed on the way. Each ends with the tree of a run one
//! by one with the same agents.

use std::fs;

use testkit::{Agent, Signal, Step, wait_for};

use super::scene::{JOURNAL, Scene, done, members, work};

const SEEDS: u64 = 4;
const MEMBERS_MAX: usize = 9;

/// What a member does at its first attempt, or always. Every one of them passes in the end.
#[derive(Clone, Copy, Debug)]
enum Temper {
    Good,
    /// Changes what others change as well.
    Sociable,
    /// Leaves something half done and fails once.
    Clumsy,
    /// Claims success without having done anything, once.
    Liar,
    /// Commits, on a branch of its own.
    Independent,
    /// Changes files that are not its own, and the plan.
    Nosy,
    /// Fails and deletes what is everybody's, once.
    Destructive,
}

const TEMPERS: [Temper; 7] = [
    Temper::Good,
    Temper::Sociable,
    Temper::Clumsy,
    Temper::Liar,
    Temper::Independent,
    Temper::Nosy,
    Temper::Destructive,
];

/// A sequence of numbers that looks random and is the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits fit") % limit
    }
}

fn agent(tempers: &[Temper]) -> Agent {
    // Sorted, so that the order in which members come back does not show.
    let join = || {
        Step::shell(
            "grep -qx $TILLGREEN_TASK_ID base.txt || echo $TILLGREEN_TASK_ID >> base.txt; sort -o base.txt base.txt",
        )
    };
    let mut agent = Agent::new();
    for (index, temper) in tempers.iter().enumerate() {
        let id = format!("1.{}", index + 1);
        agent = match temper {
            Temper::Good => agent,
            Temper::Sociable => agent.on(&id, [join(), work(), done()]),
            Temper::Clumsy => {
                agent.on_attempt(&id, 1, [Step::write(&format!("half-{id}"), "half\n"), Step::Exit(3)])
            }
            Temper::Liar => agent.on_attempt(&id, 1, [done()]),
            Temper::Independent => {
                let branch = format!("git switch -q -c side-{id} 2>/dev/null");
                agent.on(&id, [Step::shell(&branch), work(), Step::commit("mine"), done()])
            }
            Temper::Nosy => {
                let notes = format!("notes/{id}.md");
                agent.on(&id, [Step::write(&notes, "x\n"), work(), done()])
            }
            Temper::Destructive => agent
                .on_attempt(&id, 1, [Step::Delete("base.txt".to_owned()), Step::Exit(4)])
                .on(&id, [Step::shell("git checkout -q HEAD -- base.txt"), work(), done()]),
        };
    }
    agent.otherwise([work(), done()])
}

/// Runs it; some die on the way and are started again.
fn side_by_side(tempers: &[Temper], jobs: usize, dies_after: Option<usize>) -> Scene {
    let scene = Scene::new(&members(tempers.len()));
    let jobs = jobs.to_string();
    let flags = ["--jobs", &jobs, "--max-task-iterations", "20"];
    if let Some(count) = dies_after {
        let mut run = scene.begin(&agent(tempers), &flags);
        let events = || fs::read_to_string(scene.root().join(JOURNAL)).unwrap_or_default().lines().count();
        wait_for("events", || events() > count || !run.is_running());
        run.signal(Signal::Kill);
        run.wait();
    }
    let run = scene.go(&agent(tempers), &flags).expect_code(0);
    scene.expect_complete(&run);
    scene
}

#[test]
fn any_batch_ends_like_a_run_one_by_one() {
    for seed in 1..=SEEDS {
        let mut numbers = Numbers(seed);
        let count = 2 + numbers.below(MEMBERS_MAX - 1);
        let temper = |numbers: &mut Numbers| TEMPERS[numbers.below(TEMPERS.len())];
        let tempers: Vec<Temper> = (0..count).map(|_| temper(&mut numbers)).collect();
        let jobs = 2 + numbers.below(count);
        let dies_after = (numbers.below(2) == 0).then(|| 2 + numbers.below(6 * count));
        let scene = side_by_side(&tempers, jobs, dies_after);
        let alone = Scene::new(&members(tempers.len()));
        alone.go(&agent(&tempers), &["--jobs", "1", "--max-task-iterations", "20"]).expect_code(0);
        assert_eq!(
            scene.files(),
            alone.files(),
            "seed {seed}: {tempers:?}, jobs {jobs}, dies after {dies_after:?}"
        );
    }
}
