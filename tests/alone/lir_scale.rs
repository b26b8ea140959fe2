//! The text form of a link of 1,000 objects is printed and parsed in time linear in its size: a byte costs as much as in a link of 125.
//!
//! `cargo test --release --test alone lir_scale -- --nocapture` shows the times.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::harness::command::program;
use crate::harness::copies::{SM_90, copies};
use cuweld_ir::Arena;
use cuweld_ir::text::{DumpBytes, parse, print};

/// The most by which the cost of a byte of a large link may exceed that of one of a small link, as a factor: caches and allocation,
/// but no loop in a loop, which would make it eight times as much.
const SLOWER: f64 = 3.0;

/// Returns the laid-out link of this number of objects as text.
fn text_of(folder: &Path, objects: usize) -> String {
    let files = copies(SM_90, folder, objects);
    let output = Command::new(program())
        .args([
            "opt",
            "--arch=sm_90",
            "--stop-after=relocate",
            "-o",
            "link.lir",
        ])
        .args(&files)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    std::fs::read_to_string(folder.join("link.lir")).unwrap()
}

/// The shortest of a few runs.
fn shortest(mut run: impl FnMut()) -> Duration {
    let times = (0..5).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().unwrap()
}

#[test]
#[expect(clippy::print_stdout, reason = "shown with --nocapture")]
fn a_thousand_objects_are_printed_and_parsed_in_linear_time() {
    let _turn = crate::turn();
    let folder = tempfile::tempdir().unwrap();
    let measured: Vec<[f64; 2]> = [125, 1000]
        .into_iter()
        .map(|objects| {
            let text = text_of(folder.path(), objects);
            let arena = Arena::new();
            let module = parse(&text, &arena, &|_| None).unwrap();
            assert_eq!(module.objects.len(), objects);
            assert!(print(&module, DumpBytes::Full) == text);
            let times = [
                shortest(|| {
                    print(&module, DumpBytes::Full);
                }),
                shortest(|| {
                    parse(&text, &Arena::new(), &|_| None).unwrap();
                }),
            ];
            let per_byte = times.map(|time| time.as_secs_f64() * 1e9 / text.len() as f64);
            println!(
                "{objects} objects, {} bytes: print {:.1} ms ({:.2} ns a byte), parse {:.1} ms ({:.2} ns a byte)",
                text.len(),
                times[0].as_secs_f64() * 1e3,
                per_byte[0],
                times[1].as_secs_f64() * 1e3,
                per_byte[1],
            );
            per_byte
        })
        .collect();
    for (small, large) in measured[0].into_iter().zip(measured[1]) {
        assert!(
            large < small * SLOWER,
            "{small:.2} ns a byte, then {large:.2}"
        );
    }
}
