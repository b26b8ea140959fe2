//! The table that is printed.
#![expect(clippy::print_stdout, reason = "a program whose output is a table")]

use crate::aims::nvlink_ratio;
use crate::aims::times_faster;
use crate::run::Effort;
use crate::run::Measured;
use crate::run::median;
use crate::tools::Tools;

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Describes the machine and the programs in a line.
pub fn machine(tools: &Tools) -> String {
    let number = |program: &std::path::Path| {
        let text = Tools::version(program);
        let word = text.split_whitespace().last().unwrap_or_default();
        word.trim_start_matches('V').to_owned()
    };
    let mut line = format!("{}; cuweld {}", hardware(), number(&tools.cuweld));
    if let Some(nvlink) = &tools.nvlink {
        line += &format!(", nvlink {}", number(nvlink));
    }
    line
}

fn hardware() -> String {
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        let value = line.and_then(|line| line.split(':').nth(1));
        value.unwrap_or("").trim().to_owned()
    };
    let processor = field(&read("/proc/cpuinfo"), "model name");
    let memory = field(&read("/proc/meminfo"), "MemTotal");
    let kilobytes: u64 = memory.trim_end_matches(" kB").parse().unwrap_or(0);
    let gigabytes = kilobytes * 1024 / 1_000_000_000;
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    let system = read("/proc/sys/kernel/osrelease");
    format!(
        "{processor}, {threads} threads, {gigabytes} GB, Linux {}",
        system.trim()
    )
}

/// Prints the machine, the versions and the head of the table.
pub fn head(tools: &Tools, effort: &Effort) {
    println!("{}", hardware());
    println!("load {}", read("/proc/loadavg").trim());
    println!("cuweld: {}", Tools::version(&tools.cuweld));
    if let Some(before) = &tools.before {
        println!("before: {}", before.display());
    }
    match &tools.nvlink {
        Some(nvlink) => println!("nvlink: {}", Tools::version(nvlink)),
        None => println!("nvlink: not in PATH"),
    }
    if effort.warmed {
        println!("warmed: before each run memory is taken and given back");
    }
    println!();
    println!(
        "Medians. Times in ms, sizes in MB (10^6 bytes); peak is all memory, anon what is no file."
    );
    println!(
        "floor: reading every input byte, unpacking what is packed, writing every output byte; growth: exponent over the size."
    );
    println!();
    println!(
        "| case | inputs | in | unpacked | out | wall | user | sys | peak | anon | anon limit | floor | x floor | with -j1 | growth | before | x before | nvlink | nvlink peak | x nvlink | aims | same bytes |"
    );
    println!(
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|---|"
    );
}

/// Prints a row of the table.
pub fn row(name: &str, measured: &Measured, growth: Option<f64>, aims: String) {
    let ours = &measured.cuweld;
    let wall = median(ours.iter().map(|run| run.wall));
    let floor = median(measured.floor.iter().copied());
    let (count, read, written) = measured.sizes;
    let mega = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6);
    let ms = |seconds: f64| format!("{:.2}", seconds * 1e3);
    let peak =
        |runs: &[crate::run::Taken]| mega(median(runs.iter().map(|run| run.peak as f64)) as u64);
    let failed = ours.iter().any(|run| run.code != 0);
    let ended = measured.nvlink.iter().any(|run| run.code == -1);
    let theirs = median(measured.nvlink.iter().map(|run| run.wall));
    let before = median(measured.before.iter().map(|run| run.wall));
    let ratio = nvlink_ratio(measured);
    // Of what did not run nothing is known.
    let some = |number: f64, text: String| if number.is_nan() { String::new() } else { text };
    let more = if ended { ">" } else { "" };
    let cells = [
        name.to_owned(),
        count.to_string(),
        mega(read),
        mega(measured.decoded),
        mega(written),
        if failed {
            "failed".to_owned()
        } else {
            ms(wall)
        },
        ms(median(ours.iter().map(|run| run.user))),
        ms(median(ours.iter().map(|run| run.system))),
        peak(ours),
        mega(measured.anonymous),
        mega(measured.memory_limit()),
        ms(floor),
        format!("{:.1}", wall / floor),
        if measured.single.is_empty() {
            String::new()
        } else {
            format!("{:.1}", measured.floor_ratio(&measured.single))
        },
        growth.map_or(String::new(), |growth| format!("{growth:.2}")),
        some(before, ms(before)),
        some(
            before,
            format!("{:.2}", times_faster(ours, &measured.before)),
        ),
        some(theirs, format!("{more}{}", ms(theirs))),
        some(theirs, peak(&measured.nvlink)),
        some(ratio, format!("{more}{ratio:.1}")),
        aims,
        match measured.identical {
            Some(true) => "yes".to_owned(),
            Some(false) => "NO".to_owned(),
            None => String::new(),
        },
    ];
    println!("| {} |", cells.join(" | "));
}
