//! The functions of an image.

use super::model;
use super::names::shortened;
use crate::inspect::Functions;
use crate::inspect::functions::UNKNOWN_STACK;
use crate::size::Labels;
use crate::size::Part;
use crate::size::Source;

/// Describes functions, but for the objects that they came from.
pub(super) fn describe(functions: &Functions<'_>, longest: usize) -> model::Functions {
    let mut columns = model::Functions::default();
    for function in &functions.list {
        let source = function.name.demangled();
        let source = source.map(|source| shortened(source, longest));
        columns
            .name
            .push(shortened(function.name.to_string(), longest));
        columns.source.push(source);
        columns
            .kind
            .push(match (function.section, function.is_kernel) {
                (None, _) => 2,
                (Some(_), is_kernel) => is_kernel.into(),
            });
        columns.code.push(function.code);
        columns.registers.push(function.registers);
        columns.frame.push(function.frame);
        columns.stack.push(function.stack.map(|bytes| match bytes {
            UNKNOWN_STACK => -1,
            bytes => bytes.into(),
        }));
        columns.shared.push(function.shared);
        columns.constants.push(function.constants);
    }
    columns
}

/// Returns for each of `count` functions the object that the first part of its code came from.
pub(super) fn objects<'data>(
    parts: &[Part<'data>],
    labels: &mut Labels<'_, 'data>,
    count: usize,
) -> Vec<Option<String>> {
    let mut objects = vec![None; count];
    for part in parts {
        let object = part.function.and_then(|function| objects.get_mut(function));
        let Some(object @ None) = object else {
            continue;
        };
        let is_code = labels.label(Source::Kinds, Some(part));
        if is_code.as_deref() == Ok(".text") {
            *object = labels.label(Source::Objects, Some(part)).ok();
        }
    }
    objects
}
