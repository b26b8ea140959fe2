//! The file that tells make and ninja what an output depends on.

/// Returns the rule of an output in the form that make and ninja (`deps = gcc`) read. A rule without
/// prerequisites for each input keeps make from failing once an input is gone.
pub fn rule(output: &str, inputs: &[String]) -> String {
    let mut text = format!("{}:", escaped(output));
    for input in inputs {
        text.push_str(" \\\n  ");
        text.push_str(&escaped(input));
    }
    text.push('\n');
    for input in inputs {
        text.push_str(&format!("\n{}:\n", escaped(input)));
    }
    text
}

/// Spells a name so that make takes it as it is.
fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut backslashes = 0;
    for character in name.chars() {
        match character {
            // Those before a blank stand for themselves only if they are doubled.
            ' ' | '\t' => {
                text.extend(std::iter::repeat_n('\\', backslashes + 1));
            }
            '#' => text.push('\\'),
            '$' => text.push('$'),
            _ => {}
        }
        backslashes = match character {
            '\\' => backslashes + 1,
            _ => 0,
        };
        text.push(character);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelt_for_make() {
        let inputs = [
            "a.o".to_owned(),
            "my lib/b#1.a".to_owned(),
            "$c\\ d".to_owned(),
        ];
        let expected = "d.o: \\\n  a.o \\\n  my\\ lib/b\\#1.a \\\n  $$c\\\\\\ d\n\na.o:\n\nmy\\ lib/b\\#1.a:\n\n$$c\\\\\\ d:\n";
        assert_eq!(rule("d.o", &inputs), expected);
    }
}
