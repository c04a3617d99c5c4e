//! All moments that a case can come to, and how they lead to each other.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use super::key::{ending, is_complete, key, wanted};
use super::node::{Case, Down, Engine, Node, Step};
use crate::transcript::line;

/// How many moments a case may have: more is a case that is too large to be explored.
const NODES_MAX: usize = 5_000_000;

/// How many runs are followed without taking one moment for another: so many, and one for so many moments.
const WALKS_MIN: usize = 10;
const MOMENTS_PER_WALK: usize = 200;
/// How many steps are taken in such a run, which may go down again and again.
const WALK_MAX: usize = 100;

/// All that a case can come to.
pub(crate) struct Graph {
    case: Rc<Case>,
    engine: Engine,
    /// The place of each moment by its key, and what the engine wants there.
    known: BTreeMap<String, (usize, String)>,
    /// The moment from which each was first met, and the number of the step that led there.
    origins: Vec<(usize, usize)>,
    edges: Vec<Vec<Edge>>,
    endings: Vec<Option<String>>,
    /// The ends at which everything is done or skipped.
    complete: BTreeSet<String>,
    is_side_by_side: bool,
}

struct Edge {
    to: usize,
    kind: EdgeKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EdgeKind {
    /// The run goes on.
    Forward,
    /// The program goes down and loses nothing that has an effect on the end.
    Down,
    /// It goes down, and there is more to do again: more can come of it.
    More,
    /// It goes down, and what ran beside each other comes one after the other then: less can come of it.
    Less,
    /// It goes down, and what that leads to depends on how far things have come.
    Open,
    /// It goes down after it did what would have led to this other moment.
    After(usize),
    /// So it does, and more can come of it.
    MoreAfter(usize),
}

/// A law that does not hold, and how that came about.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) law: String,
    pub(crate) transcript: String,
}

impl Graph {
    /// Looks at everything that can happen.
    pub(crate) fn explore(engine: Engine, case: &Case) -> Result<Self, Broken> {
        let case = Rc::new(case.clone());
        let first = Node::first(&engine, &case);
        let mut graph = Self {
            case,
            engine,
            known: BTreeMap::new(),
            origins: Vec::new(),
            edges: Vec::new(),
            endings: Vec::new(),
            complete: BTreeSet::new(),
            is_side_by_side: first.is_side_by_side(),
        };
        graph.meet(&first, (0, 0))?;
        let mut open = VecDeque::from([(0, first)]);
        while let Some((place, node)) = open.pop_front() {
            let steps = graph.attempt(place, None, || node.steps(&engine))?;
            for (number, step) in steps.iter().enumerate() {
                let (next, _) = graph.attempt(place, Some(number), || node.after(&engine, step))?;
                let known = graph.len();
                let to = graph.meet(&next, (place, number))?;
                if to == known {
                    open.push_back((to, next));
                }
                let kind = graph.kind_of(&node, step);
                graph.edges[place].push(Edge { to, kind });
            }
            assert!(graph.len() < NODES_MAX, "{} is too large", graph.case.name);
        }
        Ok(graph)
    }

    /// The place of a moment, which may be a new one. Two that are taken for the same want the same.
    fn meet(&mut self, node: &Node, origin: (usize, usize)) -> Result<usize, Broken> {
        let (key, wants) = (key(node), wanted(&self.engine, node));
        match self.known.get(&key) {
            Some((place, known)) if *known == wants => Ok(*place),
            Some((_, known)) => {
                let law = format!("the key leaves out too much: {key}\n{known}\n{wants}");
                Err(self.broken(law, (origin.0, Some(origin.1))))
            }
            None => {
                let place = self.len();
                self.known.insert(key, (place, wants));
                self.origins.push(origin);
                self.edges.push(Vec::new());
                let ending = ending(node);
                self.complete.extend(ending.clone().filter(|_| is_complete(node)));
                self.endings.push(ending);
                Ok(place)
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.edges.len()
    }

    /// Every run ends: without the program going down no moment comes again, so that each has a last one.
    pub(crate) fn every_run_ends(&self) -> Result<Vec<usize>, Broken> {
        let mut before = vec![0_usize; self.len()];
        self.forward().for_each(|(_, to)| before[to] += 1);
        let mut order: Vec<usize> = (0..self.len()).filter(|place| before[*place] == 0).collect();
        let mut next = 0;
        while let Some(place) = order.get(next).copied() {
            next += 1;
            for to in self.forward_from(place) {
                before[to] -= 1;
                if before[to] == 0 {
                    order.push(to);
                }
            }
        }
        match before.iter().position(|count| *count > 0) {
            None => Ok(order),
            Some(place) => Err(self.without_end(place, &before)),
        }
    }

    /// A run that comes back to a moment. All that are left have one before them that is left as well.
    fn without_end(&self, place: usize, left: &[usize]) -> Broken {
        let mut of = BTreeMap::new();
        self.forward().filter(|(from, _)| left[*from] > 0).for_each(|(from, to)| {
            of.entry(to).or_insert(from);
        });
        let (mut circle, mut place) = (Vec::new(), place);
        while !circle.contains(&place) {
            circle.push(place);
            place = of[&place];
        }
        self.broken("a run does not end".to_owned(), (place, None))
    }

    /// Whenever the program goes down, the run can end as it could have ended otherwise, and in no other way. Where tasks
    /// run side by side, an early end depends on how far the others have come: then there may be fewer of those, but as many
    /// at which everything is done.
    pub(crate) fn going_down_changes_no_end(&self, order: &[usize]) -> Result<usize, Broken> {
        let ends = self.ends(order);
        let all = self.bits_of(|_| true);
        let lasting = self.bits_of(|name| !self.is_side_by_side || self.complete.contains(name));
        for (place, edges) in self.edges.iter().enumerate() {
            for (number, edge) in edges.iter().enumerate() {
                let (as_is, down) = (&ends[place], &ends[edge.to]);
                let is_same = match edge.kind {
                    EdgeKind::Forward | EdgeKind::Open => true,
                    EdgeKind::Down => is_within(as_is, down, &lasting) && is_within(down, as_is, &all),
                    EdgeKind::More => is_within(as_is, down, &lasting),
                    EdgeKind::Less => is_within(down, as_is, &all),
                    EdgeKind::After(twin) => {
                        is_within(&ends[twin], down, &lasting) && is_within(down, as_is, &all)
                    }
                    EdgeKind::MoreAfter(twin) => is_within(&ends[twin], down, &lasting),
                };
                if !is_same {
                    let law = format!("going down changes the end: {}", self.difference(as_is, down));
                    return Err(self.broken(law, (place, Some(number))));
                }
            }
        }
        Ok(self.named_endings().len())
    }

    fn bits_of(&self, is_one: impl Fn(&str) -> bool) -> Vec<u64> {
        let names = self.named_endings();
        let mut bits = vec![0_u64; names.len().div_ceil(64)];
        for (bit, _) in names.iter().enumerate().filter(|(_, name)| is_one(name)) {
            bits[bit / 64] |= 1 << (bit % 64);
        }
        bits
    }

    fn named_endings(&self) -> Vec<&String> {
        self.endings.iter().flatten().collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The ends that each moment can come to, as bits.
    fn ends(&self, order: &[usize]) -> Vec<Vec<u64>> {
        let names = self.named_endings();
        let mut ends = vec![vec![0_u64; names.len().div_ceil(64)]; self.len()];
        for place in order.iter().rev().copied() {
            let own = self.endings[place].as_ref();
            if let Some(bit) = own.and_then(|own| names.binary_search(&own).ok()) {
                ends[place][bit / 64] |= 1 << (bit % 64);
            }
            for to in self.forward_from(place) {
                let of_next = ends[to].clone();
                ends[place].iter_mut().zip(of_next).for_each(|(all, more)| *all |= more);
            }
        }
        ends
    }

    fn difference(&self, one: &[u64], other: &[u64]) -> String {
        let names = self.named_endings();
        let has = |ends: &[u64], bit: usize| ends[bit / 64] >> (bit % 64) & 1 == 1;
        let differs = (0..names.len()).filter(|bit| has(one, *bit) != has(other, *bit));
        let told = differs.map(|bit| format!("{}{}", if has(one, bit) { "-" } else { "+" }, names[bit]));
        told.collect::<Vec<_>>().join("\n")
    }

    fn forward_from(&self, place: usize) -> impl Iterator<Item = usize> {
        self.edges[place].iter().filter(|edge| edge.kind == EdgeKind::Forward).map(|edge| edge.to)
    }

    fn forward(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.len()).flat_map(|place| self.forward_from(place).map(move |to| (place, to)))
    }

    fn kind_of(&self, node: &Node, step: &Step) -> EdgeKind {
        let is_capped = node.rules().limits.global_iterations_max.is_some();
        match step {
            Step::Due | Step::See(_) | Step::Wait | Step::StartAgain { .. } => EdgeKind::Forward,
            // Whoever starts a program again does not want a pause any more, and what was about to come in and is to be left
            // out does not come in again.
            Step::GoDown(_) if node.state.pause().is_some() || node.leaves_what_comes_in() => EdgeKind::Open,
            // Agents that have to work again count against the cap again.
            Step::GoDown(Down::TreesGone) if is_capped => EdgeKind::Open,
            // Beside what is about to end the run, others may be lost with the program and do not begin again.
            Step::GoDown(_) if node.is_side_by_side() && node.is_about_to_end() => EdgeKind::Open,
            Step::GoDown(Down::Killed | Down::KilledAfter(_)) if node.proves_beside_what_is_recorded() => {
                EdgeKind::Less
            }
            Step::GoDown(Down::KilledAfter(seen)) => {
                let (twin, _) = node.after(&self.engine, &Step::See(seen.clone()));
                let twin = self.known[&key(&twin)].0;
                if begins_anew(node) { EdgeKind::MoreAfter(twin) } else { EdgeKind::After(twin) }
            }
            Step::GoDown(_) if begins_anew(node) => EdgeKind::More,
            Step::GoDown(Down::Killed) => EdgeKind::Down,
            // A person who starts a run again has more patience than the run had left.
            Step::GoDown(Down::Interrupted | Down::TreesGone) => EdgeKind::More,
        }
    }

    /// Does something that holds laws against the engine.
    fn attempt<T>(&self, place: usize, step: Option<usize>, act: impl FnOnce() -> T) -> Result<T, Broken> {
        catch_unwind(AssertUnwindSafe(act)).map_err(|panic| self.broken(words(panic.as_ref()), (place, step)))
    }

    /// Runs are followed, here and there, without taking one moment for another: the key has left out nothing that shows
    /// later.
    pub(crate) fn the_key_is_enough(&self) -> Result<(), Broken> {
        let mut dice = 1_usize;
        for _ in 0..WALKS_MIN + self.len() / MOMENTS_PER_WALK {
            let (mut node, mut numbers) = (Node::first(&self.engine, &self.case), Vec::new());
            while numbers.len() < WALK_MAX {
                let steps = node.steps(&self.engine);
                if steps.is_empty() {
                    break;
                }
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let number = (dice >> 33) % steps.len();
                numbers.push(number);
                (node, _) = node.after(&self.engine, &steps[number]);
                let wants = wanted(&self.engine, &node);
                let known = self.known.get(&key(&node)).map(|(_, known)| known);
                if known != Some(&wants) {
                    let law = format!("the key leaves out too much: {known:?} is {wants}");
                    return Err(self.told(law, &numbers));
                }
            }
        }
        Ok(())
    }

    /// A law that does not hold at a moment, or after a step from it.
    fn broken(&self, law: String, (mut place, last): (usize, Option<usize>)) -> Broken {
        let mut numbers: Vec<usize> = last.into_iter().collect();
        while place > 0 {
            let (before, number) = self.origins[place];
            numbers.push(number);
            place = before;
        }
        numbers.reverse();
        self.told(law, &numbers)
    }

    /// A law that does not hold after these steps.
    fn told(&self, law: String, numbers: &[usize]) -> Broken {
        let mut node = Node::first(&self.engine, &self.case);
        let mut lines = vec![self.case.name.clone()];
        for number in numbers {
            let replay = || {
                let step = node.steps(&self.engine)[*number].clone();
                let (next, events) = node.after(&self.engine, &step);
                (step, next, events)
            };
            let Ok((step, next, events)) = catch_unwind(AssertUnwindSafe(replay)) else { break };
            if let Step::GoDown(down) = &step {
                lines.push(format!("-- {down:?}"));
            }
            lines.extend(events.iter().map(line));
            node = next;
        }
        lines.push(key(&node));
        Broken { law, transcript: lines.join("\n") }
    }
}

/// True if a program that is started anew does what the old one would not have done: whoever could not be had is asked
/// again, and what came together with the rest or was held up does so again, where it may meet somebody else's work.
fn begins_anew(node: &Node) -> bool {
    node.ledger.is_agent_out || node.comes_together() || node.has_held_up()
}

/// True if all of a few ends, as far as they count, are among many.
fn is_within(few: &[u64], many: &[u64], counting: &[u64]) -> bool {
    few.iter().zip(many).zip(counting).all(|((few, many), counting)| few & counting & !many == 0)
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}
