//! Loading plugins.
//!
//! A plugin runs in our process and can do anything; what is checked is what honest mistakes look
//! like: another version of the interface or of the grammar, missing entries, names that are no
//! text.

use std::ffi::CStr;
use std::ffi::CString;
use std::ffi::c_char;

use libloading::Library;
use thiserror::Error;

use crate::abi::ABI;
use crate::abi::ENTRY;
use crate::abi::GRAMMAR;
use crate::abi::RawEntry;
use crate::abi::RawOutput;
use crate::abi::RawPass;
use crate::abi::RawPlugin;
use crate::abi::RawRelease;
use crate::abi::RawRun;

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
    run: RawRun,
    release: RawRelease,
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
        let text = |field: &str, pointer: *const c_char| -> Result<Option<String>, String> {
            if pointer.is_null() {
                return Ok(None);
            }
            // SAFETY: by contract a text that is not null ends with NUL and stays valid.
            let text = unsafe { CStr::from_ptr(pointer) };
            let text = text.to_str().map_err(|_| format!("{field} is no UTF-8"))?;
            Ok(Some(text.to_owned()))
        };
        let needed = |field: &str, pointer| {
            text(field, pointer)?.ok_or_else(|| format!("{field} is missing"))
        };
        Ok(PluginPass {
            name: needed("name", row.name)?,
            summary: needed("summary", row.summary)?,
            requires: needed("requires", row.requires)?,
            establishes: text("establishes", row.establishes)?,
            run: row.run.ok_or("run is missing")?,
            release: row.release.ok_or("release is missing")?,
        })
    }

    /// Runs the pass on a module in text form: the new text, `None` if the module is as it was, or
    /// what is wrong.
    pub fn run(&self, text: &str, args: &[String]) -> Result<Option<Vec<u8>>, String> {
        let words: Result<Vec<CString>, _> =
            args.iter().map(|arg| CString::new(arg.as_str())).collect();
        let words = words.map_err(|_| "an argument has a NUL".to_owned())?;
        let pointers: Vec<*const c_char> = words.iter().map(|word| word.as_ptr()).collect();
        let mut output = RawOutput {
            data: std::ptr::null_mut(),
            size: 0,
        };
        // SAFETY: `run` is of the plugin's table and the library is loaded; input, arguments and
        // output are ours, live during the call, and do not overlap. By contract it does not
        // unwind.
        let status = unsafe {
            (self.run)(
                text.as_ptr(),
                text.len(),
                pointers.as_ptr(),
                pointers.len(),
                &raw mut output,
            )
        };
        let mut bytes = None;
        if !output.data.is_null() {
            // SAFETY: by contract the data is valid for `size` bytes until it is released, and
            // `release` takes what `run` put out, once; it is not used again.
            unsafe {
                bytes = Some(std::slice::from_raw_parts(output.data, output.size).to_vec());
                (self.release)(&raw mut output);
            }
        }
        match status {
            0 => Ok(bytes),
            _ => Err(bytes.map_or_else(
                || format!("it returned {status}"),
                |bytes| String::from_utf8_lossy(&bytes).into_owned(),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(text: &str, args: &[&str]) -> Result<Option<String>, String> {
        match args {
            [] => Ok(None),
            ["fail"] => Err("as asked".to_owned()),
            ["panic"] => panic!("as asked"),
            words => Ok(Some(format!("{text}{text}{}", words.join("+")))),
        }
    }

    crate::export! {
        { name: c"double", summary: c"Twice", requires: c"lowered", run: double }
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
        let run = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            pass.run("ab", &words)
        };
        assert_eq!(run(&[]), Ok(None));
        assert_eq!(run(&["x", "y"]), Ok(Some(b"ababx+y".to_vec())));
        assert_eq!(run(&["fail"]), Err("as asked".to_owned()));
        assert_eq!(run(&["panic"]), Err("the pass panicked".to_owned()));
        assert_eq!(run(&["a\0"]), Err("an argument has a NUL".to_owned()));
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
            refusal(|table| table.abi = 2),
            "plugin 'p.so' is for plugin ABI 2; this cuweld has 1"
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
            // SAFETY: the table that `export!` made above has one pass.
            let mut pass = unsafe { *table.passes };
            pass.name = std::ptr::null();
            table.passes = Box::leak(Box::new(pass));
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
