//! A browser opens reports if there is one: `CUWELD_BROWSER`, or Chromium on the path.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::{NATIVE, ROOT, data, is_sound, link, page};
use crate::harness::command::{cuweld, said};

/// The browser to test with, if there is one.
fn browser() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CUWELD_BROWSER") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut all =
        std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    all.find(|file| file.is_file())
}

/// What a page has to say of itself after these steps, each of which returns a text or number.
fn opened(browser: &Path, page: &str, steps: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let watch = "<body><script>window.faults = [];
addEventListener('error', (event) => faults.push(event.message));
addEventListener('securitypolicyviolation', (event) => faults.push(event.violatedDirective));</script>";
    let run = format!(
        "<script>(async () => {{
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const go = async (hash) => {{ location.hash = hash; await wait(100); return document.getElementById('view').textContent; }};
const press = async (text) => {{ [...document.querySelectorAll('button.link')].find((it) => it.textContent === text).click(); await wait(100); }};
const result = {{}};
try {{ {steps} }} catch (error) {{ faults.push(String(error)); }}
result.faults = faults;
document.body.dataset.result = JSON.stringify(result);
}})()</script></body>"
    );
    let page = page.replacen("<body>", watch, 1);
    let (before, after) = page.rsplit_once("</body>").unwrap();
    let file = folder.path().join("page.html");
    fs::write(&file, format!("{before}{run}{after}")).unwrap();
    let output = Command::new("timeout")
        .arg("120")
        .arg(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--virtual-time-budget=20000",
            "--dump-dom",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.path().join("profile").display()
        ))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let result = dom
        .split_once("data-result=\"")
        .map(|(_, rest)| rest.split('"').next().unwrap());
    let result = result.unwrap_or_else(|| panic!("the page did not run: {}", said(&output)));
    let result = result
        .replace("&quot;", "\"")
        .replace("&lt;", "<")
        .replace("&gt;", ">");
    serde_json::from_str(&result.replace("&amp;", "&")).unwrap()
}

#[test]
fn a_browser_opens_it() {
    let Some(browser) = browser() else {
        let _ = writeln!(
            std::io::stderr(),
            "report: no browser; CUWELD_BROWSER names one"
        );
        return;
    };
    let page = page(&link(&format!("{NATIVE} --time-passes"), None));
    let steps = "
result.summary = await go('summary');
result.ready = Number(document.body.dataset.ready);
result.treemap = await go('treemap');
const canvas = document.querySelector('canvas');
const colors = () => new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size;
result.colors = colors();
const frame = canvas.getBoundingClientRect();
canvas.dispatchEvent(new MouseEvent('click', { clientX: frame.left + 20, clientY: frame.top + 5 }));
await wait(100);
result.zoomed = document.getElementById('view').textContent;
await go('functions');
await press('apply_filter(const Pixel *, int, int)');
result.detail = document.querySelector('.detail').textContent;
await press('T1 clamp_to<int>(T1, T1, T1)');
result.clamp = document.querySelector('.detail ol').textContent;
const search = document.querySelector('input[type=search]');
search.value = 'CLAMP to';
search.dispatchEvent(new Event('input'));
result.found = document.querySelectorAll('tbody tr').length;
result.memory = await go('memory');
result.dropped = await go('dropped');
result.duplicates = await go('duplicates');
result.passes = await go('passes');
document.getElementById('pass-5').open = true;
await wait(100);
result.diff = document.querySelectorAll('#pass-5 pre .added').length;
result.elsewhere = await go('nothing');
";
    let said = opened(&browser, &page, steps);
    assert_eq!(said["faults"], serde_json::json!([]));
    let has = |view: &str, text: &str| {
        assert!(
            said[view].as_str().unwrap().contains(text),
            "{view}: {text}\n{}",
            said[view]
        );
    };
    assert!(said["ready"].as_u64().unwrap() < 2000, "{}", said["ready"]);
    has("summary", "sm_90, linked");
    has("summary", "unreachable: 1 sections, 256 B");
    has("treemap", "b.o");
    assert!(said["colors"].as_u64().unwrap() > 5, "{}", said["colors"]);
    has("zoomed", "[ELF Section Headers]");
    has(
        "detail",
        "blur(const Pixel *, Pixel *, int) kernel: host code refers to it",
    );
    has("detail", "Deepest calls: 48 B of stack");
    assert_eq!(
        said["clamp"],
        "blur(const Pixel *, Pixel *, int) kernel: host code refers to itapply_filter(const Pixel *, int, int)T1 clamp_to<int>(T1, T1, T1)"
    );
    assert_eq!(said["found"], 2);
    has("memory", "find_brightest(const Pixel *, int)::best");
    has("memory", "parameter 0");
    has("dropped", ".text.invert(Pixel)");
    has("duplicates", "0 of 0");
    has("passes", "5. callgraph-dce");
    assert!(said["diff"].as_u64().unwrap() > 5);
    has("elsewhere", "Kinds of sections");
}

/// Recursion, prototypes and undefined functions: whatever is chosen, the page answers.
#[test]
fn a_browser_shows_every_function() {
    let Some(browser) = browser() else {
        return;
    };
    let mut paths = Vec::new();
    for topic in ["liveness", "resources"] {
        for case in fs::read_dir(Path::new(ROOT).join("tests/links").join(topic)).unwrap() {
            let case = case.unwrap().path();
            paths.push(case.join("expected/sm_90.cubin"));
            paths.push(case.join("sm_90/a.cubin"));
        }
    }
    paths.retain(|path| path.is_file());
    paths.sort();
    let words = ["report", "-o", "-"].map(str::to_owned).into_iter();
    let words: Vec<String> = words
        .chain(paths.iter().map(|path| path.display().to_string()))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let page = String::from_utf8(cuweld(Path::new(ROOT), &words).stdout).unwrap();
    let steps = "
let shown = 0, recursive = 0, stacks = 0;
result.wrong = [];
for (let index = 0; index < DATA.images.length; index++) {
  chosenImage = index;
  const [image, graph] = currentImage();
  for (let row = 0; row < image.functions.name.length; row++) {
    // Browsers let a page change its address only so often.
    const text = functionsView(image, graph, row).querySelector('.detail').textContent;
    if (text.includes('Who calls it?')) shown++;
    if (text.includes('recursion, of unknown depth')) recursive++;
    const stack = image.functions.stack[row];
    if (image.linked && stack !== null) {
      stacks++;
      const { bytes } = graph.deepest(row);
      // nvlink counts modulo 2^32.
      const wraps = bytes >= 2 ** 32 - 1 && bytes !== Infinity;
      if (!wraps && bytes !== (stack === -1 ? Infinity : stack)) result.wrong.push(`${image.name} ${graph.name(row)} ${bytes} ${stack}`);
    }
  }
  for (const view of [summaryView, treemapView, memoryView, duplicatesView]) {
    const made = view === treemapView ? view(image, () => {}) : view(image, graph, () => {});
    document.getElementById('view').replaceChildren(made);
    await wait(20);
  }
}
result.shown = shown;
result.recursive = recursive;
result.stacks = stacks;
result.all = DATA.images.reduce((sum, image) => sum + image.functions.name.length, 0);
";
    let said = opened(&browser, &page, steps);
    assert_eq!(said["faults"], serde_json::json!([]));
    assert_eq!(said["shown"], said["all"]);
    // The deepest calls that the page finds are the stack that the linker wrote.
    assert_eq!(said["wrong"], serde_json::json!([]));
    assert!(said["stacks"].as_u64().unwrap() > 30, "{}", said["stacks"]);
    assert!(said["all"].as_u64().unwrap() > 100, "{}", said["all"]);
    assert!(
        said["recursive"].as_u64().unwrap() > 0,
        "{}",
        said["recursive"]
    );
}

/// A linked file with 10,000 functions in chains of calls, a hundred of them kernels.
fn large() -> Vec<u8> {
    const FUNCTIONS: usize = 10_000;
    const CODE: usize = 128;
    let name = |at: usize| match at.is_multiple_of(100) {
        true => format!("_ZN7library6kernelILi{at}ELi7EEEvPfi"),
        false => format!("_ZN7library6detail9transformINS_6policyILi{at}EEEEEfPKffi"),
    };
    let word = |bytes: &mut Vec<u8>, value: u32| bytes.extend(value.to_le_bytes());
    let mut names = vec![0];
    let mut add_name = |text: &str| {
        let at = names.len() as u32;
        names.extend(text.as_bytes());
        names.push(0);
        at
    };
    let (mut symbols, mut info, mut calls) = (vec![0; 24], Vec::new(), Vec::new());
    calls.extend([0, u32::MAX].map(u32::to_le_bytes).concat());
    // Name, type, flags, link, info, entry size, contents.
    let mut sections = vec![(0, 0, 0, 0, 0, 0, Vec::new())];
    for at in 0..FUNCTIONS {
        let symbol = at as u32 + 1;
        let is_kernel = at.is_multiple_of(100);
        word(&mut symbols, add_name(&name(at)));
        symbols.extend([0x12, if is_kernel { 0x10 } else { 0 }]);
        symbols.extend((symbol as u16).to_le_bytes());
        symbols.extend(0u64.to_le_bytes());
        symbols.extend((CODE as u64).to_le_bytes());
        for (code, value) in [(0x2f, 24), (0x11, 8)] {
            word(&mut info, 0x0008_0004 | code << 8);
            word(&mut info, symbol);
            word(&mut info, value);
        }
        // To the next of its hundred, and to one of the next.
        for callee in [at + 1, at + 137]
            .into_iter()
            .filter(|to| !to.is_multiple_of(100))
        {
            if callee < FUNCTIONS {
                word(&mut calls, symbol);
                word(&mut calls, callee as u32 + 1);
            }
        }
        let text = add_name(&format!(".text.{}", name(at)));
        let code = vec![at as u8; CODE];
        sections.push((text, 1, 6, FUNCTIONS as u32 + 1, symbol, 0, code));
    }
    let table = sections.len() as u32;
    sections.push((add_name(".symtab"), 2, 0, table + 3, 1, 24, symbols));
    sections.push((add_name(".nv.info"), 0x7000_0000, 0, table, 0, 0, info));
    sections.push((
        add_name(".nv.callgraph"),
        0x7000_0001,
        0,
        table,
        0,
        8,
        calls,
    ));
    let own = add_name(".strtab");
    sections.push((own, 3, 0, 0, 0, 0, names));
    let (mut contents, mut headers) = (Vec::new(), Vec::new());
    for (name, ty, flags, link, info, entry, bytes) in &sections {
        word(&mut headers, *name);
        word(&mut headers, *ty);
        let sizes = [*flags, 0, 64 + contents.len() as u64, bytes.len() as u64];
        headers.extend(sizes.map(u64::to_le_bytes).concat());
        word(&mut headers, *link);
        word(&mut headers, *info);
        headers.extend([1, *entry].map(u64::to_le_bytes).concat());
        contents.extend(bytes);
    }
    contents.resize(contents.len().next_multiple_of(8), 0);
    let mut file = b"\x7fELF\x02\x01\x01\x41\x08".to_vec();
    file.resize(16, 0);
    file.extend([2, 190].map(u16::to_le_bytes).concat());
    word(&mut file, 1);
    let offsets = [0, 0, 64 + contents.len() as u64];
    file.extend(offsets.map(u64::to_le_bytes).concat());
    word(&mut file, 0x0000_5a04);
    let count = sections.len() as u16;
    let counts = [64, 56, 0, 64, count, count - 1];
    file.extend(counts.map(u16::to_le_bytes).concat());
    [file, contents, headers].concat()
}

#[test]
fn ten_thousand_functions_are_shown_at_once() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("large.cubin"), large()).unwrap();
    let output = cuweld(folder.path(), &["report", "large.cubin", "-o", "out.html"]);
    assert!(output.status.success(), "{}", said(&output));
    let page = page(&folder);
    assert!(page.len() < 5_000_000, "{}", page.len());
    let image = &data(&page)["images"][0];
    is_sound(image);
    assert_eq!(image["functions"]["name"].as_array().unwrap().len(), 10_000);
    let Some(browser) = browser() else {
        return;
    };
    let steps = "
result.ready = Number(document.body.dataset.ready);
const begun = performance.now();
for (const tab of ['treemap', 'functions', 'functions/9999', 'memory', 'duplicates']) {
  history.replaceState(null, '', `#${tab}`);
  render();
}
result.tabs = performance.now() - begun;
const [image, graph] = currentImage();
result.chain = graph.chain(199).length;
result.depth = graph.deepest(9900).bytes;
";
    let said = opened(&browser, &page, steps);
    assert_eq!(said["faults"], serde_json::json!([]));
    for time in ["ready", "tabs"] {
        assert!(
            said[time].as_f64().unwrap() < 2000.0,
            "{time}: {}",
            said[time]
        );
    }
    // Kernel 0 and 62 functions after it, each called by the one before; the last one calls 199.
    assert_eq!(said["chain"], 64);
    assert_eq!(said["depth"], 100 * 8);
}
