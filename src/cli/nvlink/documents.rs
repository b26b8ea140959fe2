//! The nvlink-compatible command line as a manual page and as a completion for shells, from the option
//! table.

use super::options;
use super::options::OptionSpec;
use super::options::Section;
use super::options::ValueKind;

/// Names of an option as typed, `-o` and `--output-file`.
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

/// A manual page in the man macros.
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

/// A completion for bash, of `nvlink` by name.
pub fn bash_completion() -> String {
    let mut words: Vec<String> = listed().flat_map(names).collect();
    words.sort();
    let mut cases = String::new();
    for option in listed() {
        let choices = match option.kind {
            ValueKind::Choice(choices) | ValueKind::OptionalChoice(choices, _) => choices,
            _ => continue,
        };
        let values: Vec<String> = choices
            .prefixes
            .iter()
            .flat_map(|prefix| {
                choices
                    .names
                    .iter()
                    .map(move |name| format!("{prefix}{name}"))
            })
            .collect();
        cases.push_str(&format!(
            "    {}) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return ;;\n",
            names(option).join("|"),
            values.join(" ")
        ));
    }
    format!(
        "_cuweld_nvlink() {{\n  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}\n  \
         case $before in\n{cases}  esac\n  case $word in\n    \
         -*) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")) ;;\n    \
         *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n  esac\n}}\ncomplete -o filenames -F _cuweld_nvlink nvlink\n",
        words.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_option_is_in_both() {
        let (page, completion) = (man_page(), bash_completion());
        for option in listed() {
            for name in names(option) {
                assert!(page.contains(&format!("\\fB{}\\fR", roff(&name))), "{name}");
                assert!(completion.contains(&name), "{name}");
            }
        }
        assert!(!page.contains("force-whole-lto") || listed().any(|o| o.long == "force-whole-lto"));
    }

    #[test]
    fn bash_takes_the_completion() {
        use std::io::Write;
        let Ok(mut bash) = std::process::Command::new("bash")
            .arg("-n")
            .stdin(std::process::Stdio::piped())
            .spawn()
        else {
            return;
        };
        let text = bash_completion();
        bash.stdin
            .take()
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        assert!(bash.wait().unwrap().success());
    }
}
