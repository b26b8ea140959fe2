//! The nvlink-compatible command line as a manual page and as a completion for shells, from the
//! option table.

use super::options;
use super::options::OptionSpec;
use super::options::Section;
use super::options::ValueKind;

/// Returns the names of an option as typed, `-o` and `--output-file`.
fn names(option: &OptionSpec) -> Vec<String> {
    [("-", option.short), ("--", option.long)]
        .into_iter()
        .filter(|(_, name)| !name.is_empty())
        .map(|(dashes, name)| format!("{dashes}{name}"))
        .collect()
}

fn listed() -> impl Iterator<Item = &'static OptionSpec> {
    options::all().filter(|option| option.section != Section::Hidden)
}

/// Builds a manual page in the man macros.
pub fn man_page() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut page = format!(
        ".TH CUWELD-NVLINK 1 \"\" \"cuweld {version}\"\n\
         .SH NAME\ncuweld-nvlink \\- link relocatable CUDA device code\n\
         .SH SYNOPSIS\n.B cuweld nvlink\n[\\fIoption\\fR | \\fIfile\\fR]...\n\
         .SH DESCRIPTION\nLinks cubins, fatbins, PTX files, host objects and archives into one device executable, \
         as nvlink of CUDA 13.0 does. A value follows its option after a blank or '='.\n"
    );
    for (section, title) in Section::LISTED {
        page.push_str(&format!(".SH {}\n", title.to_uppercase()));
        for option in listed().filter(|option| option.section == section) {
            let names: Vec<String> = names(option).iter().map(|name| roff(name)).collect();
            page.push_str(&format!(".TP\n\\fB{}\\fR", names.join("\\fR, \\fB")));
            if !option.metavar.is_empty() {
                page.push_str(&format!(" \\fI{}\\fR", roff(option.metavar)));
            }
            page.push_str(&format!("\n{}\n", roff(option.help)));
        }
    }
    page.push_str(
        ".SH EXIT STATUS\n0 after a link, 1 after a fatal error, 255 if there were only errors.\n",
    );
    page
}

fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    // A line that begins like a macro.
    match text.strip_prefix(['.', '\'']) {
        Some(_) => format!("\\&{text}"),
        None => text,
    }
}

/// Returns the values that an option can have, if they are few.
fn values(option: &OptionSpec) -> Vec<String> {
    let (ValueKind::Choice(choices) | ValueKind::OptionalChoice(choices, _)) = option.kind else {
        return Vec::new();
    };
    let prefixes = choices.prefixes.iter();
    let all = prefixes.flat_map(|prefix| {
        let names = choices.names.iter();
        names.map(move |name| format!("{prefix}{name}"))
    });
    all.collect()
}

/// Builds a completion for bash, of `nvlink` by name.
pub fn bash_completion() -> String {
    let mut words: Vec<String> = listed().flat_map(names).collect();
    words.sort();
    let mut cases = String::new();
    for option in listed() {
        let values = values(option).join(" ");
        if !values.is_empty() {
            cases.push_str(&format!(
                "    {}) COMPREPLY=($(compgen -W \"{values}\" -- \"$word\")); return ;;\n",
                names(option).join("|"),
            ));
        }
    }
    format!(
        "_cuweld_nvlink() {{\n  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}\n  \
         case $before in\n{cases}  esac\n  case $word in\n    \
         -*) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")) ;;\n    \
         *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n  esac\n}}\ncomplete -o filenames -F _cuweld_nvlink nvlink\n",
        words.join(" ")
    )
}

/// Builds a completion for zsh, of `nvlink` by name: for a folder of `$fpath`, as `_nvlink`.
pub fn zsh_completion() -> String {
    let mut lines = String::new();
    for option in listed() {
        let help = option.help.replace(['[', ']', ':'], " ").replace('\'', "");
        let value = match (option.metavar.is_empty(), values(option)) {
            (true, _) => String::new(),
            (false, values) if values.is_empty() => ":value:_files".to_owned(),
            (false, values) => format!(":value:({})", values.join(" ")),
        };
        for name in names(option) {
            let place = if value.is_empty() { "" } else { "=" };
            lines.push_str(&format!("  '*{name}{place}[{help}]{value}' \\\n"));
        }
    }
    format!("#compdef nvlink\n_arguments \\\n{lines}  '*:file:_files'\n")
}

/// Builds a completion for fish, of `nvlink` by name.
pub fn fish_completion() -> String {
    let mut text = String::new();
    for option in listed() {
        text.push_str("complete -c nvlink");
        if !option.short.is_empty() {
            text.push_str(&format!(" -o {}", option.short));
        }
        if !option.long.is_empty() {
            text.push_str(&format!(" -l {}", option.long));
        }
        let values = values(option).join(" ");
        match (option.metavar.is_empty(), values.is_empty()) {
            (true, _) => {}
            (false, true) => text.push_str(" -r"),
            (false, false) => text.push_str(&format!(" -x -a '{values}'")),
        }
        let help = option.help.replace(['\\', '\''], "");
        text.push_str(&format!(" -d '{help}'\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_option_is_in_all() {
        let (page, fish) = (man_page(), fish_completion());
        let completions = [bash_completion(), zsh_completion()];
        for option in listed() {
            for name in names(option) {
                assert!(page.contains(&format!("\\fB{}\\fR", roff(&name))), "{name}");
                for completion in &completions {
                    assert!(completion.contains(&name), "{name}");
                }
            }
            for (flag, name) in [("-o", option.short), ("-l", option.long)] {
                assert!(
                    name.is_empty() || fish.contains(&format!("{flag} {name}")),
                    "{name}"
                );
            }
        }
        assert!(!page.contains("force-whole-lto") || listed().any(|o| o.long == "force-whole-lto"));
    }

    /// Checks that each shell that is installed reads its text without an error.
    #[test]
    fn shells_take_the_completions() {
        use std::io::Write;
        for (shell, arguments, text) in [
            ("bash", ["-n"].as_slice(), bash_completion()),
            ("zsh", &["-n"], zsh_completion()),
            ("fish", &["--no-execute", "/dev/stdin"], fish_completion()),
        ] {
            let child = std::process::Command::new(shell)
                .args(arguments)
                .stdin(std::process::Stdio::piped())
                .spawn();
            let Ok(mut child) = child else { continue };
            let mut input = child.stdin.take().unwrap();
            input.write_all(text.as_bytes()).unwrap();
            drop(input);
            assert!(child.wait().unwrap().success(), "{shell}");
        }
    }
}
