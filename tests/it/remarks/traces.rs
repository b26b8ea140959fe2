//! Traces of the whole process, remarks among them.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::{NVLINKS, OURS, ROOT, link};
use crate::harness::command::{cuweld, stderr};

/// The slices of a trace, by name: thread, beginning and end in microseconds.
struct Slices(Vec<(String, u64, f64, f64)>);

impl Slices {
    fn read(events: &[Value]) -> Self {
        let slices = events.iter().filter(|event| event["ph"] == "X");
        let slice = |event: &Value| {
            let begun = event["ts"].as_f64().unwrap();
            let end = begun + event["dur"].as_f64().unwrap();
            let name = event["name"].as_str().unwrap().to_owned();
            (name, event["tid"].as_u64().unwrap(), begun, end)
        };
        Slices(slices.map(slice).collect())
    }

    fn of(&self, name: &str) -> &(String, u64, f64, f64) {
        let found = self.0.iter().find(|slice| slice.0 == name);
        found.unwrap_or_else(|| panic!("no slice {name}"))
    }

    /// Whether one lies within the other, on the same thread.
    fn are_nested(&self, inner: &str, outer: &str) -> bool {
        let (inner, outer) = (self.of(inner), self.of(outer));
        inner.1 == outer.1 && inner.2 >= outer.2 && inner.3 <= outer.3
    }
}

fn events(folder: &Path) -> Vec<Value> {
    let trace = std::fs::read_to_string(folder.join("t.json")).unwrap();
    let trace: Value = serde_json::from_str(&trace).unwrap();
    trace["traceEvents"].as_array().unwrap().clone()
}

/// The whole of a link is in its trace: reading, unpacking, lowering, each pass, writing.
#[test]
fn a_trace_covers_the_whole_process() {
    let folder = tempfile::tempdir().unwrap();
    for (start, option, command) in [
        (&OURS, "--trace=chrome:t.json", "link"),
        (&NVLINKS, "--cuweld-trace=chrome:t.json", "nvlink"),
    ] {
        let output = link(folder.path(), start, &[option]);
        assert_eq!(stderr(&output), "");
        let events = events(folder.path());
        let slices = Slices::read(&events);
        for (inner, outer) in [
            ("discover", command),
            ("read-files", "discover"),
            // The host objects of the example hold their code packed.
            ("unpack", "discover"),
            ("read-objects", "discover"),
            ("lower", command),
            ("executable", command),
            ("classify", "executable"),
            ("report-resources", "executable"),
            ("write", command),
        ] {
            assert!(slices.are_nested(inner, outer), "{inner} in {outer}");
        }
        // One after the other, which together with their nesting is the structure of the command.
        let order = ["discover", "lower", "executable", "write"].map(|name| slices.of(name));
        assert!(order.windows(2).all(|pair| pair[0].3 <= pair[1].2));
        assert!(!events.iter().any(|event| event["cat"] == "remark"));
    }
    let output = link(
        folder.path(),
        &OURS,
        &["--trace=chrome:t.json", "--remarks=symbol-resolve"],
    );
    let events = events(folder.path());
    let slices = Slices::read(&events);
    let mut remarks = events.iter().filter(|event| event["cat"] == "remark");
    let remark = remarks.next().unwrap();
    assert!(remarks.next().is_none());
    assert_eq!(remark["args"]["kind"], "prevails");
    assert!(remark["args"]["symbol"].is_u64());
    let said = format!(
        "remark: symbol-resolve: {}\n",
        remark["name"].as_str().unwrap()
    );
    assert!(stderr(&output).ends_with(&said));
    assert!(slices.are_nested("remarks", "executable"));
    let unwritten = link(folder.path(), &OURS, &["--trace=chrome:none/t.json"]);
    assert!(stderr(&unwritten).contains("cannot write 'none/t.json'"));
    let malformed = link(folder.path(), &NVLINKS, &["--cuweld-trace=t.json"]);
    assert!(stderr(&malformed).contains("cuweld-trace"));
    assert_eq!(malformed.status.code(), Some(1));
}

/// Work that is divided is in the trace, under the name of what hands it on.
#[test]
fn a_trace_has_the_tasks_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let inputs: Vec<String> = (0..200)
        .map(|index| {
            let name = format!("{index}.cubin");
            let case = format!("{ROOT}/tests/links/symbols/weak-templates/sm_90/a.cubin");
            std::fs::copy(case, folder.path().join(&name)).unwrap();
            name
        })
        .collect();
    let mut words = vec![
        "link",
        "--arch=sm_90",
        "-o",
        "out.cubin",
        "-j4",
        "--trace=chrome:t.json",
    ];
    words.extend(inputs.iter().map(String::as_str));
    // The objects define the same kernels, which ends the link after much of its work is done.
    cuweld(folder.path(), &words);
    let events = events(folder.path());
    let tasks = events.iter().filter(|event| event["cat"] == "task");
    let names: BTreeSet<&str> = tasks.map(|event| event["name"].as_str().unwrap()).collect();
    for name in ["discover", "classify"] {
        assert!(names.contains(name), "{names:?}");
    }
    let failed = events
        .iter()
        .find(|event| event["name"] == "symbol-resolve");
    assert!(failed.unwrap()["args"]["error"].is_string());
}
