//! How much memory fixed links take: counts of allocations, of their bytes, and of arena bytes stand in
//! `allocations.txt`. `BLESS=1` writes them anew. One thread, because the count is the process's.
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]
#![expect(clippy::print_stdout, reason = "a test says what differs")]

use std::alloc::System;
use std::fmt::Write;
use std::process::ExitCode;

use cuweld_benches::LEAN;
use cuweld_benches::MIXED;
use cuweld_benches::renamed;
use cuweld_elf::Target;
use cuweld_ir::Arena;
use cuweld_ir::LinkOptions;
use cuweld_ir::Module;
use cuweld_ir::elf;
use cuweld_passes::manager::PassManager;
use cuweld_passes::manager::RunOptions;
use cuweld_passes::pipeline::Facts;
use cuweld_passes::pipeline::Resolved;
use cuweld_passes::registry::Registry;
use stats_alloc::INSTRUMENTED_SYSTEM;
use stats_alloc::Region;
use stats_alloc::StatsAlloc;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Where the counts are.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/allocations.txt");

/// Returns a line with the counts for a link of `copies` copies of an object.
fn line(name: &str, template: &[u8], copies: usize) -> String {
    let objects: Vec<Vec<u8>> = (0..copies)
        .map(|index| renamed(template, index, &[]))
        .collect();
    let target = Target::parse("sm_90").unwrap();
    let arena = Arena::new();
    let facts = Facts::new(target, &LinkOptions::default());
    let manager = PassManager::new(Resolved::standard(&Registry::standard(), facts).unwrap());
    let whole = Region::new(ALLOCATOR);
    let mut module = Module::new(target, LinkOptions::default());
    let mut reader = elf::ObjectReader::default();
    for object in &objects {
        reader.read(object, b"o.cubin", b"").unwrap();
    }
    module.set_rows(reader.part);
    let read = whole.change();
    manager
        .run(&mut module, &arena, &RunOptions::default(), &mut [])
        .unwrap();
    let all = whole.change();
    let count = |stats: &stats_alloc::Stats| stats.allocations + stats.reallocations;
    format!(
        "{name}: objects={copies} read={} passes={} bytes={} arena={}\n",
        count(&read),
        count(&all) - count(&read),
        all.bytes_allocated,
        arena.allocated_bytes()
    )
}

fn main() -> ExitCode {
    let mut text = String::from(
        "# name: allocations while reading and in passes, bytes of all of them, bytes of the arena\n",
    );
    for copies in [1, 10, 100] {
        let _ = write!(text, "{}", line("lean", LEAN, copies));
        let _ = write!(text, "{}", line("mixed", MIXED, copies));
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(FILE, text).unwrap();
        return ExitCode::SUCCESS;
    }
    let expected = std::fs::read_to_string(FILE).unwrap_or_default();
    if text == expected {
        return ExitCode::SUCCESS;
    }
    println!(
        "expected:\n{expected}\nfound:\n{text}\nBLESS=1 cargo test -p cuweld-benches --test allocations"
    );
    ExitCode::FAILURE
}
