//! Which tables of device ELF files are shown.

use super::model::Content;
use super::model::Node;
use super::model::Report;
use super::name::Hex;

/// Which tables of device ELF files are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// File header and program headers.
    pub headers: bool,
    /// Section headers.
    pub sections: bool,
    /// Symbols.
    pub symbols: bool,
    /// Relocations.
    pub relocations: bool,
    /// Records of `.nv.info*` and `.nv.compat`.
    pub attributes: bool,
    /// Code of the Mercury view.
    pub mercury: bool,
    /// Notes.
    pub notes: bool,
    /// Call graph and prototypes.
    pub call_graph: bool,
    /// Contents of sections.
    pub hex: bool,
    /// Only what belongs to these sections: their headers, records, symbols and the relocations
    /// in and against them. Empty for all.
    pub only_sections: Vec<String>,
}

impl Selection {
    /// Nothing but the tree of files.
    pub const NONE: Selection = Selection {
        headers: false,
        sections: false,
        symbols: false,
        relocations: false,
        attributes: false,
        mercury: false,
        notes: false,
        call_graph: false,
        hex: false,
        only_sections: Vec::new(),
    };

    /// All tables, but no contents.
    pub const ALL: Selection = Selection {
        headers: true,
        sections: true,
        symbols: true,
        relocations: true,
        attributes: true,
        mercury: true,
        notes: true,
        call_graph: true,
        hex: false,
        only_sections: Vec::new(),
    };

    /// Chooses the tables with these names; an error says which there are.
    pub fn from_names(names: &[String]) -> Result<Self, String> {
        let mut selection = Selection::NONE;
        for name in names {
            let mut is_known = false;
            for (chosen, known) in selection.tables() {
                *chosen |= known == name;
                is_known |= known == name;
            }
            if !is_known {
                let known = selection.tables().map(|(_, name)| name).join(", ");
                return Err(format!("there is no table '{name}': they are {known}"));
            }
        }
        Ok(selection)
    }

    /// Returns the names of the tables.
    pub fn names(&self) -> Vec<&'static str> {
        let mut selection = self.clone();
        let chosen = selection.tables().into_iter();
        let chosen = chosen.filter(|(chosen, _)| **chosen);
        chosen.map(|(_, name)| name).collect()
    }

    fn tables(&mut self) -> [(&mut bool, &'static str); 9] {
        [
            (&mut self.headers, "headers"),
            (&mut self.sections, "sections"),
            (&mut self.symbols, "symbols"),
            (&mut self.relocations, "relocations"),
            (&mut self.attributes, "attributes"),
            (&mut self.mercury, "mercury"),
            (&mut self.notes, "notes"),
            (&mut self.call_graph, "call-graph"),
            (&mut self.hex, "hex"),
        ]
    }

    /// Takes what is not chosen out of a report. The file header stays.
    pub fn apply(&self, report: &mut Report<'_>) {
        report.tables = self.names();
        for file in &mut report.files {
            self.apply_to(file);
        }
    }

    fn shows(&self, section: super::Name<'_>) -> bool {
        self.only_sections.is_empty()
            || self
                .only_sections
                .iter()
                .any(|name| name.as_bytes() == section.0)
    }

    fn apply_to(&self, node: &mut Node<'_>) {
        if let Content::DeviceElf(elf) = &mut node.content {
            if !self.headers || !self.only_sections.is_empty() {
                elf.segments.clear();
            }
            if self.hex {
                for section in &mut elf.sections {
                    section.hex = Some(Hex(section.contents));
                }
            }
            elf.sections
                .retain(|section| (self.sections || self.hex) && self.shows(section.name));
            for table in &mut elf.symbol_tables {
                let whole = self.shows(table.section);
                table.symbols.retain(|symbol| {
                    whole
                        || matches!(symbol.section,
                            super::device_model::Place::In { name, .. } if self.shows(name))
                });
            }
            elf.symbol_tables
                .retain(|table| self.symbols && !table.symbols.is_empty());
            elf.relocations.retain(|list| {
                self.relocations && (self.shows(list.section) || self.shows(list.target))
            });
            elf.attributes
                .retain(|list| self.attributes && self.shows(list.section));
            elf.mercury
                .retain(|code| self.mercury && self.shows(code.section));
            elf.notes
                .retain(|note| self.notes && self.shows(note.section));
            let shows = |name: &str| self.call_graph && self.shows(super::Name(name.as_bytes()));
            if !shows(".nv.callgraph") {
                elf.call_graph.clear();
            }
            if !shows(".nv.prototype") {
                elf.prototypes.clear();
            }
        }
        for child in node.children_mut() {
            self.apply_to(child);
        }
    }
}
