//! The options of a link, each with its word.

use super::lexer::Parsed;
use super::parse::Parser;
use super::print::Printer;
use super::quote::put;
use super::quote::put_name;
use super::quote::put_quoted;
use crate::options::Finalize;
use crate::options::LinkOptions;

/// Where an option is kept.
#[derive(Debug, PartialEq, Eq)]
pub enum OptionPlace<'o> {
    /// It is set or not.
    Flag(&'o mut bool),
    /// A text; one without a byte is not set.
    Text(&'o mut Vec<u8>),
    /// A text that may have no byte.
    Name(&'o mut Option<Vec<u8>>),
    /// Names, of which there may be none.
    List(&'o mut Option<Vec<String>>),
    /// Which code is made anew.
    Finalize(&'o mut Finalize),
}

/// Lists the options with their words, in the order of the text form.
pub fn option_places(options: &mut LinkOptions) -> [(&'static str, OptionPlace<'_>); 36] {
    use OptionPlace::Flag;
    use OptionPlace::List;
    use OptionPlace::Name;
    use OptionPlace::Text;
    [
        ("relocatable", Flag(&mut options.relocatable)),
        ("debug", Flag(&mut options.debug)),
        ("stamp-nvlink", Flag(&mut options.record.stamp_nvlink)),
        (
            "suppress-stack-size-warning",
            Flag(&mut options.reports.suppress_stack_size_warning),
        ),
        ("extra-warnings", Flag(&mut options.reports.extra_warnings)),
        ("report-resources", Flag(&mut options.reports.resources)),
        ("dump-callgraph", Flag(&mut options.reports.call_graph)),
        ("preserve-relocs", Flag(&mut options.preserve_relocs)),
        (
            "keep-system-libraries",
            Flag(&mut options.keep_system_libraries),
        ),
        (
            "suppress-debug-info",
            Flag(&mut options.suppress_debug_info),
        ),
        ("force-rela", Flag(&mut options.force_rela)),
        (
            "reserve-null-pointer",
            Flag(&mut options.memory.reserve_null_pointer),
        ),
        (
            "allow-undefined-globals",
            Flag(&mut options.allow_undefined_globals),
        ),
        (
            "disable-shared-reservation",
            Flag(&mut options.memory.disable_shared_reservation),
        ),
        (
            "warnings-are-errors",
            Flag(&mut options.reports.warnings_are_errors),
        ),
        ("self-check", Flag(&mut options.reports.self_check)),
        (
            "trace-finalizer",
            Flag(&mut options.reports.trace_finalizer),
        ),
        (
            "trace-compatibility",
            Flag(&mut options.reports.trace_compatibility),
        ),
        (
            "copy-within-family",
            Flag(&mut options.mercury.copy_within_family),
        ),
        (
            "copy-across-families",
            Flag(&mut options.mercury.copy_across_families),
        ),
        ("cap-merc", Flag(&mut options.mercury.cap_merc)),
        ("strict", Flag(&mut options.strict)),
        ("accept-newer", Flag(&mut options.accept_newer)),
        (
            "finalize",
            OptionPlace::Finalize(&mut options.mercury.finalize),
        ),
        ("strict-finalize", Flag(&mut options.mercury.strict)),
        ("whole-program", Flag(&mut options.whole_program)),
        ("recorded-options", Text(&mut options.record.options)),
        ("output-name", Text(&mut options.record.output_name)),
        ("tool-branch", Text(&mut options.record.tool_branch)),
        ("tool-name", Name(&mut options.record.tool_name)),
        ("kernels-used", List(&mut options.host.kernels_used)),
        ("variables-used", List(&mut options.host.variables_used)),
        (
            "host-kernels-external",
            List(&mut options.host.kernels_external),
        ),
        (
            "host-kernels-internal",
            List(&mut options.host.kernels_internal),
        ),
        (
            "host-variables-external",
            List(&mut options.host.variables_external),
        ),
        (
            "host-variables-internal",
            List(&mut options.host.variables_internal),
        ),
    ]
}

impl Printer<'_, '_> {
    /// Prints the options that are set.
    pub(super) fn options(&mut self) {
        let mut options = self.module.options.clone();
        for (word, place) in option_places(&mut options) {
            match place {
                OptionPlace::Flag(is_set) if *is_set => put!(self.out, "  option {word}\n"),
                OptionPlace::Text(text) if !text.is_empty() => self.text_option(word, text),
                OptionPlace::Name(Some(name)) => self.text_option(word, name),
                OptionPlace::Finalize(mode) if *mode != Finalize::default() => {
                    put!(self.out, "  option {word} {}\n", mode.word());
                }
                OptionPlace::List(Some(list)) => {
                    put!(self.out, "  option {word}");
                    for name in list {
                        self.out.push(' ');
                        put_name(&mut self.out, name.as_bytes());
                    }
                    self.out.push('\n');
                }
                _ => {}
            }
        }
    }

    fn text_option(&mut self, word: &str, text: &[u8]) {
        put!(self.out, "  option {word} ");
        put_quoted(&mut self.out, text);
        self.out.push('\n');
    }
}

impl Parser<'_, '_, '_> {
    /// Reads an option.
    pub(super) fn option(&mut self) -> Parsed<()> {
        let position = self.cursor.position();
        let word = self.cursor.word("an option")?;
        let mut places = option_places(&mut self.module.options).into_iter();
        let Some((_, place)) = places.find(|(known, _)| *known == word) else {
            return Err(position.error(format!("expected an option, found `{word}`")));
        };
        match place {
            OptionPlace::Flag(flag) => *flag = true,
            OptionPlace::Text(text) => *text = self.cursor.name()?.into_owned(),
            OptionPlace::Name(name) => *name = Some(self.cursor.name()?.into_owned()),
            OptionPlace::Finalize(mode) => {
                let position = self.cursor.position();
                let word = self.cursor.word("`certified`, `keep` or `trust`")?;
                *mode = Finalize::from_word(word).ok_or_else(|| {
                    position.error(format!(
                        "expected `certified`, `keep` or `trust`, found `{word}`"
                    ))
                })?;
            }
            OptionPlace::List(list) => {
                let list = list.insert(Vec::new());
                while self.cursor.peek().is_some() {
                    list.push(self.cursor.string()?);
                }
            }
        }
        Ok(())
    }
}
