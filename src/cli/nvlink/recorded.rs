//! The option string of `.note.nv.tkinfo`: what nvlink writes about its own command line.

use super::options;
use super::options::OptionId;
use super::options::Recorded;
use super::parse::LowArgs;
use super::value::Value;

/// Returns the options in nvlink's canonical form: those given, in table order, each as short name
/// and value with a blank after both; a flag's value is empty, hence its two blanks. A debug link
/// also records the files by name, without their directories.
///
/// Bytes rather than text, since a path need not be UTF-8 and is recorded verbatim.
pub fn recorded_options(low: &LowArgs) -> Vec<u8> {
    let debug = names_files(low);
    let mut record = Vec::new();
    if debug && !low.inputs.is_empty() {
        let names: Vec<&[u8]> = low.inputs.iter().map(|input| base_name(input)).collect();
        record.extend(names.join(&b","[..]));
        record.push(b' ');
    }
    for option in options::all() {
        let in_record = match option.recorded {
            Recorded::Never => false,
            Recorded::Always => true,
            Recorded::FileInDebug => debug,
        };
        let Some(value) = low.value(option.id).filter(|_| in_record) else {
            continue;
        };
        record.push(b'-');
        record.extend(option.short.as_bytes());
        record.push(b' ');
        match value {
            Value::Flag => {}
            Value::Text(text) if option.recorded == Recorded::FileInDebug => {
                record.extend(base_name(text));
            }
            Value::Text(text) => record.extend(text),
            Value::Number(number) => record.extend(number.to_string().into_bytes()),
            Value::Boolean(value) => record.extend(value.to_string().into_bytes()),
            Value::List(elements) => record.extend(elements.join(&b","[..])),
        }
        record.push(b' ');
    }
    record
}

/// Returns the file name that the record gives to the output: its base name in a debug link, else
/// nothing.
pub fn recorded_object_name(low: &LowArgs) -> &[u8] {
    match low.text(OptionId::OutputFile) {
        Some(output) if names_files(low) => base_name(output),
        _ => b"",
    }
}

/// Returns `true` if files are recorded by name: in a debug link, unless `--verbose-tkinfo` says
/// otherwise.
fn names_files(low: &LowArgs) -> bool {
    match low.value(OptionId::VerboseTkinfo) {
        Some(Value::Boolean(names)) => *names,
        _ => low.given(OptionId::Debug),
    }
}

/// Returns the part of a path after the last slash.
fn base_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}
