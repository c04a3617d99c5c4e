//! A worker: it decides for runs and carries out what they want, in clones of its own.

use std::path::PathBuf;
use std::process::Stdio;

use clap::Args;
use temporalio_client::Client;
use temporalio_sdk::runtime::worker_tuner::{FixedSizeSlotSupplier, TunerHolder, WorkerTuner};
use temporalio_sdk::{Runtime, Worker, WorkerOptions};
use tokio::process::Command;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::activities::Hands;
use crate::error::Error;
use crate::git::Git;
use crate::order::{AGENT_QUEUE, HOME_QUEUE};
use crate::program;
use crate::server::Address;
use crate::workflow::Run;

/// What needs no agent is carried out by so many at once.
const AT_HOME: usize = 4;

/// Workflow tasks and recorded decisions at once: they take milliseconds.
const DECISIONS: usize = 100;

/// The longest time between two signs of life: with each comes word of what is taken back.
const SIGNS_OF_LIFE_MAX: std::time::Duration = std::time::Duration::from_secs(5);

/// The exit code of a worker that was interrupted.
const INTERRUPTED: i32 = 130;

/// Arguments of `worker`.
#[derive(Clone, Debug, Args)]
pub(crate) struct WorkerArgs {
    /// The server: temporal://HOST:PORT
    #[arg(long)]
    on: Address,
    /// How many agents may be at work here at once
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    slots: u16,
    /// A remote that it works for, as git names it; `*` stands for anything
    #[arg(long = "repo", required = true)]
    repositories: Vec<String>,
    /// The folder for its clones [default: tillgreen-cluster in the user's cache folder]
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// Works until Ctrl-C; then agents may end. At the second one, they are ended.
pub(crate) async fn run(arguments: WorkerArgs) -> Result<(), Error> {
    let program = program::find();
    expect_program(&program).await?;
    let folder = arguments.folder.clone().map_or_else(default_folder, Ok)?;
    std::fs::create_dir_all(&folder)
        .map_err(|error| Error::new(format!("cannot create {}", folder.display())).because(&error))?;
    if let Err(error) = Git::at(&folder).run(&["var", "GIT_COMMITTER_IDENT"]).await {
        return Err(Error::new("git does not know in whose name to commit here")
            .because(&error)
            .hint("git config --global user.name NAME; git config --global user.email ADDRESS"));
    }
    let failed = |error: &dyn std::error::Error| Error::new("the worker cannot begin").because(error);
    let client = arguments.on.connect().await?;
    let runtime = Runtime::from_current_tokio(Default::default()).map_err(|error| failed(&error))?;
    let hands = Hands { folder, program, repositories: arguments.repositories };
    let home = WorkerOptions::new(HOME_QUEUE)
        .tuner(tuner(AT_HOME))
        .max_heartbeat_throttle_interval(SIGNS_OF_LIFE_MAX)
        .register_activities(hands.clone())
        .register_workflow::<Run>()
        .map_err(|error| failed(&error))?
        .build();
    let agents = WorkerOptions::new(AGENT_QUEUE)
        .tuner(tuner(usize::from(arguments.slots)))
        .max_heartbeat_throttle_interval(SIGNS_OF_LIFE_MAX)
        .register_activities(hands)
        .build();
    let mut home = worker(&runtime, &client, home)?;
    let mut agents = worker(&runtime, &client, agents)?;
    let stops = [Box::new(home.shutdown_handle()) as Box<dyn Fn()>, Box::new(agents.shutdown_handle())];
    eprintln!("working for {}; Ctrl-C lets agents end, twice ends them", arguments.on);
    let mut signals = Signals::new().map_err(|error| failed(&error))?;
    let works = async { tokio::join!(home.run(), agents.run()) };
    tokio::pin!(works);
    let mut count = 0;
    loop {
        let (one, other) = tokio::select! {
            ended = &mut works => ended,
            () = signals.next() => {
                count += 1;
                if count > 1 {
                    // Whatever was started ends with this process.
                    std::process::exit(INTERRUPTED);
                }
                eprintln!("nothing new is begun; what is under way ends first");
                stops.iter().for_each(|stop| stop());
                continue;
            }
        };
        return one.and(other).map_err(|error| Error::new("the worker cannot go on").because(&error));
    }
}

fn worker(runtime: &Runtime, client: &Client, options: WorkerOptions) -> Result<Worker, Error> {
    Worker::new(runtime, client.clone(), options)
        .map_err(|error| Error::new("the worker cannot begin").because(&error))
}

fn tuner(orders: usize) -> WorkerTuner {
    TunerHolder::builder()
        .workflow_task_slot_supplier(FixedSizeSlotSupplier::new(DECISIONS))
        .activity_task_slot_supplier(FixedSizeSlotSupplier::new(orders))
        .local_activity_task_slot_supplier(FixedSizeSlotSupplier::new(DECISIONS))
        .nexus_task_slot_supplier(FixedSizeSlotSupplier::new(1))
        .build()
        .into()
}

/// The plain program has to be there and of the same version.
async fn expect_program(program: &std::path::Path) -> Result<(), Error> {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output().await;
    let version = output.ok().filter(|output| output.status.success());
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let expected = format!("tillgreen {}", env!("CARGO_PKG_VERSION"));
    match version {
        Some(version) if version.starts_with(&expected) => Ok(()),
        Some(version) => Err(Error::new(format!("{} is {version}, not {expected}", program.display()))
            .hint("install both programs in the same version")),
        None => Err(Error::new(format!("cannot start {}", program.display()))
            .hint("install tillgreen beside tillgreen-cluster, or on the PATH")),
    }
}

fn default_folder() -> Result<PathBuf, Error> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(".cache")));
    let folder = cache.map(|cache| cache.join("tillgreen-cluster"));
    folder.ok_or_else(|| {
        Error::new("there is no cache folder: neither XDG_CACHE_HOME nor HOME is set")
            .hint("name a folder with --folder DIR")
    })
}

/// The signals that end a worker.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
