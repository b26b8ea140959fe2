//! Passes that no link of nvlink's runs, on objects of `opt_in/`: what they leave out, and that the rest is what it was. Where NVIDIA's
//! tools are, they read the outputs too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use crate::harness::command::{cuweld, stderr};
use crate::harness::oracle;
use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::{Endianness, Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionKind};

const INPUTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/opt_in");

/// The passes of an executable, with more of them at these places.
#[derive(Clone, Copy, Default)]
struct With<'a> {
    classified: &'a str,
    resolved: &'a str,
    live: &'a str,
    planned: &'a str,
}

impl With<'_> {
    fn passes(self) -> String {
        let steps = [
            "check-objects,classify",
            self.classified,
            "select-objects,symbol-resolve",
            self.resolved,
            "callgraph-dce",
            self.live,
            "merge-metadata,propagate-resources,place-memory,constant-bank-dedup,check-undefined,plan-relocations,check-limits",
            self.planned,
            "layout-output,relocate,check-link,emit,self-check",
        ];
        let steps: Vec<&str> = steps.into_iter().filter(|step| !step.is_empty()).collect();
        steps.join(",")
    }
}

/// Runs a command that writes `out`.
fn run(folder: &Path, words: &[&str], out: &str) -> Linked {
    let output = cuweld(folder, words);
    let said = stderr(&output);
    assert!(output.status.success(), "{words:?}: {said}");
    let bytes = std::fs::read(folder.join(out)).unwrap();
    Linked { bytes, said }
}

/// Links `a.cubin` and `b.cubin`; each pass is verified, the file is proved against the objects, and NVIDIA's tools read it.
fn link(with: With<'_>) -> Linked {
    let folder = tempfile::tempdir().unwrap();
    let inputs = ["a.cubin", "b.cubin"].map(|name| format!("{INPUTS}/{name}"));
    let words = [
        "opt",
        &inputs[0],
        &inputs[1],
        "--arch=sm_90",
        "--verify-each",
    ];
    let passes = ["--passes", &with.passes(), "-o", "out.cubin"];
    let linked = run(folder.path(), &[&words[..], &passes].concat(), "out.cubin");
    let file = folder.path().join("out.cubin");
    let checked = cuweld(folder.path(), &["check", "out.cubin"]);
    assert!(checked.status.success(), "{}", stderr(&checked));
    for (tool, option) in [
        ("nvdisasm", None),
        ("cuobjdump", Some("-elf")),
        ("cuobjdump", Some("-res-usage")),
    ] {
        let program = oracle::tools().map(|tools| tools.join(tool));
        if let Some(program) = program.filter(|program| program.exists()) {
            let output = Command::new(program)
                .args(option)
                .arg(&file)
                .output()
                .unwrap();
            assert!(output.status.success(), "{tool}: {}", stderr(&output));
        }
    }
    linked
}

struct Linked {
    bytes: Vec<u8>,
    said: String,
}

impl Linked {
    fn elf(&self) -> ElfFile<'_, FileHeader64<Endianness>> {
        ElfFile::parse(&*self.bytes).unwrap()
    }

    /// The names of functions and variables that another file does not have.
    fn lost(&self, other: &Linked) -> Vec<String> {
        let (before, after) = (self.symbols(), other.symbols());
        let gone = before
            .difference(&after)
            .filter(|name| !name.starts_with('.'));
        gone.cloned().collect()
    }

    fn symbols(&self) -> BTreeSet<String> {
        let elf = self.elf();
        let names = elf.symbols().filter_map(|symbol| symbol.name().ok());
        names
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// Code by section, in the order of the file.
    fn code(&self) -> Vec<(String, Vec<u8>)> {
        let elf = self.elf();
        elf.sections()
            .filter(|section| section.kind() == SectionKind::Text)
            .map(|section| {
                (
                    section.name().unwrap().to_owned(),
                    section.data().unwrap().to_vec(),
                )
            })
            .collect()
    }

    fn code_by_name(&self) -> BTreeMap<String, Vec<u8>> {
        self.code().into_iter().collect()
    }

    /// What a variable holds.
    fn value(&self, name: &str) -> Vec<u8> {
        let elf = self.elf();
        let symbol = elf
            .symbols()
            .find(|symbol| symbol.name() == Ok(name))
            .unwrap();
        let section = elf
            .section_by_index(symbol.section_index().unwrap())
            .unwrap();
        let start = symbol.address() as usize;
        section.data().unwrap()[start..start + symbol.size() as usize].to_vec()
    }

    /// The names that relocations of a section refer to, by offset.
    fn targets(&self, section: &str) -> Vec<(u64, String)> {
        let elf = self.elf();
        let section = elf.section_by_name(section).unwrap();
        let mut found: Vec<_> = section
            .relocations()
            .filter_map(|(offset, row)| match row.target() {
                RelocationTarget::Symbol(index) => {
                    let symbol = elf.symbol_by_index(index).ok()?;
                    Some((offset, symbol.name().ok()?.to_owned()))
                }
                _ => None,
            })
            .collect();
        found.sort();
        found
    }
}

#[test]
fn debug_sections_go_and_code_stays() {
    let plain = link(With::default());
    let stripped = link(With {
        classified: "strip-debug",
        ..With::default()
    });
    let debug = |linked: &Linked| {
        let elf = linked.elf();
        elf.sections()
            .filter(|section| section.name().unwrap().contains("debug"))
            .count()
    };
    assert!(debug(&plain) >= 4 && debug(&stripped) == 0);
    assert_eq!(plain.code(), stripped.code());
    assert!(stripped.bytes.len() + 10_000 < plain.bytes.len());
}

#[test]
fn identical_functions_are_linked_once() {
    let plain = link(With::default());
    let folded = link(With {
        resolved: "fold-identical-functions",
        ..With::default()
    });
    let functions = plain.lost(&folded);
    assert_eq!(functions, ["calls_one", "same_one", "same_three"]);
    // What called them calls the one that is left; kernels and functions whose address is taken are apart.
    assert!(
        folded
            .targets(".text.from_b")
            .iter()
            .any(|(_, name)| name == "same_two")
    );
    assert!(
        folded
            .targets(".text.kernel_a")
            .iter()
            .any(|(_, name)| name == "calls_two")
    );
    for name in [
        "twin_a",
        "twin_b",
        "address_one",
        "address_two",
        "calls_other",
    ] {
        assert!(folded.symbols().contains(name), "{name}");
    }
    let all = plain.code_by_name();
    let left = folded.code_by_name();
    assert!(left.iter().all(|(name, code)| all[name] == *code));
    assert!(folded.bytes.len() + 1_000 < plain.bytes.len());
}

#[test]
fn unused_variables_go() {
    let plain = link(With::default());
    let stripped = link(With {
        live: "strip-unused-variables{unnamed=['*']}",
        ..With::default()
    });
    let variables = plain.lost(&stripped);
    let expected = [
        "pointer_that_is_not",
        "target_of_unused",
        "unused_constants",
        "unused_in_b",
        "unused_initialised",
        "unused_zero",
    ];
    assert_eq!(variables, expected);
    for name in [
        "used_by_a",
        "used_by_b",
        "behind_unused",
        "target_of_pointer",
        "used_constants",
    ] {
        assert_eq!(plain.value(name), stripped.value(name), "{name}");
    }
    let targets = stripped.targets(".nv.global.init");
    assert_eq!(targets.len(), 1);
    assert_eq!(targets[0].1, "target_of_pointer");
    assert!(stripped.bytes.len() + 400 < plain.bytes.len());
    // Nothing says what host code names: all stay.
    assert!(
        link(With {
            live: "strip-unused-variables",
            ..With::default()
        })
        .bytes
            == plain.bytes
    );
}

#[test]
fn names_are_others() {
    let plain = link(With::default());
    let renamed = link(With {
        classified: "rename-symbols{names=['kernel_a=kernel_z','same_one=f','used_by_a=v']}",
        ..With::default()
    });
    assert_eq!(plain.lost(&renamed), ["kernel_a", "same_one", "used_by_a"]);
    assert_eq!(renamed.lost(&plain), ["f", "kernel_z", "v"]);
    assert_eq!(
        plain.code_by_name()[".text.kernel_a"],
        renamed.code_by_name()[".text.kernel_z"]
    );
    // `same_three` of the other object refers to the variable, too.
    assert!(
        renamed
            .targets(".text.same_three")
            .iter()
            .all(|(_, name)| name == "v")
    );
}

#[test]
fn code_stands_in_the_given_order() {
    let plain = link(With::default());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("order.txt");
    std::fs::write(&file, "# hottest first\n\nkernel_b # often\n").unwrap();
    let pass = format!(
        "order-functions{{functions=['other','from_b'],file='{}'}}",
        file.display()
    );
    let ordered = link(With {
        planned: &pass,
        ..With::default()
    });
    let names = |linked: &Linked| -> Vec<String> {
        linked.code().into_iter().map(|(name, _)| name).collect()
    };
    let first = [".text.other", ".text.from_b", ".text.kernel_b"];
    let mut expected: Vec<String> = first.map(str::to_owned).to_vec();
    expected.extend(
        names(&plain)
            .into_iter()
            .filter(|name| !first.contains(&name.as_str())),
    );
    assert_eq!(names(&ordered), expected);
    assert_eq!(plain.code_by_name(), ordered.code_by_name());
    assert_eq!(plain.symbols(), ordered.symbols());
    assert_eq!(
        plain.targets(".text.kernel_a"),
        ordered.targets(".text.kernel_a")
    );
    // The file is read with the pipeline.
    let output = cuweld(
        folder.path(),
        &[
            "opt",
            "none.lir",
            "--passes",
            "order-functions{file='no-such-file'}",
            "-o",
            "out.lir",
        ],
    );
    assert!(!output.status.success());
}

/// Two libraries that each have a `helper`: what a relocatable link keeps to itself meets nothing in the next one.
#[test]
fn internal_names_meet_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let relocatable = |resolved: &str, out: &str| {
        let steps = [
            "check-objects,classify,select-objects,symbol-resolve",
            resolved,
            "callgraph-dce,merge-metadata,propagate-resources,place-memory,plan-relocations,layout-output,relocate,check-limits,check-link,emit",
        ];
        let steps: Vec<&str> = steps.into_iter().filter(|step| !step.is_empty()).collect();
        let inputs = ["a.cubin", "b.cubin"].map(|name| format!("{INPUTS}/{name}"));
        let words = [
            "opt",
            &inputs[0],
            &inputs[1],
            "-r",
            "--arch=sm_90",
            "--verify-each",
        ];
        let passes = ["--passes", &steps.join(","), "-o", out];
        run(folder.path(), &[&words[..], &passes].concat(), out);
    };
    relocatable("", "visible.cubin");
    relocatable("internalize{keep=['from_*']}", "internal.cubin");
    let mut linkers = vec![Command::new(env!("CARGO_BIN_EXE_cuweld"))];
    linkers[0].arg("nvlink");
    linkers.extend(oracle::tools().map(|tools| Command::new(tools.join("nvlink"))));
    for linker in linkers {
        let link = |first: &str| {
            let mut again = Command::new(linker.get_program());
            again.args(linker.get_args());
            again.args([
                "-arch=sm_90",
                first,
                &format!("{INPUTS}/c.cubin"),
                "-o",
                "out.cubin",
            ]);
            again.current_dir(folder.path()).output().unwrap()
        };
        let visible = link("visible.cubin");
        assert!(!visible.status.success());
        assert!(
            stderr(&visible).contains("Multiple definition of 'helper'"),
            "{}",
            stderr(&visible)
        );
        let internal = link("internal.cubin");
        assert!(internal.status.success(), "{}", stderr(&internal));
    }
}

#[test]
fn resources_as_table_and_as_json() {
    let json = link(With {
        planned: "report-resources{format=json}",
        ..With::default()
    });
    let json: serde_json::Value = serde_json::from_str(&json.said).unwrap();
    let kernels = json["kernels"].as_array().unwrap();
    let of = |name: &str| kernels.iter().find(|row| row["name"] == name).unwrap();
    assert_eq!(kernels.len(), 4);
    let kernel = of("kernel_a");
    assert!(kernel["registers"].as_u64() > of("twin_a")["registers"].as_u64());
    assert_eq!(kernel["registers_for"], "from_b");
    assert_eq!(kernel["call_chain"][0], "kernel_a");
    assert!(kernel["constants"]["0"].as_u64().unwrap() > 0);
    let table = link(With {
        planned: "report-resources{format=table}",
        ..With::default()
    });
    let lines: Vec<&str> = table.said.lines().collect();
    assert!(
        lines[0].starts_with("kernel ") && lines[0].ends_with("call chain"),
        "{}",
        table.said
    );
    assert_eq!(lines.len(), 5);
    assert!(
        table.said.contains("kernel_a > from_b > "),
        "{}",
        table.said
    );
}

/// Each pipeline that is part of cuweld, with what it is for.
#[test]
fn predefined_pipelines() {
    let folder = tempfile::tempdir().unwrap();
    let links = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/links");
    let of = |command: &[&str], inputs: &str, arch: &str, more: &[&str], out: &str| {
        let [a, b] = ["a", "b"].map(|name| format!("{inputs}/{name}.cubin"));
        let words = [&a, &b, &format!("--arch={arch}"), "-o", out];
        run(folder.path(), &[command, &words, more].concat(), out)
    };
    let inputs = |arch: &str| match arch {
        "sm_90" => INPUTS.to_owned(),
        _ => format!("{links}/symbols/weak-templates/{arch}"),
    };
    let runs = |pipeline: &str, arch: &str, more: &[&str], out: &str| {
        let command = ["opt", "--pipeline", pipeline, "--verify-each"];
        let linked = of(&command, &inputs(arch), arch, more, out);
        (linked.bytes, linked.said)
    };
    let link =
        |arch: &str, more: &[&str]| of(&["link"], &inputs(arch), arch, more, "out.cubin").bytes;
    let (executable, _) = runs("executable", "sm_90", &[], "out.cubin");
    assert!(executable == link("sm_90", &[]));
    assert!(runs("relocatable", "sm_90", &["-r"], "out.cubin").0 == link("sm_90", &["-r"]));
    assert!(runs("mercury", "sm_100", &[], "out.cubin").0 == link("sm_100", &[]));
    let (relocatable, _) = runs("mercury-relocatable", "sm_100", &["-r"], "out.cubin");
    assert!(relocatable == link("sm_100", &["-r"]));
    let sass = format!("{links}/mercury/sass-only/sm_100");
    for more in [&[][..], &["-r"]] {
        let linked = |command| of(command, &sass, "sm_100", more, "out.cubin").bytes;
        assert!(linked(&["opt", "--pipeline", "sass"]) == linked(&["link"]));
    }
    let (debug, report) = runs("debug", "sm_90", &[], "out.cubin");
    assert!(
        debug == executable && report.contains("call chain"),
        "{report}"
    );
    assert!(runs("debug", "sm_100", &[], "out.cubin").0 == link("sm_100", &[]));
    let (size, _) = runs("size", "sm_90", &[], "out.cubin");
    assert!(
        size.len() * 5 < executable.len() * 3,
        "{} {}",
        size.len(),
        executable.len()
    );
    let (checked, _) = runs("check-only", "sm_90", &[], "out.lir");
    assert!(checked.starts_with(b"lir 1\nmodule phase=planned"));
}

/// `docs/using/pipelines.md` tells how large the output is with the passes that leave something out.
#[test]
fn effects_are_documented() {
    let page = include_str!("../../docs/using/pipelines.md");
    let (debug, fold) = ("strip-debug", "fold-identical-functions");
    let unused = "strip-unused-variables{unnamed=['*']}";
    for (row, classified, resolved, live) in [
        ("none", "", "", ""),
        ("`strip-debug`", debug, "", ""),
        ("`fold-identical-functions`", "", fold, ""),
        ("`strip-unused-variables{unnamed=['*']}`", "", "", unused),
        ("all three", debug, fold, unused),
    ] {
        let with = With {
            classified,
            resolved,
            live,
            ..With::default()
        };
        let size = link(with).bytes.len();
        let end = format!("| {},{:03} bytes |", size / 1000, size % 1000);
        let line = page
            .lines()
            .find(|line| line.starts_with(&format!("| {row} |")));
        assert!(
            line.is_some_and(|line| line.ends_with(&end)),
            "{row}: {size}"
        );
    }
}

/// `docs/using/pipelines.md` has a row for each.
#[test]
fn predefined_pipelines_are_documented() {
    use cuweld_passes::pipeline::{Embedded, PipelineSource};
    let page = include_str!("../../docs/using/pipelines.md");
    let table = page.split("## Predefined pipelines").nth(1).unwrap();
    let table = table.split("## ").next().unwrap();
    for name in Embedded.names() {
        assert!(table.contains(&format!("`{name}`")), "{name}");
    }
    assert!(Embedded.names().len() >= 7);
}
