//! Orders of passes: what is no right order is refused before any input is read, and what is taken gives the bytes of the right one.

use std::path::Path;
use std::process::Output;

use crate::harness::command::{cuweld, stderr};
use cuweld_passes::pipeline::{Action, Embedded};

/// A pipeline with the link of a case: target, further options, inputs in the case's folder.
type Link = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

/// What is linked in other orders.
const LINKS: [Link; 4] = [
    (
        "executable",
        "sm_90",
        &[],
        &["tests/links/symbols/weak-templates/sm_90/a.cubin"],
    ),
    (
        "relocatable",
        "sm_90",
        &["-r"],
        &["tests/links/symbols/weak-templates/sm_90/a.cubin"],
    ),
    (
        "executable",
        "sm_90",
        &[],
        &["examples/rdc/a.o", "examples/rdc/b.o"],
    ),
    ("mercury", "sm_100", &[], &[MERCURY]),
];

const MERCURY: &str = "tests/links/shared-memory/ewp-shared-of-left-out/sm_100/a.cubin";

/// How many orders are tried.
const ORDERS: u32 = 240;

/// The passes that a pipeline runs in a link without options.
fn passes(pipeline: &str) -> Vec<String> {
    let pipeline = Embedded.pipeline(pipeline).unwrap().unwrap();
    let steps = pipeline
        .steps
        .into_iter()
        .filter(|step| step.when.is_empty());
    let name = |action| match action {
        Action::Pass { name, .. } => name,
        Action::Include { pipeline } => panic!("includes {pipeline}"),
    };
    steps.map(|step| name(step.action)).collect()
}

fn link(folder: &Path, (_, arch, options, inputs): Link, more: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let inputs: Vec<String> = inputs
        .iter()
        .map(|input| root.join(input).display().to_string())
        .collect();
    let mut arguments = vec!["link", "--arch", arch, "-o", "out.cubin"];
    arguments.extend(options);
    arguments.extend(more);
    arguments.extend(inputs.iter().map(String::as_str));
    cuweld(folder, &arguments)
}

/// Moves, leaves out and repeats passes, once or twice.
fn change(passes: &mut Vec<String>, mut below: impl FnMut(usize) -> usize) {
    for _ in 0..1 + below(2) {
        let at = below(passes.len());
        let pass = passes[at].clone();
        let kind = below(3);
        if kind != 2 {
            passes.remove(at);
        }
        if kind != 1 {
            passes.insert(below(passes.len() + 1), pass);
        }
    }
}

#[test]
fn every_order_is_refused_or_makes_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.cubin");
    let (mut refused, mut same) = (0, 0);
    for (seed, of_link) in (1..=ORDERS).zip(LINKS.into_iter().cycle()) {
        assert!(link(folder.path(), of_link, &[]).status.success());
        let expected = std::fs::read(&out).unwrap();
        std::fs::remove_file(&out).unwrap();
        let mut state = seed.wrapping_mul(0x9e37_79b9).wrapping_add(1);
        let mut order = passes(of_link.0);
        change(&mut order, |limit| {
            // xorshift32
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state as usize % limit
        });
        let writes = order.iter().any(|pass| pass == "emit");
        let order = order.join(",");
        let output = link(folder.path(), of_link, &["--passes", &order]);
        if output.status.success() && !writes {
            assert!(!out.exists(), "{order}");
        } else if output.status.success() {
            assert_eq!(std::fs::read(&out).unwrap(), expected, "{order}");
            same += 1;
        } else {
            let said = stderr(&output);
            assert!(said.contains("pass '"), "{order}: {said}");
            assert!(!out.exists(), "{order}");
            refused += 1;
        }
    }
    assert!(
        refused > 50 && same > 10,
        "{refused} refused, {same} the same"
    );
}

/// Returns what is said of a link that is refused; there is no file.
fn refusal(of_link: Link, more: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut arguments = of_link;
    // Nothing is read before the order is judged.
    arguments.3 = &["not-there.o"];
    let output = link(folder.path(), arguments, more);
    assert!(!output.status.success());
    assert!(!folder.path().join("out.cubin").exists());
    stderr(&output)
}

#[test]
fn wrong_orders_are_refused_before_inputs_are_read() {
    let [executable, relocatable, _, mercury] = LINKS;
    let said = [
        (
            executable,
            &["--skip", "propagate-resources"][..],
            "'propagate-resources', which establishes it, is left out: it is skipped",
        ),
        (
            executable,
            &["--skip", "check-link"],
            "pass 'check-link', without which the file may be wrong, is left out: it is skipped",
        ),
        (
            executable,
            &["--pipeline", "relocatable"],
            "pipeline 'relocatable' is for links where the output is relocatable (`-r`)",
        ),
        (
            relocatable,
            &["--pipeline", "executable"],
            "pipeline 'executable' is not for links where the output is relocatable (`-r`)",
        ),
        (
            mercury,
            &["--passes", "@sass,@executable"],
            "pipeline 'executable' is not for links where objects of the target hold Mercury",
        ),
        (
            executable,
            &["--passes", "@executable,strip-debug"],
            "pass 'strip-debug' (step 19) has to run before phase 'merged', but after 'emit' the module is already 'emitted'",
        ),
        (
            executable,
            &["--passes", "check-limits,@executable"],
            "pass 'check-limits' (step 1) requires phase 'live'",
        ),
        (
            executable,
            &[
                "--passes",
                "classify,select-objects,symbol-resolve,callgraph-dce,check-undefined,check-undefined",
            ],
            "pass 'check-undefined' (step 6) runs once, and was step 5",
        ),
        (
            mercury,
            &[
                "--passes",
                "classify,select-objects,symbol-resolve,callgraph-dce,strip-unused-variables",
            ],
            "pass 'strip-unused-variables' is not for links where objects of the target hold Mercury",
        ),
    ];
    for (of_link, more, expected) in said {
        let found = refusal(of_link, more);
        assert!(found.contains(expected), "{more:?}: {found}");
    }
}
