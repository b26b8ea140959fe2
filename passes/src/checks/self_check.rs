//! `self-check`: the file is read again and proved against the module.
//!
//! First the file alone ([`cuweld_elf::check`]): every byte has an owner, tables refer to what
//! exists, both views of a file with Mercury say the same. Then the file against the link: code,
//! Mercury code, data and debug information are those of the objects but where relocations are
//! applied; rows, symbols, section headers and program headers are those that were decided; every
//! linked function has a symbol at its code. Where functions have Mercury beside their code, the code
//! is that of the objects but for what the link itself changes, as a pass that changed it would have
//! left its Mercury as it was.
//!
//! It reads the file with nothing that wrote it. A rule that is broken is a bug in cuweld: the link
//! fails, and leaves no output.

mod contents;
mod functions;
mod report;
mod tables;
mod views;

pub use self::report::SelfCheckError;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::input;
use cuweld_elf::check::Findings;
use cuweld_elf::check::check_image;
use cuweld_elf::check::read;
use cuweld_ir::Module;
use cuweld_ir::Phase;

use crate::analyses::Preserved;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;

/// The `self-check` pass.
#[derive(Debug, Default)]
pub struct SelfCheck;

impl Pass for SelfCheck {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "self-check",
            summary: "Read the file again and prove it against the objects",
            doc: include_str!("self_check.rs"),
            requires: Phase::Emitted,
            establishes: Some(Phase::Checked),
            preserves: Preserved::All,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let (Some(image), Some(plan)) = (&module.image, &module.plan) else {
            return Err(PassError::Internal("there is no file to check".to_owned()));
        };
        cx.statistics.add("bytes", image.len() as u64);
        let mut list = check_image(image);
        let mut findings = Findings::default();
        if let Some(view) = read(image, &mut findings) {
            tables::check(plan, &view, &mut findings);
            contents::check(module, plan, &view, &mut findings);
            functions::check(module, &view, &mut findings);
            views::check(module, cx.threads, &mut findings);
        }
        list.extend(findings.into_list());
        let Some(error) = SelfCheckError::new(list, module.is_capmerc()) else {
            return Ok(Changed::No);
        };
        cx.diagnostics.emit(Diagnostic {
            notes: error.notes(),
            ..Diagnostic::fatal(input::SELF_CHECK, error.to_string())
        });
        Err(PassError::Diagnosed)
    }
}
