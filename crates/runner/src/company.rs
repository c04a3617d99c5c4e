//! Work of several tasks that comes in together, because it is ready at the same moment and each piece of it is verified
//! in no time: it is put into the project and verified piece by piece, and then committed and recorded at once. Each verify
//! command finds the files that it would find, and history and plan are what they would be, had it come in one by one.
//!
//! Whatever is not quite ordinary, or red, takes all of it out of the project again, and it comes in one by one: nobody is
//! blamed for what others brought along.

use std::collections::BTreeSet;
use std::io;

use engine::{ActionKey, Attempt, Dispatch, Event, Record, Seen, Status, What};
use plan::{Script, TaskId};

use crate::attempt::Purpose;
use crate::book::{Book, Excerpt};
use crate::check;
use crate::driver::Driver;
use crate::error::RunError;
use crate::git::{self, Apart, Arrival, Books, Following, GitError, Landing, Link, Novelty, Oid};
use crate::isolation::{Done, kept_waiting};
use crate::lost_work::Watch;
use crate::meddling::told_of_commit;
use crate::projection::{Completed, Progress};
use crate::recording::{Obstacle, TRAILER, completes};
use crate::traces::{self, listed};

/// Work of a task that is to come in together with that of others.
#[derive(Debug)]
struct Piece {
    base: Oid,
    packed: Oid,
    message: String,
    trailer: String,
}

impl Piece {
    fn landing(&self) -> Landing<'_> {
        let trailer = (TRAILER, self.trailer.as_str());
        Landing { commit: &self.packed, base: &self.base, trailer, novelty: Novelty::New }
    }
}

impl Driver<'_> {
    /// The tasks whose work comes in together with that of a task, itself among them, in their order; none if it comes in
    /// by itself.
    pub(crate) fn company_of(&self, id: &TaskId) -> Vec<TaskId> {
        let company: Vec<TaskId> = engine::company(&self.state).map(|task| task.id().clone()).collect();
        if company.contains(id) { company } else { Vec::new() }
    }

    /// Brings the work of some tasks into the project at once, beside the loop.
    pub(crate) fn start_together(
        &mut self,
        key: ActionKey,
        (first, dispatch): (&TaskId, Dispatch),
        company: &[TaskId],
    ) -> Result<(), RunError> {
        let (Ok(pieces), Some(git)) = (self.pieces(company), self.tree.git().cloned()) else {
            let why = self.pieces(company).err().unwrap_or_default();
            self.see(Seen::Parted { task: first.clone(), dispatch, why });
            return Ok(());
        };
        let company = company.to_vec();
        let (release, take_turn) = self.turn_for(&git, first);
        let purpose = Purpose::Landing { task: first.clone(), dispatch, release };
        let watch = self.watch().clone();
        self.beside(key, purpose, move || {
            let mut notes = Vec::new();
            let arrival = match kept_waiting(take_turn()) {
                Some(_) => Err("it was not their turn".to_owned()),
                None => git
                    .mending(|| bring(&git, (&company, &pieces), &watch, &mut notes))
                    .unwrap_or_else(|error| Err(error.to_string())),
            };
            Done::Together(arrival.map(Box::new), notes)
        })
    }

    /// What is known of the work of each, or of whose not enough is.
    fn pieces(&self, company: &[TaskId]) -> Result<Vec<Piece>, String> {
        let unknown = |id: &TaskId| format!("the work of {id} has to be looked for");
        company.iter().map(|id| self.piece(id).ok_or_else(|| unknown(id))).collect()
    }

    fn piece(&self, id: &TaskId) -> Option<Piece> {
        let (site, packed) = (self.site(id)?, self.packed.get(id)?.clone());
        let (attempt, _) = self.coming_back(id)?;
        let base = site.base_of_work().ok()??;
        let (message, trailer) = (self.landing_message(id), self.trailer(id, Some(attempt)));
        Some(Piece { base, packed, message, trailer })
    }

    fn coming_back(&self, id: &TaskId) -> Option<(Attempt, Dispatch)> {
        let task = self.state.task(id)?;
        Some((task.status.coming_back()?, task.dispatch))
    }

    /// Before work comes in: those are left to come in by themselves whom nothing here brings in together with others.
    pub(crate) fn without_misfits(&self, event: Event) -> Event {
        let Event { at, what: What::LandingStarted { task, with } } = event else { return event };
        let mut touched = BTreeSet::new();
        let is_possible = !with.is_empty()
            && !self.settings.verify_ahead.is_on()
            && self.tree.git().is_some_and(git::Git::puts_plainly)
            && self.fits(&task, &mut touched);
        let fitting = with.into_iter().take_while(|id| is_possible && self.fits(id, &mut touched));
        Event { at, what: What::LandingStarted { task, with: fitting.collect() } }
    }

    /// Whether the work of a task fits to that of those before it, which is about these files: it is known where it is, and
    /// no file is changed by two of them.
    fn fits<'a>(&'a self, id: &TaskId, touched: &mut BTreeSet<&'a str>) -> bool {
        let own = self.state.task(id).into_iter().flat_map(|task| &task.touched);
        self.packed.contains_key(id)
            && own.into_iter().all(|path| touched.insert(path))
            && self.is_verified_by_files(id)
    }

    /// Whether the verify command of a task sees nothing of whether those before it are committed and ticked.
    fn is_verified_by_files(&self, id: &TaskId) -> bool {
        let Some(task) = self.state.task(id) else { return false };
        let Status::Finished { attempt } = task.status else { return false };
        let text = self.task_text(id, &self.attempt_place(id, attempt, task.dispatch));
        let script = Excerpt::read(self.file.dialect, &text).as_ref().and_then(check::script_of);
        let own = [&self.file.path, &self.file.progress()]
            .map(|file| file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default());
        let looks_at = |script: &Script, word: &str| script.text.contains(word);
        script.is_some_and(|script| {
            !looks_at(&script, "git") && !own.iter().any(|name| looks_at(&script, name))
        })
    }

    /// What bringing work in at once amounts to.
    pub(crate) fn came_together(
        &mut self,
        (first, dispatch): (TaskId, Dispatch),
        (arrival, notes): (Result<Box<Arrival>, String>, Vec<String>),
    ) -> Seen {
        notes.into_iter().for_each(|note| self.note(note));
        self.tree.forget();
        let company = self.company_of(&first);
        let paths = arrival.as_ref().map(|arrival| arrival.paths()).unwrap_or_default();
        let why = arrival.as_ref().err().cloned();
        // Should the run have ended, whoever takes the work back needs to know how much of it is there.
        self.arrival = arrival.ok();
        if company.is_empty() || paths.len() != company.len() {
            let why = why.unwrap_or_else(|| "one of them is no longer among them".to_owned());
            return Seen::Parted { task: first, dispatch, why };
        }
        for (task, touched) in company.into_iter().zip(paths) {
            let Some((_, dispatch)) = self.coming_back(&task) else { continue };
            self.see(Seen::LandingEnded { task, dispatch, landing: engine::Landing::Done { touched } });
        }
        Seen::TimePassed
    }

    /// Before work is verified that comes in together with that of others: it is put into the project on top of that of
    /// those before it. Tells why it could not be.
    pub(crate) fn put_next(&mut self, id: &TaskId) -> Option<String> {
        let company = self.company_of(id);
        let place = company.iter().position(|member| member == id)?;
        let (Some(git), Some(arrival)) = (self.tree.git(), &mut self.arrival) else {
            return Some(format!("the work of {id} has to be put together again"));
        };
        // The first came in beside the loop.
        if place > 0 {
            match arrival.put(git, place) {
                Ok(true) => {}
                Ok(false) => return Some(told_of_obstacle(arrival.obstacle(git, place), id)),
                Err(error) => return Some(error.told()),
            }
        }
        if place + 1 == company.len() {
            self.stamps = arrival.complete(git).ok();
        }
        None
    }

    /// Takes the work of all out of the project, to come in one by one.
    pub(crate) fn part(&mut self, company: &[TaskId]) -> Result<(), GitError> {
        self.give_arrival_up()?;
        if let Some(git) = self.tree.git() {
            // What git cannot tell now is an error for whoever takes the work back.
            let sight = git.look_at_landing(self.stamps.as_ref()).unwrap_or_default();
            let outcome = "it is verified again on top of that, task by task";
            let names: Vec<String> = company.iter().map(ToString::to_string).collect();
            let told = told_of_commit(&sight, &format!("tasks {}", names.join(", ")), outcome);
            told.into_iter().for_each(|told| self.note(told));
        }
        self.stamps = None;
        // Nobody knows any more what of it may have come in.
        company.iter().for_each(|id| drop(self.packed.remove(id)));
        self.take_landing_back()
    }

    /// Before work is taken back: of several tasks', only what is in the project goes out of it.
    pub(crate) fn give_arrival_up(&mut self) -> Result<(), GitError> {
        match (self.arrival.take(), self.tree.git()) {
            (Some(arrival), Some(git)) => arrival.give_up(git),
            (_, _) => Ok(()),
        }
    }

    /// Records all of some tasks whose work is in the project and verified.
    pub(crate) fn record_together(&mut self, first: &TaskId, company: &[TaskId]) -> Result<(), RunError> {
        let dispatch = self.coming_back(first).map(|(_, dispatch)| dispatch).unwrap_or_default();
        let why = match self.try_record_together(company) {
            Ok(Some(commits)) => {
                for (task, commit) in company.iter().zip(commits) {
                    let record = Record::Kept { commit: Some(commit.as_str().to_owned()) };
                    self.see(Seen::Recorded { task: task.clone(), record });
                }
                return Ok(());
            }
            Ok(None) => self.why_not_committed(),
            Err(obstacle) => obstacle.told(),
        };
        if !git::is_interrupted() {
            self.part(company)?;
            self.see(Seen::Parted { task: first.clone(), dispatch, why });
        }
        Ok(())
    }

    /// Why work was not committed together, as far as that shows.
    fn why_not_committed(&self) -> String {
        let (Some(git), Some(arrival)) = (self.tree.git(), &self.arrival) else { return String::new() };
        if git.head().is_ok_and(|head| head.as_ref() != Some(arrival.head())) {
            return "somebody committed meanwhile".to_owned();
        }
        match self.stamps.as_ref().and_then(|stamps| stamps.changed(git.root())) {
            Some(file) => format!("{file} was changed while it was verified"),
            None => "git has to commit them".to_owned(),
        }
    }

    fn try_record_together(&mut self, company: &[TaskId]) -> Result<Option<Vec<Oid>>, Obstacle> {
        let (Some(first), Some(git)) = (company.first(), self.tree.git()) else { return Ok(None) };
        self.guard_plan(first)?;
        if self.follow_branch()?.is_some() {
            return Ok(None);
        }
        let (Ok(pieces), Some(stamps)) = (self.pieces(company), self.stamps.clone()) else {
            return Ok(None);
        };
        let path = self.file.progress();
        let mut progress = Progress::open(&path, &self.file.name).map_err(RunError::io("read", &path))?;
        progress.history(&self.state, None);
        let texts = self.book.texts_ticked(company).map_err(RunError::io("read", &self.file.path))?;
        let [plan, notes] = self.tree.committable_plan_and_progress()?;
        let mut books = CompanyBooks {
            completed: company.iter().map(|id| self.completed(id)).collect(),
            book: &mut self.book,
            progress,
            texts,
            works: Vec::new(),
            plan,
            notes,
            failure: None,
        };
        let links: Vec<Link<'_>> =
            pieces.iter().map(|piece| Link { landing: piece.landing(), message: &piece.message }).collect();
        let before = git.head()?;
        let made = git.commit_together(&links, &stamps, &mut books)?;
        if let Some(source) = books.failure {
            return Err(RunError::Io { action: "write", path: self.file.path.clone(), source }.into());
        }
        self.tree.forget();
        if made.is_some() {
            (self.arrival, self.stamps) = (None, None);
            self.spec_is_tracked = true;
            if let Some(head) = git.head()? {
                self.watch.advance(before.as_ref(), &head);
            }
            for id in company {
                self.packed.remove(id);
                self.drop_progress_file(id);
            }
        }
        Ok(made)
    }
}

/// Has it come in, and puts the first piece of it into the project, unless something has to be seen to first, which is told.
fn bring(
    git: &git::Git,
    (company, pieces): (&[TaskId], &[Piece]),
    watch: &Watch,
    notes: &mut Vec<String>,
) -> Result<Result<Arrival, String>, GitError> {
    git.refuse_if_misdirected()?;
    if let Some(obstacle) = watch.obstacle(git)? {
        return Ok(Err(obstacle));
    }
    // Something may be half in the project already, with what somebody made of it.
    notes.extend(traces::told_of(git.root(), &git.settle_landing()?));
    let mut arrival = match git.expect_together(&pieces.iter().map(Piece::landing).collect::<Vec<_>>())? {
        Ok(arrival) => arrival,
        Err(apart) => return Ok(Err(told_of_parting(&apart, company))),
    };
    if arrival.put(git, 0)? {
        return Ok(Ok(arrival));
    }
    let obstacle = arrival.obstacle(git, 0);
    arrival.give_up(git)?;
    Ok(Err(company.first().map(|id| told_of_obstacle(obstacle, id)).unwrap_or_default()))
}

fn told_of_parting(apart: &Apart, company: &[TaskId]) -> String {
    match apart {
        Apart::InTheWay(paths) => format!("changes that nobody committed are in the way: {}", listed(paths)),
        Apart::Deleted(paths) => format!("somebody deleted {}", listed(paths)),
        Apart::Mixed(place) => {
            let id = company.get(*place).map(ToString::to_string).unwrap_or_default();
            format!("the work of {id} takes a merge, or there is more to it than new and changed files")
        }
        Apart::NotPlain => "git has to put some of the files in place".to_owned(),
    }
}

fn told_of_obstacle(obstacle: Option<String>, id: &TaskId) -> String {
    match obstacle {
        Some(file) => format!("somebody changed {file}, which the work of {id} is about"),
        None => format!("something was in the way of the work of {id}"),
    }
}

/// The plan and the progress file while work of some tasks is committed.
struct CompanyBooks<'a> {
    book: &'a mut Book,
    progress: Progress,
    /// What the plan is with the first of them ticked, with the first two, and so on; none if it has no boxes.
    texts: Option<Vec<String>>,
    completed: Vec<Completed>,
    works: Vec<Oid>,
    /// Where git is to know them.
    plan: Option<String>,
    notes: Option<String>,
    failure: Option<io::Error>,
}

impl Books for CompanyBooks<'_> {
    fn follow(&mut self, place: usize, work: &Oid) -> Option<Following> {
        let completed = self.completed.get(place)?;
        self.progress.add(completed, Some(work.as_str()));
        self.works.push(work.clone());
        let mut files = Vec::new();
        if let Some(path) = &self.plan {
            files.push((path.clone(), self.texts.as_ref()?.get(place)?.clone().into_bytes()));
        }
        if let Some(path) = &self.notes {
            files.push((path.clone(), self.progress.text().as_bytes().to_vec()));
        }
        Some(Following { files, message: completes(&completed.id) })
    }

    fn write(&mut self) {
        let ids = self.completed.iter().map(|completed| &completed.id);
        self.failure = self.book.tick_all(ids).and_then(|()| self.write_progress()).err();
    }
}

impl CompanyBooks<'_> {
    /// Somebody may have written to the file since it was read.
    fn write_progress(&mut self) -> io::Result<()> {
        self.progress.read_again()?;
        for (completed, work) in self.completed.iter().zip(&self.works) {
            self.progress.add(completed, Some(work.as_str()));
        }
        self.progress.save()
    }
}
