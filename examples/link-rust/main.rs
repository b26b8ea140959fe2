//! Links objects in memory: `cargo run --example link-rust -- sm_90 out.cubin a.o b.o`.
//!
//! It shows settings, limits, a look at inputs, progress that cancels, findings and the map.
#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use std::error::Error;
use std::ops::ControlFlow;
use std::time::Duration;
use std::time::Instant;

use cuweld::Kind;
use cuweld::Limits;
use cuweld::LinkError;
use cuweld::Linker;
use cuweld::Look;
use cuweld::Target;
use cuweld::diagnostics::Severity;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [arch, output, inputs @ ..] = words.as_slice() else {
        return Err("link-rust ARCH OUTPUT INPUT...".into());
    };
    let target = Target::parse(arch).ok_or("no such architecture")?;
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut linker = Linker::new(target)
        .jobs(4)
        .limits(Limits::parse(["unpacked=1G", "output=1G"])?)
        .input_limit(4 << 30)
        .map(true)
        .progress(move |_pass, _number, _of| match Instant::now() < deadline {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        });
    // By the words of `cuweld link`: `linker.options(...)` takes the options as a structure.
    linker.set("stamp", &["nvlink-13.0.88"])?;
    for name in inputs {
        let bytes = std::fs::read(name)?;
        match linker.look(&bytes, Kind::Any) {
            Look::OtherTarget => println!("{name} has nothing for {target}"),
            Look::Ptx => println!("{name} has PTX, which a ptxas compiles: Linker::compile"),
            _ => linker.push(bytes, Kind::Any, name.clone())?,
        }
    }
    let linked = match linker.link() {
        Ok(linked) => linked,
        Err(LinkError::Cancelled) => return Err("that took more than a minute".into()),
        Err(LinkError::Failed { diagnostics }) => {
            for finding in diagnostics {
                println!("{}: {finding}", finding.code.name());
                finding.notes.iter().for_each(|note| println!("  {note}"));
            }
            return Err("the link failed".into());
        }
    };
    let warnings = linked.diagnostics.iter();
    warnings
        .filter(|finding| finding.severity >= Severity::Warning)
        .for_each(|finding| println!("{finding}"));
    let pieces = linked.map.iter().flat_map(|map| &map.sections);
    let pieces = pieces.flat_map(|section| &section.pieces);
    let symbols: usize = pieces.map(|piece| piece.symbols.len()).sum();
    println!("{linked}, with {symbols} symbols");
    std::fs::write(output, linked.cubin)?;
    Ok(())
}
