//! The trial of an agent: this program runs a plan of one task with it, in a scratch repository with a fresh home and
//! a cleared environment, against the scripted model.

mod part;
mod score;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use runner::{Project, load, process};
use tokio::process::{Child, Command};
use tokio::time::{interval, timeout};

use self::part::{PART_VARIABLE, STARTED_FILE, STARTED_VARIABLE};
use self::score::Observed;
use crate::demo::{make_repository, new_folder};
use crate::model::{ClientConfig, ModelServer, Served, ServerError};

pub use part::Part;
pub use score::Score;

/// Marks the processes of a trial, so that those that are left can be found.
const MARKER: &str = "TILLGREEN_REHEARSAL_ID";
/// How long a part may take.
const PART_TIME_MAX: Duration = Duration::from_secs(240);
/// How long processes may take to end after the run has.
const ENDING_TIME_MAX: Duration = Duration::from_secs(20);
/// Git starts nothing that goes on after it has ended.
const GIT_CONFIGURATION: &str = "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n";
/// How often it is looked whether the agent is busy: a file cannot be waited for.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// Variables of this process that an agent may see.
const INHERITED: [&str; 7] = ["PATH", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TZ"];
/// Lines and characters of a run's last words.
const SAID_LINES_MAX: usize = 4;
const SAID_CHARS_MAX: usize = 400;

/// An agent on trial.
#[derive(Clone, Debug)]
pub struct Trial {
    arguments: Vec<String>,
    settings: String,
    folder: PathBuf,
    model: Model,
}

/// The use that an agent on trial makes of the scripted model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// It asks it: one that never did was not put to the test.
    Asked,
    /// It need not ask it: it may play its part by itself.
    Optional,
}

/// A trial could not be held.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// Nothing can be written where it is to be laid out.
    #[error("cannot lay out a rehearsal in {}", path.display())]
    LayOut {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The model cannot be reached.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// This program cannot be started again.
    #[error("cannot start this program again for a rehearsal")]
    Start {
        /// Why.
        source: io::Error,
    },
}

/// The folders of one part.
struct Scene {
    project: PathBuf,
    home: PathBuf,
    temporary: PathBuf,
    said: PathBuf,
}

impl Trial {
    /// Prepares the trial of an agent in a new folder below the given one. The arguments tell `run` which agent it
    /// is, and the settings are the `tillgreen.toml` that defines it; empty where none is needed.
    pub fn prepare(
        below: &Path,
        (arguments, settings): (Vec<String>, String),
        model: Model,
    ) -> Result<Self, TrialError> {
        let folder = new_folder(below, "tillgreen-rehearsal")
            .map_err(|source| TrialError::LayOut { path: below.to_owned(), source })?;
        Ok(Self { arguments, settings, folder, model })
    }

    /// The folder that everything is laid out in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Removes everything.
    pub fn clear_away(self) -> io::Result<()> {
        fs::remove_dir_all(&self.folder)
    }

    /// Plays one part. One that an agent was too slow to begin with is played again, with more time.
    pub fn play(&self, part: Part) -> Result<Score, TrialError> {
        let score = self.play_within((part, part.name()), part.attempt_timeout())?;
        let is_slow = part == Part::Hang && self.model == Model::Asked && score.requests == 0;
        if !is_slow {
            return Ok(score);
        }
        self.play_within((part, "hang-again"), Part::LONG_ATTEMPT_TIMEOUT)
    }

    fn play_within(&self, (part, name): (Part, &str), time: &str) -> Result<Score, TrialError> {
        let begin = Instant::now();
        let server = ModelServer::start(part.scenario())?;
        let scene = self.lay_out((part, name), &ClientConfig::at(&server.base_url()))?;
        let mut command = self.command((part, time), &scene, &server)?;
        let (code, started) = run_part(&mut command, part, (&scene, &server))?;
        let requests = server.requests();
        let mut observed = Observed {
            code,
            started,
            leftovers: self.leftovers(),
            log_bytes: largest_log(&scene.project.join(".tillgreen")),
            unscripted: requests.iter().filter(|request| request.served == Served::Unscripted).count(),
            is_untested: self.model == Model::Asked && requests.is_empty(),
            said: last_words(&scene.said),
            ..Observed::default()
        };
        learn(&scene.project, &mut observed);
        let problems = observed.problems(part);
        Ok(Score { part, problems, requests: requests.len(), elapsed: begin.elapsed() })
    }

    fn lay_out(&self, (part, name): (Part, &str), config: &ClientConfig) -> Result<Scene, TrialError> {
        let below = self.folder.join(name);
        let scene = Scene {
            project: below.join("project"),
            home: below.join("home"),
            temporary: below.join("tmp"),
            said: below.join("said.log"),
        };
        let laid_out = || {
            fs::create_dir_all(&scene.temporary)?;
            for (name, text) in &config.files {
                write(&scene.home.join(name), text)?;
            }
            write(&scene.home.join(".gitconfig"), GIT_CONFIGURATION)?;
            write(&scene.project.join("specs/rehearsal/tasks.md"), &part.plan())?;
            write(&scene.project.join("specs/.current-spec"), "rehearsal\n")?;
            if !self.settings.is_empty() {
                write(&scene.project.join("tillgreen.toml"), &self.settings)?;
            }
            make_repository(&scene.project)
        };
        laid_out().map_err(|source| TrialError::LayOut { path: below, source })?;
        Ok(scene)
    }

    fn command(
        &self,
        (part, time): (Part, &str),
        scene: &Scene,
        server: &ModelServer,
    ) -> Result<Command, TrialError> {
        let open = || {
            let said = File::create(&scene.said)?;
            Ok((said.try_clone()?, said))
        };
        let (stdout, stderr) =
            open().map_err(|source| TrialError::LayOut { path: scene.said.clone(), source })?;
        let mut command = Command::new("/proc/self/exe");
        command
            .args(["run", "--max-task-iterations", "1", "--infra-retries", "1", "--attempt-timeout"])
            .arg(time)
            .args(&self.arguments)
            .current_dir(&scene.project)
            .env_clear()
            .envs(INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
            .envs(ClientConfig::at(&server.base_url()).env)
            .env("HOME", &scene.home)
            .env("TMPDIR", &scene.temporary)
            .env("NO_COLOR", "1")
            .env(PART_VARIABLE, part.name())
            .env(STARTED_VARIABLE, scene.project.join(STARTED_FILE))
            .env(MARKER, &self.folder)
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .kill_on_drop(true);
        Ok(command)
    }

    /// How many processes are left after a run. What is only just ending is none of them.
    fn leftovers(&self) -> usize {
        let marker = format!("{MARKER}={}", self.folder.display());
        if process::wait_until_gone(&marker, ENDING_TIME_MAX) { 0 } else { process::sweep(&marker) }
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}

/// Runs a part to its end: its exit code, and whether the agent said that it was busy.
fn run_part(
    command: &mut Command,
    part: Part,
    (scene, server): (&Scene, &ModelServer),
) -> Result<(Option<i32>, bool), TrialError> {
    let started = scene.project.join(STARTED_FILE);
    // An agent that runs no commands is busy when it waits for the model.
    let is_waiting = || server.requests().iter().any(|request| request.served == Part::WAITING);
    let is_busy = || started.exists() || is_waiting();
    let mut ran = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(until_end(command, part, &is_busy))
    };
    let code = ran().map_err(|source| TrialError::Start { source })?;
    Ok((code, is_busy()))
}

async fn until_end(command: &mut Command, part: Part, is_busy: &dyn Fn() -> bool) -> io::Result<Option<i32>> {
    let mut child = command.spawn()?;
    if part == Part::Cancellation {
        until_busy(&mut child, is_busy).await;
        interrupt(&child);
    }
    match timeout(PART_TIME_MAX, child.wait()).await {
        Ok(status) => Ok(status?.code()),
        Err(_) => Ok(None),
    }
}

/// Waits until the agent is busy; if it never is, the run ends, or time does.
async fn until_busy(child: &mut Child, is_busy: &dyn Fn() -> bool) {
    let looking = async {
        let mut looks = interval(LOOK_INTERVAL);
        while !is_busy() {
            looks.tick().await;
        }
    };
    tokio::select! {
        () = looking => {}
        _ = child.wait() => {}
        () = tokio::time::sleep(PART_TIME_MAX) => {}
    }
}

/// Sends the signal that Ctrl-C sends.
fn interrupt(child: &Child) {
    if let Some(id) = child.id() {
        // It may be ending just now.
        let _ = kill(Pid::from_raw(id.cast_signed()), Signal::SIGINT);
    }
}

/// Takes in what the journal knows; where there is none, nothing was started, which the exit code tells.
fn learn(project: &Path, observed: &mut Observed) {
    let Ok(project) = Project::discover(project) else { return };
    let Ok(file) = project.locate(project.root(), None) else { return };
    if let Ok(Some(state)) = load(&file, |_| ()) {
        observed.learn(&state);
    }
}

/// The size of the largest file below a folder.
fn largest_log(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let sizes = entries.flatten().map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => largest_log(&entry.path()),
        Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |metadata| metadata.len()),
        _ => 0,
    });
    sizes.max().unwrap_or(0)
}

fn last_words(file: &Path) -> String {
    let text = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(SAID_LINES_MAX)..];
    last.join(" / ").chars().take(SAID_CHARS_MAX).collect()
}
