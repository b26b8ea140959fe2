//! One function for each kind of input that comes from outside: it may refuse the bytes, and nothing else. What it accepts has to hold what
//! is said of it: a module passes the verifier, a text parses to what it was printed from.
//!
//! This file is a part of the fuzz crate and of `tests/it/fuzz_entries.rs`.

use std::io;

use cuweld::Controls;
use cuweld::DiscoverOptions;
use cuweld::InputArena;
use cuweld::Request;
use cuweld::Watching;
use cuweld::diagnostics::Reporter;
use cuweld::diagnostics::Style;
use cuweld::disasm::Listing;
use cuweld::inspect::inspect_bytes;
use cuweld::internals::language_server as language_server_of;
use cuweld::internals::parse::LowArgs;
use cuweld::internals::parse::parse;
use cuweld::run_pipeline;
use cuweld::size;
use cuweld::size::SizeReport;
use cuweld_diagnostics::codes::internal;
use cuweld_elf::Target;
use cuweld_elf::mercury::capmerc::Capmerc;
use cuweld_elf::mercury::register_ranges;
use cuweld_ir::Arena;
use cuweld_ir::LinkOptions;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::elf;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;
use cuweld_ir::verify;
use cuweld_passes::pipeline::Embedded;
use cuweld_passes::pipeline::Facts;
use cuweld_passes::pipeline::Source;
use cuweld_passes::pipeline::resolve;
use cuweld_passes::pipeline::text_form;
use cuweld_passes::pipeline::toml_form;
use cuweld_passes::registry::Registry;

/// A fatbin file.
pub fn fatbin(data: &[u8]) {
    discover("a.fatbin", data);
}

/// An archive.
pub fn archive(data: &[u8]) {
    discover("a.a", data);
}

/// A host object.
pub fn host_object(data: &[u8]) {
    discover("a.o", data);
}

/// Discovery for targets of both kinds, as nvlink does it and as we do; then what `cuweld inspect` and `cuweld disasm` see.
fn discover(name: &str, data: &[u8]) {
    for target in ["sm_90", "sm_103a"].into_iter().filter_map(Target::parse) {
        for strict in [false, true] {
            let inputs = [name.to_owned()];
            let options = DiscoverOptions {
                strict,
                lto: strict,
                ..DiscoverOptions::new(target, &inputs)
            };
            let arena = InputArena::of_files([(name, data)]);
            if let Err(failure) = cuweld::internals::discover(&options, &arena) {
                assert!(!failure.error.findings().is_empty());
            }
        }
    }
    inspect(data);
}

fn inspect(data: &[u8]) {
    let arena = InputArena::new();
    let files = [inspect_bytes(b"a", data, &arena)];
    Listing::new(&files, &|_| true);
    // Each byte of an image has one owner, however damaged it is.
    for source in [
        size::Source::Kernels,
        size::Source::Sections,
        size::Source::Templates,
    ] {
        let options = size::Options {
            sources: &[source],
            archs: &[],
            maps: &[],
            demangles: true,
        };
        let report = SizeReport::new(&files, &[], options).expect("no map is asked for");
        let images = size::collect(&files[0]);
        let sizes = images.iter().map(|image| image.size);
        assert_eq!(report.total.size.file, sizes.sum::<u64>());
    }
}

/// A device ELF through all passes, each of which is verified.
pub fn device_elf(data: &[u8]) {
    inspect(data);
    for target in ["sm_90", "sm_100"].into_iter().filter_map(Target::parse) {
        let Ok(part) = elf::read_object(data, b"a.cubin", b"") else {
            continue;
        };
        let mut module = Module::new(target, LinkOptions::default());
        if module.append(part).is_err() {
            continue;
        }
        assert_eq!(verify(&module), [], "the reader made a broken module");
        let controls = Controls {
            watching: Watching {
                verify_each: true,
                ..Watching::default()
            },
            ..Controls::default()
        };
        let facts = Facts::new(target, &LinkOptions::default());
        let Ok(manager) = controls.manager(facts, Phase::Lowered) else {
            panic!("the embedded pipelines do not resolve");
        };
        let arena = Arena::new();
        let mut messages = Vec::new();
        let mut reporter = Reporter::new(&mut messages, Style::Native);
        // Messages name their codes.
        reporter.explain_all = true;
        let run = run_pipeline(
            &controls,
            &manager,
            &mut module,
            &arena,
            Default::default(),
            &mut reporter,
        );
        assert!(run.is_ok(), "a Vec takes every message");
        let messages = String::from_utf8_lossy(&messages);
        let broken = internal::BROKEN_MODULE.name();
        assert!(!messages.contains(broken), "{messages}");
    }
}

/// A whole link of one or two device ELFs, verified after each pass, whose output is read again: the first byte says target and options, two more
/// how long the first object is, in 256 bytes.
pub fn link(data: &[u8]) {
    let Some((&[options, low, high], rest)) = data.split_first_chunk() else {
        return;
    };
    let length = usize::from(u16::from_le_bytes([low, high])) << 8;
    let (first, second) = rest.split_at(length.min(rest.len()));
    let Some(target) = ["sm_80", "sm_90", "sm_100", "sm_120"]
        .get(usize::from(options) & 3)
        .and_then(|name| Target::parse(name))
    else {
        return;
    };
    let files = [("a.cubin", first), ("b.cubin", second)];
    let files = || files.into_iter().filter(|(_, bytes)| !bytes.is_empty());
    let inputs: Vec<String> = files().map(|(name, _)| name.to_owned()).collect();
    let controls = Controls {
        strict: options & 4 != 0,
        watching: Watching {
            verify_each: true,
            ..Watching::default()
        },
        ..Controls::default()
    };
    let mut request = Request::new(DiscoverOptions::new(target, &inputs), &controls);
    request.options.relocatable = options & 8 != 0;
    request.options.debug = options & 16 != 0;
    request.options.reports.self_check = options & 32 == 0;
    let input_arena = InputArena::of_files(files());
    let arena = Arena::new();
    let mut messages = Vec::new();
    let mut reporter = Reporter::new(&mut messages, Style::Native);
    // Messages name their codes.
    reporter.explain_all = true;
    let outcome = cuweld::link(&request, &input_arena, &arena, &mut reporter);
    let failed = reporter.failed();
    drop(reporter);
    let messages = String::from_utf8_lossy(&messages);
    let broken = internal::BROKEN_MODULE.name();
    assert!(!messages.contains(broken), "{messages}");
    let Ok(outcome) = outcome else {
        panic!("a Vec takes every message");
    };
    let Some(file) = outcome.output.filter(|_| !failed) else {
        assert!(!messages.is_empty(), "no output and no message");
        return;
    };
    let image = file.image().map(std::borrow::Cow::into_owned);
    let image = image.unwrap_or_else(|error| panic!("{error}"));
    inspect(&image);
}

/// Sections of Mercury: the first byte says which reader gets the bytes.
pub fn mercury_section(data: &[u8]) {
    let Some((&reader, bytes)) = data.split_first() else {
        return;
    };
    match reader & 1 {
        0 => {
            let Ok(code) = Capmerc::parse(bytes) else {
                return;
            };
            let items = code.items().count();
            // A bit says whether an item has an entry.
            assert!(code.marked().count() <= items && items <= bytes.len() * 8);
            let _ = code.covers(bytes.len() as u64);
        }
        _ => {
            let ranges = register_ranges::parse(bytes).unwrap_or_default();
            let rows = ranges.iter().flat_map(|ranges| &ranges.rows);
            assert!(rows.clone().all(|row| row.place + 8 <= bytes.len()));
        }
    }
}

/// The text form of the IR.
pub fn lir(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else {
        return;
    };
    let arena = Arena::new();
    let Ok(module) = text::parse(source, &arena, &|_| None) else {
        return;
    };
    let printed = text::print(&module, DumpBytes::Full);
    let again = text::parse(&printed, &arena, &|_| None);
    let again = again.unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(text::print(&again, DumpBytes::Full), printed);
    let _ = verify(&module);
}

/// A pipeline, as a file and on one line.
pub fn pipeline(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let source = || Source {
        name: "fuzz".to_owned(),
        text: text.to_owned(),
    };
    let Some(target) = Target::parse("sm_90") else {
        return;
    };
    let facts = Facts::new(target, &LinkOptions::default());
    for (parse, print) in [
        (
            toml_form::parse as fn(_) -> _,
            toml_form::print as fn(&_) -> _,
        ),
        (text_form::parse, text_form::print),
    ] {
        let Ok(parsed) = parse(source()) else {
            continue;
        };
        let printed = print(&parsed);
        let again = parse(Source {
            name: "fuzz".to_owned(),
            text: printed.clone(),
        });
        let again = again.unwrap_or_else(|error| panic!("{error}\n{printed}"));
        assert_eq!(print(&again), printed);
        let _ = resolve(
            &parsed,
            &Registry::standard(),
            &Embedded,
            facts,
            Phase::Lowered,
        );
    }
}

/// Bytes of an editor, then a document that is a module and a pipeline, about which everything is asked at places all over it.
pub fn language_server(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut session = data.to_vec();
    session.extend_from_slice(b"\r\n\r\n");
    let mut say = |message: serde_json::Value| {
        let body = message.to_string();
        let header = format!("Content-Length: {}\r\n\r\n", body.len());
        session.extend_from_slice((header + &body).as_bytes());
    };
    let request = |method: &str, params: serde_json::Value| serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    say(request("initialize", serde_json::json!({})));
    for uri in ["untitled:x.lir", "file:///pipelines/x.toml"] {
        let document =
            serde_json::json!({ "uri": uri, "languageId": "x", "version": 1, "text": text });
        let opened = serde_json::json!({ "textDocument": document });
        say(
            serde_json::json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": opened }),
        );
        let lines = text.lines().count();
        for step in 0..4 {
            let line = lines * step / 4;
            let length = text.lines().nth(line).map_or(0, str::len);
            let position =
                serde_json::json!({ "line": line, "character": (length + 1) * (step * 3 % 4) / 4 });
            let params = serde_json::json!({
                "textDocument": { "uri": uri },
                "position": position,
                "context": { "includeDeclaration": true },
            });
            for method in ["hover", "definition", "references"] {
                say(request(&format!("textDocument/{method}"), params.clone()));
            }
            let params =
                serde_json::json!({ "textDocument": { "uri": uri }, "position": position });
            say(request("textDocument/completion", params));
        }
        for method in ["documentSymbol", "foldingRange", "codeLens"] {
            let params = serde_json::json!({ "textDocument": { "uri": uri } });
            say(request(&format!("textDocument/{method}"), params));
        }
    }
    let mut said = Vec::new();
    let extensions = cuweld::extend::Extensions::default();
    let _ = language_server_of(io::Cursor::new(session), &mut said, extensions);
    // A header in the bytes may take what follows it for its body.
    let is_header = text.to_ascii_lowercase().contains("content-length");
    let said = String::from_utf8_lossy(&said);
    assert!(is_header || said.contains("serverInfo") && said.contains("publishDiagnostics"));
}

/// The file of `--options-file` on nvlink's command line. It names no other file that can be read.
pub fn response_file(data: &[u8]) {
    let mut unread = Some(data.to_vec());
    let mut read_file = |_: &std::path::Path| {
        unread
            .take()
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    };
    let words: [&[u8]; 2] = [b"--options-file", b"options"];
    let _ = parse(
        &words,
        &mut read_file,
        &mut LowArgs::default(),
        &mut Vec::new(),
    );
}
