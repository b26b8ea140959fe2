//! Link-time optimisation of a whole program: all LTO-IR to one PTX, and that to the output.
//!
//! nvlink's own layout takes no part in such a link; its output is what ptxas makes (`inputs.md` section 9).

use std::io;
use std::path::PathBuf;

use cuweld_passes::Diagnostic;
use cuweld_passes::Severity;

use super::CompileOptions;
use super::nvjitlink::InputKind;
use super::nvjitlink::LtoInput;
use super::nvjitlink::NvJitLink;
use super::nvjitlink::NvJitLinkError;
use super::ptxas::CompileError;
use super::ptxas::Ptxas;
use crate::diagnostics::Reporter;
use crate::input::DeviceInput;
use crate::input::HostInfo;
use crate::input::Image;
use crate::input::Target;
use crate::input::host_info::ReferenceKind;

/// How a program is optimised.
#[derive(Clone, Debug, Default)]
pub struct LtoOptions {
    /// The library itself (`--cuweld-nvjitlink`, `CUWELD_NVJITLINK`).
    pub library: Option<PathBuf>,
    /// `-nvvmpath`: a folder of the toolkit; the library is looked for beside it.
    pub nvvm_path: Option<PathBuf>,
    /// `-emit-ptx`: the PTX is the output.
    pub emit_ptx: bool,
}

/// Whether a link is one of link-time optimisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LtoLink {
    /// No input holds LTO-IR.
    None,
    /// All inputs do.
    Whole,
}

/// Looks at the inputs of a link with `-lto`, as nvlink does. `None` if the link ends here, which has
/// been reported.
pub fn kind_of_link(
    inputs: &[DeviceInput<'_>],
    reporter: &mut Reporter<'_>,
) -> io::Result<Option<LtoLink>> {
    let linked = || {
        inputs
            .iter()
            .filter(|input| input.skip.is_none() && !input.system_library)
    };
    let is_lto = |input: &&DeviceInput<'_>| matches!(input.image, Some(Image::Nvvm(_)));
    for other in linked().filter(|input| input.image.is_some() && !is_lto(input)) {
        reporter.report(&Diagnostic::new(
            Severity::Info,
            format!("requested LTO but '{other}' not built for LTO so doing partial LTO"),
        ))?;
    }
    if !linked().any(|input| is_lto(&input)) {
        reporter.report(&Diagnostic::warning(
            "Ignoring -dlto option because no LTO objects found",
        ))?;
        return Ok(Some(LtoLink::None));
    }
    if let Some(other) = linked().find(|input| input.image.is_some() && !is_lto(input)) {
        let diagnostic = Diagnostic::fatal(format!(
            "cuweld: unsupported: link-time optimisation of a part of the inputs; '{other}' holds no LTO-IR"
        ));
        reporter.report(&diagnostic.help("compile all inputs with -dlto, or link without it"))?;
        return Ok(None);
    }
    if !inputs.iter().any(|input| input.system_library) {
        let diagnostic = Diagnostic::fatal("expected libcudadevrt object");
        reporter
            .report(&diagnostic.help("add -lcudadevrt, and -L with the toolkit's libraries"))?;
        return Ok(None);
    }
    Ok(Some(LtoLink::Whole))
}

/// Optimises a program and compiles it. `None` if that fails, which has been reported.
pub fn link_program(
    inputs: &[DeviceInput<'_>],
    host_info: Option<&HostInfo<'_>>,
    target: Target,
    options: &CompileOptions,
    strict: bool,
    reporter: &mut Reporter<'_>,
) -> io::Result<Option<Vec<u8>>> {
    let units: Vec<LtoInput<'_>> = inputs
        .iter()
        .filter(|input| input.skip.is_none())
        .filter_map(|input| match input.image {
            Some(Image::Nvvm(nvvm)) => Some(LtoInput {
                name: input.to_string(),
                kind: if nvvm.arch.is_some() {
                    InputKind::Fatbin
                } else {
                    InputKind::LtoIr
                },
                bytes: nvvm.container,
            }),
            _ => None,
        })
        .collect();
    let ptx = NvJitLink::load(options.lto.library.clone(), &folders(options))
        .and_then(|library| optimised(&library, &units, host_info, target, options));
    let ptx = match ptx {
        Ok(Optimised::Exact(ptx)) => ptx,
        Ok(Optimised::Unpruned(_)) if strict => {
            let diagnostic = Diagnostic::fatal(
                "cuweld: unsupported: link-time optimisation with references of the host to variables",
            );
            reporter.report(&diagnostic.help("link with -ignore-host-info"))?;
            return Ok(None);
        }
        Ok(Optimised::Unpruned(ptx)) => {
            let mut diagnostic = Diagnostic::new(
                Severity::Note,
                "the program is optimised as with -ignore-host-info; nvlink 13.0.88 would also remove what the host does not refer to",
            );
            diagnostic.deviation = Some("D11");
            reporter.report(&diagnostic)?;
            ptx
        }
        Err(error) => {
            reporter.report(&failed(&error))?;
            return Ok(None);
        }
    };
    if options.lto.emit_ptx {
        return Ok(Some(ptx));
    }
    let path = match options.tools.ptxas() {
        Ok(path) => path,
        Err(missing) => {
            reporter.report(&missing.diagnostic("the optimised program"))?;
            return Ok(None);
        }
    };
    match Ptxas::new(path, target, &options.ptxas).compile_program(&ptx) {
        Ok(compiled) => {
            reporter.text(&compiled.messages)?;
            Ok(Some(compiled.cubin))
        }
        Err(error) => {
            if let CompileError::Refused { messages } = &error {
                reporter.text(messages)?;
            }
            let diagnostic = Diagnostic::fatal("elfLink fatbinary error");
            reporter.report(&diagnostic.note(format!("the optimised program: {error}")))?;
            Ok(None)
        }
    }
}

fn failed(error: &NvJitLinkError) -> Diagnostic {
    match error {
        NvJitLinkError::Library { .. } | NvJitLinkError::Text(_) => {
            Diagnostic::fatal("elfLink linker library load error")
                .note(format!("cuweld: {error}"))
                .help("link-time optimisation needs libnvJitLink of the CUDA toolkit: name it with --cuweld-nvjitlink or CUWELD_NVJITLINK")
        }
        NvJitLinkError::Call { log, .. } => Diagnostic::fatal(format!("cuweld: link-time optimisation: {error}"))
            .note(format!("libnvJitLink says: {}", log.trim())),
    }
}

/// Folders of the library: beside the one of `-nvvmpath`, and in the toolkit.
fn folders(options: &CompileOptions) -> Vec<PathBuf> {
    let beside = options.lto.nvvm_path.iter().map(|path| path.join(".."));
    beside
        .chain(options.tools.cuda_home.clone())
        .flat_map(|root| [root.join("lib64"), root.join("lib")])
        .collect()
}

enum Optimised {
    /// What nvlink makes.
    Exact(Vec<u8>),
    /// More is kept than nvlink keeps.
    Unpruned(Vec<u8>),
}

fn optimised(
    library: &NvJitLink,
    units: &[LtoInput<'_>],
    host_info: Option<&HostInfo<'_>>,
    target: Target,
    options: &CompileOptions,
) -> Result<Optimised, NvJitLinkError> {
    let mut words = vec![
        format!("-arch={target}"),
        "-lto".to_owned(),
        "-ptx".to_owned(),
    ];
    if let Some(count) = options.ptxas.max_registers {
        words.push(format!("-maxrregcount={count}"));
    }
    let whole = library.ptx(&words, units)?;
    let Some(host_info) = host_info else {
        return Ok(Optimised::Exact(whole));
    };
    // The library takes lists of names where nvlink has patterns: the names are those that the
    // patterns match in the whole program.
    match used_kernels(&whole, host_info) {
        Some(names) => {
            words.push(format!("-kernels-used={}", names.join(",")));
            words.push("-optimize-unused-variables".to_owned());
            Ok(Optimised::Exact(library.ptx(&words, units)?))
        }
        None => Ok(Optimised::Unpruned(whole)),
    }
}

/// The kernels that the host refers to. `None` if no list of names says the same as its patterns: the
/// library keeps every kernel whose name contains one of the list, and knows no variables of internal
/// linkage.
fn used_kernels(ptx: &[u8], host_info: &HostInfo<'_>) -> Option<Vec<String>> {
    use ReferenceKind as Kind;
    let variables = [
        Kind::ExternalVariable,
        Kind::InternalVariable,
        Kind::ExternalConstant,
        Kind::InternalConstant,
    ];
    if variables
        .iter()
        .any(|kind| !host_info.program_patterns(*kind).is_empty())
    {
        return None;
    }
    let text = String::from_utf8_lossy(ptx);
    let (mut used, mut unused) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let Some((before, after)) = line.split_once(".entry ") else {
            continue;
        };
        let name = after
            .split(['(', ' '])
            .next()
            .unwrap_or_default()
            .to_owned();
        let kind = if before.contains(".visible") {
            Kind::ExternalKernel
        } else {
            Kind::InternalKernel
        };
        let patterns = host_info.program_patterns(kind);
        if patterns
            .iter()
            .any(|pattern| matches(pattern, name.as_bytes()))
        {
            used.push(name);
        } else {
            unused.push(name);
        }
    }
    let is_clear = unused
        .iter()
        .all(|unused| !used.iter().any(|used| unused.contains(used)));
    (is_clear && !used.is_empty()).then_some(used)
}

/// Whether a name matches a pattern, in which `*` stands for any text.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let mut parts = pattern.split(|byte| *byte == b'*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let mut parts: Vec<&[u8]> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        match rest.windows(part.len()).position(|window| window == part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::host_info::HostReferences;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, name, expected) in [
            ("_Z2kc*", "_Z2kcPi", true),
            ("_Z2kc*", "_Z2kc", true),
            ("_Z2kc", "_Z2kcPi", false),
            ("k", "k", true),
            ("*", "", true),
            ("a*b*c", "a_b_b_c", true),
            ("a*b*c", "a_c", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(
                matches(pattern.as_bytes(), name.as_bytes()),
                expected,
                "{pattern} {name}"
            );
        }
    }

    #[test]
    fn lists_of_names_say_what_patterns_say_or_are_not_made() {
        let used = |kernels: &[u8], variables: &[u8]| {
            let mut references = HostReferences::default();
            references.add(b".nvHRKE", kernels);
            references.add(b".nvHRKI", b"\0");
            references.add(b".nvHRDE", variables);
            let mut info = HostInfo::default();
            info.add("a.o", &references, false);
            let ptx = b".visible .entry k1(\n.entry k1_local(\n.visible .entry other(\n";
            used_kernels(ptx, &info)
        };
        assert_eq!(used(b"oth*\0", b"\0"), Some(vec!["other".to_owned()]));
        assert_eq!(used(b"k1\0", b"\0"), None, "k1_local would stay");
        assert_eq!(used(b"oth*\0", b"v\0"), None);
        assert_eq!(used(b"zzz\0", b"\0"), None);
    }
}
