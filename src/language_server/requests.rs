//! The answers to requests about documents.

use std::collections::HashMap;

use cuweld_passes::PassInfo;
use cuweld_passes::options::PassOptions;
use gen_lsp_types::*;
use serde_json::Value;
use serde_json::json;

use super::document::Document;
use super::lir;
use super::lir::row::Text;
use super::params::AtPlace;
use super::params::ForActions;
use super::params::InDocument;
use super::pipeline::features::Definition as Place;
use super::proposal::Proposal;
use super::run_pass::APPLY_PASS;
use super::run_pass::RUN_PASS;
use super::run_pass::runnable;
use super::uri::uri_of;
use super::workspace::Workspace;

/// Says what the server can do.
pub fn capabilities() -> Value {
    json!({
        "capabilities": {
            // What has changed is sent, not the whole text.
            "textDocumentSync": { "openClose": true, "change": 2 },
            "hoverProvider": true,
            "definitionProvider": true,
            "referencesProvider": true,
            "documentSymbolProvider": true,
            "foldingRangeProvider": true,
            "codeActionProvider": { "codeActionKinds": [SOURCE] },
            "codeLensProvider": {},
            "completionProvider": { "triggerCharacters": ["\"", "=", "%", "#", "$", "@"] },
            "executeCommandProvider": { "commands": [RUN_PASS, APPLY_PASS] },
        },
        "serverInfo": { "name": "cuweld", "version": env!("CARGO_PKG_VERSION") },
    })
}

/// The kind of code actions that are about a whole document.
const SOURCE: &str = "source";

/// Returns a document as a module, if it is one.
fn module(document: &Document) -> Option<Text<'_>> {
    Some(Text {
        text: &document.text,
        lines: &document.lines,
        outline: document.outline()?,
    })
}

/// Says what stands at a place.
pub fn hover(workspace: &Workspace, params: AtPlace) -> Option<Hover> {
    let (document, offset) = workspace.at(&params)?;
    let (text, place) = match module(document) {
        Some(text) => lir::hover::hover(&text, offset, &workspace.registry)?,
        None => workspace.pipeline(document)?.hover(offset)?,
    };
    Some(Hover {
        contents: markdown(text).into(),
        range: Some(document.lines.range(&document.text, &place)),
    })
}

fn markdown(value: String) -> MarkupContent {
    MarkupContent {
        kind: MarkupKind::Markdown,
        value,
    }
}

/// Says where what stands at a place is defined.
pub fn definition(workspace: &Workspace, params: AtPlace) -> Option<Location> {
    let (document, offset) = workspace.at(&params)?;
    let place = match module(document) {
        Some(text) => Place::Here(lir::navigation::definition(&text, offset)?),
        None => workspace.pipeline(document)?.definition(offset)?,
    };
    let location = match place {
        Place::Here(place) => Location {
            uri: Uri(document.uri.clone()),
            range: document.lines.range(&document.text, &place),
        },
        Place::File(path) => Location {
            uri: Uri(uri_of(&std::path::absolute(path).ok()?)),
            range: Range::default(),
        },
    };
    Some(location)
}

/// Says where the row is named whose id stands at a place.
pub fn references(workspace: &Workspace, params: AtPlace) -> Option<Vec<Location>> {
    let (document, offset) = workspace.at(&params)?;
    let text = module(document)?;
    let places = lir::navigation::references(&text, offset, params.context.include_declaration);
    let locations = places.iter().map(|place| Location {
        uri: Uri(document.uri.clone()),
        range: document.lines.range(&document.text, place),
    });
    Some(locations.collect())
}

/// Lists what a document holds.
pub fn symbols(workspace: &Workspace, params: InDocument) -> Option<Vec<DocumentSymbol>> {
    let document = workspace.documents.get(&params.text_document.uri)?;
    let symbols = match module(document) {
        Some(text) => {
            let symbols = lir::navigation::symbols(&text).into_iter();
            symbols
                .map(|symbol| module_symbol(document, symbol))
                .collect()
        }
        None => {
            let steps = workspace.pipeline(document)?.steps().into_iter();
            let steps = steps.map(|(name, place)| {
                let range = document.lines.range(&document.text, &place);
                DocumentSymbol::new(
                    name,
                    None,
                    SymbolKind::Function,
                    None,
                    None,
                    range,
                    range,
                    None,
                )
            });
            steps.collect()
        }
    };
    Some(symbols)
}

fn module_symbol(document: &Document, symbol: lir::navigation::Symbol) -> DocumentSymbol {
    use lir::navigation::Kind;
    let range = |place| document.lines.range(&document.text, place);
    let kind = match symbol.kind {
        Kind::Object => SymbolKind::Module,
        Kind::Part => SymbolKind::Namespace,
        Kind::Section => SymbolKind::Array,
        Kind::Function => SymbolKind::Function,
        Kind::Symbol => SymbolKind::Variable,
    };
    let (place, row) = (range(&symbol.place), range(&symbol.row));
    let detail = Some(symbol.detail).filter(|detail| !detail.is_empty());
    let children = symbol.children.into_iter();
    let children = children
        .map(|child| module_symbol(document, child))
        .collect();
    DocumentSymbol::new(
        symbol.name,
        detail,
        kind,
        None,
        None,
        place,
        row,
        Some(children),
    )
}

/// Lists blocks that can be folded.
pub fn folds(workspace: &Workspace, params: InDocument) -> Option<Vec<FoldingRange>> {
    let document = workspace.documents.get(&params.text_document.uri)?;
    let folds = lir::navigation::folds(&module(document)?);
    let line = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
    let folds = folds.into_iter().map(|(first, last)| FoldingRange {
        start_line: line(first),
        end_line: line(last),
        kind: Some(FoldingRangeKind::Region),
        ..Default::default()
    });
    Some(folds.collect())
}

/// Lists what can be written at a place.
pub fn complete(workspace: &Workspace, params: AtPlace) -> Option<Vec<CompletionItem>> {
    let (document, offset) = workspace.at(&params)?;
    let (proposals, kind) = match module(document) {
        Some(text) => (
            lir::completion::complete(&text, offset),
            CompletionItemKind::Value,
        ),
        None => (
            workspace.pipeline(document)?.complete(offset),
            CompletionItemKind::Keyword,
        ),
    };
    let items = proposals.into_iter().map(|proposal| {
        let Proposal {
            word,
            detail,
            text,
            place,
            insert,
        } = proposal;
        let edit = TextEdit {
            range: document.lines.range(&document.text, &place),
            new_text: insert,
        };
        CompletionItem {
            label: word,
            kind: Some(kind),
            detail: Some(detail).filter(|it| !it.is_empty()),
            documentation: Some(text)
                .filter(|it| !it.is_empty())
                .map(|it| markdown(it).into()),
            text_edit: Some(edit.into()),
            ..Default::default()
        }
    });
    Some(items.collect())
}

/// Returns the passes that can run over a document's module, each as a command that puts the result
/// into the document.
fn runs(workspace: &Workspace, document: &Document) -> Vec<(bool, Command)> {
    let phase = module(document).and_then(|text| lir::hover::phase_of(&text));
    let passes = phase.map_or(Vec::new(), |phase| runnable(&workspace.registry, phase));
    // Some do nothing that makes sense without options, and say so.
    let needs_none = |info: &PassInfo| {
        let pass = workspace.registry.get(info.name);
        pass.is_some_and(|pass| pass.make(&PassOptions::default()).is_ok())
    };
    let passes = passes.into_iter().filter(needs_none);
    let commands = passes.map(|info| {
        let arguments = [document.uri.as_str(), info.name].map(|it| it.to_owned().into());
        let command = Command {
            title: format!("Run {}", info.name),
            tooltip: Some(info.summary.to_owned()),
            command: APPLY_PASS.to_owned(),
            arguments: Some(arguments.into()),
        };
        (info.establishes.is_some(), command)
    });
    commands.collect()
}

/// Offers the next pass of a link, beside the row of the module.
pub fn lenses(workspace: &Workspace, params: InDocument) -> Option<Vec<CodeLens>> {
    let document = workspace.documents.get(&params.text_document.uri)?;
    let text = module(document)?;
    let row = text.row(text.outline.line_of_word("module", 0)?)?;
    let place = row.start..row.start + row.text.len();
    let range = document.lines.range(&document.text, &place);
    let next = runs(workspace, document)
        .into_iter()
        .find(|(is_milestone, _)| *is_milestone);
    let lens = next.map(|(_, command)| CodeLens::new(range, Some(command), None));
    Some(lens.into_iter().collect())
}

/// Offers all passes that can run.
pub fn actions(workspace: &Workspace, params: ForActions) -> Option<Vec<CodeAction>> {
    let document = workspace.documents.get(&params.text_document.uri)?;
    // Without a kind all are wanted.
    let wanted = |only: &Vec<String>| only.iter().any(|kind| kind.is_empty() || kind == SOURCE);
    if !params.context.only.as_ref().is_none_or(wanted) {
        return Some(Vec::new());
    }
    let actions = runs(workspace, document)
        .into_iter()
        .map(|(_, command)| CodeAction {
            title: command.title.clone(),
            kind: Some(CodeActionKind::Source),
            command: Some(command),
            ..Default::default()
        });
    Some(actions.collect())
}

/// Returns the edit that puts a text into a document.
pub fn replacement(document: &Document, text: String) -> WorkspaceEdit {
    let edit = TextEdit {
        range: document
            .lines
            .range(&document.text, &(0..document.text.len())),
        new_text: text,
    };
    let changes = HashMap::from([(Uri(document.uri.clone()), vec![edit])]);
    WorkspaceEdit {
        changes: Some(changes),
        ..Default::default()
    }
}
