//! The modules of a crate, with the items that are compiled outside tests.

use std::error::Error;
use std::path::Path;
use std::path::PathBuf;

use syn::Attribute;
use syn::Expr;
use syn::ExprLit;
use syn::Item;
use syn::Lit;
use syn::Meta;
use syn::spanned::Spanned;

/// A module with its items.
pub struct Module {
    /// Its names below the crate; empty for the crate itself.
    pub path: Vec<String>,
    pub file: PathBuf,
    /// Its items but for modules and what only tests have.
    pub items: Vec<Item>,
}

/// The modules of a crate.
pub struct Crate {
    /// In the order in which they are declared, the crate itself first.
    pub modules: Vec<Module>,
    /// Lines of all files, without those of items that only tests have.
    pub lines: usize,
}

impl Crate {
    /// Reads a crate that begins in a file.
    pub fn read(root: &Path) -> Result<Self, Box<dyn Error>> {
        let mut read = Crate {
            modules: Vec::new(),
            lines: 0,
        };
        let folder = root.parent().unwrap_or(Path::new("."));
        read.file(root, folder, Vec::new())?;
        Ok(read)
    }

    /// Reads a file with a module, whose own modules lie in `folder`.
    fn file(
        &mut self,
        file: &Path,
        folder: &Path,
        path: Vec<String>,
    ) -> Result<(), Box<dyn Error>> {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| failed(&error))?;
        let parsed = syn::parse_file(&text).map_err(|error| failed(&error))?;
        self.lines += text.lines().count();
        self.items(parsed.items, file, folder, path)
    }

    fn items(
        &mut self,
        items: Vec<Item>,
        file: &Path,
        folder: &Path,
        path: Vec<String>,
    ) -> Result<(), Box<dyn Error>> {
        let place = self.modules.len();
        self.modules.push(Module {
            path: path.clone(),
            file: file.to_owned(),
            items: Vec::new(),
        });
        for item in items {
            if attributes(&item).iter().any(is_of_tests) {
                let span = item.span();
                self.lines -= span.end().line + 1 - span.start().line;
                continue;
            }
            let Item::Mod(module) = item else {
                self.modules[place].items.push(item);
                continue;
            };
            let name = module.ident.to_string();
            let (mut path, inner) = (path.clone(), folder.join(&name));
            path.push(name.clone());
            match (module.content, module.attrs.iter().find_map(path_of)) {
                (Some((_, items)), _) => self.items(items, file, &inner, path)?,
                (None, Some(given)) => {
                    let given = file.parent().unwrap_or(Path::new(".")).join(given);
                    self.file(&given, given.parent().unwrap_or(Path::new(".")), path)?;
                }
                (None, None) => {
                    let short = folder.join(format!("{name}.rs"));
                    let long = inner.join("mod.rs");
                    let found = if short.is_file() { short } else { long };
                    self.file(&found, &inner, path)?;
                }
            }
        }
        Ok(())
    }
}

/// Returns `true` if an item with this attribute is compiled for tests alone.
pub fn is_of_tests(attribute: &Attribute) -> bool {
    match &attribute.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string().replace(' ', "");
            condition == "test" || condition.starts_with("all(test,")
        }
        _ => false,
    }
}

/// Returns the file that an attribute says a module lies in.
fn path_of(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
