//! What nvlink tells libNVVM about a link-time optimisation: its options, in its order.
//!
//! Measured with a library in libNVVM's place that writes the options of `nvvmCompileProgram` down.
//! The public libnvJitLink hands on what stands after `-Xnvvm=`, and so makes the same PTX.

use crate::input::HostInfo;
use crate::input::host_info::ReferenceKind;

/// Options of the command line that reach libNVVM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NvvmOptions {
    /// `-g`, without `-suppress-debug-info`.
    pub debug: bool,
    /// `-split-compile`.
    pub split_compile: Option<i32>,
    /// `-Ofc`, if it is not 0.
    pub fast_compile: Option<String>,
    /// `-maxrregcount`.
    pub max_registers: Option<i32>,
    /// The elements of `-Xnvvm`.
    pub extra: Vec<String>,
    /// `-kernels-used`.
    pub kernels_used: Vec<String>,
    /// `-variables-used`.
    pub variables_used: Vec<String>,
}

impl NvvmOptions {
    /// Returns the options for all code of a program. `host_info` is `None` with
    /// `-ignore-host-info`; functions stay that other code may call if it `may_be_object`.
    pub fn of_program(&self, host_info: Option<&HostInfo<'_>>, may_be_object: bool) -> Vec<String> {
        let mut words = self.leading();
        words.extend(may_be_object.then(|| "--device-c".to_owned()));
        let names_uses = !self.kernels_used.is_empty() || !self.variables_used.is_empty();
        if host_info.is_some() || names_uses {
            words.push("-has-global-host-info".to_owned());
        }
        words.extend(self.trailing());
        if names_uses {
            words.extend(self.used());
        } else if let Some(info) = host_info.filter(|info| info.prunes_kernels()) {
            words.extend(host_references(info));
        }
        words
    }

    /// Returns the options for code that is linked with other code: all that is global stays.
    pub fn of_part(&self) -> Vec<String> {
        let mut words = self.leading();
        words.extend(["--device-c", "--force-device-c"].map(str::to_owned));
        words.extend(self.trailing());
        words
    }

    /// Returns `true` if `-Xnvvm` has an option.
    pub fn has_extra(&self) -> bool {
        self.extra_words().next().is_some()
    }

    /// Returns `true` if `-Xnvvm` gives a value to an option.
    pub fn sets(&self, name: &str) -> bool {
        self.extra_words()
            .filter_map(|word| word.strip_prefix(name))
            .any(|rest| rest.starts_with('='))
    }

    fn extra_words(&self) -> impl Iterator<Item = &str> {
        self.extra
            .iter()
            .flat_map(|text| text.split_ascii_whitespace())
    }

    fn leading(&self) -> Vec<String> {
        let split = self.split_compile.map(|n| format!("-split-compile={n}"));
        let fast = self.fast_compile.as_ref();
        let fast = fast.map(|level| format!("-Ofast-compile={level}"));
        let registers = self.max_registers.map(|n| format!("-maxreg={n}"));
        split.into_iter().chain(fast).chain(registers).collect()
    }

    fn trailing(&self) -> impl Iterator<Item = String> {
        let debug = self.debug.then(|| "-g".to_owned());
        debug.into_iter().chain(self.extra.iter().cloned())
    }

    /// Returns the options for names that host code uses. Names on the command line are parts of
    /// names.
    fn used(&self) -> Vec<String> {
        let of = |names: &[String], kinds: &[&str]| -> Vec<String> {
            let patterns: Vec<String> = names.iter().map(|name| format!("*{name}*")).collect();
            let list = patterns.join(",");
            let kinds = kinds.iter().filter(|_| !list.is_empty());
            kinds
                .map(|kind| format!("-host-ref-{kind}={list}"))
                .collect()
        };
        let mut words = of(&self.kernels_used, &["ek", "ik"]);
        words.extend(of(&self.variables_used, &["ec", "ic", "eg", "ig"]));
        words
    }
}

/// Returns the host's patterns, the last input's first.
fn host_references(info: &HostInfo<'_>) -> Vec<String> {
    use ReferenceKind as Kind;
    [
        ("ek", Kind::ExternalKernel),
        ("ik", Kind::InternalKernel),
        ("ec", Kind::ExternalConstant),
        ("ic", Kind::InternalConstant),
        ("eg", Kind::ExternalVariable),
        ("ig", Kind::InternalVariable),
    ]
    .into_iter()
    .filter(|(_, kind)| !info.patterns(*kind).is_empty())
    .map(|(name, kind)| {
        let patterns = info.patterns(kind).iter().rev();
        let patterns: Vec<_> = patterns.map(|text| String::from_utf8_lossy(text)).collect();
        format!("-host-ref-{name}={}", patterns.join(","))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::host_info::HostReferences;

    fn info(kernels: &[u8], constants: &[u8]) -> HostInfo<'static> {
        let mut references = HostReferences::default();
        let (kernels, constants) = (kernels.to_vec().leak(), constants.to_vec().leak());
        references.add(b".nvHRKE", kernels);
        references.add(b".nvHRCE", constants);
        let mut info = HostInfo::default();
        info.add("a.o", &references, false);
        info
    }

    #[test]
    fn the_order_is_nvlinks() {
        let options = NvvmOptions {
            debug: true,
            split_compile: Some(2),
            fast_compile: Some("max".to_owned()),
            max_registers: Some(32),
            extra: vec!["-ftz=1".to_owned()],
            ..NvvmOptions::default()
        };
        assert_eq!(
            options
                .of_program(Some(&info(b"_Z1a*\0_Z1b*\0", b"tab\0")), true)
                .join(" "),
            "-split-compile=2 -Ofast-compile=max -maxreg=32 --device-c -has-global-host-info -g -ftz=1 \
             -host-ref-ek=_Z1b*,_Z1a* -host-ref-ec=tab"
        );
        assert_eq!(
            options.of_part().join(" "),
            "-split-compile=2 -Ofast-compile=max -maxreg=32 --device-c --force-device-c -g -ftz=1"
        );
    }

    #[test]
    fn host_references_need_a_list_of_kernels() {
        let options = NvvmOptions::default();
        assert_eq!(options.of_program(None, true), ["--device-c"]);
        assert_eq!(
            options.of_program(Some(&info(b"\0", b"tab\0")), true),
            ["--device-c", "-has-global-host-info"]
        );
    }

    #[test]
    fn names_on_the_command_line_replace_the_hosts() {
        let options = NvvmOptions {
            kernels_used: vec!["ka".to_owned(), "kb".to_owned()],
            variables_used: vec!["v".to_owned()],
            ..NvvmOptions::default()
        };
        assert_eq!(
            options.of_program(None, true).join(" "),
            "--device-c -has-global-host-info -host-ref-ek=*ka*,*kb* -host-ref-ik=*ka*,*kb* \
             -host-ref-ec=*v* -host-ref-ic=*v* -host-ref-eg=*v* -host-ref-ig=*v*"
        );
    }
}
