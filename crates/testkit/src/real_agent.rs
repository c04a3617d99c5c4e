//! Real agents, as `install-agents.sh` has put them into the cache. A test that needs one that is not there says that
//! it is skipped; in CI it fails.

use std::path::PathBuf;

const AGENTS: &str = include_str!("../agents.txt");

/// Names the folder of the cache.
const CACHE: &str = "TILLGREEN_TEST_CACHE";

/// A real agent that is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RealAgent {
    /// The name that it goes by.
    pub name: String,
    /// Its pinned version.
    pub version: String,
    /// Its program.
    pub program: PathBuf,
}

impl RealAgent {
    /// The agent of this name; none, with a line that says so, where it is not installed and need not be.
    #[track_caller]
    pub fn find(name: &str) -> Option<RealAgent> {
        let agent =
            pinned().find(|agent| agent.name == name).unwrap_or_else(|| panic!("{name} is not pinned"));
        if agent.program.exists() {
            return Some(agent);
        }
        let where_ = agent.program.display();
        assert!(std::env::var_os("CI").is_none(), "{name} is not installed: there is no {where_}");
        eprintln!(
            "skipped: {name} is not installed; crates/testkit/install-agents.sh would put it to {where_}"
        );
        None
    }
}

fn pinned() -> impl Iterator<Item = RealAgent> {
    let lines = AGENTS.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let [name, version, _package, program] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
        let program = cache()?.join(format!("{name}-{version}")).join(program);
        Some(RealAgent { name: name.to_owned(), version: version.to_owned(), program })
    })
}

fn cache() -> Option<PathBuf> {
    let named = std::env::var_os(CACHE).map(PathBuf::from);
    named.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/tillgreen-agents")))
}
