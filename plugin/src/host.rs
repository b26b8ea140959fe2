//! Loading plugins.
//!
//! A plugin runs in our process and can do anything; what is checked is what honest mistakes look
//! like: another version of the interface or of the grammar, missing entries, names that are no
//! text.

mod call;

use std::ffi::CStr;
use std::ffi::c_char;

use libloading::Library;
use thiserror::Error;

use crate::abi::ABI;
use crate::abi::ENTRY;
use crate::abi::GRAMMAR;
use crate::abi::RawEntry;
use crate::abi::RawOption;
use crate::abi::RawPass;
use crate::abi::RawPlugin;
use crate::abi::RawRelease;
use crate::abi::RawRun;
use crate::exchanged::OptionType;

pub use call::Failure;
pub use call::Listener;

/// Passes of a plugin, which stays loaded as long as the process runs.
#[derive(Clone, Debug)]
pub struct Plugin {
    /// Its passes, in its order.
    pub passes: Vec<PluginPass>,
}

/// A pass of a plugin.
#[derive(Clone, Debug)]
pub struct PluginPass {
    /// Its name in pipelines.
    pub name: String,
    /// One line that says what it does.
    pub summary: String,
    /// The name of the phase that a module must have reached.
    pub requires: String,
    /// The name of the phase that it has reached afterwards, if it is another.
    pub establishes: Option<String>,
    /// Its options, in its order.
    pub options: Vec<PluginOption>,
    run: RawRun,
    release: RawRelease,
}

/// An option of a plugin's pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginOption {
    /// Its key in pipelines.
    pub name: String,
    /// What values it takes.
    pub ty: OptionType,
    /// Its value when it is not given, as pipelines spell it; not checked here.
    pub default: String,
    /// What it does, in a sentence.
    pub doc: String,
}

/// Why a plugin was not loaded.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The library cannot be loaded.
    #[error("cannot load plugin '{path}': {message}")]
    Library {
        /// The path.
        path: String,
        /// What the system says.
        message: String,
    },
    /// It exports no table.
    #[error("'{path}' is no plugin: it has no function 'cuweld_plugin'")]
    NoEntry {
        /// The path.
        path: String,
    },
    /// It was made for another interface or another grammar.
    #[error("plugin '{path}' is for {what} {found}; this cuweld has {known}")]
    Version {
        /// The path.
        path: String,
        /// `plugin ABI` or `.lir grammar`.
        what: &'static str,
        /// What it was made for.
        found: u32,
        /// What we have.
        known: u32,
    },
    /// An entry of its table is missing or no text.
    #[error("plugin '{path}': its table is broken: {what}")]
    Table {
        /// The path.
        path: String,
        /// What is wrong.
        what: String,
    },
}

impl Plugin {
    /// Loads a plugin. Code of the library runs: its initialisers now, its passes later.
    pub fn load(path: &str) -> Result<Self, LoadError> {
        // Without a slash the system searches its own folders, which is not what a file name means.
        let file = match path.contains('/') {
            true => path.to_owned(),
            false => format!("./{path}"),
        };
        if cfg!(target_feature = "crt-static") {
            let message = "a program that is linked statically loads no libraries; the one that `cargo build` makes for the GNU C library does";
            let message = message.to_owned();
            let path = path.to_owned();
            return Err(LoadError::Library { path, message });
        }
        let library = |error: libloading::Error| LoadError::Library {
            path: path.to_owned(),
            message: error.to_string(),
        };
        let no_entry = |_| LoadError::NoEntry {
            path: path.to_owned(),
        };
        // SAFETY: loading runs the initialisers of a library that the user named as a plugin. That
        // these are sound, that the symbol is a function of this type, which can be called at any
        // time, and that it returns null or a table that stays valid, is the contract of
        // `cuweld-plugin.h`, as of every plugin interface. The functions and texts of the table are
        // used until the process ends: the library is never unloaded.
        let table = unsafe {
            let library = std::mem::ManuallyDrop::new(Library::new(&file).map_err(library)?);
            let entry = library.get::<RawEntry>(ENTRY).map_err(no_entry)?;
            entry().as_ref()
        };
        let table = table.ok_or_else(|| LoadError::Table {
            path: path.to_owned(),
            what: "there is none".to_owned(),
        })?;
        Self::read(path, table)
    }

    fn read(path: &str, table: &'static RawPlugin) -> Result<Self, LoadError> {
        // The first two fields stand at the same place in every version; nothing else is touched
        // before they agree.
        for (what, found, known) in [
            ("plugin ABI", table.abi, ABI),
            (".lir grammar", table.grammar, GRAMMAR),
        ] {
            if found != known {
                let path = path.to_owned();
                return Err(LoadError::Version {
                    path,
                    what,
                    found,
                    known,
                });
            }
        }
        let broken = |what: String| LoadError::Table {
            path: path.to_owned(),
            what,
        };
        if table.pass_count == 0 || table.passes.is_null() {
            return Err(broken("it has no passes".to_owned()));
        }
        // SAFETY: by contract `passes` points to `pass_count` entries that stay valid; it is not
        // null.
        let rows = unsafe { std::slice::from_raw_parts(table.passes, table.pass_count) };
        let passes = (1..).zip(rows).map(|(number, row)| {
            PluginPass::read(row).map_err(|what| broken(format!("pass {number}: {what}")))
        });
        Ok(Plugin {
            passes: passes.collect::<Result<_, _>>()?,
        })
    }
}

impl PluginPass {
    fn read(row: &RawPass) -> Result<Self, String> {
        let rows = match (row.options.is_null(), row.option_count) {
            (_, 0) => &[][..],
            (true, _) => return Err("options are missing".to_owned()),
            // SAFETY: by contract `options` points to `option_count` entries that stay valid; it is
            // not null.
            (false, count) => unsafe { std::slice::from_raw_parts(row.options, count) },
        };
        let options = (1..).zip(rows).map(|(number, row)| {
            PluginOption::read(row).map_err(|what| format!("option {number}: {what}"))
        });
        Ok(PluginPass {
            name: needed("name", row.name)?,
            summary: needed("summary", row.summary)?,
            requires: needed("requires", row.requires)?,
            establishes: text("establishes", row.establishes)?,
            options: options.collect::<Result<_, _>>()?,
            run: row.run.ok_or("run is missing")?,
            release: row.release.ok_or("release is missing")?,
        })
    }
}

impl PluginOption {
    fn read(row: &RawOption) -> Result<Self, String> {
        let ty = OptionType::from_number(row.ty);
        Ok(PluginOption {
            name: needed("name", row.name)?,
            ty: ty.ok_or_else(|| format!("there is no type {}", row.ty))?,
            default: needed("default_value", row.default)?,
            doc: needed("doc", row.doc)?,
        })
    }
}

/// Reads a text of the table.
fn text(field: &str, pointer: *const c_char) -> Result<Option<String>, String> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: by contract a text that is not null ends with NUL and stays valid.
    let text = unsafe { CStr::from_ptr(pointer) };
    let text = text.to_str().map_err(|_| format!("{field} is no UTF-8"))?;
    Ok(Some(text.to_owned()))
}

/// Reads a text that the table has to have.
fn needed(field: &str, pointer: *const c_char) -> Result<String, String> {
    text(field, pointer)?.ok_or_else(|| format!("{field} is missing"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Call;
    use crate::Finding;
    use crate::Value;

    fn double(call: &Call<'_>) -> Result<Option<String>, String> {
        let text = call.text();
        call.count("bytes", text.len() as u64);
        match call.string("mode") {
            "nothing" => Ok(None),
            "fail" => Err("as asked".to_owned()),
            "panic" => panic!("as {}", "asked"),
            "warn" => {
                let warning = Finding::warning("odd", "it is odd").about("fn3");
                call.report(&warning.note("one").note("two").help("none"));
                Ok(None)
            }
            _ => {
                let words = call.strings("words").join("+");
                let last = format!("{}{}", call.bool("upper"), call.integer("count"));
                Ok(Some(format!("{text}{text}{words}{last}")))
            }
        }
    }

    crate::export! {
        {
            name: c"double",
            summary: c"Twice",
            requires: c"lowered",
            options: [
                { name: c"mode", ty: String, default: c"''", doc: c"What to do." },
                { name: c"words", ty: Strings, default: c"[]", doc: c"Words." },
                { name: c"upper", ty: Bool, default: c"false", doc: c"A flag." },
                { name: c"count", ty: Integer, default: c"0", doc: c"A number." },
            ],
            run: double
        },
        { name: c"plain", summary: c"No options", requires: c"lowered", run: double }
    }

    #[derive(Default)]
    struct Heard {
        findings: Vec<Finding>,
        bytes: u64,
    }

    impl Listener for Heard {
        fn report(&mut self, finding: Finding) {
            self.findings.push(finding);
        }

        fn count(&mut self, name: &str, more: u64) {
            assert_eq!(name, "bytes");
            self.bytes += more;
        }
    }

    fn table() -> &'static RawPlugin {
        // SAFETY: the table that `export!` made above.
        unsafe { &*cuweld_plugin() }
    }

    #[test]
    fn a_pass_is_called_through_the_table() {
        let plugin = Plugin::read("p.so", table()).unwrap();
        let pass = &plugin.passes[0];
        assert_eq!(
            (&*pass.name, &*pass.summary, &*pass.requires),
            ("double", "Twice", "lowered")
        );
        let option = &pass.options[3];
        assert_eq!(
            (&*option.name, option.ty, &*option.default, &*option.doc),
            ("count", OptionType::Integer, "0", "A number.")
        );
        let mut heard = Heard::default();
        let mut run = |mode: &str| {
            let words = ["x", "y"].map(str::to_owned).to_vec();
            let values = [
                Value::String(mode.to_owned()),
                Value::Strings(words),
                Value::Bool(true),
                Value::Integer(-7),
            ];
            pass.run("ab", &values, &mut heard)
        };
        let failure = |message: &str, crashed| Failure {
            message: message.to_owned(),
            crashed,
        };
        assert_eq!(run("nothing"), Ok(None));
        assert_eq!(run("double"), Ok(Some(b"ababx+ytrue-7".to_vec())));
        assert_eq!(run("fail"), Err(failure("as asked", false)));
        assert_eq!(run("panic"), Err(failure("it panicked: as asked", true)));
        assert_eq!(run("a\0"), Err(failure("an option has a NUL", false)));
        assert_eq!(run("warn"), Ok(None));
        let warning = Finding::warning("odd", "it is odd").about("fn3");
        let warning = warning.note("one").note("two").help("none");
        assert_eq!((heard.findings, heard.bytes), (vec![warning], 10));
        // A pass that asks for an option that it does not have.
        let failed = plugin.passes[1].run("ab", &[], &mut Heard::default());
        let message = "it panicked: the pass has no option 'mode' of type String";
        assert_eq!(failed, Err(failure(message, true)));
    }

    #[test]
    fn other_versions_and_broken_tables_are_refused() {
        let refusal = |change: fn(&mut RawPlugin)| {
            let mut copy = *table();
            change(&mut copy);
            Plugin::read("p.so", Box::leak(Box::new(copy)))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refusal(|table| table.abi = 1),
            "plugin 'p.so' is for plugin ABI 1; this cuweld has 2"
        );
        assert_eq!(
            refusal(|table| table.grammar = 7),
            "plugin 'p.so' is for .lir grammar 7; this cuweld has 1"
        );
        assert_eq!(
            refusal(|table| table.pass_count = 0),
            "plugin 'p.so': its table is broken: it has no passes"
        );
        let nameless = |table: &mut RawPlugin| {
            // SAFETY: the table that `export!` made above has passes.
            let mut pass = unsafe { *table.passes };
            pass.name = std::ptr::null();
            (table.passes, table.pass_count) = (Box::leak(Box::new(pass)), 1);
        };
        assert_eq!(
            refusal(nameless),
            "plugin 'p.so': its table is broken: pass 1: name is missing"
        );
        let error = Plugin::load("no/such/library.so").unwrap_err().to_string();
        assert!(
            error.starts_with("cannot load plugin 'no/such/library.so': "),
            "{error}"
        );
    }
}
