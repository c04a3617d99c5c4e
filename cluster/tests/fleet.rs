//! Real programs on one machine that know nothing of each other: a server, workers with clones of their own, a bare
//! repository, a scripted agent.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const CLUSTER: &str = env!("CARGO_BIN_EXE_tillgreen-cluster");

const PLAN: &str = "\
# Tasks

- [ ] 1.1 Write the first file
  - **Do**: write it
  - **Files**: `a.txt`
  - **Verify**: `grep -q good a.txt`
- [ ] 1.2 [P] Write the second file
  - **Do**: write it
  - **Files**: `b.txt`
  - **Verify**: `grep -q good b.txt`
- [ ] 1.3 [P] Write the third file
  - **Do**: write it
  - **Files**: `c.txt`
  - **Verify**: `grep -q good c.txt`
- [ ] 1.4 [VERIFY] All of them
  - **Do**: look
  - **Verify**: `cat a.txt b.txt c.txt`
";

/// Notes each call with its task, waits where a file says so, and does its task; 1.3 at the second attempt.
const AGENT: &str = "\
#!/bin/sh
cat > /dev/null
echo \"$TILLGREEN_TASK_ID $$\" >> \"$CALLS\"
while [ -e \"$HOLD\" ]; do sleep 0.1; done
case \"$TILLGREEN_TASK_ID\" in
1.1) echo good > a.txt ;;
1.2) echo good > b.txt ;;
1.3) if [ -e c.txt ]; then echo good > c.txt; else echo bad > c.txt; fi ;;
esac
echo TASK_COMPLETE
";

const DEADLINE: Duration = Duration::from_secs(180);

/// A process that goes with the test.
struct Process(Child);

impl Process {
    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

struct Fleet {
    folder: PathBuf,
    port: u16,
    server: Option<Process>,
    workers: Vec<Process>,
}

impl Fleet {
    /// A project with a remote, and a server; none where the programs for it are not installed, which is red in CI.
    fn new(name: &str) -> Option<Self> {
        let cache = std::env::var_os("TILLGREEN_TEST_CACHE").map(PathBuf::from);
        let temporal = cache.map(|cache| cache.join("temporal-1.9.1/temporal")).filter(|file| file.is_file());
        let plain = std::env::var_os("TILLGREEN_PROGRAM").map(PathBuf::from).filter(|file| file.is_file());
        let (Some(temporal), Some(plain)) = (temporal, plain) else {
            assert!(
                std::env::var_os("CI").is_none(),
                "cluster/test.sh and cluster/install-temporal.sh prepare this"
            );
            eprintln!("left out: {name} needs cluster/test.sh, and what cluster/install-temporal.sh fetches");
            return None;
        };
        let folder = std::env::temp_dir().join(format!("tillgreen-fleet-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        for part in ["bin", "home", "project/specs/demo"] {
            fs::create_dir_all(folder.join(part)).expect("a folder");
        }
        for (name, to) in [
            ("tillgreen", plain.as_path()),
            ("tillgreen-cluster", Path::new(CLUSTER)),
            ("temporal", &temporal),
        ] {
            symlink(to, folder.join("bin").join(name)).expect("a link");
        }
        let agent = folder.join("agent.sh");
        fs::write(&agent, AGENT).expect("an agent");
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).expect("it can be started");
        fs::write(
            folder.join("home/.gitconfig"),
            "[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n",
        )
        .expect("a file");
        fs::write(folder.join("project/specs/demo/tasks.md"), PLAN).expect("a plan");
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
        let mut fleet = Self { folder, port, server: None, workers: Vec::new() };
        let project = fleet.project();
        fleet.git(&project, &["init", "--quiet"]);
        fleet.git(&project, &["add", "--all"]);
        fleet.git(&project, &["commit", "--quiet", "-m", "project"]);
        fleet.git(&project, &["clone", "--quiet", "--bare", ".", "../remote.git"]);
        let remote = fleet.remote().to_string_lossy().into_owned();
        fleet.git(&project, &["remote", "add", "origin", &remote]);
        fleet.start_server();
        Some(fleet)
    }

    fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    fn remote(&self) -> PathBuf {
        self.folder.join("remote.git")
    }

    fn hold(&self) -> PathBuf {
        self.folder.join("hold")
    }

    fn address(&self) -> String {
        format!("temporal://127.0.0.1:{}", self.port)
    }

    fn command(&self, program: &str) -> Command {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.folder.join("bin").display());
        let mut command = Command::new(self.folder.join("bin").join(program));
        command.env_clear().env("PATH", path).env("HOME", self.folder.join("home"));
        command
            .env("CALLS", self.folder.join("calls"))
            .env("HOLD", self.hold())
            .env("TMPDIR", std::env::temp_dir());
        command.current_dir(self.project()).stdin(Stdio::null());
        command
    }

    fn git(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.folder.join("home"))
            .output()
            .expect("git runs");
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn log(&self, name: &str) -> File {
        File::options().create(true).append(true).open(self.folder.join(name)).expect("a log")
    }

    fn start_server(&mut self) {
        let mut command = self.command("temporal");
        command.args(["server", "start-dev", "--ip", "127.0.0.1", "--headless", "--log-level", "error"]);
        command.args(["--port", &self.port.to_string(), "--db-filename"]).arg(self.folder.join("server.db"));
        command.args(["--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=2"]);
        command.stdout(self.log("server.log")).stderr(self.log("server.log"));
        self.server = Some(Process(command.spawn().expect("the server starts")));
        let port = self.port;
        wait_for("the server", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    }

    fn start_worker(&mut self) {
        let number = self.workers.len();
        let mut command = self.command("tillgreen-cluster");
        command.args(["worker", "--on", &self.address(), "--slots", "2", "--repo", "*"]);
        command.env("XDG_CACHE_HOME", self.folder.join(format!("host-{number}")));
        command.stdout(self.log("worker.log")).stderr(self.log("worker.log"));
        self.workers.push(Process(command.spawn().expect("a worker starts")));
    }

    fn run(&self, more: &[&str]) -> Child {
        let agent = self.folder.join("agent.sh");
        let mut command = self.command("tillgreen");
        command.args(["run", "demo", "--on", &self.address(), "--lost-after", "5"]).args(more);
        command.args(["-j", "3", "--agent-cmd"]).arg(agent);
        command.stdout(self.log("run.log")).stderr(self.log("run.log")).spawn().expect("it starts")
    }

    fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.join("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn told(&self) -> String {
        ["run.log", "worker.log", "server.log"]
            .map(|name| {
                format!("{name}:\n{}", fs::read_to_string(self.folder.join(name)).unwrap_or_default())
            })
            .concat()
    }

    fn wait_for_calls(&self, count: usize) {
        wait_for("an agent", || self.calls().len() >= count);
    }

    fn expect_green(&self, mut run: Child) {
        let mut code = None;
        let deadline = Instant::now() + DEADLINE;
        while code.is_none() && Instant::now() < deadline {
            code = run.try_wait().expect("it is a child");
            thread::sleep(Duration::from_millis(50));
        }
        let _ = run.kill();
        assert_eq!(code.and_then(|code| code.code()), Some(0), "{}", self.told());
        let plan = self.git(&self.remote(), &["show", "tillgreen/demo:specs/demo/tasks.md"]);
        assert_eq!(plan.matches("- [x]").count(), 4, "{plan}");
        let trailers = ["log", "--format=%(trailers:key=Tillgreen-Task,valueonly)", "tillgreen/demo"];
        let trailers = self.git(&self.remote(), &trailers);
        let mut trailers: Vec<&str> = trailers.lines().filter(|line| !line.is_empty()).collect();
        trailers.sort_unstable();
        let all = trailers.len();
        trailers.dedup();
        assert_eq!((all, trailers.len()), (3, 3), "no work comes in twice: {trailers:?}");
        assert_eq!(
            self.git(&self.remote(), &["rev-parse", "main"]),
            self.git(&self.project(), &["rev-parse", "main"])
        );
        assert_eq!(self.git(&self.remote(), &["for-each-ref", "refs/tillgreen-work"]), "");
    }

    /// The agents that are at work now.
    fn agents(&self) -> usize {
        let pids = self.calls().into_iter().filter_map(|call| call.split(' ').nth(1).map(str::to_owned));
        let agent = self.folder.join("agent.sh").to_string_lossy().into_owned();
        // They may be in namespaces of their own, where their numbers are others.
        let _ = pids;
        let there = fs::read_dir("/proc").expect("processes").flatten();
        let lines = there.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
        lines.filter(|line| String::from_utf8_lossy(line).starts_with(&format!("/bin/sh\0{agent}"))).count()
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.workers.clear();
        self.server = None;
        if !thread::panicking() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !is_there() {
        assert!(Instant::now() < deadline, "{what} did not come");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_plan_becomes_green_on_two_hosts() {
    let Some(mut fleet) = Fleet::new("green") else { return };
    fleet.start_worker();
    fleet.start_worker();
    let run = fleet.run(&[]);
    fleet.expect_green(run);
    assert_eq!(fleet.calls().len(), 4, "one for each task, and one retry");
}

#[test]
fn a_worker_and_the_server_may_die() {
    let Some(mut fleet) = Fleet::new("deaths") else { return };
    fleet.start_worker();
    fs::write(fleet.hold(), "").expect("a file");
    let run = fleet.run(&[]);
    fleet.wait_for_calls(1);
    // The only worker is killed with its agent at work; another one goes on.
    fleet.workers[0].kill();
    wait_for("the agent's end", || fleet.agents() == 0);
    fleet.start_worker();
    fleet.wait_for_calls(2);
    fleet.server = None;
    fleet.start_server();
    fs::remove_file(fleet.hold()).expect("it goes on");
    fleet.expect_green(run);
    assert!(fleet.calls().len() <= 6, "{:?}", fleet.calls());
}

#[test]
fn a_run_that_is_ended_leaves_no_agent() {
    let Some(mut fleet) = Fleet::new("cancel") else { return };
    fleet.start_worker();
    fs::write(fleet.hold(), "").expect("a file");
    let mut run = fleet.run(&["--detach"]);
    assert!(run.wait().expect("it ends").success(), "{}", fleet.told());
    fleet.wait_for_calls(1);
    assert_eq!(fleet.agents(), 1);
    let cancelled = fleet.command("tillgreen").args(["cancel", "demo", "--on", &fleet.address()]).output();
    let cancelled = cancelled.expect("it runs");
    assert!(cancelled.status.success(), "{}", String::from_utf8_lossy(&cancelled.stderr));
    assert_eq!(fleet.agents(), 0, "they are gone before it is said");
    let status = fleet.command("tillgreen").args(["status", "demo", "--on", &fleet.address()]).output();
    let status = String::from_utf8_lossy(&status.expect("it runs").stdout).into_owned();
    assert!(status.contains("0/4 tasks done"), "{status}");
}
