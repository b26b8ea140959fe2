//! What a link is asked to do.

use cuweld_elf::toolkit::Toolkit;
use cuweld_ir::LinkOptions;
use cuweld_ir::text::DumpBytes;
use cuweld_passes::threads::Threads;

use crate::compile::CompileOptions;
use crate::controls::Controls;
use crate::input::DiscoverOptions;

/// A link to do.
#[derive(Clone)]
pub struct Request<'a> {
    /// The toolkit whose linker the link stands in for; `None` for the newest that made an input.
    pub toolkit: Option<&'static Toolkit>,
    /// Where the inputs are.
    pub discover: DiscoverOptions<'a>,
    /// How intermediate code is compiled.
    pub compile: CompileOptions,
    /// Options that change bytes.
    pub options: LinkOptions,
    /// Do not prune kernels by host information.
    pub ignore_host_info: bool,
    /// How the pipeline runs and what is shown of it.
    pub controls: &'a Controls,
    /// What its work is divided among.
    pub threads: Threads,
    /// The form in which the output is the module as text, in place of the file.
    pub as_text: Option<DumpBytes>,
    /// What the program does meanwhile.
    pub hooks: Hooks,
}

impl<'a> Request<'a> {
    /// Asks for a link without options, of the caller's thread alone.
    pub fn new(discover: DiscoverOptions<'a>, controls: &'a Controls) -> Self {
        Request {
            toolkit: None,
            discover,
            compile: CompileOptions::default(),
            options: LinkOptions::default(),
            ignore_host_info: false,
            controls,
            threads: Threads::default(),
            as_text: None,
            hooks: Hooks::default(),
        }
    }
}

/// What the program that runs a link does at some points of it, such as managing its memory; by
/// default nothing.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    /// Called with the estimated size of all inputs in bytes before their rows are read, again when
    /// the estimate grows.
    pub reserve: fn(u64),
    /// Called when all is linked and its memory need not be given back before the program ends.
    pub linked: fn(),
}

impl Default for Hooks {
    fn default() -> Self {
        Hooks {
            reserve: |_| {},
            linked: || {},
        }
    }
}
