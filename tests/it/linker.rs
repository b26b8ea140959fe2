//! The builder of links for programs: bytes in, bytes out.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use cuweld::AddError;
use cuweld::Kind;
use cuweld::Limits;
use cuweld::LinkError;
use cuweld::LinkOptions;
use cuweld::Linker;
use cuweld::Look;
use cuweld::Target;
use cuweld::Toolkit;
use cuweld::diagnostics::Severity;

use crate::harness::command::cuweld;
use crate::harness::command::stderr;

fn example(name: &str) -> Vec<u8> {
    std::fs::read(format!("examples/rdc/{name}")).unwrap()
}

fn linker() -> Linker {
    Linker::new(Target::parse("sm_90").unwrap())
}

fn both() -> Linker {
    linker()
        .add(example("a.o"), Kind::Object, "a.o")
        .and_then(|linker| linker.add(example("b.o"), Kind::Any, "b.o"))
        .unwrap()
}

#[test]
fn links_can_be_handed_to_other_threads() {
    fn is_send<T: Send>(_: &T) {}
    let linker = both();
    is_send(&linker);
    let here = linker.clone().link().unwrap();
    let there = std::thread::spawn(move || linker.jobs(2).link().unwrap());
    let there = there.join().unwrap();
    assert!(here.cubin == there.cubin);
    assert_eq!(here.statistics.inputs, 2);
    let bytes = example("a.o").len() + example("b.o").len();
    assert_eq!(here.statistics.input_bytes, bytes as u64);
    assert_eq!(here.statistics.output_bytes, here.cubin.len() as u64);
}

#[test]
fn the_callers_thread_stays_free() {
    let names = (0..200).map(|number| format!("{number}.o"));
    let many = || {
        let mut linker = linker().jobs(3);
        for name in names.clone() {
            // Objects that were linked before are no second definition.
            let input = if name == "0.o" { "a.o" } else { "b.o" };
            linker.push(example(input), Kind::Object, name).unwrap();
        }
        linker
            .link()
            .map(|linked| linked.cubin)
            .map_err(|error| error.to_string())
    };
    assert!(many() == many());
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread();
    assert!(pool.build().is_ok());
}

#[test]
fn names_are_for_messages_alone() {
    // Neither an extension nor the runtime's name nor a name that comes twice decides anything.
    let linked = |names: [&str; 2]| {
        let linker = linker().add(example("a.o"), Kind::Object, names[0]);
        let linker = linker.unwrap().add(example("b.o"), Kind::Object, names[1]);
        linker.unwrap().link().unwrap().cubin
    };
    let expected = both().link().unwrap().cubin;
    for names in [["", ""], ["x", "x"], ["libcudadevrt.a", "a.ptx"]] {
        assert!(linked(names) == expected, "{names:?}");
    }
}

#[test]
fn what_is_missing_is_said() {
    let alone = linker().add(example("a.o"), Kind::Object, "a.o").unwrap();
    let error = alone.link().unwrap_err();
    assert!(error.to_string().starts_with("Undefined reference to"));
    let LinkError::Failed { diagnostics } = error else {
        panic!("{error}");
    };
    assert!(diagnostics.iter().any(|finding| {
        finding.severity == Severity::Error && finding.message.contains("in 'a.o'")
    }));
}

#[test]
fn bytes_of_another_kind_are_refused() {
    for kind in [
        Kind::Cubin,
        Kind::Fatbin,
        Kind::Ptx,
        Kind::LtoIr,
        Kind::Library,
    ] {
        let name = "a.o".to_owned();
        let added = linker().add(example("a.o"), kind, "a.o");
        assert_eq!(added.unwrap_err(), AddError::Kind { name, kind });
    }
    let text = linker().add(*b"no code of any kind", Kind::Any, "text");
    let text = text.unwrap_err().to_string();
    assert_eq!(text, "'text' is not anything that is linked");
}

#[test]
fn inputs_are_looked_at_before_they_are_added() {
    let object = example("a.o");
    assert_eq!(linker().look(&object, Kind::Object), Look::Fits);
    assert_eq!(linker().look(&object, Kind::Cubin), Look::OtherKind);
    let other = Linker::new(Target::parse("sm_75").unwrap());
    assert_eq!(other.look(&object, Kind::Any), Look::OtherTarget);
    let ptx = b".version 8.0\n.target sm_90\n";
    assert_eq!(linker().look(ptx, Kind::Any), Look::Ptx);
}

#[test]
fn limits_end_a_link() {
    let size = example("a.o").len() as u64;
    let added = linker()
        .input_limit(size)
        .add(example("a.o"), Kind::Any, "a.o")
        .unwrap()
        .add(example("b.o"), Kind::Any, "b.o");
    let (name, limit) = ("b.o".to_owned(), size);
    assert_eq!(added.unwrap_err(), AddError::Limit { name, limit });
    let limits = Limits::parse(["output=100"]).unwrap();
    let error = both().limits(limits).link().unwrap_err();
    assert!(error.to_string().contains("the limit 'output'"), "{error}");
}

#[test]
fn progress_is_told_and_may_cancel() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&seen);
    let linked = both().progress(move |pass, number, of| {
        told.lock().unwrap().push((pass.to_owned(), number, of));
        ControlFlow::Continue(())
    });
    let linked = linked.link().unwrap();
    assert!(linked.cubin == both().link().unwrap().cubin);
    let seen = seen.lock().unwrap();
    let numbers: Vec<usize> = seen.iter().map(|(_, number, _)| *number).collect();
    assert!(numbers.is_sorted() && seen.iter().all(|(_, number, of)| number <= of));
    assert!(seen.iter().any(|(pass, ..)| pass == "symbol-resolve"));
    let cancelled = both().progress(|pass, _, _| match pass {
        "symbol-resolve" => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    let error = cancelled.link().unwrap_err();
    assert!(matches!(error, LinkError::Cancelled), "{error}");
    // What ends one link says nothing of a clone of it.
    let first = Arc::new(AtomicBool::new(true));
    let once = linker().progress(move |_, _, _| match first.swap(false, Ordering::Relaxed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    });
    let once = once.add(example("a.o"), Kind::Any, "a.o").unwrap();
    let clone = once.clone();
    assert!(matches!(once.link().unwrap_err(), LinkError::Cancelled));
    let error = clone.link().unwrap_err().to_string();
    assert!(error.starts_with("Undefined reference"), "{error}");
}

#[test]
fn pipelines_and_toolkits_are_chosen() {
    let toolkit = Toolkit::by_version("13.5").unwrap();
    let newer = both().toolkit(toolkit).link().unwrap();
    assert!(newer.cubin != both().link().unwrap().cubin);
    let wrong = both().pipeline("no-such-pass").link().unwrap_err();
    assert!(wrong.to_string().contains("no-such-pass"), "{wrong}");
}

#[test]
fn settings_have_words() {
    let set =
        |mut linker: Linker, word: &str, values: &[&str]| linker.set(word, values).map(|()| linker);
    let by_words = set(both(), "relocatable", &[]).unwrap();
    let by_words = set(by_words, "stamp", &["nvlink-13.5.37"]).unwrap();
    let mut options = LinkOptions {
        relocatable: true,
        ..LinkOptions::default()
    };
    options.record.stamp_nvlink = true;
    let toolkit = Toolkit::by_version("13.5").unwrap();
    let by_methods = both().options(options).toolkit(toolkit).link().unwrap();
    assert!(by_words.link().unwrap().cubin == by_methods.cubin);

    let keeps = set(both(), "kernels-used", &["no such kernel"]).unwrap();
    assert!(keeps.link().unwrap().cubin.len() < both().link().unwrap().cubin.len());
    let limit = set(both(), "limit", &["output=100"]).unwrap();
    let error = limit.link().unwrap_err().to_string();
    assert!(error.contains("the limit 'output'"), "{error}");

    let wrong: [(&str, &[&str], &str); 9] = [
        ("relocatabel", &[], "there is no setting 'relocatabel'"),
        ("whole-program", &[], "there is no setting 'whole-program'"),
        ("debug", &["yes"], "takes no value, true or false"),
        ("jobs", &["-1"], "takes a number"),
        ("pipeline", &[], "takes one value"),
        ("toolkit", &["1.0"], "unknown toolkit '1.0'"),
        ("stamp", &["nvlink-1.0"], "unknown stamp"),
        ("limit", &["size=1"], "there is no such limit"),
        ("finalize", &["some"], "takes certified, keep or trust"),
    ];
    for (word, values, text) in wrong {
        let error = linker().set(word, values).unwrap_err();
        assert!(error.message.contains(text), "{word}: {}", error.message);
    }
    // Each word that is listed is one, and is documented.
    let page = std::fs::read_to_string("docs/using/library.md").unwrap();
    for word in Linker::words() {
        assert!(page.contains(&format!("`{word}`")), "{word}");
        let tried = [
            &[][..],
            &["1"],
            &["13.0"],
            &["nvlink"],
            &["output=1"],
            &["keep"],
        ];
        let takes = |values: &&[&str]| linker().set(word, values).is_ok();
        assert!(tried.iter().any(takes), "{word}");
    }
}

#[test]
fn a_link_in_steps_gives_the_same_bytes() {
    let expected = both().link().unwrap().cubin;
    for stop in [None, Some("callgraph-dce"), Some("layout-output")] {
        let mut linker = both();
        let memory = linker.take_inputs();
        let (mut module, findings) = linker.lower(&memory);
        assert_eq!(module.phase.name(), "lowered");
        let arena = memory.arena();
        let ran = linker.run_passes(&mut module, arena, findings, stop);
        assert!(ran.unwrap().diagnostics.is_empty());
        if stop.is_some() {
            let error = Linker::cubin(&module, arena).unwrap_err();
            assert!(error.message.contains("no cubin before"), "{error}");
            let rest = linker.run_rest(&mut module, arena, Default::default(), [None; 2]);
            rest.unwrap();
        }
        assert!(
            Linker::cubin(&module, arena).unwrap() == expected,
            "{stop:?}"
        );
    }
    // The rest of a pipeline that is over is nothing; the whole does not fit any more.
    let mut linker = both();
    let memory = linker.take_inputs();
    let (mut module, findings) = linker.lower(&memory);
    let run = linker.run_passes(&mut module, memory.arena(), findings, None);
    run.unwrap();
    let again = linker.run_passes(&mut module, memory.arena(), Default::default(), None);
    let error = again.unwrap_err().to_string();
    assert!(error.contains("the module is already 'emitted'"), "{error}");
}

#[test]
fn steps_of_a_link_can_be_cancelled_and_fail() {
    let mut linker = both().progress(|pass, _, _| match pass {
        "callgraph-dce" => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    let memory = linker.take_inputs();
    let (mut module, findings) = linker.lower(&memory);
    let run = linker.run_passes(&mut module, memory.arena(), findings, None);
    assert!(matches!(run, Err(LinkError::Cancelled)));
    assert_eq!(module.phase.name(), "resolved");

    let mut linker = self::linker()
        .add(example("a.o"), Kind::Object, "a.o")
        .unwrap();
    let memory = linker.take_inputs();
    let (mut module, findings) = linker.lower(&memory);
    let run = linker.run_passes(&mut module, memory.arena(), findings, None);
    let error = run.unwrap_err().to_string();
    assert!(error.contains("Undefined reference"), "{error}");
}

#[test]
fn what_a_link_tells_of_its_passes_is_handed_over() {
    let mut linker = both();
    linker.set("remarks", &["callgraph-dce"]).unwrap();
    linker.set("stats", &[]).unwrap();
    linker.set("why-live", &["_Z6invert5Pixel"]).unwrap();
    linker
        .set("insert", &["strip-debug after classify"])
        .unwrap();
    linker.set("skip", &["report-resources"]).unwrap();
    let linked = linker.link().unwrap();
    assert!(linked.remarks.len() > 3);
    let of_pass = |remark: &cuweld_passes::remark::Shown| remark.pass == "callgraph-dce";
    assert!(linked.remarks.iter().all(of_pass));
    let reports: String = linked
        .diagnostics
        .iter()
        .filter(|finding| finding.severity == Severity::Report)
        .map(ToString::to_string)
        .collect();
    for text in [
        "'_Z6invert5Pixel' is not live",
        "03-strip-debug",
        "02-classify",
    ] {
        assert!(reports.contains(text), "{text}: {reports}");
    }
    assert!(!reports.contains("report-resources"), "{reports}");
    assert!(both().link().unwrap().remarks.is_empty());
}

#[test]
fn the_program_writes_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for words in [&[][..], &["-r"]] {
        let output = folder.path().join("out.cubin");
        let command = [
            "link",
            "--arch=sm_90",
            "--ignore-host-info",
            "a.o",
            "b.o",
            "-o",
        ];
        let output_word = [output.to_str().unwrap()];
        let arguments = [&command[..], &output_word, words].concat();
        let done = cuweld("examples/rdc".as_ref(), &arguments);
        assert!(done.status.success(), "{}", stderr(&done));
        let mut linker = both();
        if !words.is_empty() {
            linker.set("relocatable", &[]).unwrap();
        }
        let linked = linker.link().unwrap();
        assert!(std::fs::read(&output).unwrap() == linked.cubin, "{words:?}");
    }
}
