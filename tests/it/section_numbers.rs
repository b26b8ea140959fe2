//! Links with more sections than 16 bits can number, compared with nvlink 13.0.88: live, or where it takes minutes, with the
//! digests of its files, which `BLESS=1` makes anew.
//!
//! One object with many kernels is compiled; its copies under other names are the inputs, so that no large file is committed and
//! ptxas, which is slow on large objects, does little.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use sha2::{Digest as _, Sha256};

use crate::harness::link::{Expected, Linker, compare};
use crate::harness::oracle;

/// Kernels in one object; every second one calls a function.
const KERNELS: usize = 500;
const FUNCTIONS: usize = 50;
/// The part of every name that tells the copies apart.
const FIRST: &str = "u000";

/// Compiles the object and writes its copies, which are named after the names in them.
fn inputs(
    folder: &Path,
    tools: &Path,
    arch: &str,
    copies: usize,
) -> Result<Vec<String>, Box<dyn Error>> {
    let mut text = format!(".version 9.0\n.target {arch}\n.address_size 64\n");
    writeln!(text, ".visible .global .u32 {FIRST}g = 7;")?;
    for index in 0..FUNCTIONS {
        writeln!(text, ".visible .func {FIRST}f{index}()\n{{ret;}}")?;
    }
    for index in 0..KERNELS {
        let body = match index % 4 {
            0 | 2 => format!("call {FIRST}f{},();", index % (FUNCTIONS - 1)),
            1 => format!("st.global.u32 [{FIRST}g], 1;"),
            _ => String::new(),
        };
        writeln!(text, ".visible .entry {FIRST}k{index}()\n{{{body} ret;}}")?;
    }
    std::fs::write(folder.join("u.ptx"), text)?;
    let done = Command::new(tools.join("ptxas"))
        .args(["-c", "-arch", arch, "u.ptx", "-o", "u.cubin"])
        .current_dir(folder)
        .status()?;
    if !done.success() {
        return Err("ptxas failed".into());
    }
    let mut object = std::fs::read(folder.join("u.cubin"))?;
    let first = FIRST.as_bytes();
    let places: Vec<usize> = (0..object.len().saturating_sub(first.len()))
        .filter(|at| object[*at..].starts_with(first))
        .collect();
    let mut files = Vec::new();
    for copy in 0..copies {
        let name = format!("u{copy:03}");
        for at in &places {
            object[*at..*at + name.len()].copy_from_slice(name.as_bytes());
        }
        files.push(format!("{name}.cubin"));
        std::fs::write(folder.join(format!("{name}.cubin")), &object)?;
    }
    Ok(files)
}

/// Links with both; gives the output.
fn same(folder: &Path, tools: &Path, arguments: &[String]) -> Result<Vec<u8>, Box<dyn Error>> {
    let theirs = Linker::nvlink(tools.join("nvlink")).link(folder, arguments)?;
    let output = theirs.output.clone().ok_or(theirs.stderr)?;
    let expected = Expected {
        exit: theirs.exit,
        lines: Some(theirs.lines),
        output: theirs.output,
    };
    compare(&Linker::ours().link(folder, arguments)?, &expected)?;
    Ok(output)
}

fn links(arch: &str) -> Result<(), Box<dyn Error>> {
    let Some(tools) = oracle::tools() else {
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let files = inputs(folder, &tools, arch, 44)?;
    let with = |options: &[&str], files: &[String]| {
        let options = options.iter().map(|option| (*option).to_owned());
        options
            .chain(files.iter().cloned())
            .collect::<Vec<String>>()
    };
    // Copies of a dead weak function, of which only the first has numbers.
    let case = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/links/liveness/weak-dead-copies")
        .join(arch);
    let copies = ["a", "b", "c", "d"].map(|name| {
        case.join(format!("{name}.cubin"))
            .to_string_lossy()
            .into_owned()
    });
    let arch = format!("-arch={arch}");
    let few = || -> Result<(), Box<dyn Error>> {
        same(
            folder,
            &tools,
            &with(&[&arch], &[&copies, &files[..27]].concat()),
        )?;
        // The number of sections that are made is above 0xff00, that in the file is not; then both are.
        same(folder, &tools, &with(&[&arch], &files[..27]))?;
        same(folder, &tools, &with(&[&arch, "-kernels-used=k7"], &files))?;
        Ok(())
    };
    // nvlink takes a minute for all of them one after the other.
    let relocatable = std::thread::scope(|scope| {
        let few = scope.spawn(|| few().map_err(|error| error.to_string()));
        same(folder, &tools, &with(&[&arch], &files))?;
        let relocatable = same(folder, &tools, &with(&[&arch, "-r"], &files))?;
        few.join().map_err(|_| "a link panics")??;
        Ok::<_, Box<dyn Error>>(relocatable)
    })?;
    std::fs::write(folder.join("all.cubin"), relocatable)?;
    let again = with(&[&arch], &["all.cubin".to_owned()]);
    if arch == "-arch=sm_90" {
        same(folder, &tools, &again)?;
    } else {
        // nvlink crashes: 0xfff2 stands where the section of a kernel's parameters should.
        let ours = Linker::ours().link(folder, &again)?;
        assert!(ours.exit == Some(1) && ours.output.is_none());
    }
    Ok(())
}

/// Links with nvlink where its files are to be known anew, with ours else; gives the output, whose digest is the one that is
/// committed.
fn known(
    folder: &Path,
    tools: &Path,
    digests: &mut Vec<String>,
    arguments: &[&str],
) -> Result<Vec<u8>, Box<dyn Error>> {
    let linker = match is_blessed() {
        true => Linker::nvlink(tools.join("nvlink")),
        false => Linker::ours(),
    };
    let arguments: Vec<String> = arguments.iter().copied().map(str::to_owned).collect();
    let outcome = linker.link(folder, &arguments)?;
    let output = outcome.output.ok_or(outcome.stderr)?;
    let digest = Sha256::digest(&output).into_iter();
    let digest: String = digest.map(|byte| format!("{byte:02x}")).collect();
    digests.push(format!("{digest}\n"));
    Ok(output)
}

fn is_blessed() -> bool {
    std::env::var_os("BLESS").is_some_and(|value| value == "1")
}

/// With Mercury the file has more sections than were created: tables of section indices are added where it alone has too
/// many, and cloned where too many were created.
#[test]
fn sm_100() -> Result<(), Box<dyn Error>> {
    let Some(tools) = oracle::tools() else {
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let files = inputs(folder, &tools, "sm_100", 36)?;
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let (arch, few, mut digests) = ("-arch=sm_100", &files[..24], Vec::new());
    known(folder, &tools, &mut digests, &[&[arch], few].concat())?;
    let again = [&[arch, "-r"], few].concat();
    let relocatable = known(folder, &tools, &mut digests, &again)?;
    std::fs::write(folder.join("all.cubin"), relocatable)?;
    known(folder, &tools, &mut digests, &[arch, "all.cubin"])?;
    known(
        folder,
        &tools,
        &mut digests,
        &[&[arch], &files[..]].concat(),
    )?;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/section_numbers.sha256");
    if is_blessed() {
        std::fs::write(&path, digests.concat())?;
    }
    assert_eq!(digests.concat(), std::fs::read_to_string(&path)?);
    Ok(())
}

#[test]
fn sm_90() -> Result<(), Box<dyn Error>> {
    links("sm_90")
}

#[test]
fn sm_80() -> Result<(), Box<dyn Error>> {
    links("sm_80")
}
