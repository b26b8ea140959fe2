//! `-time`: a table of compiler runs, as comma separated values that are appended to a file.

use std::fs::OpenOptions;
use std::io;
use std::io::Write;

use cuweld_elf::Target;

use crate::compile::CompileTime;

const HEADER: &str = "source file name , phase name , phase input files , phase output file , arch , tool, metric , unit\n";

/// Where the table goes. It is opened, and gets its header, before any input is read.
pub enum TimeTable {
    /// Standard output.
    Stdout,
    /// A file, which is appended to.
    File(std::fs::File),
}

impl TimeTable {
    /// Opens the table; `-` is standard output. Only an empty one gets a header.
    pub fn open(path: &str, stdout: &mut dyn Write) -> io::Result<Self> {
        if path == "-" {
            stdout.write_all(HEADER.as_bytes())?;
            return Ok(TimeTable::Stdout);
        }
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        if file.metadata()?.len() == 0 {
            file.write_all(HEADER.as_bytes())?;
        }
        Ok(TimeTable::File(file))
    }

    /// Adds the runs of the compiler.
    pub fn add(
        &mut self,
        times: &[CompileTime],
        target: Target,
        tool: &str,
        stdout: &mut dyn Write,
    ) -> io::Result<()> {
        for time in times {
            let row = row(time, target, tool);
            match self {
                TimeTable::Stdout => stdout.write_all(row.as_bytes())?,
                TimeTable::File(file) => file.write_all(row.as_bytes())?,
            }
        }
        Ok(())
    }
}

fn row(time: &CompileTime, target: Target, tool: &str) -> String {
    let CompileTime {
        source,
        phase,
        input,
        output,
        milliseconds,
    } = time;
    format!(
        "{source} , {phase} , {input} , {output} , {target} , {tool} , {milliseconds:.4} , ms\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_nvlinks() {
        let target = Target::parse("sm_90").unwrap();
        let time = |source: &str, phase, input: &str, output| CompileTime {
            source: source.to_owned(),
            phase,
            input: input.to_owned(),
            output,
            milliseconds: 13.607,
        };
        for (time, expected) in [
            (
                time("a.ptx", "ptxas", "a.ptx", ""),
                "a.ptx , ptxas , a.ptx , ",
            ),
            (
                time("ptx", "ptxas", "a.o", "cubin"),
                "ptx , ptxas , a.o , cubin",
            ),
            (
                time("lto.nvvm", "cicc", "", "lto.ptx"),
                "lto.nvvm , cicc ,  , lto.ptx",
            ),
        ] {
            let expected = format!("{expected} , sm_90 , nvlink , 13.6070 , ms\n");
            assert_eq!(row(&time, target, "nvlink"), expected);
        }
    }

    #[test]
    fn only_an_empty_file_gets_a_header() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let name = path.to_str().unwrap();
        let mut stdout = Vec::new();
        for _ in 0..2 {
            TimeTable::open(name, &mut stdout).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), HEADER);
        }
        assert!(stdout.is_empty());
        TimeTable::open("-", &mut stdout).unwrap();
        assert_eq!(stdout, HEADER.as_bytes());
        assert!(TimeTable::open("/none/t.csv", &mut stdout).is_err());
    }
}
