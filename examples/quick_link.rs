//! Links cubins with the passes of an executable link, for debugging.
#![allow(clippy::print_stderr, missing_docs)]
use cuweld::driver::*;
use cuweld_ir::*;
use cuweld_passes::*;
fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let out = args.pop().unwrap();
    let arena = Arena::new();
    let input_arena = cuweld::input::InputArena::new();
    let mut target = Target::default();
    let mut recorded = String::new();
    let mut inputs = Vec::new();
    let mut options = LinkOptions {
        stamp_nvlink: true,
        ..Default::default()
    };
    for a in &args {
        if let Some(x) = a.strip_prefix("-arch=") {
            target = Target::parse(x).unwrap();
            recorded.insert_str(0, &format!("-arch {x} "));
        } else if a == "-m64" {
            recorded.push_str("-m 64 ");
        } else if a.starts_with("-cpu-arch=") {
            recorded.push_str("-cpu-arch X86_64 ");
        } else if !a.starts_with('-') {
            inputs.push(a.clone());
        }
    }
    options.recorded_options = recorded;
    let d = cuweld::input::discover(
        &cuweld::input::DiscoverOptions::new(target, &inputs),
        &input_arena,
    )
    .unwrap();
    apply_host_info(&mut options, &d.host_info, false);
    let images = images(&d.inputs, &arena).unwrap();
    let mut module = lower(&images, target, options, false).unwrap();
    let mut analyses = Analyses::default();
    let mut diagnostics = Diagnostics::default();
    let mut statistics = Statistics::default();
    let passes: Vec<Box<dyn Pass>> = vec![
        Box::new(classify::Classify),
        Box::new(select_objects::SelectObjects),
        Box::new(symbol_resolve::SymbolResolve),
        Box::new(callgraph_dce::CallgraphDce),
        Box::new(merge_metadata::MergeMetadata),
        Box::new(propagate_resources::PropagateResources),
        Box::new(place_memory::PlaceMemory),
        Box::new(plan_relocations::PlanRelocations),
        Box::new(layout_output::LayoutOutput),
        Box::new(relocate::Relocate),
        Box::new(emit::Emit),
    ];
    let mut code = 0;
    for pass in passes {
        let t = std::time::Instant::now();
        let mut cx = PassCx {
            arena: &arena,
            analyses: &mut analyses,
            diagnostics: &mut diagnostics,
            statistics: &mut statistics,
        };
        let r = pass.run(&mut module, &mut cx);
        diagnostics.end_pass();
        if std::env::var_os("T").is_some() {
            eprintln!("{} {:?}", pass.name(), t.elapsed());
        }
        if let Err(e) = r {
            eprintln!("{e}");
            code = 1;
            break;
        }
        if let Some(p) = pass.establishes() {
            module.phase = p;
        }
    }
    for d in diagnostics.list() {
        eprintln!("{:?}: {} {:?}", d.severity, d.message, d.notes);
    }
    if std::env::var_os("BANKS").is_some() {
        for p in &module.bank_pieces {
            let s = &module.sections[p.section];
            eprintln!(
                "BP {} {:?} off {} size {} al {}",
                String::from_utf8_lossy(module.function_name(p.kernel)),
                String::from_utf8_lossy(s.name),
                p.offset,
                s.size(),
                s.align
            );
        }
    }
    if std::env::var_os("WEAK").is_some() {
        for (id, f) in module.functions.iter() {
            let sy = &module.symbols[f.symbol];
            if let Some(l) = sy.link {
                let first = module.link_symbols[l].first;
                if f.state == FunctionState::Losing && f.edges_count {
                    eprintln!(
                        "REPL {id} {:?} {} regs {} by obj {:?}",
                        f.object,
                        String::from_utf8_lossy(sy.name),
                        f.registers,
                        module.symbols[module.link_symbols[l].definition.unwrap()].object
                    );
                }
                let _ = first;
            }
        }
    }
    if let Ok(v) = std::env::var("NULLV") {
        let v: u64 = v.parse().unwrap();
        for (id, l) in module.link_symbols.iter() {
            if l.value == Some(v) || l.size == v {
                eprintln!("{id} {l:?} {:?}", module.symbols[l.first]);
            }
        }
        for (id, l) in module.sections.iter() {
            if l.place == Some(v) {
                eprintln!("{id} {} {:?}", String::from_utf8_lossy(l.name), l.object);
            }
        }
    }
    if code == 0 {
        std::fs::write(out, module.image.unwrap()).unwrap();
    }
}
