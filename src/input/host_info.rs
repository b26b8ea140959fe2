//! Host references: which kernels and variables the host code names.
//!
//! nvcc writes six sections of NUL-separated patterns into each host object: kernels, variables
//! (device) and constants, each for external and internal linkage. Kernels that no host object
//! names can be left out of the link, provided that all host objects are known.

/// Sections of at most this size count as empty: nvcc writes one NUL for "none".
const EMPTY_SECTION: usize = 1;

/// The six kinds, in the order of the lists.
const SECTIONS: [&[u8]; 6] = [
    b".nvHRKE", b".nvHRKI", b".nvHRDE", b".nvHRDI", b".nvHRCE", b".nvHRCI",
];

/// What a list is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceKind {
    /// `.nvHRKE`: kernels with global binding.
    ExternalKernel,
    /// `.nvHRKI`: kernels with local binding.
    InternalKernel,
    /// `.nvHRDE`: variables with global binding.
    ExternalVariable,
    /// `.nvHRDI`: variables with local binding.
    InternalVariable,
    /// `.nvHRCE`: constants with global binding.
    ExternalConstant,
    /// `.nvHRCI`: constants with local binding.
    InternalConstant,
}

/// The `.nvHR*` sections of one host object.
#[derive(Clone, Debug, Default)]
pub struct HostReferences<'data> {
    sections: [Option<&'data [u8]>; 6],
}

impl<'data> HostReferences<'data> {
    /// Takes note of a section; others than `.nvHR*` are ignored.
    pub fn add(&mut self, name: &[u8], contents: &'data [u8]) {
        let slot = SECTIONS.iter().position(|section| *section == name);
        if let Some(slot) = slot.and_then(|slot| self.sections.get_mut(slot)) {
            *slot = Some(contents);
        }
    }

    /// Returns `true` if the object says which kernels it refers to: it has the list of those with
    /// global binding, of at least the one NUL that stands for an empty list. The other lists may
    /// be missing [host-lists-count].
    pub fn names_kernels(&self) -> bool {
        matches!(self.sections, [Some(list), ..] if !list.is_empty())
    }
}

/// The host references of a whole link.
#[derive(Clone, Debug, Default)]
pub struct HostInfo<'data> {
    lists: [Vec<&'data [u8]>; 6],
    any_kernel_list: bool,
    /// Whether a part of the device runtime without code for the target has one.
    runtime_without_code: bool,
    /// The first input that tells nothing of its host references; then nothing can be pruned.
    pub unknown_references: Option<String>,
    /// Link-time optimisation made one object of the whole program.
    pub whole_program: bool,
}

impl<'data> HostInfo<'data> {
    /// Adds what one host object says. A member of the device runtime (`system`) tells which of its
    /// own kernels it needs, but does not make pruning start [runtime-starts-no-pruning].
    pub fn add(&mut self, file: &str, references: &HostReferences<'data>, system: bool) {
        if !references.names_kernels() && !system {
            self.set_unknown(file);
        }
        let lists = self.lists.iter_mut().zip(references.sections);
        for (slot, (list, section)) in lists.enumerate() {
            let Some(section) = section.filter(|section| section.len() > EMPTY_SECTION) else {
                continue;
            };
            // Even a list of nothing but NULs makes pruning start.
            self.any_kernel_list |= slot < 2 && !system;
            let patterns = section
                .split(|&byte| byte == 0)
                .filter(|pattern| !pattern.is_empty());
            list.extend(patterns);
        }
    }

    /// Takes note of what a part of the device runtime says that has no code for the target.
    pub fn add_runtime_without_code(&mut self, references: &HostReferences<'data>) {
        let [external, internal, ..] = references.sections;
        let mut lists = [external, internal].into_iter().flatten();
        self.runtime_without_code |= lists.any(|list| list.len() > EMPTY_SECTION);
    }

    /// Lets the device runtime without code for the target make pruning start, as any object does
    /// where a part of the program is LTO-IR.
    pub fn count_runtime_without_code(&mut self) {
        self.any_kernel_list |= self.runtime_without_code;
    }

    /// Takes note of an input without host information.
    pub fn set_unknown(&mut self, file: &str) {
        self.unknown_references
            .get_or_insert_with(|| file.to_owned());
    }

    /// Returns `true` if kernels that the host does not name are to be left out, as far as the
    /// inputs tell (`-r` and `-ignore-host-info` switch it off, too).
    pub fn prunes_kernels(&self) -> bool {
        self.any_kernel_list && self.unknown_references.is_none()
    }

    /// Returns the patterns of a kind, in input order, repetitions included.
    pub fn patterns(&self, kind: ReferenceKind) -> &[&'data [u8]] {
        self.lists.get(kind as usize).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references<'data>(sections: &[(&str, &'data [u8])]) -> HostReferences<'data> {
        let mut references = HostReferences::default();
        for (name, contents) in sections {
            references.add(name.as_bytes(), contents);
        }
        references
    }

    #[test]
    fn lists_are_united_and_kept_apart() {
        let mut info = HostInfo::default();
        info.add(
            "a.o",
            &references(&[(".nvHRKE", b"k1\0k2"), (".nvHRKI", b"\0")]),
            false,
        );
        info.add(
            "b.o",
            &references(&[(".nvHRKE", b"\0"), (".nvHRKI", b"s*\0"), (".nvHRX", b"yy")]),
            false,
        );
        assert!(info.prunes_kernels());
        assert_eq!(info.patterns(ReferenceKind::ExternalKernel), [b"k1", b"k2"]);
        assert_eq!(info.patterns(ReferenceKind::InternalKernel), [b"s*"]);
    }

    #[test]
    fn pruning_needs_a_list_and_full_knowledge() {
        let empty: &[(&str, &[u8])] = &[(".nvHRKE", b"\0"), (".nvHRKI", b"\0")];
        let mut info = HostInfo::default();
        info.add("a.o", &references(empty), false);
        let runtime = [(".nvHRKE", &b"\0"[..]), (".nvHRKI", b"s*")];
        info.add("libcudadevrt.a:r.o", &references(&runtime), true);
        assert!(!info.prunes_kernels());
        info.add(
            "b.o",
            &references(&[(".nvHRKE", b"\0\0"), (".nvHRKI", b"\0")]),
            false,
        );
        assert!(info.prunes_kernels());
        info.add("k.o", &references(&[(".nvHRKE", b"k")]), false);
        assert!(info.prunes_kernels());
        // A list without even a NUL tells nothing.
        info.add("c.o", &references(&[(".nvHRKE", b"")]), false);
        assert!(!info.prunes_kernels());
        info.set_unknown("d.o");
        assert_eq!(info.unknown_references.as_deref(), Some("c.o"));
    }
}
