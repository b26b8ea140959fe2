//! What there is to say of a document, at places of it.

use std::ops::Range;
use std::path::PathBuf;

use gen_lsp_types::Code;
use gen_lsp_types::Diagnostic;
use gen_lsp_types::DiagnosticRelatedInformation;
use gen_lsp_types::DiagnosticSeverity;
use gen_lsp_types::Location;
use gen_lsp_types::Uri;

use super::lines::Lines;
use super::uri::uri_of;

/// A finding about a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The bytes that it is about.
    pub place: Range<usize>,
    /// How bad it is.
    pub severity: DiagnosticSeverity,
    /// Its name: a rule of the verifier.
    pub code: Option<&'static str>,
    /// What it says.
    pub message: String,
    /// The place of another file that it is about, with the text of that file.
    pub elsewhere: Option<(PathBuf, String, Range<usize>)>,
}

impl Finding {
    /// Makes an error at these bytes.
    pub fn error(place: Range<usize>, message: impl Into<String>) -> Self {
        Finding {
            place,
            severity: DiagnosticSeverity::Error,
            code: None,
            message: message.into(),
            elsewhere: None,
        }
    }

    /// Makes a remark at these bytes: nothing has to be mended.
    pub fn information(place: Range<usize>, message: impl Into<String>) -> Self {
        Finding {
            severity: DiagnosticSeverity::Information,
            ..Finding::error(place, message)
        }
    }

    /// Returns the finding as the protocol has it.
    pub fn diagnostic(self, text: &str, lines: &Lines) -> Diagnostic {
        let elsewhere = self.elsewhere.map(|(path, text, place)| {
            vec![DiagnosticRelatedInformation {
                location: Location {
                    uri: Uri(uri_of(&path)),
                    range: Lines::new(&text).range(&text, &place),
                },
                message: "in the included pipeline".to_owned(),
            }]
        });
        Diagnostic {
            range: lines.range(text, &self.place),
            severity: Some(self.severity),
            code: self.code.map(|code| Code::String(code.to_owned())),
            code_description: None,
            source: Some("cuweld".to_owned()),
            message: self.message.into(),
            tags: None,
            related_information: elsewhere,
            data: None,
        }
    }
}
