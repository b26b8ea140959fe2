//! Times of reading and of each pass, with criterion: `cargo bench -p cuweld-benches`. No other tool is needed.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run ends")]

use std::hint::black_box;

use criterion::BatchSize;
use criterion::Criterion;
use criterion::criterion_group;
use criterion::criterion_main;
use cuweld_benches::MIXED;
use cuweld_benches::renamed;
use cuweld_elf::Target;
use cuweld_ir::Arena;
use cuweld_ir::LinkOptions;
use cuweld_ir::Module;
use cuweld_ir::elf;
use cuweld_passes::manager::PassManager;
use cuweld_passes::manager::RunOptions;
use cuweld_passes::manager::StepSelector;
use cuweld_passes::pipeline::Facts;
use cuweld_passes::pipeline::Resolved;
use cuweld_passes::registry::Registry;

/// How many objects are linked.
const OBJECTS: usize = 200;

fn read<'data>(objects: &'data [Vec<u8>], target: Target) -> Module<'data> {
    let mut module = Module::new(target, LinkOptions::default());
    let mut reader = elf::ObjectReader::default();
    for object in objects {
        reader.read(object, b"o.cubin", b"").unwrap();
    }
    module.set_rows(reader.part);
    module
}

fn passes(criterion: &mut Criterion) {
    let objects: Vec<Vec<u8>> = (0..OBJECTS)
        .map(|index| renamed(MIXED, index, &[]))
        .collect();
    let target = Target::parse("sm_90").unwrap();
    let mut group = criterion.benchmark_group("passes");
    group.sample_size(20);
    group.bench_function("read", |bench| {
        bench.iter(|| black_box(read(&objects, target)))
    });
    let facts = Facts::new(target, &LinkOptions::default());
    let manager = PassManager::new(Resolved::standard(&Registry::standard(), facts).unwrap());
    let arena = Arena::new();
    let mut module = read(&objects, target);
    let names: Vec<&str> = manager
        .pipeline()
        .steps()
        .iter()
        .map(|step| step.pass.info().name)
        .collect();
    for (index, name) in names.into_iter().enumerate() {
        let options = RunOptions {
            start_after: Some(StepSelector::Number(index)),
            stop_after: Some(StepSelector::Number(index + 1)),
            ..RunOptions::default()
        };
        let run = |module: &mut Module<'_>| {
            let arena = Arena::new();
            // The module goes on to live in this arena only for the time of the pass.
            let mut module = std::mem::take(module);
            manager.run(&mut module, &arena, &options, &mut []).unwrap();
        };
        group.bench_function(format!("{:02}-{name}", index + 1), |bench| {
            bench.iter_batched_ref(|| module.clone(), run, BatchSize::PerIteration);
        });
        manager.run(&mut module, &arena, &options, &mut []).unwrap();
    }
    group.finish();
}

criterion_group!(benches, passes);
criterion_main!(benches);
