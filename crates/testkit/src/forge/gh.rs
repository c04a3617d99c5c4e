//! The real `gh`, fetched once into a folder outside the source tree.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();

/// The `gh` program: from the folder, else fetched into it by the system's package manager, else the one that is
/// installed. None where it cannot be had at all.
pub fn install_gh(cache: &Path) -> Option<PathBuf> {
    FOUND.get_or_init(|| find(cache)).clone()
}

fn find(cache: &Path) -> Option<PathBuf> {
    let program = cache.join("gh/usr/bin/gh");
    if works(&program) || (fetch(cache).is_some() && works(&program)) {
        return Some(program);
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("gh")).find(|installed| works(installed))
}

fn works(program: &Path) -> bool {
    let status = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Unpacks into a folder of this process and renames it, so that nobody sees half of it.
fn fetch(cache: &Path) -> Option<()> {
    let scratch = cache.join(format!("gh-{}", std::process::id()));
    fs::create_dir_all(scratch.join("root")).ok()?;
    let quiet = |command: &mut Command| {
        let status = command.current_dir(&scratch).stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let is_fetched = quiet(Command::new("apt-get").args(["download", "gh"]));
    let packages = fs::read_dir(&scratch).ok()?.flatten().map(|entry| entry.path());
    let package = packages.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "deb"));
    let is_unpacked = is_fetched
        && package.is_some_and(|package| quiet(Command::new("dpkg").arg("-x").arg(package).arg("root")));
    if is_unpacked {
        // Another test may have been quicker: then its copy is as good.
        let _ = fs::rename(scratch.join("root"), cache.join("gh"));
    }
    // What is left of the download is of no use.
    let _ = fs::remove_dir_all(&scratch);
    is_unpacked.then_some(())
}
