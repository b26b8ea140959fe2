//! What a run has shown, counted and printed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use super::execute::Seen;
use super::link::{Link, Mode};
use crate::harness::verdict::{Verdict, message_template};

/// Links of one target or mode by their verdict.
#[derive(Clone, Copy, Default)]
struct Row {
    identical: u32,
    deviations: u32,
    reported: u32,
    errors: u32,
    refused: u32,
    crashes: u32,
    different: u32,
}

/// A link that differs.
pub struct Mismatch {
    /// Its seed.
    pub seed: u32,
    /// First line of the report, without names and numbers.
    pub class: String,
    /// All of it.
    pub report: String,
}

/// All counts of a run.
#[derive(Default)]
pub struct Summary {
    targets: BTreeMap<String, Row>,
    modes: BTreeMap<Mode, Row>,
    refusals: BTreeMap<String, (u32, u32)>,
    reported: BTreeMap<String, Vec<u32>>,
    features: BTreeMap<String, u32>,
    /// Links that differ.
    pub mismatches: Vec<Mismatch>,
    /// Links in all.
    pub links: u32,
    times: [Duration; 2],
}

impl Summary {
    /// Adds a link.
    pub fn add(&mut self, seed: u32, link: &Link, seen: Seen) {
        self.links += 1;
        let target = self.targets.entry(link.arch.clone()).or_default();
        target.add(&seen.verdict);
        self.modes.entry(link.mode).or_default().add(&seen.verdict);
        self.times[0] += seen.times[0];
        self.times[1] += seen.times[1];
        if let Verdict::Refused(reason) = &seen.verdict {
            let entry = self.refusals.entry(reason.clone()).or_insert((0, seed));
            entry.0 += 1;
            entry.1 = entry.1.min(seed);
        }
        if let Verdict::Reported(codes) = &seen.verdict {
            self.reported.entry(codes.clone()).or_default().push(seed);
        }
        if let Verdict::Differs(report) = seen.verdict {
            self.mismatches.push(Mismatch {
                seed,
                class: class(&report),
                report,
            });
        }
        for feature in seen.features {
            *self.features.entry(feature).or_default() += 1;
        }
    }

    /// How many links had to do with each feature.
    pub fn features(&self) -> &BTreeMap<String, u32> {
        &self.features
    }

    /// Those of the named features that no link had to do with.
    pub fn missing<'a>(&self, names: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
        names
            .filter(|name| !self.features.contains_key(*name))
            .collect()
    }
}

/// What a report is about: its first lines without names and numbers, and without the bytes that differ.
pub fn class(report: &str) -> String {
    let lines = report
        .lines()
        .map(str::trim)
        .filter(|line| *line != "messages differ:")
        .take(2);
    let text = lines.collect::<Vec<_>>().join(" | ");
    let Some((_, place)) = text.split_once("first at file offset") else {
        return message_template(&text).chars().take(160).collect();
    };
    let place = place.split_once("; ").map_or(place, |(_, place)| place);
    let place = place.split(" (size").next().unwrap_or(place);
    let place = place.split(" from offset").next().unwrap_or(place);
    let place = place.split("; missing").next().unwrap_or(place);
    format!("output: {}", message_template(place))
}

/// The first seeds of a list, each after a space.
fn some_of(seeds: &[u32]) -> String {
    let seeds = seeds.iter().take(6).map(|seed| format!(" {seed}"));
    seeds.collect()
}

impl Row {
    fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Identical => self.identical += 1,
            Verdict::Deviation => self.deviations += 1,
            Verdict::Reported(_) => self.reported += 1,
            Verdict::SameError => self.errors += 1,
            Verdict::Refused(_) => self.refused += 1,
            Verdict::Crash => self.crashes += 1,
            Verdict::Differs(_) => self.different += 1,
        }
    }

    fn sum(&mut self, other: &Row) {
        self.identical += other.identical;
        self.deviations += other.deviations;
        self.reported += other.reported;
        self.errors += other.errors;
        self.refused += other.refused;
        self.crashes += other.crashes;
        self.different += other.different;
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row {
            identical,
            deviations,
            reported,
            errors,
            refused,
            crashes,
            different,
        } = self;
        let links = identical + deviations + reported + errors + refused + crashes + different;
        write!(
            f,
            "{links:>7} {identical:>10} {errors:>11} {deviations:>10} {reported:>9} {refused:>8} {crashes:>15} {different:>9}"
        )
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<16}   links  identical  same error  deviation  reported  refused  nvlink crashes  MISMATCH",
            ""
        )?;
        let mut all = Row::default();
        for (target, row) in &self.targets {
            writeln!(f, "{target:<16} {row}")?;
            all.sum(row);
        }
        for mode in Mode::ALL {
            if let Some(row) = self.modes.get(&mode) {
                writeln!(f, "{mode:<16} {row}")?;
            }
        }
        writeln!(f, "{:<16} {all}", "all")?;
        let mut refusals: Vec<_> = self.refusals.iter().collect();
        refusals.sort_by_key(|(reason, (count, _))| (std::cmp::Reverse(*count), *reason));
        for (reason, (count, seed)) in refusals {
            writeln!(f, "refused {count:>6}: {reason} (seed {seed})")?;
        }
        for (codes, seeds) in &self.reported {
            let (count, some) = (seeds.len(), some_of(seeds));
            writeln!(
                f,
                "reported {count:>5}: {codes}, not compared (seeds{some})"
            )?;
        }
        let mut classes: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for mismatch in &self.mismatches {
            classes
                .entry(&mismatch.class)
                .or_default()
                .push(mismatch.seed);
        }
        let mut classes: Vec<_> = classes.into_iter().collect();
        classes.sort_by_key(|(class, seeds)| (std::cmp::Reverse(seeds.len()), *class));
        for (class, seeds) in classes {
            let (count, some) = (seeds.len(), some_of(&seeds));
            writeln!(f, "MISMATCH {count:>5}: {class} (seeds{some})")?;
        }
        writeln!(
            f,
            "time in nvlink {:.0} s, in cuweld {:.0} s",
            self.times[0].as_secs_f64(),
            self.times[1].as_secs_f64()
        )
    }
}
