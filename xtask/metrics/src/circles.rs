//! Modules that import each other in a circle.
//!
//! Looked at are modules that lie side by side: one imports another if a path in it, or in a module
//! below it, leads into the other or a module below that. Names that a module re-exports count as
//! those of the module that has them.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use syn::Item;
use syn::UseTree;
use syn::Visibility;
use syn::visit::Visit;

use crate::modules::Crate;
use crate::modules::Module;

/// Names below the crate.
type Names = Vec<String>;

/// Returns the circles of a crate: of each the modules, by name.
pub fn of(root: &Crate) -> Vec<Names> {
    let known: BTreeSet<&[String]> = root.modules.iter().map(|module| &module.path[..]).collect();
    let mut paths = Vec::new();
    let mut exports: BTreeMap<Names, Names> = BTreeMap::new();
    for module in &root.modules {
        let mut found = Paths::default();
        module.items.iter().for_each(|item| found.visit_item(item));
        for item in &module.items {
            if let Item::Use(item) = item
                && !matches!(item.vis, Visibility::Inherited)
            {
                let mut names = Vec::new();
                leaves(&item.tree, &mut Vec::new(), &mut names);
                for (name, path) in names {
                    if let Some(path) = absolute(module, &path, &known) {
                        let mut exported = module.path.clone();
                        exported.push(name);
                        exports.insert(exported, path);
                    }
                }
            }
        }
        paths.push(found.0);
    }
    let mut imports: BTreeMap<Names, BTreeSet<Names>> = BTreeMap::new();
    for (module, paths) in root.modules.iter().zip(paths) {
        for path in paths {
            let Some(target) = absolute(module, &path, &known) else {
                continue;
            };
            let target = resolved(target, &known, &exports);
            let common = module.path.iter().zip(&target);
            let common = common.take_while(|(one, other)| one == other).count();
            if common < module.path.len() && common < target.len() {
                let from = module.path[..=common].to_vec();
                imports
                    .entry(from)
                    .or_default()
                    .insert(target[..=common].to_vec());
            }
        }
    }
    circles(&imports)
}

/// Returns the module that a path leads into.
fn resolved(path: Names, known: &BTreeSet<&[String]>, exports: &BTreeMap<Names, Names>) -> Names {
    let mut path = path;
    // What is re-exported may be re-exported there.
    for _ in 0..8 {
        let depth = (0..=path.len())
            .rev()
            .find(|depth| known.contains(&path[..*depth]));
        let depth = depth.unwrap_or(0);
        match path.get(..=depth).and_then(|name| exports.get(name)) {
            Some(origin) => path = [origin, &path[depth + 1..]].concat(),
            None => {
                path.truncate(depth);
                break;
            }
        }
    }
    path
}

/// Returns a path as one from the crate's root; `None` if it leads out of the crate, or is the name
/// of something in the module.
fn absolute(module: &Module, path: &[String], known: &BTreeSet<&[String]>) -> Option<Names> {
    let mut base = module.path.clone();
    let mut rest = path;
    match path.first()?.as_str() {
        "crate" => {
            base.clear();
            rest = &path[1..];
        }
        "self" => rest = &path[1..],
        "super" => {
            while rest.first().is_some_and(|name| name == "super") {
                base.pop()?;
                rest = &rest[1..];
            }
        }
        child => {
            base.push(child.to_owned());
            if !known.contains(&base[..]) {
                return None;
            }
            rest = &path[1..];
        }
    }
    base.extend_from_slice(rest);
    Some(base)
}

/// Lists the names that a `use` brings, each with its path.
fn leaves(tree: &UseTree, path: &mut Names, found: &mut Vec<(String, Names)>) {
    match tree {
        UseTree::Path(more) => {
            path.push(more.ident.to_string());
            leaves(&more.tree, path, found);
            path.pop();
        }
        UseTree::Group(group) => group
            .items
            .iter()
            .for_each(|tree| leaves(tree, path, found)),
        UseTree::Glob(_) => found.push(("*".to_owned(), path.clone())),
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            let whole = match name.as_str() {
                "self" => path.clone(),
                name => [&path[..], &[name.to_owned()]].concat(),
            };
            found.push((whole.last().cloned().unwrap_or_default(), whole));
        }
        UseTree::Rename(name) => {
            let whole = [&path[..], &[name.ident.to_string()]].concat();
            found.push((name.rename.to_string(), whole));
        }
    }
}

/// All paths in code.
#[derive(Default)]
struct Paths(Vec<Names>);

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut found = Vec::new();
        leaves(&item.tree, &mut Vec::new(), &mut found);
        self.0.extend(found.into_iter().map(|(_, path)| path));
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path.segments.iter();
        self.0
            .push(names.map(|name| name.ident.to_string()).collect());
        syn::visit::visit_path(self, path);
    }
}

/// Returns the sets of more than one module that all reach each other.
fn circles(imports: &BTreeMap<Names, BTreeSet<Names>>) -> Vec<Names> {
    let reached = |from: &Names| {
        let mut reached: BTreeSet<&Names> = BTreeSet::new();
        let mut open: Vec<&Names> = imports.get(from).into_iter().flatten().collect();
        while let Some(next) = open.pop() {
            if reached.insert(next) {
                open.extend(imports.get(next).into_iter().flatten());
            }
        }
        reached
    };
    let all: BTreeMap<&Names, BTreeSet<&Names>> =
        imports.keys().map(|from| (from, reached(from))).collect();
    let mut found: BTreeSet<Names> = BTreeSet::new();
    for (from, reached) in &all {
        if reached.contains(*from) {
            let members = reached
                .iter()
                .filter(|to| all.get(**to).is_some_and(|back| back.contains(*from)));
            found.insert(members.map(|member| member.join("::")).collect());
        }
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the circles of a crate with these modules, of one file each.
    fn circles_of(modules: &[(&str, &str)]) -> Vec<Names> {
        let modules = modules.iter().map(|(path, text)| Module {
            path: path
                .split("::")
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect(),
            file: Default::default(),
            items: syn::parse_str::<syn::File>(text).unwrap().items,
        });
        of(&Crate {
            modules: modules.collect(),
            lines: 0,
        })
    }

    #[test]
    fn modules_that_import_each_other_are_a_circle() {
        let one_way = [
            ("", "pub use self::b::Thing;"),
            ("a", "use crate::b::Thing; use super::c::inner;"),
            ("b", "use std::fmt;"),
            ("c", ""),
            ("c::inner", "use super::own;"),
        ];
        assert!(circles_of(&one_way).is_empty());
        let mut back = one_way;
        back[4].1 = "fn f() { crate::a::g() }";
        assert_eq!(circles_of(&back), [["a", "c"]]);
        // By a name that the crate re-exports, and over a third module.
        let longer = [
            ("", "pub use self::b::Thing;"),
            ("a", "use crate::Thing;"),
            ("b", "use crate::c::more;"),
            ("c", "use crate::a;"),
        ];
        assert_eq!(circles_of(&longer), [["a", "b", "c"]]);
    }
}
