//! Objects in what drivers put around them: packed fatbins, host objects, archives; and host
//! objects that nvcc makes.

use std::fmt::Write;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use crate::tools::Failure;

/// How an object is given to the linker.
#[derive(Clone, Copy)]
pub enum Wrapping {
    /// As a cubin.
    None,
    /// In a fatbin that is packed in a mode of fatbinary.
    Fatbin(&'static str),
    /// In a host object of an archive, in a fatbin that is packed in a mode of fatbinary.
    Archive(&'static str),
}

/// Wraps the cubins of a folder. Returns the names of the files that hold them, and the options
/// that the link needs.
pub fn wrap(
    folder: &Path,
    sm: &str,
    names: Vec<String>,
    wrapping: Wrapping,
) -> Result<Vec<String>, Failure> {
    let mode = match wrapping {
        Wrapping::None => return Ok(names),
        Wrapping::Fatbin(mode) | Wrapping::Archive(mode) => mode,
    };
    let mut wrapped = Vec::new();
    for cubin in names {
        let fatbin = format!("{cubin}.fatbin");
        let sm = sm.trim_start_matches("sm_");
        run(Command::new("fatbinary").current_dir(folder).args([
            "-64",
            "--compress-all",
            &format!("--compress-mode={mode}"),
            &format!("--create={fatbin}"),
            &format!("--image3=kind=elf,sm={sm},file={cubin}"),
        ]))?;
        remove(folder, &cubin)?;
        if matches!(wrapping, Wrapping::Fatbin(_)) {
            wrapped.push(fatbin);
            continue;
        }
        let object = format!("{cubin}.o");
        host_object(folder, &fatbin, &object)?;
        remove(folder, &fatbin)?;
        wrapped.push(object);
    }
    if matches!(wrapping, Wrapping::Fatbin(_)) {
        return Ok(wrapped);
    }
    run(Command::new("ar")
        .current_dir(folder)
        .args(["rcSD", "libblocks.a"])
        .args(&wrapped))?;
    for object in &wrapped {
        remove(folder, object)?;
    }
    Ok(vec![
        "-cpu-arch=X86_64".to_owned(),
        "libblocks.a".to_owned(),
    ])
}

/// Puts each cubin of a folder into a host object, packed as nvcc packs it, unless it is there
/// already. Returns the names of the objects.
pub fn host_objects(folder: &Path, sm: &str, cubins: &[String]) -> Result<Vec<String>, Failure> {
    let sm = sm.trim_start_matches("sm_");
    let mut objects = Vec::new();
    for cubin in cubins {
        let object = format!("{cubin}.o");
        if !folder.join(&object).is_file() {
            let fatbin = format!("{cubin}.fatbin");
            run(Command::new("fatbinary").current_dir(folder).args([
                "-64",
                "--device-c",
                &format!("--create={fatbin}"),
                &format!("--image3=kind=elf,sm={sm},file={cubin}"),
            ]))?;
            host_object(folder, &fatbin, &object)?;
            remove(folder, &fatbin)?;
        }
        objects.push(object);
    }
    Ok(objects)
}

/// Writes a host object with the sections in which nvcc puts relocatable device code.
fn host_object(folder: &Path, fatbin: &str, object: &str) -> Result<(), Failure> {
    let source = format!("{object}.s");
    let module = object.replace('.', "_");
    let text = format!(
        ".section __nv_relfatbin,\"a\"\n.balign 8\ncode:\n.incbin \"{fatbin}\"\n\
         .section .nvFatBinSegment,\"aw\"\n.balign 8\n.long 0x466243b1, 1\n.quad code, 0\n\
         .section __nv_module_id,\"a\"\n.asciz \"_{module}\"\n"
    );
    std::fs::write(folder.join(&source), text).map_err(|error| error.to_string())?;
    run(Command::new("as")
        .current_dir(folder)
        .args([&source, "-o", object]))?;
    remove(folder, &source)
}

/// Compiles modules in C++ of one program: each has virtual functions, instances of templates that
/// all have, and calls of the next one. All targets have code of one compilation, for the first.
pub fn classes(folder: &Path, targets: &[&str], count: usize) -> Result<Vec<String>, Failure> {
    let mut header =
        "#pragma once\nstruct Base { __device__ virtual int get(int a) = 0; };\n".to_owned();
    for index in 0..40 {
        let _ = writeln!(
            header,
            "template <class T> __device__ __noinline__ T t{index}(T a) {{ return a * T({index}) + T(1); }}"
        );
    }
    let write = |name: &str, text: String| {
        std::fs::write(folder.join(name), text).map_err(|error| error.to_string())
    };
    write("program.h", header)?;
    let mut names = Vec::new();
    for module in 0..count {
        let next = (module + 1 < count).then_some(module + 1);
        let mut text = "#include \"program.h\"\n".to_owned();
        for class in 0..10 {
            let _ = writeln!(
                text,
                "struct D{module}_{class} : Base {{ __device__ int get(int a) override {{ return t{}(a) + (int)t{}(1.0f * a); }} }};",
                (module + class) % 40,
                (module * 3 + class) % 40
            );
        }
        if let Some(next) = next {
            let _ = writeln!(text, "__device__ int f{next}(int a);");
        }
        let rest = next.map_or("a".to_owned(), |next| format!("f{next}(a)"));
        let _ = writeln!(
            text,
            "__device__ int v{module}[64] = {{{module}}};\n__device__ int f{module}(int a) {{ return v{module}[a & 63] + {rest}; }}"
        );
        for class in 0..10 {
            let _ = writeln!(
                text,
                "__global__ void k{module}_{class}(int *p) {{ D{module}_{class} d; Base *b = p[0] ? (Base *)p : &d; p[1] = b->get(p[2]) + f{module}(p[3]); }}"
            );
        }
        let (source, object) = (format!("m{module}.cu"), format!("m{module}.o"));
        write(&source, text)?;
        compile(folder, targets, &[source.into()])?;
        names.push(object);
    }
    names.insert(0, "-cpu-arch=X86_64".to_owned());
    Ok(names)
}

/// Compiles sources to host objects in a folder. All targets have code of one compilation, for the
/// first.
pub fn compile(folder: &Path, targets: &[&str], sources: &[PathBuf]) -> Result<(), Failure> {
    let lowest = targets.first();
    let lowest = lowest.map_or("", |target| target.trim_start_matches("sm_"));
    let all = targets.join(",");
    let code = format!("-gencode=arch=compute_{lowest},code=[{all}]");
    let mut nvcc = Command::new("nvcc");
    let nvcc = nvcc.current_dir(folder).args([&code, "-dc"]);
    run(nvcc.args(sources))
}

fn remove(folder: &Path, name: &str) -> Result<(), Failure> {
    std::fs::remove_file(folder.join(name)).map_err(|error| format!("{name}: {error}"))
}

fn run(command: &mut Command) -> Result<(), Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("{name}, which makes inputs: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "{name}: {}",
        String::from_utf8_lossy(&output.stderr)
    ))
}
