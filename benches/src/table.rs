//! The table that is printed.
#![expect(clippy::print_stdout, reason = "a program whose output is a table")]

use crate::run::Measured;
use crate::run::median;
use crate::tools::Tools;

/// The machine, the versions and the head of the table.
pub fn head(tools: &Tools) {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        let value = line.and_then(|line| line.split(':').nth(1));
        value.unwrap_or("").trim().to_owned()
    };
    let processor = field(&read("/proc/cpuinfo"), "model name");
    let memory = field(&read("/proc/meminfo"), "MemTotal");
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    println!(
        "{processor}, {threads} threads, {memory}, Linux {}",
        read("/proc/sys/kernel/osrelease").trim()
    );
    println!("load {}", read("/proc/loadavg").trim());
    println!("cuweld: {}", Tools::version(&tools.cuweld));
    match &tools.nvlink {
        Some(nvlink) => println!("nvlink: {}", Tools::version(nvlink)),
        None => println!("nvlink: not in PATH"),
    }
    println!();
    println!(
        "Medians. Times in ms, sizes in MB (10^6 bytes); peak is all memory, anon what is no file."
    );
    println!(
        "floor: reading every input byte and writing every output byte; growth: exponent over the size."
    );
    println!();
    println!(
        "| case | inputs | in | out | wall | user | sys | peak | anon | anon limit | floor | x floor | growth | nvlink | nvlink peak | x nvlink | aim | same bytes |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|");
}

/// A row.
pub fn row(name: &str, aim: Option<f64>, measured: &Measured, growth: Option<f64>) {
    let ours = &measured.cuweld;
    let wall = median(ours.iter().map(|run| run.wall));
    let floor = median(measured.floor.iter().copied());
    let (count, read, written) = measured.sizes;
    let mega = |bytes: u64| format!("{:.1}", bytes as f64 / 1e6);
    let ms = |seconds: f64| format!("{:.2}", seconds * 1e3);
    let peak =
        |runs: &[crate::run::Taken]| mega(median(runs.iter().map(|run| run.peak as f64)) as u64);
    let failed = ours.iter().any(|run| run.code != 0);
    let limit = written + read / 4 + 20_000_000;
    let ended = measured.nvlink.iter().any(|run| run.code == -1);
    let theirs = median(measured.nvlink.iter().map(|run| run.wall));
    // Run by run where there are as many, so that what slows the machine slows both.
    let pairs = measured.nvlink.iter().rev().zip(ours.iter().rev());
    let ratio = median(pairs.map(|(theirs, ours)| theirs.wall / ours.wall));
    let more = if ended { ">" } else { "" };
    let cells = [
        name.to_owned(),
        count.to_string(),
        mega(read),
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
        mega(limit),
        ms(floor),
        format!("{:.1}", wall / floor),
        growth.map_or(String::new(), |growth| format!("{growth:.2}")),
        if theirs.is_nan() {
            String::new()
        } else {
            format!("{more}{}", ms(theirs))
        },
        if theirs.is_nan() {
            String::new()
        } else {
            peak(&measured.nvlink)
        },
        if ratio.is_nan() {
            String::new()
        } else {
            format!("{more}{ratio:.1}")
        },
        match aim {
            Some(aim) if ratio >= aim => format!("{aim} holds"),
            Some(aim) if ratio.is_nan() || ended => format!("{aim}"),
            Some(aim) => format!("{aim} missed by {:.2}", aim / ratio),
            None => String::new(),
        },
        match measured.identical {
            Some(true) => "yes".to_owned(),
            Some(false) => "NO".to_owned(),
            None => String::new(),
        },
    ];
    println!("| {} |", cells.join(" | "));
}
