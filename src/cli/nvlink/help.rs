//! What `-h` prints.

use super::options;
use super::options::OptionSpec;
use super::options::Section;
use super::options::ValueKind;

const WIDTH: usize = 80;
const INDENT: &str = "        ";

/// Returns the help text, from the option table.
pub fn help_text(tool_name: &str) -> String {
    let mut text = format!(
        "Usage: {tool_name} [OPTION | FILE]...\n\n\
         Links relocatable CUDA device code. A FILE is a cubin, fatbin, PTX file, host object or\n\
         archive. A value follows its option after a blank or '=', for -l, -L and -m also\n\
         directly; lists are separated by commas.\n"
    );
    for (section, title) in Section::LISTED {
        text.push_str(&format!("\n{title}\n"));
        let mut entries: Vec<&OptionSpec> = options::all()
            .filter(|option| option.section == section)
            .collect();
        entries.sort_by_key(|option| option.long.to_ascii_lowercase());
        for option in entries {
            text.push_str(&format!("  {}\n", usage(option)));
            wrap(option.help, &mut text);
            if let ValueKind::Choice(choices) = option.kind
                && choices.names.len() > 2
            {
                for prefix in choices.prefixes {
                    let values: Vec<String> = choices
                        .names
                        .iter()
                        .map(|name| format!("{prefix}{name}"))
                        .collect();
                    wrap(&values.join(" "), &mut text);
                }
            }
        }
    }
    text
}

fn usage(option: &OptionSpec) -> String {
    let value = if option.metavar.is_empty() {
        String::new()
    } else if matches!(option.kind, ValueKind::OptionalChoice(..)) {
        format!("[={}]", option.metavar)
    } else {
        format!("={}", option.metavar)
    };
    let names: Vec<String> = [("-", option.short), ("--", option.long)]
        .into_iter()
        .filter(|(_, name)| !name.is_empty())
        .map(|(dashes, name)| format!("{dashes}{name}"))
        .collect();
    format!("{}{value}", names.join(", "))
}

fn wrap(words: &str, text: &mut String) {
    let mut column = 0;
    for word in words.split(' ') {
        if column == 0 || column + 1 + word.len() > WIDTH {
            if column != 0 {
                text.push('\n');
            }
            text.push_str(INDENT);
            column = INDENT.len();
        } else {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += word.len();
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_every_visible_option_and_no_hidden_one() {
        let text = help_text("nvlink");
        for option in options::all() {
            let line = format!("  {}\n", usage(option));
            assert_eq!(
                text.contains(&line),
                option.section != Section::Hidden,
                "{line}"
            );
        }
        assert!(text.contains("  -o, --output-file=FILE\n"));
        assert!(text.contains("  -ghls, --gen-host-linker-script[=KIND]\n"));
    }

    #[test]
    fn lines_fit() {
        for line in help_text("nvlink").lines() {
            assert!(line.len() <= 90, "{line}");
        }
    }
}
