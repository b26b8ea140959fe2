//! Options of the finalizer's front end.

use clap::Args;
use cuweld_elf::finalize::OffTarget;
use cuweld_ir::LinkOptions;
use cuweld_passes::checks::finalizer::BinaryKind;
use cuweld_passes::checks::finalizer::FinalizerOptions;

/// What is asked of files with Mercury (sm_100 and up).
#[derive(Args, Debug)]
#[command(next_help_heading = "Finalizer")]
pub struct FinalizerArgs {
    /// The kind of the output; capmerc for sm_100 and up.
    #[arg(long, value_name = "KIND", value_parser = ["mercury", "capmerc", "sass"])]
    binary_kind: Option<String>,
    /// The same as --binary-kind capmerc; inputs of SASS alone are refused.
    #[arg(long)]
    cap_merc: bool,
    /// Read the output again and prove it against the inputs.
    #[arg(long)]
    self_check: bool,
    /// Write the SASS view alone, after a self-check.
    #[arg(long)]
    out_sass: bool,
    /// Copy code for another SM where its SASS runs: 0 and 1 never, 2 within a family, 3 and 4
    /// beyond.
    #[arg(long, value_name = "LEVEL", default_value_t = 0)]
    opportunistic_finalization_lvl: u8,
    /// Never copy code for another SM.
    #[arg(long)]
    fastpath_off: bool,
    /// What NVIDIA's code generator does; only its default, 3, is taken.
    #[arg(long, value_name = "LEVEL", default_value_t = 3)]
    opt_level: u8,
    /// Line tables of compiled code; needs NVIDIA's code generator.
    #[arg(long)]
    generate_line_info: bool,
    /// Shared memory has no reserved block.
    #[arg(long)]
    disable_smem_reservation: bool,
    /// The note of the tool names the output.
    #[arg(long)]
    verbose_tkinfo: bool,
    /// Code for a patch at a function's entry; needs NVIDIA's code generator.
    #[arg(long, alias = "asatentrypatch")]
    compile_as_at_entry_patch: bool,
    /// Stop at failed assertions; needs NVIDIA's code generator.
    #[arg(long)]
    trap_into_debugger: bool,
    /// Show what the finalizer's front end does: bit 0.
    #[arg(long, value_name = "BITS", default_value_t = 0)]
    edbg: u32,
}

impl FinalizerArgs {
    /// Returns the options, not checked.
    pub fn options(&self) -> FinalizerOptions {
        FinalizerOptions {
            binary_kind: self.binary_kind.as_deref().and_then(BinaryKind::from_name),
            cap_merc: self.cap_merc,
            self_check: self.self_check,
            out_sass: self.out_sass,
            opportunistic_level: self.opportunistic_finalization_lvl,
            fast_path_off: self.fastpath_off,
            opt_level: self.opt_level,
            generate_line_info: self.generate_line_info,
            disable_smem_reservation: self.disable_smem_reservation,
            verbose_tkinfo: self.verbose_tkinfo,
            at_entry_patch: self.compile_as_at_entry_patch,
            trap_into_debugger: self.trap_into_debugger,
            edbg: self.edbg,
        }
    }

    /// Applies these options to a link whose output has this name, where they change it.
    pub fn apply(&self, link: &mut LinkOptions, output_name: Vec<u8>) {
        let options = self.options();
        let copies = options.copies();
        link.reports.self_check = options.self_check;
        link.reports.trace_finalizer = options.edbg & 1 != 0;
        link.mercury.copy_within_family = copies >= OffTarget::Family;
        link.mercury.copy_across_families = copies >= OffTarget::All;
        link.mercury.cap_merc = options.wants_mercury();
        link.memory.disable_shared_reservation = options.disable_smem_reservation;
        if options.verbose_tkinfo {
            link.record.output_name = output_name;
        }
    }
}

/// Returns `true` if the variable's value asks for a trace: a number but 0, as far as it is one.
pub fn traces_compatibility(value: Option<&str>) -> bool {
    let text = value
        .unwrap_or("")
        .trim_start()
        .trim_start_matches(['+', '-']);
    let digits = text.trim_start_matches('0');
    digits.starts_with(|digit: char| digit.is_ascii_digit())
}
