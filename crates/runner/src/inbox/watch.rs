//! Waiting for files to change, in a thread of its own: the kernel tells of it. Where it does not, because too many are
//! watched already, the time of the folder is looked at now and then.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::mpsc::SendError;
use std::time::{Duration, SystemTime};
use std::{fs, io, thread};

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};

/// The interval at which a folder is looked at that the kernel does not tell of.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// A file whose name is new, that was written to its end, or that is gone.
const CHANGES: AddWatchFlags = AddWatchFlags::IN_MOVED_TO
    .union(AddWatchFlags::IN_CLOSE_WRITE)
    .union(AddWatchFlags::IN_MOVED_FROM)
    .union(AddWatchFlags::IN_DELETE)
    .union(AddWatchFlags::IN_ONLYDIR);

/// The files of a folder that are watched.
#[derive(Clone, Debug)]
pub(crate) enum Watched {
    /// Those that come in, with this ending. The folder is made again should somebody remove it.
    Incoming(PathBuf, &'static str),
    /// The one of this name.
    File(PathBuf, OsString),
}

/// The interest of somebody in being woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    Left,
    Gone,
}

impl Interest {
    /// The interest of somebody at the other end of a channel.
    pub(crate) fn of<T>(sent: Result<(), SendError<T>>) -> Self {
        if sent.is_ok() { Self::Left } else { Self::Gone }
    }
}

impl Watched {
    /// A file that may not be there.
    pub(crate) fn file(path: &Path) -> Option<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty())?;
        Some(Self::File(folder.to_owned(), path.file_name()?.to_owned()))
    }

    fn folder(&self) -> &Path {
        match self {
            Self::Incoming(folder, _) | Self::File(folder, _) => folder,
        }
    }

    fn is_meant(&self, name: &OsStr) -> bool {
        match self {
            Self::Incoming(_, end) => Path::new(name).extension().is_some_and(|known| known == *end),
            Self::File(_, known) => known == name,
        }
    }

    /// The time that shows whether something has changed.
    fn stamp(&self) -> Option<SystemTime> {
        let path = match self {
            Self::Incoming(folder, _) => folder.clone(),
            Self::File(folder, name) => folder.join(name),
        };
        fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
    }
}

/// Wakes somebody once at the beginning and whenever one of the files changes, as long as there is interest. What changes
/// after this was called is not missed.
pub(crate) fn watch(
    watched: Vec<Watched>,
    mut wake: impl FnMut() -> Interest + Send + 'static,
) -> io::Result<()> {
    let told = listen(&watched);
    let before: Vec<_> = watched.iter().map(Watched::stamp).collect();
    let thread = thread::Builder::new().name("watch".to_owned());
    thread.spawn(move || match (wake(), told) {
        (Interest::Gone, _) => {}
        (Interest::Left, Ok(inotify)) => while_told(&inotify, &watched, &mut wake),
        (Interest::Left, Err(_)) => while_looking(&watched, before, &mut wake),
    })?;
    Ok(())
}

fn listen(watched: &[Watched]) -> nix::Result<Inotify> {
    let inotify = Inotify::init(InitFlags::IN_CLOEXEC)?;
    for one in watched {
        inotify.add_watch(one.folder(), CHANGES)?;
    }
    Ok(inotify)
}

fn while_told(inotify: &Inotify, watched: &[Watched], wake: &mut impl FnMut() -> Interest) {
    while let Ok(events) = inotify.read_events() {
        // A folder that was removed is watched no longer; too many events at once are not told one by one.
        let is_lost = events.iter().any(|event| event.mask.contains(AddWatchFlags::IN_IGNORED));
        let is_much = events.iter().any(|event| event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW));
        // Where nobody is interested any more, the folder stays removed.
        if is_lost && (wake() == Interest::Gone || !watch_again(inotify, watched)) {
            return;
        }
        let is_meant = |name: &OsString| watched.iter().any(|one| one.is_meant(name));
        let is_news =
            is_lost || is_much || events.iter().filter_map(|event| event.name.as_ref()).any(is_meant);
        if is_news && wake() == Interest::Gone {
            return;
        }
    }
}

/// Watches what is there, after something was removed. A folder that is watched already is watched once.
fn watch_again(inotify: &Inotify, watched: &[Watched]) -> bool {
    let mut added = watched.iter().map(|one| {
        if let Watched::Incoming(folder, _) = one {
            fs::create_dir_all(folder)?;
        }
        inotify.add_watch(one.folder(), CHANGES).map_err(io::Error::from)
    });
    added.all(|added| added.is_ok())
}

fn while_looking(
    watched: &[Watched],
    mut before: Vec<Option<SystemTime>>,
    wake: &mut impl FnMut() -> Interest,
) {
    loop {
        thread::sleep(LOOK_AGAIN);
        let now: Vec<_> = watched.iter().map(Watched::stamp).collect();
        if now != before && wake() == Interest::Gone {
            return;
        }
        before = now;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    const DEADLINE: Duration = Duration::from_secs(60);

    #[test]
    fn what_changes_wakes_and_what_is_not_meant_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let (inbox, settings) = (folder.path().join("inbox"), folder.path().join("settings.toml"));
        fs::create_dir(&inbox).unwrap();
        let (sender, woken) = channel();
        let watched = vec![Watched::Incoming(inbox.clone(), "json"), Watched::file(&settings).unwrap()];
        watch(watched, move || Interest::of(sender.send(()))).unwrap();
        woken.recv_timeout(DEADLINE).unwrap();
        fs::write(folder.path().join("other.toml"), "").unwrap();
        fs::write(inbox.join("1.reply"), "").unwrap();
        fs::write(&settings, "a = 1").unwrap();
        woken.recv_timeout(DEADLINE).unwrap();
        fs::write(inbox.join(".1.new"), "").unwrap();
        fs::rename(inbox.join(".1.new"), inbox.join("1.json")).unwrap();
        woken.recv_timeout(DEADLINE).unwrap();
        fs::remove_file(&settings).unwrap();
        woken.recv_timeout(DEADLINE).unwrap();
        fs::remove_dir_all(&inbox).unwrap();
        woken.recv_timeout(DEADLINE).unwrap();
        while woken.try_recv().is_ok() {}
        testkit::wait_for("the folder", || inbox.is_dir());
        testkit::wait_for("being watched again", || {
            fs::write(inbox.join("2.json"), "").unwrap();
            woken.recv_timeout(Duration::from_millis(50)).is_ok()
        });
    }

    #[test]
    fn a_folder_that_nobody_is_interested_in_is_not_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let inbox = folder.path().join("inbox");
        fs::create_dir(&inbox).unwrap();
        let inotify = listen(&[Watched::Incoming(inbox.clone(), "json")]).unwrap();
        fs::remove_dir(&inbox).unwrap();
        while_told(&inotify, &[Watched::Incoming(inbox.clone(), "json")], &mut || Interest::Gone);
        assert!(!inbox.exists());
    }

    #[test]
    fn without_the_kernel_folders_are_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.toml");
        let watched = [Watched::file(&path).unwrap()];
        let writing = path.clone();
        let mut wakes = 0;
        fs::write(&writing, "a = 1").unwrap();
        while_looking(&watched, vec![None], &mut || {
            wakes += 1;
            Interest::Gone
        });
        assert_eq!(wakes, 1);
    }
}
