//! Code of both views.

use std::ops::Range;

use super::Findings;
use super::Rule;
use super::View;
use super::ViewSection;
use super::lists::is_of_first_version;
use super::tail::is_tail;
use crate::mercury::capmerc::Capmerc;
use crate::mercury::capmerc::Form;
use crate::mercury::capmerc::INSTRUCTION;
use crate::mercury::capmerc::Item;
use crate::mercury::capmerc::Record;
use crate::mercury::records;
use crate::sass::Instruction;
use crate::target::section_types::sht;

/// Checks the sizes of code.
pub(super) fn sizes(view: &View<'_>, findings: &mut Findings) {
    for section in view.sections.iter().filter(|section| section.is_code()) {
        let size = section.header.size.get();
        if !size.is_multiple_of(INSTRUCTION) {
            let what = format!("its {size:#x} bytes are no whole instructions");
            findings.report(Rule::CodeSize, section.name, size, what);
        }
    }
}

/// Checks the Mercury code of a range of sections.
pub(super) fn check(
    view: &View<'_>,
    twins: &[Option<usize>],
    range: Range<usize>,
    findings: &mut Findings,
) {
    for (section, twin) in view.with(twins, range) {
        if section.ty() == sht::CUDA_CAPMERC {
            function(view, section, *twin, findings);
        }
    }
}

fn function(
    view: &View<'_>,
    section: &ViewSection<'_>,
    twin: Option<usize>,
    findings: &mut Findings,
) {
    let name = section.name;
    let capmerc = match Capmerc::parse(section.bytes) {
        Ok(capmerc) => capmerc,
        Err(error) => {
            findings.report(Rule::MercuryGrammar, name, 0, error.to_string());
            return;
        }
    };
    let Some(text) = twin.map(|twin| &view.sections[twin]) else {
        return;
    };
    if Some(capmerc.text as usize) != twin {
        let what = format!(
            "it stands for section {}, not that of its name",
            capmerc.text
        );
        findings.report(Rule::MercuryText, name, 0, what);
    }
    if section.header.info.get() != text.header.info.get() & 0x00ff_ffff {
        let what = "its info names another function than that of its code";
        findings.report(Rule::MercuryText, name, None, what);
    }
    if let Err(error) = capmerc.covers(text.bytes.len() as u64) {
        findings.report(Rule::MercuryCount, name, 8, error.to_string());
        return;
    }
    for item in capmerc.marked() {
        item_fits(view, section, text, &item, findings);
    }
}

fn item_fits(
    view: &View<'_>,
    section: &ViewSection<'_>,
    text: &ViewSection<'_>,
    item: &Item<'_>,
    findings: &mut Findings,
) {
    let start = item.instruction.saturating_mul(INSTRUCTION) as usize;
    let end = start.saturating_add((item.count * INSTRUCTION) as usize);
    let code = text.bytes.get(start..end).unwrap_or(&[]);
    match item.form {
        // Unoptimised code has other runs that no Mercury stands for.
        Form::Run(None) if end == text.bytes.len() && !is_tail(code) => {
            let what = format!(
                "the {} instructions at {start:#x} are not a branch to itself and padding",
                item.count
            );
            findings.report(Rule::MercuryTail, section.name, item.at as u64, what);
        }
        Form::Record(record) => {
            let Some(word) = Instruction::all(code).next() else {
                return;
            };
            let what = match Record(record).system_value() {
                Some((register, _)) if word.destination() != register => {
                    format!("the instruction at {start:#x} does not write R{register}")
                }
                _ if records::may_become(record, word) => return,
                // Its records have another form.
                _ if is_of_first_version(view, section) => return,
                _ => format!("the instruction at {start:#x} has other operands than its Mercury"),
            };
            findings.report(Rule::MercuryRecord, section.name, item.at as u64, what);
        }
        _ => {}
    }
}
