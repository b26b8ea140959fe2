//! The tree of rows: sizes by label, of one set of files or compared with another.

use std::collections::BTreeMap;

use serde::Serialize;

use super::collect::Image;
use super::collect::ImageKind;
use super::divide::divide;
use super::object_map::ObjectMap;
use super::source::Labels;
use super::source::NoMap;
use super::source::Source;
use crate::inspect::Functions;
use crate::inspect::Node;
use crate::inspect::functions::Function;

/// Name of the JSON form.
pub const SCHEMA: &str = "cuweld-size";
/// Version of the JSON form: raised when a field changes its meaning or goes away.
pub const SCHEMA_VERSION: u32 = 1;

/// Sizes in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// Bytes of images, after unpacking.
    pub file: u64,
    /// Bytes of memory that they take when they are loaded or run: code, constants, variables and
    /// shared memory.
    pub memory: u64,
    /// Bytes that images take in their files, packed or not; only of rows that are whole images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored: Option<u64>,
}

impl Sizes {
    fn add(&mut self, other: Sizes) {
        self.file = self.file.saturating_add(other.file);
        self.memory = self.memory.saturating_add(other.memory);
        if let Some(stored) = other.stored {
            let sum = self.stored.unwrap_or(0).saturating_add(stored);
            self.stored = Some(sum);
        }
    }

    /// Returns what rows are sorted by, as in bloaty: the larger of both sizes.
    pub(super) fn largest(self) -> u64 {
        self.file.max(self.memory)
    }
}

/// What a kernel needs: if there are several of one name, such as for several architectures, the
/// largest of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Needs {
    /// Registers of a thread.
    pub registers: Option<u32>,
    /// Bytes of stack of a thread.
    pub stack: Option<u32>,
    /// Bytes of shared memory of a block that the file knows of.
    pub shared: u64,
}

impl Needs {
    /// Returns what a kernel needs.
    pub fn of(kernel: &Function<'_>) -> Self {
        Needs {
            registers: kernel.registers,
            stack: kernel.stack.or(kernel.frame),
            shared: kernel.shared,
        }
    }

    fn join(self, other: Needs) -> Needs {
        Needs {
            registers: self.registers.max(other.registers),
            stack: self.stack.max(other.stack),
            shared: self.shared.max(other.shared),
        }
    }
}

/// A label with its sizes, and what it consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The label.
    pub name: String,
    /// Its sizes.
    pub size: Sizes,
    /// Its sizes in the files that are compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Sizes>,
    /// What it needs, if it is a kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<Needs>,
    /// What it needs in the files that are compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_needs: Option<Needs>,
    /// What it consists of, by the next source.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<Row>,
}

/// The sizes of files.
#[derive(Clone, Debug, Serialize)]
pub struct SizeReport {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// What sizes are grouped by, outermost first.
    pub sources: Vec<&'static str>,
    /// The files.
    pub files: Vec<String>,
    /// The files that are compared with.
    pub base: Vec<String>,
    /// Everything.
    pub total: Row,
}

/// What is measured, and how.
#[derive(Clone, Copy, Debug)]
pub struct Options<'o> {
    /// What sizes are grouped by, outermost first.
    pub sources: &'o [Source],
    /// Architectures that count, such as `sm_90`; all if there are none.
    pub archs: &'o [String],
    /// Maps of links: each linked file that one fits has it.
    pub maps: &'o [ObjectMap],
    /// Whether names are shown as in the source.
    pub demangles: bool,
}

impl SizeReport {
    /// Measures files, and compares them with `base` if there is one.
    ///
    /// # Errors
    ///
    /// Objects are asked for, and a linked file has no map.
    pub fn new(files: &[Node<'_>], base: &[Node<'_>], options: Options<'_>) -> Result<Self, NoMap> {
        let mut tree = Tree::default();
        for (side, files) in [files, base].into_iter().enumerate() {
            for file in files {
                for image in super::collect::collect(file) {
                    tree.add_image(side, &image, options)?;
                }
            }
        }
        let names = |files: &[Node<'_>]| files.iter().map(|file| file.name.to_string()).collect();
        let mut total = tree.row("TOTAL".to_owned(), !base.is_empty());
        total.sort();
        Ok(SizeReport {
            schema: SCHEMA,
            schema_version: SCHEMA_VERSION,
            sources: options.sources.iter().map(|source| source.name()).collect(),
            files: names(files),
            base: names(base),
            total,
        })
    }

    /// Keeps the `most` largest rows of each level, and sums up the others.
    pub fn limit(&mut self, most: usize) {
        self.total.limit(most);
    }
}

/// Sizes of both sides by label.
#[derive(Default)]
struct Tree {
    sizes: [Sizes; 2],
    needs: [Option<Needs>; 2],
    members: BTreeMap<String, Tree>,
}

impl Tree {
    fn add_image(
        &mut self,
        side: usize,
        image: &Image<'_, '_>,
        options: Options<'_>,
    ) -> Result<(), NoMap> {
        if !options.archs.is_empty() && !options.archs.contains(&image.arch) {
            return Ok(());
        }
        let whole = options.sources.iter().all(|source| source.is_of_images());
        let stored = image
            .packaging
            .map_or(image.size, |packaging| packaging.stored);
        let ImageKind::Elf(elf) = image.kind else {
            let functions = Functions::default();
            let mut labels = Labels::new(image, &functions, None, options.demangles);
            let sizes = Sizes {
                file: image.size,
                memory: 0,
                stored: whole.then_some(stored),
            };
            let path = options.sources.iter();
            let path = path.map(|source| labels.label(*source, None));
            self.add(side, path, sizes, None)?;
            return Ok(());
        };
        let functions = Functions::of(elf);
        let map = match options.sources.contains(&Source::Objects) {
            true => options.maps.iter().find(|map| map.fits(elf)),
            false => None,
        };
        let mut labels = Labels::new(image, &functions, map, options.demangles);
        let mut stored = whole.then_some(stored);
        let is_by_kernel = options.sources.last() == Some(&Source::Kernels);
        for part in divide(elf, &functions, map) {
            let path = options.sources.iter();
            let path = path.map(|source| labels.label(*source, Some(&part)));
            let sizes = Sizes {
                file: part.file,
                memory: part.memory,
                stored: stored.take(),
            };
            let kernel = part.function.and_then(|index| functions.list.get(index));
            let kernel = kernel.filter(|function| is_by_kernel && function.is_kernel);
            self.add(side, path, sizes, kernel.map(Needs::of))?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        side: usize,
        path: impl Iterator<Item = Result<String, NoMap>>,
        sizes: Sizes,
        needs: Option<Needs>,
    ) -> Result<(), NoMap> {
        let mut tree = self;
        tree.sizes[side].add(sizes);
        for label in path {
            tree = tree.members.entry(label?).or_default();
            tree.sizes[side].add(sizes);
        }
        if let Some(needs) = needs {
            let known = &mut tree.needs[side];
            *known = Some(known.map_or(needs, |known| known.join(needs)));
        }
        Ok(())
    }

    fn row(self, name: String, is_compared: bool) -> Row {
        let [size, base] = self.sizes;
        let [needs, base_needs] = self.needs;
        let members = self.members.into_iter();
        Row {
            name,
            size,
            base: is_compared.then_some(base),
            needs,
            base_needs,
            rows: members
                .map(|(name, tree)| tree.row(name, is_compared))
                .collect(),
        }
    }
}

impl Row {
    /// Returns by how much the row grew, the larger of both sizes; its size if nothing is compared.
    fn growth(&self) -> i128 {
        let Some(base) = self.base else {
            return i128::from(self.size.largest());
        };
        let grown = |now: u64, before: u64| i128::from(now) - i128::from(before);
        let file = grown(self.size.file, base.file);
        let memory = grown(self.size.memory, base.memory);
        match file.unsigned_abs() >= memory.unsigned_abs() {
            true => file,
            false => memory,
        }
    }

    /// Returns `true` if the row is of one size, and needs the same, in what is compared.
    pub fn is_unchanged(&self) -> bool {
        self.base == Some(self.size) && self.needs == self.base_needs
    }

    /// Sorts the rows of all levels: those that are larger, or grew more, come first; then by name.
    fn sort(&mut self) {
        self.rows.sort_by(|left, right| {
            let order = right.growth().cmp(&left.growth());
            order.then_with(|| left.name.cmp(&right.name))
        });
        self.rows.iter_mut().for_each(Row::sort);
    }

    /// Keeps the `most` rows of each level that are largest, or changed most.
    fn limit(&mut self, most: usize) {
        self.rows.iter_mut().for_each(|row| row.limit(most));
        if self.rows.len() <= most {
            return;
        }
        let mut by_size: Vec<usize> = (0..self.rows.len()).collect();
        let weight = |index: &usize| self.rows.get(*index).map(|row| row.growth().unsigned_abs());
        // Stable: of rows that are as large the first are kept.
        by_size.sort_by_key(|index| std::cmp::Reverse(weight(index)));
        let mut is_kept = vec![false; self.rows.len()];
        for index in by_size.into_iter().take(most) {
            if let Some(kept) = is_kept.get_mut(index) {
                *kept = true;
            }
        }
        let mut others = Row::default();
        let mut count = 0;
        let rows = std::mem::take(&mut self.rows).into_iter().zip(is_kept);
        for (row, is_kept) in rows {
            if is_kept {
                self.rows.push(row);
                continue;
            }
            // Rows that did not change are not listed, so they are no others either.
            count += usize::from(!row.is_unchanged());
            others.size.add(row.size);
            if let Some(base) = row.base {
                others.base.get_or_insert_default().add(base);
            }
        }
        others.name = format!("[{count} Others]");
        self.rows.push(others);
        let growth = |row: &Row| std::cmp::Reverse(row.growth());
        self.rows.sort_by_key(growth);
    }
}
