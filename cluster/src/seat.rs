//! Seats: clones of a remote in which one order at a time is carried out. What is in one is at the remote as well, so
//! nothing in it has to be kept; what was built there stays warm.

use std::fs::{self, File};
use std::path::Path;

use crate::git::{Git, GitError, Pushed};
use crate::order::Site;

/// More seats than any host has room for.
const SEATS_MAX: usize = 10_000;

/// A seat, until it is left.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) git: Git,
    /// Held by this process: another worker in the same folder takes another seat.
    _lock: File,
}

impl Seat {
    /// Takes the first free seat for a remote, and makes it if there is none.
    pub(crate) async fn take(folder: &Path, site: &Site) -> Result<Self, GitError> {
        let seats = folder.join(name_of(&site.remote));
        fs::create_dir_all(&seats).map_err(io("create", &seats))?;
        let (place, lock) = (1..SEATS_MAX)
            .find_map(|number| {
                let place = seats.join(format!("seat-{number}"));
                let lock = File::create(place.with_extension("lock")).ok()?;
                lock.try_lock().ok().map(|()| (place, lock))
            })
            .ok_or_else(|| GitError::Io {
                action: format!("take a seat in {}", seats.display()),
                source: std::io::Error::other("none is free"),
            })?;
        if !place.join(".git/HEAD").is_file() {
            if place.exists() {
                fs::remove_dir_all(&place).map_err(io("remove", &place))?;
            }
            let whole = place.with_extension("new");
            if whole.exists() {
                fs::remove_dir_all(&whole).map_err(io("remove", &whole))?;
            }
            let to = whole.to_string_lossy().into_owned();
            Git::at(&seats).run(&["clone", "--quiet", "--no-checkout", &site.remote, &to]).await?;
            // One that was cut short is never taken for a whole one.
            fs::rename(&whole, &place).map_err(io("rename", &whole))?;
        }
        Ok(Self { git: Git::at(place), _lock: lock })
    }

    /// Has the seat show the branch of a run at a commit, or as it is at the remote, with all work that waits there.
    pub(crate) async fn show(&self, site: &Site, commit: Option<&str>) -> Result<(), GitError> {
        for lock in ["index.lock", "HEAD.lock", "config.lock"] {
            let lock = self.git.root().join(".git").join(lock);
            if lock.exists() {
                fs::remove_file(&lock).map_err(io("remove", &lock))?;
            }
        }
        let (branch, work) = (&site.branch, site.work_references());
        let branch_here = format!("+refs/heads/{branch}:refs/remotes/origin/{branch}");
        let work_here = format!("+{work}/*:{work}/*");
        self.git
            .run(&["fetch", "--quiet", "--prune", "--no-tags", "origin", &branch_here, &work_here])
            .await?;
        let tip = format!("refs/remotes/origin/{branch}");
        let commit = commit.unwrap_or(&tip);
        if self.git.asks(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).await? {
            self.git.run(&["reset", "--quiet", "--hard"]).await?;
        }
        self.git.run(&["checkout", "--quiet", "--force", "-B", branch, commit, "--"]).await?;
        self.git.run(&["branch", "--quiet", "--unset-upstream"]).await.or_else(|error| match error {
            GitError::Failed { .. } => Ok(String::new()),
            GitError::Io { .. } => Err(error),
        })?;
        self.git.run(&["clean", "--quiet", "-ffd"]).await?;
        Ok(())
    }

    /// Gives the remote a commit of work, under its own name: nobody else's can be in its place.
    pub(crate) async fn keep(&self, site: &Site, commit: &str) -> Result<(), GitError> {
        let refspec = format!("{commit}:{}/{commit}", site.work_references());
        match self.git.push("origin", &refspec).await? {
            Pushed::Done => Ok(()),
            Pushed::Moved => Err(refused("push", "the reference to the work is there already")),
            Pushed::Refused(reason) => Err(refused("push", &reason)),
        }
    }

    /// Brings what was committed here onto the branch at the remote; none where nothing was.
    pub(crate) async fn bring_in(&self, site: &Site) -> Result<Option<Pushed>, GitError> {
        let tip = format!("refs/remotes/origin/{}", site.branch);
        if self.git.run(&["rev-parse", "HEAD"]).await? == self.git.run(&["rev-parse", &tip]).await? {
            return Ok(None);
        }
        self.git.push("origin", &format!("HEAD:refs/heads/{}", site.branch)).await.map(Some)
    }

    /// Removes the references to work at the remote.
    pub(crate) async fn tidy(&self, site: &Site) -> Result<(), GitError> {
        let all = format!("{}/*", site.work_references());
        let listed = self.git.run(&["ls-remote", "origin", &all]).await?;
        let names: Vec<&str> = listed.lines().filter_map(|line| line.split('\t').nth(1)).collect();
        for some in names.chunks(100) {
            self.git.run(&[&["push", "--quiet", "--delete", "origin"], some].concat()).await?;
        }
        Ok(())
    }
}

fn refused(command: &str, reason: &str) -> GitError {
    GitError::Failed { command: command.to_owned(), output: reason.to_owned() }
}

fn io(action: &str, path: &Path) -> impl FnOnce(std::io::Error) -> GitError {
    let action = format!("{action} {}", path.display());
    move |source| GitError::Io { action, source }
}

/// A name for the folder of a remote's seats: what people read of it, and a sum that tells it from others.
fn name_of(remote: &str) -> String {
    let last = remote.trim_end_matches('/').trim_end_matches(".git");
    let last = last.rsplit(['/', ':']).next().unwrap_or(last);
    let readable: String = last
        .chars()
        .filter(|character| character.is_ascii_alphanumeric() || "-_".contains(*character))
        .collect();
    // FNV-1a: the same in every version of this program.
    let sum = remote
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{readable}-{sum:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remotes_with_the_same_last_name_have_folders_of_their_own() {
        let (one, other) = (name_of("git@host:one/shop.git"), name_of("git@host:other/shop.git"));
        assert!(one.starts_with("shop-") && other.starts_with("shop-"), "{one} {other}");
        assert_ne!(one, other);
        assert_eq!(name_of("/srv/../"), name_of("/srv/../"));
        assert!(!name_of("../..").contains(['/', '.']));
    }
}
