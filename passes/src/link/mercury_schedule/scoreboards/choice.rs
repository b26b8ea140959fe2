//! Which scoreboard an instruction sets.

use super::Allocator;
use super::Entry;
use super::FOR_LOADS;
use super::Kind;
use super::Live;
use super::NEAR_COST;
use super::NEAR_PART;
use super::Place;
use super::Rule;
use super::SCOREBOARDS;
use crate::link::mercury_schedule::latency;

impl Allocator<'_> {
    /// Returns the scoreboard for a new entry: one that the same instruction waits for, else a free
    /// one, else the one that costs the fewest cycles; the lowest of those that are equal.
    pub(super) fn choose(&mut self, live: &Live, new: &Entry, place: &Place) -> Option<usize> {
        let number = self.scoreboard(live, new, place)?;
        let name = self.code.steps[new.setter].operands.name;
        let is_long = new.kind == Kind::Written && latency::is_long(name);
        if is_long && new.conflict == place.end && !place.is_last && !self.loads {
            let rule = Rule::UnwantedLoad { number };
            self.followed.push((new.setter, rule));
        }
        Some(number)
    }

    fn scoreboard(&mut self, live: &Live, new: &Entry, place: &Place) -> Option<usize> {
        let name = self.code.steps[new.setter].operands.name;
        let is_long = new.kind == Kind::Written && latency::is_long(name);
        let outlives = new.conflict == place.end;
        let is_emptied = || self.is_emptied(new.setter, place.end);
        if is_long && outlives && !place.is_last && self.loads && !is_emptied() {
            return Some(FOR_LOADS);
        }
        let range = match () {
            () if is_long => 2..SCOREBOARDS,
            () if outlives && !place.is_last && self.loads => 0..FOR_LOADS,
            () => 0..SCOREBOARDS,
        };
        let in_range = |scoreboard: &usize| {
            range.contains(scoreboard) && !(place.has_outliving_load && *scoreboard == FOR_LOADS)
        };
        if let Some(shared) = self.shared(live, new, place, outlives) {
            return Some(shared);
        }
        let is_free = |scoreboard: &usize| in_range(scoreboard) && live[*scoreboard].is_empty();
        let free = || (0..SCOREBOARDS).filter(is_free);
        if let Some(first) = free().next() {
            let mut unoccupied =
                free().filter(|scoreboard| outlives && !place.occupied[*scoreboard]);
            let number = unoccupied.next().unwrap_or(first);
            if number != first {
                let rule = Rule::Unoccupied { number };
                self.followed.push((new.setter, rule));
            }
            return Some(number);
        }
        let mut costs = [None; SCOREBOARDS];
        // When those instructions are reached on whose times the costs depend.
        let mut reached = [0; SCOREBOARDS];
        let is_reserved = |scoreboard: &usize| {
            place.has_outliving_load && *scoreboard == FOR_LOADS
                || is_long && !range.contains(scoreboard)
        };
        let is_shareable =
            |scoreboard: &usize| !live[*scoreboard].is_empty() && !is_reserved(scoreboard);
        for scoreboard in (0..SCOREBOARDS).filter(is_shareable) {
            let earliest = earliest(&live[scoreboard])?;
            let first = earliest.min(new.conflict);
            reached[scoreboard] = place.times[first - place.start];
            costs[scoreboard] = Some(if earliest > new.conflict {
                latest(&live[scoreboard]) - reached[scoreboard]
            } else if earliest == place.end {
                i64::MIN
            } else {
                new.finish? - reached[scoreboard]
            });
        }
        // What outlives the block gains nothing by being over early.
        let counted = |cost: i64| if outlives { cost.max(0) } else { cost };
        let numbers = (0..).zip(costs);
        let known = numbers.filter_map(|(number, cost)| Some((counted(cost?), number)));
        let (least, best) = known.min()?;
        let best_cost = costs[best]?;
        let is_near = |(number, cost): (usize, Option<i64>)| {
            let near = NEAR_COST + reached[best].max(reached[number]) / NEAR_PART;
            let less = |cost: i64| counted(cost.saturating_sub(near));
            let more = counted(best_cost.saturating_add(near));
            number != best
                && cost.is_some_and(|cost| {
                    (less(cost), number) < (least, best) || counted(cost) < more
                })
        };
        if (0..).zip(costs).any(is_near) {
            let with = live[best].first()?.setter;
            let rule = Rule::NearCost { number: best, with };
            self.followed.push((new.setter, rule));
        }
        Some(best)
    }

    /// Returns the scoreboard whose first waiter is that of the new entry. Those that outlive the block
    /// share only with others of the block that say that registers are read.
    fn shared(&self, live: &Live, new: &Entry, place: &Place, outlives: bool) -> Option<usize> {
        if outlives && new.kind == Kind::Written {
            return None;
        }
        let is_fit = |scoreboard: &usize| {
            let entries = &live[*scoreboard];
            let has_inherited = entries.iter().any(Entry::is_inherited);
            earliest(entries) == Some(new.conflict)
                && !(*scoreboard == FOR_LOADS
                    && (place.has_outliving_load || self.loads && (outlives || has_inherited)))
                && !(outlives
                    && (entries.iter().all(Entry::is_inherited)
                        || entries.iter().any(|entry| entry.kind != Kind::Read)))
        };
        (0..SCOREBOARDS).find(is_fit)
    }
}

/// Returns the first instruction that waits for a scoreboard; `None` if it is free.
fn earliest(entries: &[Entry]) -> Option<usize> {
    entries.iter().map(|entry| entry.conflict).min()
}

/// Returns when a scoreboard is over.
pub(super) fn latest(entries: &[Entry]) -> i64 {
    entries.iter().map(Entry::over).max().unwrap_or(0)
}
