//! What is known of a link beside the file that it wrote.

use cuweld_passes::manager::PassManager;
use cuweld_passes::reports::link_map::DropReason;
use cuweld_passes::reports::link_map::LinkMap;

use super::model;
use super::names::Labels;
use super::names::shortened;
use super::names::variable;
use super::passes::PassRecorder;
use super::passes::Taken;
use crate::file_name;
use crate::inspect::Name;

/// How many dropped sections are listed.
const MOST_DROPPED: usize = 5000;

/// How many characters names of dropped sections have at most.
const LONGEST: usize = 240;

/// What is known of a link beside the file that it wrote.
#[derive(Debug, Default)]
pub struct LinkData {
    recorder: PassRecorder,
    /// For each step of the pipeline what its pass does.
    summaries: Vec<&'static str>,
    /// The map of the file, if there is one.
    pub(super) map: Option<LinkMap>,
}

impl LinkData {
    /// Takes what was recorded of a run of `manager`, and the map of the file.
    pub fn new(recorder: PassRecorder, manager: &PassManager, map: Option<LinkMap>) -> Self {
        let steps = manager.pipeline().steps().iter();
        LinkData {
            recorder,
            summaries: steps.map(|step| step.pass.info().summary).collect(),
            map,
        }
    }
}

/// Describes a link.
pub(super) fn describe(data: LinkData) -> model::Link {
    let dropped = match &data.map {
        Some(map) => dropped(map, &data.recorder.taken),
        None => model::Dropped::default(),
    };
    let passes = data.recorder.passes.into_iter().map(|pass| {
        let summary = pass.number.checked_sub(1);
        let summary = summary.and_then(|number| data.summaries.get(number));
        model::Pass {
            number: pass.number,
            name: pass.name,
            summary: summary.copied().unwrap_or_default(),
            via: pass.via,
            changed: pass.changed,
            counters: pass.counters,
            ms: pass.ms,
            diff: pass.diff,
        }
    });
    model::Link {
        pipeline: data.recorder.pipeline,
        known_by: data.recorder.known_by,
        passes: passes.collect(),
        dropped,
    }
}

/// Describes what was left out: the totals of all, and the largest sections.
fn dropped(map: &LinkMap, taken: &Taken) -> model::Dropped {
    const REASONS: [DropReason; 6] = [
        DropReason::Unreachable,
        DropReason::Unreferenced,
        DropReason::Discarded,
        DropReason::Replaced,
        DropReason::Folded,
        DropReason::LeftOut,
    ];
    let mut all: Vec<_> = map.dropped.iter().collect();
    let totals = REASONS.into_iter().filter_map(|reason| {
        let of_reason = all.iter().filter(|section| section.reason == reason);
        let count = of_reason.clone().count();
        let sizes = of_reason.map(|section| section.size);
        let bytes = sizes.fold(0, u64::saturating_add);
        (count != 0).then_some((reason.name(), count, bytes))
    });
    let mut described = model::Dropped {
        totals: totals.collect(),
        ..model::Dropped::default()
    };
    // Stable: sections of one size stay in the order of their objects.
    all.sort_by_key(|section| std::cmp::Reverse(section.size));
    let mut labels = Labels::default();
    for section in all.into_iter().take(MOST_DROPPED) {
        let input = &section.input;
        let object = match &input.member {
            Some(member) => format!("{}:{member}", input.name),
            None => input.name.clone(),
        };
        let instead = match section.reason {
            DropReason::Discarded | DropReason::Replaced => instead(&object, &input.section, taken),
            _ => None,
        };
        let instead = instead.map(|text| labels.number(text, LONGEST));
        described.instead.push(instead);
        described.object.push(labels.number(object, LONGEST));
        described.section.push(section_name(&input.section));
        described.size.push(section.size);
        let reason = section.reason.name().to_owned();
        described.reason.push(labels.number(reason, LONGEST));
    }
    described.labels = labels.texts();
    described
}

/// Returns the object whose definition was taken in the place of the one with this section, and why.
fn instead(object: &str, section: &str, taken: &Taken) -> Option<String> {
    section.match_indices('.').skip(1).find_map(|(dot, _)| {
        let function = file_name::bytes(section.get(dot + 1..)?).into_owned();
        let (by, reason) = taken.get(&(object.to_owned(), function))?;
        Some(format!("{by}: {reason}"))
    })
}

/// Returns the name of a section with the function in it as in the source: `.text.f(int)`.
fn section_name(name: &str) -> String {
    let dots = name.match_indices('.').skip(1);
    let source = dots.into_iter().find_map(|(dot, _)| {
        let (kind, function) = name.split_at_checked(dot + 1)?;
        let source = Name(function.as_bytes()).demangled()?;
        Some(format!("{kind}{source}"))
    });
    shortened(source.unwrap_or_else(|| name.to_owned()), LONGEST)
}

/// Returns the shared memory of the kernels, which have these names.
pub(super) fn shared(data: &LinkData, functions: &model::Functions) -> Vec<model::SharedBlock> {
    let names = functions.name.iter().enumerate();
    let mut by_name: Vec<(&str, usize)> = names.map(|(row, name)| (name.as_str(), row)).collect();
    by_name.sort_unstable();
    let longest = super::names::longest(functions.name.len());
    let blocks = data.recorder.shared.iter();
    let blocks = blocks.filter_map(|(kernel, size, variables)| {
        let kernel = shortened(Name(kernel).to_string(), longest);
        let at = by_name.partition_point(|(name, _)| *name < kernel.as_str());
        let (name, function) = by_name.get(at)?;
        let variables = variables.iter();
        let variables = variables.map(|(name, address, size)| (variable(name), *address, *size));
        (*name == kernel).then(|| model::SharedBlock {
            function: *function,
            size: *size,
            variables: variables.collect(),
        })
    });
    blocks.collect()
}
