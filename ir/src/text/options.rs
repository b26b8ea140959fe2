//! The options of a link, each with its word.

use super::lexer::Parsed;
use super::parse::Parser;
use super::print::Printer;
use super::quote::put;
use super::quote::put_name;
use super::quote::put_quoted;
use crate::options::LinkOptions;

/// Lists the options that are set or not.
fn flags(options: &mut LinkOptions) -> [(&'static str, &mut bool); 25] {
    [
        ("relocatable", &mut options.relocatable),
        ("debug", &mut options.debug),
        ("stamp-nvlink", &mut options.record.stamp_nvlink),
        (
            "suppress-stack-size-warning",
            &mut options.reports.suppress_stack_size_warning,
        ),
        ("extra-warnings", &mut options.reports.extra_warnings),
        ("report-resources", &mut options.reports.resources),
        ("dump-callgraph", &mut options.reports.call_graph),
        ("preserve-relocs", &mut options.preserve_relocs),
        ("keep-system-libraries", &mut options.keep_system_libraries),
        ("suppress-debug-info", &mut options.suppress_debug_info),
        ("force-rela", &mut options.force_rela),
        (
            "reserve-null-pointer",
            &mut options.memory.reserve_null_pointer,
        ),
        (
            "allow-undefined-globals",
            &mut options.allow_undefined_globals,
        ),
        (
            "disable-shared-reservation",
            &mut options.memory.disable_shared_reservation,
        ),
        (
            "warnings-are-errors",
            &mut options.reports.warnings_are_errors,
        ),
        ("self-check", &mut options.reports.self_check),
        ("trace-finalizer", &mut options.reports.trace_finalizer),
        (
            "trace-compatibility",
            &mut options.reports.trace_compatibility,
        ),
        (
            "copy-within-family",
            &mut options.mercury.copy_within_family,
        ),
        (
            "copy-across-families",
            &mut options.mercury.copy_across_families,
        ),
        ("cap-merc", &mut options.mercury.cap_merc),
        ("strict", &mut options.strict),
        ("accept-newer", &mut options.accept_newer),
        ("strict-finalize", &mut options.mercury.strict),
        ("whole-program", &mut options.whole_program),
    ]
}

/// Lists the options with a text; one without a text is not set.
fn texts(options: &mut LinkOptions) -> [(&'static str, &mut Vec<u8>); 3] {
    [
        ("recorded-options", &mut options.record.options),
        ("output-name", &mut options.record.output_name),
        ("tool-branch", &mut options.record.tool_branch),
    ]
}

/// Lists the options with names, of which there may be none.
fn lists(options: &mut LinkOptions) -> [(&'static str, &mut Option<Vec<String>>); 6] {
    [
        ("kernels-used", &mut options.host.kernels_used),
        ("variables-used", &mut options.host.variables_used),
        ("host-kernels-external", &mut options.host.kernels_external),
        ("host-kernels-internal", &mut options.host.kernels_internal),
        (
            "host-variables-external",
            &mut options.host.variables_external,
        ),
        (
            "host-variables-internal",
            &mut options.host.variables_internal,
        ),
    ]
}

/// The option with a text that may be empty.
const TOOL_NAME: &str = "tool-name";

impl Printer<'_, '_> {
    /// Prints the options that are set.
    pub(super) fn options(&mut self) {
        let mut options = self.module.options.clone();
        for (word, is_set) in flags(&mut options) {
            if *is_set {
                put!(self.out, "  option {word}\n");
            }
        }
        for (word, text) in texts(&mut options) {
            if !text.is_empty() {
                self.text_option(word, text);
            }
        }
        if let Some(name) = &options.record.tool_name {
            self.text_option(TOOL_NAME, name);
        }
        for (word, list) in lists(&mut options) {
            let Some(list) = list else { continue };
            put!(self.out, "  option {word}");
            for name in list {
                self.out.push(' ');
                put_name(&mut self.out, name.as_bytes());
            }
            self.out.push('\n');
        }
    }

    fn text_option(&mut self, word: &str, text: &[u8]) {
        put!(self.out, "  option {word} ");
        put_quoted(&mut self.out, text);
        self.out.push('\n');
    }
}

/// Returns the value of the option with this word.
fn find<'o, T, const N: usize>(options: [(&str, &'o mut T); N], word: &str) -> Option<&'o mut T> {
    let mut options = options.into_iter();
    options.find_map(|(known, value)| (known == word).then_some(value))
}

impl Parser<'_, '_, '_> {
    /// Reads an option.
    pub(super) fn option(&mut self) -> Parsed<()> {
        let position = self.cursor.position();
        let word = self.cursor.word("an option")?;
        let options = &mut self.module.options;
        if let Some(flag) = find(flags(options), word) {
            *flag = true;
        } else if let Some(text) = find(texts(options), word) {
            *text = self.cursor.name()?.into_owned();
        } else if word == TOOL_NAME {
            options.record.tool_name = Some(self.cursor.name()?.into_owned());
        } else if let Some(list) = find(lists(options), word) {
            let list = list.insert(Vec::new());
            while self.cursor.peek().is_some() {
                list.push(self.cursor.string()?);
            }
        } else {
            return Err(position.error(format!("expected an option, found `{word}`")));
        }
        Ok(())
    }
}
