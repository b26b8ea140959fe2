//! What a link spends on the checks that are always on: the share of `check-objects` and `check-link`
//! in the time of the whole process.
//!
//! The times of the passes come from links that report them (`--cuweld-time-passes-output`), the time of
//! the process from links that do not, in turn: the machine's state changes slower than that. All
//! have one thread, so that a pass has all of the time in which it runs.
#![expect(clippy::print_stdout, reason = "a program whose output is a table")]

use std::path::Path;
use std::time::Duration;
use std::time::Instant;

use crate::run::Effort;
use crate::run::Taken;
use crate::run::median;
use crate::run::taken;
use crate::tools::Failure;
use crate::tools::Tools;

/// The passes that check every link.
const PASSES: [&str; 2] = ["check-objects", "check-link"];

/// The most that they may take of a link's CPU time, in percent.
const LIMIT: f64 = 2.0;

/// Shares of a few percent of some milliseconds need more runs than times do: until both kinds of
/// links took so long, and so often at most.
const ENOUGH: Duration = Duration::from_secs(4);
const MOST_RUNS: usize = 101;

/// Prints the head of the table.
pub fn head() {
    println!(
        "With one thread; medians of runs in turn. CPU is user and system time of the process."
    );
    println!();
    println!(
        "| link | runs | wall, ms | CPU, ms | {}, ms | {}, ms | of wall | of CPU | {LIMIT} % |",
        PASSES[0], PASSES[1]
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|---|");
}

/// Measures a link and prints its row. `words` are nvlink's arguments, without `-o`, relative to the
/// folder.
pub fn row(
    name: &str,
    tools: &Tools,
    (folder, words): (&Path, &[String]),
    effort: &Effort,
) -> Result<(), Failure> {
    let (output, report) = ("cuweld.out", "cuweld.times");
    let link = |reports: bool| {
        let mut all = vec!["run".to_owned(), "0".to_owned()];
        all.push(tools.cuweld.to_string_lossy().into_owned());
        all.extend(["nvlink", "--cuweld-jobs=1"].map(str::to_owned));
        if reports {
            all.push(format!("--cuweld-time-passes-output={report}"));
        }
        all.extend(words.iter().cloned());
        all.extend(["-o".to_owned(), output.to_owned()]);
        let one = taken(tools, folder, &all)?;
        match one.code {
            0 => Ok(one),
            code => Err(format!("{} ends with {code}", tools.cuweld.display())),
        }
    };
    let mut links: Vec<Taken> = Vec::new();
    let mut passes: Vec<[f64; 2]> = Vec::new();
    let begun = Instant::now();
    while links.len() < effort.runs || (links.len() < MOST_RUNS && begun.elapsed() < ENOUGH) {
        links.push(link(false)?);
        link(true)?;
        let text = std::fs::read_to_string(folder.join(report));
        passes.push(times(&text.map_err(|error| error.to_string())?)?);
    }
    for name in [output, report] {
        // What is not there need not go.
        let _ = std::fs::remove_file(folder.join(name));
    }
    let ms = |seconds: f64| seconds * 1e3;
    let wall = ms(median(links.iter().map(|run| run.wall)));
    let cpu = ms(median(links.iter().map(|run| run.user + run.system)));
    let [objects, link] = [0, 1].map(|pass| median(passes.iter().map(|run| run[pass])));
    let both = objects + link;
    let share = 100.0 * both / cpu;
    let verdict = match share <= LIMIT {
        true => "holds",
        false => "missed",
    };
    println!(
        "| {name} | {} | {wall:.2} | {cpu:.2} | {objects:.3} | {link:.3} | {:.2} % | {share:.2} % | {verdict} |",
        links.len(),
        100.0 * both / wall,
    );
    Ok(())
}

/// Reads the milliseconds of CPU time of each of [`PASSES`] from a report of times.
fn times(report: &str) -> Result<[f64; 2], Failure> {
    let time = |pass: &str| {
        let lines = report.lines().map(str::split_whitespace);
        let mut found = lines.filter_map(|mut line| {
            let cpu = line.nth(2)?;
            (line.next() == Some(pass)).then_some(cpu)
        });
        let cpu = found.next().and_then(|cpu| cpu.parse().ok());
        cpu.ok_or(format!("the report of times lacks {pass}:\n{report}"))
    };
    Ok([time(PASSES[0])?, time(PASSES[1])?])
}

#[cfg(test)]
mod tests {
    use super::times;

    #[test]
    fn times_are_read_by_the_names_of_passes() {
        let report = "   wall ms    share      cpu ms  pass\n\
                      \x20    3.000   100.0%       2.900  executable\n\
                      \x20    0.100     3.3%       0.090    check-objects\n\
                      \x20    0.300    10.0%       0.250    check-link\n";
        assert_eq!(times(report), Ok([0.09, 0.25]));
        let without = report.replace("check-link", "relocate");
        assert!(times(&without).is_err());
    }
}
