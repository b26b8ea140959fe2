//! The report is one page that holds all of its data and loads nothing; what it shows is what the file has.
//!
//! `browser` opens it in a browser.

mod browser;

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Output;

use serde_json::Value;

use crate::harness::command::{cuweld, program, said};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/rdc");

/// Links the example into a folder with these words; returns the folder.
fn link(words: &str, variable: Option<&str>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.o", "b.o"] {
        fs::copy(Path::new(EXAMPLE).join(name), folder.path().join(name)).unwrap();
    }
    let mut command = Command::new(program());
    command.args(words.split(' ')).current_dir(folder.path());
    if let Some(file) = variable {
        command.env("CUWELD_REPORT", file);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    folder
}

const NATIVE: &str = "link --arch sm_90 a.o b.o -o out.cubin --report out.html";

fn page(folder: &tempfile::TempDir) -> String {
    fs::read_to_string(folder.path().join("out.html")).unwrap()
}

/// The data of a page, after checks that the page is whole and needs nothing else.
fn data(page: &str) -> Value {
    let (before, rest) = page
        .split_once("<script type=\"application/json\" id=\"data\">")
        .unwrap();
    let (data, after) = rest.split_once("</script>").unwrap();
    let shell = format!("{before}{after}");
    for outside in [
        "http:", "https:", " src=", "<link", "<img", "@import", "url(", "import(", "fetch(",
    ] {
        assert!(!shell.contains(outside), "{outside}");
    }
    assert!(!shell.contains("{{"), "a part of the page was not put in");
    assert!(before.contains("default-src 'none'"));
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(
        (&data["schema"], &data["schema_version"]),
        (&"cuweld-report".into(), &1.into())
    );
    data
}

fn numbers(list: &Value) -> Vec<u64> {
    let list = list.as_array().unwrap().iter();
    list.map(|number| number.as_u64().unwrap_or(0)).collect()
}

/// The row of a function by its name in the file.
fn function(image: &Value, name: &str) -> usize {
    let names = image["functions"]["name"].as_array().unwrap();
    names.iter().position(|known| known == name).unwrap()
}

/// Checks what holds for every image.
fn is_sound(image: &Value) {
    let leaves = &image["leaves"];
    let sizes = ["file", "memory"].map(|column| numbers(&leaves[column]).iter().sum::<u64>());
    assert_eq!(Some(sizes[0]), image["size"].as_u64(), "{}", image["name"]);
    assert_eq!(
        Some(sizes[1]),
        image["memory"].as_u64(),
        "{}",
        image["name"]
    );
    let rows = image["leaves"]["kind"].as_array().unwrap().len();
    for column in ["symbol", "file", "memory"] {
        assert_eq!(leaves[column].as_array().unwrap().len(), rows);
    }
    let labels = image["labels"].as_array().unwrap().len() as u64;
    let all = numbers(&leaves["kind"])
        .into_iter()
        .chain(numbers(&leaves["object"]));
    assert!(
        all.chain(numbers(&image["symbols"]["template"]))
            .all(|label| label < labels)
    );
    let symbols = image["symbols"]["name"].as_array().unwrap().len() as u64;
    assert!(numbers(&leaves["symbol"]).iter().all(|row| *row < symbols));
    let functions = image["functions"]["name"].as_array().unwrap().len();
    for (_, column) in image["functions"].as_object().unwrap() {
        assert_eq!(column.as_array().unwrap().len(), functions);
    }
    let nodes = functions + image["prototypes"].as_array().unwrap().len();
    let callees = image["callees"].as_array().unwrap();
    assert_eq!(callees.len(), nodes);
    assert!(
        callees
            .iter()
            .all(|list| numbers(list).iter().all(|node| (*node as usize) < nodes))
    );
}

#[test]
fn a_report_of_a_link_says_what_the_link_did() {
    let folder = link(NATIVE, None);
    let page = page(&folder);
    let data = data(&page);
    let image = &data["images"][0];
    is_sound(image);
    assert_eq!(
        (&data["title"], &image["linked"]),
        (&"out.cubin".into(), &true.into())
    );
    let size = fs::metadata(folder.path().join("out.cubin")).unwrap().len();
    assert_eq!(image["size"].as_u64(), Some(size));
    // Calls and needs.
    let blur = function(image, "_Z4blurPK5PixelPS_i");
    let filter = function(image, "_Z12apply_filterPK5Pixelii");
    let clamp = function(image, "_Z8clamp_toIiET_S0_S0_S0_");
    assert_eq!(numbers(&image["callees"][blur]), [filter as u64]);
    assert_eq!(numbers(&image["callees"][filter]), [clamp as u64]);
    let functions = &image["functions"];
    assert_eq!(functions["registers"][blur], 28);
    assert_eq!(
        (&functions["stack"][blur], &functions["frame"][filter]),
        (&48.into(), &48.into())
    );
    let object = functions["object"][filter].as_u64().unwrap() as usize;
    assert_eq!(image["labels"][object], "b.o");
    // Shared memory and constants.
    let find = function(image, "_Z14find_brightestPK5Pixeli");
    let shared = image["shared"].as_array().unwrap();
    let block = shared
        .iter()
        .find(|block| block["function"] == find)
        .unwrap();
    let expected = serde_json::json!([
        ["[reserved]", 0, 1024],
        ["find_brightest(const Pixel *, int)::best", 1024, 1024],
    ]);
    assert_eq!(
        (&block["size"], &block["variables"]),
        (&2048.into(), &expected)
    );
    let banks = image["constants"].as_array().unwrap();
    let bank = banks.iter().find(|bank| bank["function"] == find).unwrap();
    let expected = serde_json::json!([["[driver]", 0, 528], ["0", 528, 8], ["1", 536, 4]]);
    assert_eq!(bank["entries"], expected);
    assert!(banks.iter().any(
        |bank| bank["section"] == ".nv.constant3" && bank["entries"][0][0] == "filter_weights"
    ));
    // The link.
    let link = &data["link"];
    assert_eq!(
        (&link["pipeline"], &link["known_by"]),
        (&"executable".into(), &"host".into())
    );
    let totals = serde_json::json!([["unreachable", 1, 256], ["discarded", 1, 256]]);
    assert_eq!(link["dropped"]["totals"], totals);
    let section = link["dropped"]["section"].as_array().unwrap();
    assert!(
        section.contains(&".text.invert(Pixel)".into()),
        "{section:?}"
    );
    let dropped = &link["dropped"];
    let at = numbers(&dropped["reason"]);
    let at = at
        .iter()
        .position(|it| dropped["labels"][*it as usize] == "discarded")
        .unwrap();
    let instead = dropped["instead"][at].as_u64().unwrap() as usize;
    let instead = dropped["labels"][instead].as_str().unwrap();
    assert!(instead.starts_with("a.o: "), "{instead}");
    let passes = link["passes"].as_array().unwrap();
    let pass = passes
        .iter()
        .find(|pass| pass["name"] == "callgraph-dce")
        .unwrap();
    assert!(pass["diff"]["text"].as_str().unwrap().contains("\n+"));
    assert!(pass["diff"]["added"].as_u64().unwrap() > 5);
    assert!(!pass["summary"].as_str().unwrap().is_empty());
    assert!(pass.get("ms").is_none());
    assert_eq!(passes.last().unwrap()["name"], "emit");
    // The file is that of a link without a report, and so is the report of the same link.
    let other = link_without();
    assert!(fs::read(folder.path().join("out.cubin")).unwrap() == other);
    assert!(page == self::page(&self::link(NATIVE, None)));
}

fn link_without() -> Vec<u8> {
    let folder = link("link --arch sm_90 a.o b.o -o out.cubin", None);
    fs::read(folder.path().join("out.cubin")).unwrap()
}

#[test]
fn times_are_there_if_asked_for() {
    let folder = link(&format!("{NATIVE} --time-passes"), None);
    let data = data(&page(&folder));
    let passes = data["link"]["passes"].as_array().unwrap();
    assert!(
        passes
            .iter()
            .all(|pass| pass["ms"].as_f64().is_some_and(|ms| ms >= 0.0))
    );
}

#[test]
fn the_nvlink_command_line_writes_it_too() {
    let expected = data(&page(&link(NATIVE, None)));
    let words = "nvlink -arch=sm_90 a.o b.o -o out.cubin";
    let option = link(&format!("{words} --cuweld-report=out.html"), None);
    let variable = link(words, Some("out.html"));
    for folder in [option, variable] {
        let data = data(&page(&folder));
        // The files record other options.
        assert_eq!(
            data["images"][0]["functions"],
            expected["images"][0]["functions"]
        );
        assert_eq!(data["link"]["dropped"], expected["link"]["dropped"]);
    }
}

/// What is no linked file has no report, and a link that fails leaves none.
#[test]
fn a_report_is_written_only_beside_a_linked_file() {
    let folder = tempfile::tempdir().unwrap();
    let object = |name: &str| Path::new(EXAMPLE).join(name).display().to_string();
    let (a, b) = (object("a.o"), object("b.o"));
    let both = [&*a, &*b];
    let mercury = Path::new(ROOT).join("tests/links/relocatable/relocatable/sm_100/a.cubin");
    let mercury = mercury.display().to_string();
    let cases: [(&str, &[&str], &str); 4] = [
        ("sm_90", &[&a, "-o", "out.cubin"], "undefined"),
        (
            "sm_90",
            &[&both[..], &["-o", "out.lir"]].concat(),
            "--report",
        ),
        (
            "sm_100",
            &[&mercury, "--binary-kind=sass", "-o", "out.cubin"],
            "--report",
        ),
        (
            "sm_90",
            &[&both[..], &["--report", "none/x.html"]].concat(),
            "none/x.html",
        ),
    ];
    for (arch, words, expected) in cases {
        let report: &[&str] = match words.contains(&"--report") {
            true => &[],
            false => &["--report", "out.html"],
        };
        let output = cuweld(
            folder.path(),
            &[&["link", "--arch", arch], words, report].concat(),
        );
        let text = said(&output);
        assert!(!output.status.success(), "{text}");
        assert!(text.to_lowercase().contains(expected), "{expected}: {text}");
        assert!(!folder.path().join("out.html").exists());
    }
}

fn report(files: &[&str], more: &[&str]) -> Output {
    let words = [&["report", "-o", "-"], files, more].concat();
    cuweld(Path::new(ROOT), &words)
}

#[test]
fn reports_of_files_need_no_link() {
    let files = [
        "tests/links/inputs/archive/sm_90/libk.a",
        "examples/rdc/a.o",
        "tests/links/mercury/mercury-targets/expected/sm_100a.cubin",
    ];
    let output = report(&files, &[]);
    assert!(output.status.success(), "{}", said(&output));
    let data = data(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(data["link"], Value::Null);
    let images = data["images"].as_array().unwrap();
    images.iter().for_each(is_sound);
    let archs: Vec<_> = images
        .iter()
        .map(|image| image["arch"].as_str().unwrap())
        .collect();
    let expected = [
        "sm_90",
        "sm_90 PTX",
        "sm_90",
        "sm_90 PTX",
        "sm_90",
        "sm_90 PTX",
        "sm_100a",
    ];
    assert_eq!(archs, expected);
    assert_eq!(
        images[0]["name"],
        "tests/links/inputs/archive/sm_90/libk.a:b.o"
    );
    // A map says which objects a linked file is made of.
    let folder = link(
        "link --arch sm_90 a.o b.o -o out.cubin --map out.json",
        None,
    );
    let [file, map] = ["out.cubin", "out.json"].map(|name| folder.path().join(name));
    let [file, map] = [&file, &map].map(|path| path.to_str().unwrap());
    let output = report(&[file], &["--map", map]);
    let data = self::data(&String::from_utf8(output.stdout).unwrap());
    let labels = data["images"][0]["labels"].as_array().unwrap();
    assert!(labels.contains(&"b.o".into()) && labels.contains(&"[linker]".into()));
    // A file that is none is said, and the page is there.
    let output = report(&["Cargo.toml"], &[]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        self::data(&String::from_utf8(output.stdout).unwrap())["images"],
        serde_json::json!([])
    );
}

/// Texts of inputs are data: none ends the script that holds them, and none is markup.
#[test]
fn names_are_no_markup() {
    let folder = tempfile::tempdir().unwrap();
    let name = "<!--<script>&amp;.o";
    fs::copy(Path::new(EXAMPLE).join("a.o"), folder.path().join(name)).unwrap();
    let output = cuweld(folder.path(), &["report", name, "-o", "-"]);
    let page = String::from_utf8(output.stdout).unwrap();
    let data = data(&page);
    assert_eq!(
        (&data["title"], &data["images"][0]["name"]),
        (&name.into(), &name.into())
    );
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains("<!--"));
    assert!(page.contains("<title>&lt;!--&lt;script&gt;&amp;amp;.o</title>"));
}

#[test]
fn identical_functions_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let object = Path::new(ROOT).join("tests/opt_in/a.cubin");
    let object = object.to_str().unwrap();
    let words = ["report", object, "-o", "-"];
    let output = cuweld(folder.path(), &words);
    let data = data(&String::from_utf8(output.stdout).unwrap());
    let image = &data["images"][0];
    let bytes = fs::read(object).unwrap();
    let file = object::read::elf::ElfFile64::<object::Endianness>::parse(&*bytes).unwrap();
    let code = |row: &Value| {
        use object::{Object as _, ObjectSection as _};
        let name = &image["functions"]["name"][row.as_u64().unwrap() as usize];
        let section = format!(".text.{}", name.as_str().unwrap());
        file.section_by_name(&section).unwrap().data().unwrap()
    };
    let duplicates = image["duplicates"].as_array().unwrap();
    assert!(!duplicates.is_empty());
    for group in duplicates {
        let functions = group["functions"].as_array().unwrap();
        assert!(functions.len() > 1);
        assert!(functions.iter().all(|row| code(row) == code(&functions[0])));
        assert_eq!(
            group["size"].as_u64(),
            Some(code(&functions[0]).len() as u64)
        );
    }
}

/// Variables lie within the blocks of the kernels that use them, and never over one another.
#[test]
fn shared_memory_is_that_of_the_file() {
    let cases = fs::read_dir(Path::new(ROOT).join("tests/links/shared-memory")).unwrap();
    let (mut blocks, mut variables) = (0, 0);
    for case in cases {
        let folder = case.unwrap().path().join("sm_90");
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        let inputs = entries.map(|entry| entry.unwrap().path());
        let inputs = inputs.filter(|path| path.extension().is_some_and(|ending| ending == "cubin"));
        let mut inputs: Vec<PathBuf> = inputs.collect();
        inputs.sort();
        let out = tempfile::tempdir().unwrap();
        let output = Command::new(program())
            .args([
                "link",
                "--arch",
                "sm_90",
                "-o",
                "out.cubin",
                "--report",
                "out.html",
            ])
            .args(&inputs)
            .current_dir(out.path())
            .output()
            .unwrap();
        if !output.status.success() {
            continue;
        }
        let data = data(&page(&out));
        let image = &data["images"][0];
        is_sound(image);
        for block in image["shared"].as_array().unwrap() {
            blocks += 1;
            let row = block["function"].as_u64().unwrap() as usize;
            let size = block["size"].as_u64().unwrap();
            assert_eq!(
                image["functions"]["shared"][row],
                size,
                "{}",
                folder.display()
            );
            let mut end = 0;
            for variable in block["variables"].as_array().unwrap() {
                variables += 1;
                let (at, length) = (variable[1].as_u64().unwrap(), variable[2].as_u64().unwrap());
                assert!(end <= at, "{} {block}", folder.display());
                end = at + length;
            }
            assert!(end <= size, "{} {block}", folder.display());
        }
    }
    assert!(blocks > 30 && variables > 60, "{blocks} {variables}");
}
