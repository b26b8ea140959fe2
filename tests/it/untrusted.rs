//! Reproducers of strangers: replaying one runs nothing that it brings or names, and changes nothing
//! outside its folder.

use std::path::Path;
use std::path::PathBuf;

use crate::harness::command::{cuweld, said};
use serde_json::Value;
use serde_json::json;
use tar::EntryType;
use tar::Header;

const OBJECT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/links/symbols/weak-templates/sm_90/a.cubin"
);

/// A folder with a reproducer, beside which there is a folder that nothing of it may touch.
struct Stranger {
    folder: tempfile::TempDir,
}

impl Stranger {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("outside")).unwrap();
        std::fs::write(folder.path().join("outside/kept"), "kept").unwrap();
        Stranger { folder }
    }

    fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    /// Writes the reproducer of a link with these arguments, after what is changed in its
    /// description, with further entries: type, path, contents or target of a link.
    fn write(&self, arguments: &[&str], change: &Value, entries: &[(EntryType, &str, &str)]) {
        let mut description = json!({
            "format": 1, "cuweld": "0.1.0", "arguments": arguments, "nvlink_arguments": arguments[1..],
            "folder": "/w", "environment": [], "pipeline": "", "exit": 0,
        });
        for (name, value) in change.as_object().into_iter().flatten() {
            description[name] = value.clone();
        }
        let file = std::fs::File::create(self.folder.path().join("r.tar")).unwrap();
        let mut tar = tar::Builder::new(file);
        let mut add = |ty: EntryType, path: &str, bytes: &[u8]| {
            let mut header = Header::new_gnu();
            header.set_entry_type(ty);
            header.set_mode(0o755);
            // Names that the crate would not write.
            header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
            let is_link = ty != EntryType::Regular;
            let contents = match is_link {
                true => {
                    header.as_old_mut().linkname[..bytes.len()].copy_from_slice(bytes);
                    &[]
                }
                false => bytes,
            };
            header.set_size(contents.len() as u64);
            header.set_cksum();
            tar.append(&header, contents).unwrap();
        };
        add(
            EntryType::Regular,
            "repro.json",
            description.to_string().as_bytes(),
        );
        add(
            EntryType::Regular,
            "files/w/a.cubin",
            &std::fs::read(OBJECT).unwrap(),
        );
        for (ty, path, bytes) in entries {
            add(*ty, path, bytes.as_bytes());
        }
        tar.finish().unwrap();
    }

    /// Replays it; asserts that it fails, with these words, and has touched nothing.
    fn fails(&self, what: &str) {
        let done = cuweld(self.folder.path(), &["replay", "r.tar"]);
        assert!(!done.status.success(), "{what}: {}", said(&done));
        assert!(said(&done).contains(what), "{what}: {}", said(&done));
        self.is_untouched();
    }

    fn is_untouched(&self) {
        let names = |folder: &Path| {
            let entries = std::fs::read_dir(folder).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(names(&self.outside()), ["kept"]);
        assert_eq!(names(self.folder.path()), ["outside", "r.tar"]);
        let kept = std::fs::read_to_string(self.outside().join("kept"));
        assert_eq!(kept.unwrap(), "kept");
    }

    fn runs_trusted(&self, what: &str) {
        let done = cuweld(self.folder.path(), &["replay", "r.tar", "--trust"]);
        assert!(said(&done).contains(what), "{}", said(&done));
    }
}

const LINK: [&str; 5] = ["nvlink", "-arch=sm_90", "/w/a.cubin", "-o", "o.cubin"];

/// Returns the words of [`LINK`] with others after them.
fn link_with<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&LINK[..], words].concat()
}

#[test]
fn a_plain_link_needs_no_trust() {
    let stranger = Stranger::new();
    stranger.write(&LINK, &json!({}), &[]);
    let done = cuweld(stranger.folder.path(), &["replay", "r.tar"]);
    assert!(done.status.success(), "{}", said(&done));
    stranger.is_untouched();
}

#[test]
fn nothing_is_unpacked_but_files_inside() {
    let stranger = Stranger::new();
    let outside = stranger.outside().to_string_lossy().into_owned();
    let absolute = format!("{outside}/owned");
    let through = format!("{outside}/kept");
    for (ty, path, bytes) in [
        (EntryType::Regular, "../owned", "x"),
        (EntryType::Regular, "files/../../outside/owned", "x"),
        (EntryType::Regular, absolute.as_str(), "x"),
        (EntryType::Regular, "owned", "x"),
        (EntryType::Symlink, "files/w/l", outside.as_str()),
        (EntryType::Symlink, "files/w/o.cubin", through.as_str()),
        (EntryType::Link, "files/w/l", through.as_str()),
        (EntryType::Fifo, "files/w/p", ""),
    ] {
        stranger.write(&LINK, &json!({}), &[(ty, path, bytes)]);
        stranger.fails("is no file of a reproducer");
    }
}

#[test]
fn nothing_outside_is_named_or_written() {
    let stranger = Stranger::new();
    let outside = stranger.outside().to_string_lossy().into_owned();
    let up = format!("../../../../../../../..{outside}/owned");
    let leaves = "leaves the folder of the reproducer";
    for words in [
        vec!["nvlink", "-arch=sm_90", "/w/a.cubin", "-o", &up],
        vec!["nvlink", "-arch=sm_90", "../../../etc/passwd", "-o", "o"],
        link_with(&["-L../../.."]),
        link_with(&["--cuweld-dump-dir=../../.."]),
    ] {
        stranger.write(&words, &json!({}), &[]);
        stranger.fails(leaves);
    }
    stranger.write(
        &LINK,
        &json!({"environment": [["LIBRARY_PATH", "/w:../../.."]]}),
        &[],
    );
    stranger.fails(leaves);
    let folder = format!("/../../../../../../../..{outside}/new");
    stranger.write(&LINK, &json!({ "folder": folder }), &[]);
    stranger.fails(leaves);
    // What no argument shows, the system sees to.
    for option in ["-o ", "-o o -time ", "-o o --cuweld-repro="] {
        let options = format!("{option}{outside}/owned\n");
        let words = &["nvlink", "-arch=sm_90", "/w/a.cubin", "--options-file", "f"];
        let file = [(EntryType::Regular, "files/w/f", options.as_str())];
        stranger.write(words, &json!({}), &file);
        stranger.fails("ermission denied");
    }
}

#[test]
fn nothing_of_it_runs() {
    let stranger = Stranger::new();
    let owned = stranger.outside().join("owned");
    let command = format!("echo OWNED >&2; touch {}", owned.display());
    let exec = format!("exec{{command=[\"sh\",\"-c\",\"{command}\"]}},classify");
    let opt = ["opt", "a.cubin", "--arch=sm_90", "-o", "o.lir"];
    let refused = "runs nothing of a reproducer without `--trust`";
    let on_change = ["link", "--arch=sm_90", "/w/a.cubin", "-o", "o.cubin"];
    let on_change = [&on_change[..], &["--exec-on-change", &command]].concat();
    for words in [
        [&opt[..], &["--passes", &exec]].concat(),
        on_change,
        link_with(&["--cuweld-load-pass-plugin=/w/evil.so"]),
    ] {
        stranger.write(
            &words,
            &json!({}),
            &[(EntryType::Regular, "files/w/evil.so", "x")],
        );
        stranger.fails(refused);
    }
    // A compiler that it brings.
    let script = format!("#!/bin/sh\n{command}\nexit 1\n");
    let ptx = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";
    let brought = [
        (EntryType::Regular, "files/w/ptxas", script.as_str()),
        (EntryType::Regular, "files/w/a.ptx", ptx),
    ];
    for (words, environment) in [
        (vec!["--cuweld-ptxas=/w/ptxas"], json!([])),
        (vec![], json!([["CUWELD_PTXAS", "/w/ptxas"]])),
    ] {
        let link = ["nvlink", "-arch=sm_90", "a.ptx", "-o", "o.cubin"];
        let words = [&link[..], &words].concat();
        stranger.write(&words, &json!({ "environment": environment }), &brought);
        stranger.fails(refused);
    }
    stranger.runs_trusted("OWNED");
    assert!(owned.exists());
}

#[test]
fn only_variables_of_links_are_taken() {
    let stranger = Stranger::new();
    let environment = json!([
        ["LD_PRELOAD", "/w/evil.so"],
        ["PATH", "/w"],
        ["CUWELD_REPLAY_TRUSTED", "1"],
        ["CUWELD_REPLAY_ROOT", "/"]
    ]);
    stranger.write(
        &[
            "link",
            "--arch=sm_90",
            "/w/a.cubin",
            "-o",
            "o.cubin",
            "--exec-on-change",
            "env; :",
        ],
        &json!({ "environment": environment }),
        &[],
    );
    stranger.fails("without `--trust`");
    let done = cuweld(stranger.folder.path(), &["replay", "r.tar", "--trust"]);
    let said = said(&done);
    assert!(
        said.contains("PATH=") && !said.contains("PATH=/w\n"),
        "{said}"
    );
    assert!(!said.contains("LD_PRELOAD"), "{said}");
}

#[test]
fn only_links_are_replayed() {
    let stranger = Stranger::new();
    for words in [
        &["toolkit", "--from", "/usr"][..],
        &["reduce", "a.lir", "--check", "touch /w/x"],
        &["replay", "/w/other.tar", "--trust"],
    ] {
        stranger.write(words, &json!({}), &[]);
        stranger.fails("a reproducer is of nvlink, link, opt");
    }
}

/// Another linker is kept in the folder, too.
#[test]
fn another_linker_writes_nothing_outside() {
    let stranger = Stranger::new();
    let outside = stranger.outside().to_string_lossy().into_owned();
    stranger.write(&LINK, &json!({}), &[]);
    let script = tempfile::tempdir().unwrap();
    let program = script.path().join("linker");
    std::fs::write(&program, format!("#!/bin/sh\ntouch {outside}/owned\n")).unwrap();
    std::fs::set_permissions(
        &program,
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let option = format!("--linker={}", program.display());
    let done = cuweld(stranger.folder.path(), &["replay", "r.tar", &option]);
    assert!(said(&done).contains("ermission denied"), "{}", said(&done));
    stranger.is_untouched();
}
