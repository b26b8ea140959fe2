//! The part of a link with `-lto` before the link proper: what LTO-IR there is becomes the output,
//! or one object of the link.

use std::borrow::Cow;
use std::io;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::deviation;
use cuweld_diagnostics::codes::link;

use super::findings::of_discovery;
use super::request::Request;
use crate::compile::CompileTime;
use crate::compile::compile_ptx;
use crate::compile::lto;
use crate::compile::lto::LtoLink;
use crate::compile::lto::Optimised;
use crate::diagnostics::Reporter;
use crate::input::Discovered;
use crate::input::InputArena;
use crate::input::InputError;

/// How it goes on.
pub(super) enum Optimisation {
    /// The link failed, which has been reported.
    Failed,
    /// That is the output.
    Output(Vec<u8>),
    /// The inputs are to be linked.
    Linked,
}

/// Optimises and compiles the LTO-IR of a link. The object of a part takes the place of its inputs.
pub(super) fn optimise<'data>(
    (request, times): (&Request<'_>, &mut Vec<CompileTime>),
    discovered: &mut Discovered<'data>,
    failure: Option<&InputError>,
    arena: &'data InputArena,
    reporter: &mut Reporter<'_>,
) -> io::Result<Optimisation> {
    if !read(request, discovered, arena, times, reporter)? {
        return Ok(Optimisation::Failed);
    }
    if let Some(error) = failure {
        reporter.report_inputs(&error.findings())?;
        return Ok(Optimisation::Failed);
    }
    let (options, target) = (&request.compile, request.discover.target);
    let inputs = &mut discovered.inputs;
    let kind = match lto::kind_of_link(inputs, &options.lto, reporter)? {
        None => return Ok(Optimisation::Failed),
        Some(LtoLink::None) => return Ok(Optimisation::Linked),
        Some(kind) => kind,
    };
    lto::leave_unregistered(inputs);
    let host_info = Some(&discovered.host_info).filter(|_| !request.ignore_host_info);
    let compiled = lto::compile(inputs, kind, host_info, target, options, times, reporter)?;
    reporter.ptx_was_compiled();
    Ok(match compiled {
        None => Optimisation::Failed,
        Some(Optimised::Output(output)) => {
            let expects_runtime = !options.lto.emit_ptx
                && !request.options.keep_system_libraries
                && lto::is_from_host(inputs);
            if expects_runtime && !lto::runtime_follows(inputs) {
                reporter.report(&expected_runtime())?;
                return Ok(Optimisation::Failed);
            }
            Optimisation::Output(output)
        }
        Some(Optimised::Object(object)) => {
            let is_lost = kind == LtoLink::Partial && !lto::is_from_host(inputs);
            let object = Some(object).filter(|_| !is_lost || !request.discover.strict);
            if is_lost && object.is_some() {
                reporter.report(&kept_code())?;
            }
            lto::replace_inputs(inputs, object, arena);
            discovered.host_info.whole_program = kind == LtoLink::Whole;
            if kind == LtoLink::Partial {
                discovered.host_info.count_runtime_without_code();
            }
            Optimisation::Linked
        }
    })
}

/// Says that nvlink found no device runtime to leave out of the program that was made.
fn expected_runtime() -> Diagnostic {
    Diagnostic::fatal(link::LTO_RUNTIME, "expected libcudadevrt object")
        .help("add -lcudadevrt after all other libraries, and -L with the toolkit's libraries")
}

/// Says that the code of LTO-IR stays which nvlink leaves out of a link without LTO-IR of host
/// objects.
fn kept_code() -> Diagnostic {
    let message = "the code of LTO-IR that no host object holds is linked";
    Diagnostic::remark(deviation::INPUT, message).deviates("D24")
}

/// Says what there is to say of the inputs, and compiles their PTX, in the order in which nvlink
/// reads them; whether that succeeds.
fn read<'data>(
    request: &Request<'_>,
    discovered: &mut Discovered<'data>,
    arena: &'data InputArena,
    times: &mut Vec<CompileTime>,
    reporter: &mut Reporter<'_>,
) -> io::Result<bool> {
    let diagnostics = std::mem::take(&mut discovered.diagnostics);
    let mut said = of_discovery(&diagnostics, reporter).into_iter().peekable();
    let (toolkit, target) = (request.discover.toolkit, request.discover.target);
    let (mut compile, threads) = (Cow::Borrowed(&request.compile), &request.threads);
    for (index, input) in discovered.inputs.iter_mut().enumerate() {
        while let Some((_, finding)) = said.next_if(|(turn, _)| *turn <= index) {
            reporter.report(&finding)?;
        }
        // Compiled or not, that is what it was.
        let remark = lto::remark(input);
        if let Some(recorded) = lto::recorded_threads(input) {
            // From here on it stands for the link's `-split-compile`.
            compile.to_mut().ptxas.split_compile = lto::several(recorded);
        }
        let input = std::slice::from_mut(input);
        let compiled = compile_ptx(input, (toolkit, target), &compile, threads, arena);
        for (_, finding) in &compiled.findings {
            reporter.report(finding)?;
        }
        if reporter.is_fatal() {
            return Ok(false);
        }
        times.extend(compiled.times);
        if let Some(remark) = remark {
            reporter.report(&remark)?;
        }
    }
    for (_, finding) in said {
        reporter.report(&finding)?;
    }
    Ok(true)
}
