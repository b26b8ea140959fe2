//! The one-line form of pipelines.
//!
//! ```text
//! pipeline  = [ step { "," step } ]
//! step      = ( pass [ options ] | "@" ( pipeline | string ) ) [ "[" condition { "," condition } "]" ] [ anchor ]
//! anchor    = ( "before" | "after" | "replace" ) pass
//! options   = "{" [ option { "," option } ] "}"
//! option    = key "=" value
//! condition = [ "not" ] fact
//! value     = word | a TOML value without ''' and """
//! word      = letter or "_", then letters, digits, "_", "-", "."; not true, false, inf, nan
//! ```
//! Names and keys are made of letters, digits, `_`, `-` and `.`; keys and paths of pipelines may
//! also be quoted. Blanks are free between tokens. A word as a value is a string: `roots=kernels`
//! is `roots="kernels"`.
//!
//! `classify,symbol-resolve,callgraph-dce{roots=kernels}[not debug],@mercury[mercury],emit`

use std::fmt::Write as _;

use super::error::PipelineError;
use super::error::PipelineErrorKind;
use super::model::Action;
use super::model::Anchor;
use super::model::Condition;
use super::model::Pipeline;
use super::model::Place;
use super::model::Setting;
use super::model::Side;
use super::model::Source;
use super::model::Step;

/// Parses the one-line form; the text's name becomes that of the pipeline.
pub fn parse(source: Source) -> Result<Pipeline, PipelineError> {
    let mut parser = Parser {
        text: &source.text,
        at: 0,
    };
    let steps = parser.steps().map_err(|(message, at)| {
        // What is unexpected is one character, or the end.
        let length = source.text.get(at..).and_then(|rest| rest.chars().next());
        let place = Place::at(at..at + length.map_or(0, char::len_utf8));
        PipelineError::new(PipelineErrorKind::Syntax(message), Some(&source), &place)
    })?;
    Ok(Pipeline {
        when: Vec::new(),
        name: source.name.clone(),
        summary: String::new(),
        steps,
        source: Some(source),
    })
}

/// Prints the steps of a pipeline in the one-line form; name and summary have no place in it.
pub fn print(pipeline: &Pipeline) -> String {
    let mut out = String::new();
    for (index, step) in pipeline.steps.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        match &step.action {
            Action::Include { pipeline } => {
                let _ = write!(out, "@{}", name_or_quoted(pipeline));
            }
            Action::Pass { name, options } => {
                out.push_str(name);
                if !options.is_empty() {
                    let options: Vec<String> = options.iter().map(print_setting).collect();
                    let _ = write!(out, "{{{}}}", options.join(","));
                }
            }
        }
        if !step.when.is_empty() {
            let when: Vec<String> = step.when.iter().map(Condition::to_string).collect();
            let _ = write!(out, "[{}]", when.join(","));
        }
        if let Some(anchor) = &step.anchor {
            let _ = write!(out, " {} {}", anchor.side.name(), anchor.pass);
        }
    }
    out
}

fn print_setting(setting: &Setting) -> String {
    let key = name_or_quoted(&setting.name);
    match setting.value.as_str() {
        Some(word) if is_word(word) => format!("{key}={word}"),
        _ => format!("{key}={}", one_line(&setting.value)),
    }
}

fn name_or_quoted(name: &str) -> String {
    if !name.is_empty() && name.chars().all(is_name_char) {
        name.to_owned()
    } else {
        escaped(name)
    }
}

/// Formats a TOML value on one line, with the one kind of quotes that [`Parser::toml_value`] looks
/// for ends of.
fn one_line(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => escaped(text),
        toml::Value::Array(list) => {
            let items: Vec<String> = list.iter().map(one_line).collect();
            format!("[{}]", items.join(", "))
        }
        toml::Value::Table(table) => {
            let items: Vec<String> = table
                .iter()
                .map(|(key, value)| format!("{} = {}", escaped(key), one_line(value)))
                .collect();
            format!("{{ {} }}", items.join(", "))
        }
        other => other.to_string(),
    }
}

/// Formats a text as a TOML basic string.
fn escaped(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            _ if letter.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(letter));
            }
            _ => out.push(letter),
        }
    }
    out.push('"');
    out
}

fn is_name_char(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.')
}

fn is_word(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && text.chars().all(is_name_char)
        && !matches!(text, "true" | "false" | "inf" | "nan")
}

/// A message and where.
type Refusal = (String, usize);

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Parser<'t> {
    fn steps(&mut self) -> Result<Vec<Step>, Refusal> {
        let mut steps = Vec::new();
        if self.peek().is_none() {
            return Ok(steps);
        }
        loop {
            steps.push(self.step()?);
            if self.peek().is_none() {
                return Ok(steps);
            }
            if !self.eat(',') {
                return Err(self.unexpected("',' or the end"));
            }
        }
    }

    fn step(&mut self) -> Result<Step, Refusal> {
        let include = self.eat('@');
        let (name, place) = if include {
            let (name, place, _) = self.name_or_string("the name of a pipeline")?;
            (name, place)
        } else {
            let (name, place) = self.name("the name of a pass")?;
            (name.to_owned(), place)
        };
        let action = if include {
            if self.peek() == Some('{') {
                return Err(("an included pipeline takes no options".to_owned(), self.at));
            }
            Action::Include { pipeline: name }
        } else {
            let options = if self.eat('{') {
                self.options()?
            } else {
                Vec::new()
            };
            Action::Pass { name, options }
        };
        let mut when = Vec::new();
        if self.eat('[') {
            loop {
                when.push(self.condition()?);
                if self.eat(']') {
                    break;
                }
                if !self.eat(',') {
                    return Err(self.unexpected("',' or ']'"));
                }
            }
        }
        let anchor = self.anchor()?;
        Ok(Step {
            action,
            when,
            anchor,
            place,
        })
    }

    /// Parses the step beside which one goes, if it is named.
    fn anchor(&mut self) -> Result<Option<Anchor>, Refusal> {
        self.peek();
        let word = self.rest().split(|letter| !is_name_char(letter)).next();
        let mut sides = Side::ALL.into_iter();
        let Some(side) = sides.find(|side| Some(side.name()) == word) else {
            return Ok(None);
        };
        self.at += side.name().len();
        let (pass, place) = self.name("the name of a pass")?;
        let pass = pass.to_owned();
        Ok(Some(Anchor { side, pass, place }))
    }

    fn condition(&mut self) -> Result<Condition, Refusal> {
        let (first, mut place) = self.name("a condition")?;
        let negated = first == "not";
        let mut fact = first;
        if negated {
            (fact, place) = self.name("a condition")?;
        }
        Ok(Condition {
            fact: fact.to_owned(),
            negated,
            place,
        })
    }

    fn options(&mut self) -> Result<Vec<Setting>, Refusal> {
        let mut settings: Vec<Setting> = Vec::new();
        if self.eat('}') {
            return Ok(settings);
        }
        loop {
            let (name, place, at) = self.name_or_string("an option")?;
            if !self.eat('=') {
                return Err(self.unexpected("'='"));
            }
            let value = self.value()?;
            match settings.binary_search_by(|known| known.name.as_str().cmp(&name)) {
                Ok(_) => return Err((format!("option '{name}' is given twice"), at)),
                Err(index) => settings.insert(index, Setting { name, value, place }),
            }
            if self.eat('}') {
                return Ok(settings);
            }
            if !self.eat(',') {
                return Err(self.unexpected("',' or '}'"));
            }
        }
    }

    /// Parses a name that may be quoted. Returns it with its place and the offset at which it
    /// begins.
    fn name_or_string(&mut self, what: &str) -> Result<(String, Place, usize), Refusal> {
        let mark = self.peek();
        let start = self.at;
        let Some(mark) = mark.filter(|mark| matches!(mark, '"' | '\'')) else {
            let (name, place) = self.name(what)?;
            return Ok((name.to_owned(), place, start));
        };
        let mut escape = false;
        let ends = |(_, letter): &(usize, char)| {
            let ends = !escape && *letter == mark;
            escape = !escape && mark == '"' && *letter == '\\';
            ends
        };
        let end = self.rest().char_indices().skip(1).find(ends);
        let length = end.map_or(self.rest().len(), |(at, _)| at + 1);
        let text = self.text.get(start..start + length).unwrap_or("");
        let Ok(toml::Value::String(name)) = text.parse() else {
            return Err((format!("'{text}' is no string"), start));
        };
        self.at += length;
        Ok((name, Place::at(start..self.at), start))
    }

    fn value(&mut self) -> Result<toml::Value, Refusal> {
        self.peek();
        let word = self
            .rest()
            .split(|letter| !is_name_char(letter))
            .next()
            .unwrap_or("");
        if is_word(word) {
            self.at += word.len();
            return Ok(toml::Value::String(word.to_owned()));
        }
        self.toml_value()
    }

    /// Parses a TOML value: up to the `,` or `}` that is outside all quotes and brackets of its
    /// own.
    fn toml_value(&mut self) -> Result<toml::Value, Refusal> {
        let start = self.at;
        let mut quote = None;
        let mut escape = false;
        let mut depth = 0usize;
        let mut end = self.text.len();
        for (offset, letter) in self.rest().char_indices() {
            let bare = quote.is_none();
            match (quote, letter) {
                _ if escape => escape = false,
                (Some('"'), '\\') => escape = true,
                (Some(mark), _) if mark == letter => quote = None,
                (None, '"' | '\'') => quote = Some(letter),
                (None, '[' | '{') => depth += 1,
                (None, ']' | '}') if depth > 0 => depth -= 1,
                _ if bare && depth == 0 && matches!(letter, ',' | '}' | '=') => {
                    end = start + offset;
                    break;
                }
                _ => {}
            }
        }
        let text = self.text.get(start..end).unwrap_or("").trim_end();
        if text.is_empty() {
            return Err(self.unexpected("a value"));
        }
        let value = text
            .parse()
            .map_err(|_| (format!("'{text}' is no value"), start))?;
        self.at = start + text.len();
        Ok(value)
    }

    fn name(&mut self, what: &str) -> Result<(&'t str, Place), Refusal> {
        self.peek();
        let rest = self.text.get(self.at..).unwrap_or("");
        let name = rest
            .split(|letter| !is_name_char(letter))
            .next()
            .unwrap_or("");
        if name.is_empty() {
            return Err(self.unexpected(what));
        }
        let start = self.at;
        self.at += name.len();
        Ok((name, Place::at(start..self.at)))
    }

    /// Returns the next character that is not blank.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed.chars().next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn unexpected(&mut self, wanted: &str) -> Refusal {
        self.peek();
        (
            format!("expected {wanted}, found {}", self.found(self.at)),
            self.at,
        )
    }

    fn found(&self, at: usize) -> String {
        let next = self.text.get(at..).and_then(|rest| rest.chars().next());
        next.map_or_else(|| "the end".to_owned(), |letter| format!("'{letter}'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::toml_form;

    fn parse_text(text: &str) -> Result<Pipeline, PipelineError> {
        parse(Source {
            name: "--passes".into(),
            text: text.into(),
        })
    }

    #[test]
    fn prints_what_it_parses() {
        for text in [
            "",
            "classify",
            "classify,symbol-resolve,callgraph-dce{roots=kernels},emit",
            "a{x=-1,y=1.5,z=true}[not debug,mercury],@mercury[mercury]",
            "a{list=[\"x\", \"y, z\"],s=\"true\",t=\"two words\",u=\"say \\\"}\\\"\",v=\"\\\\\\u000A\"}",
            "a{\"a b\"=1,t={ \"k\" = [1, 2] }}",
            "@\"lib/a \\\"b\\\".toml\"[mercury],a",
        ] {
            let pipeline = parse_text(text).unwrap_or_else(|error| panic!("{}", error.render()));
            assert_eq!(print(&pipeline), text);
            assert_eq!(pipeline.name, "--passes");
        }
    }

    #[test]
    fn both_forms_say_the_same() {
        let text = "a{b=1,c=word}[not debug],@other,d[mercury]";
        let pipeline = parse_text(text).unwrap();
        let file = Source {
            name: "p".into(),
            text: toml_form::print(&pipeline),
        };
        let parsed = toml_form::parse(file).unwrap();
        assert_eq!(parsed, pipeline);
        assert_eq!(print(&parsed), text);
    }

    #[test]
    fn every_string_survives() {
        for value in [
            "",
            "x",
            "true",
            "-",
            "1",
            "a b",
            "\"",
            "'",
            "\\",
            "\n",
            "\r\n",
            "{",
            "}",
            ",",
            "é",
            "\u{7f}",
            "'''\"\"\"",
            "nan",
            "# no",
        ] {
            let setting = Setting {
                name: value.to_owned(),
                value: toml::Value::Array(vec![value.into()]),
                place: Place::default(),
            };
            let plain = Setting {
                name: "z".into(),
                value: value.into(),
                place: Place::default(),
            };
            let action = Action::Pass {
                name: "p".into(),
                options: vec![setting, plain],
            };
            let step = Step {
                action,
                when: Vec::new(),
                place: Place::default(),
                anchor: None,
            };
            let pipeline = Pipeline {
                steps: vec![step],
                ..Default::default()
            };
            let mut printed = print(&pipeline);
            assert!(!printed.contains('\n'), "{printed}");
            let mut parsed = parse_text(&printed)
                .unwrap_or_else(|error| panic!("{value:?}: {}", error.render()));
            // Settings are ordered by name, which the one above may not be.
            for step in &mut parsed.steps {
                if let Action::Pass { options, .. } = &mut step.action {
                    options.sort_by_key(|setting| setting.name == "z");
                }
            }
            assert_eq!(parsed.steps, pipeline.steps, "{printed}");
            printed = toml_form::print(&pipeline);
            let mut parsed = toml_form::parse(Source {
                name: "p".into(),
                text: printed.clone(),
            })
            .unwrap();
            for step in &mut parsed.steps {
                if let Action::Pass { options, .. } = &mut step.action {
                    options.sort_by_key(|setting| setting.name == "z");
                }
            }
            assert_eq!(parsed.steps, pipeline.steps, "{printed}");
        }
    }

    #[test]
    fn blanks_are_free() {
        let spaced = parse_text(" a { b = 1 , c = word } [ not  debug ] ,\n @ other ").unwrap();
        assert_eq!(print(&spaced), "a{b=1,c=word}[not debug],@other");
    }

    #[test]
    fn refusals_say_where() {
        let cases = [
            (",", "1:1: expected the name of a pass, found ','"),
            ("a,", "1:3: expected the name of a pass, found the end"),
            ("a b", "1:3: expected ',' or the end, found 'b'"),
            ("@", "1:2: expected the name of a pipeline, found the end"),
            ("@a{b=1}", "1:3: an included pipeline takes no options"),
            ("a{b}", "1:4: expected '=', found '}'"),
            ("a{b=}", "1:5: expected a value, found '}'"),
            ("a{b=1", "1:6: expected ',' or '}', found the end"),
            ("a{b=1 2}", "1:5: '1 2' is no value"),
            ("a{b=1,b=2}", "1:7: option 'b' is given twice"),
            ("a{b=[1}", "1:5: '[1}' is no value"),
            ("a{\"b=1}", "1:3: '\"b=1}' is no string"),
            ("@\"a", "1:2: '\"a' is no string"),
            ("a{=1}", "1:3: expected an option, found '='"),
            ("a[]", "1:3: expected a condition, found ']'"),
            ("a[not]", "1:6: expected a condition, found ']'"),
            ("a[debug", "1:8: expected ',' or ']', found the end"),
            ("é", "1:1: expected the name of a pass, found 'é'"),
        ];
        for (text, message) in cases {
            assert_eq!(
                parse_text(text).unwrap_err().to_string(),
                format!("--passes:{message}"),
                "{text}"
            );
        }
    }

    #[test]
    fn errors_point_into_the_line() {
        assert_eq!(
            parse_text("classify,emit{x}").unwrap_err().render(),
            "error: expected '=', found '}'\n --> --passes:1:16\n  |\n1 | classify,emit{x}\n  |                ^"
        );
    }
}
