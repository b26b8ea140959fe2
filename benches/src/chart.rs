//! The chart of a run: for each link a bar of nvlink's time and one of cuweld's, as an SVG file
//! that needs no fonts and fits light and dark pages.

use std::fmt::Write as _;

use crate::aims::nvlink_ratio;
use crate::run::Measured;
use crate::run::median;
use crate::shapes::Case;
use crate::shapes::Shape;
use crate::wrap::Wrapping;

/// A pair of bars.
pub struct Pair {
    label: String,
    cuweld: f64,
    nvlink: f64,
    ratio: f64,
    /// nvlink was ended before it was done.
    ended: bool,
}

impl Pair {
    /// Returns the bars of a link; `None` if nvlink did not run.
    pub fn new(label: String, measured: &Measured) -> Option<Self> {
        if measured.nvlink.is_empty() {
            return None;
        }
        Some(Pair {
            label,
            cuweld: median(measured.cuweld.iter().map(|run| run.wall)),
            nvlink: median(measured.nvlink.iter().map(|run| run.wall)),
            ratio: nvlink_ratio(measured),
            ended: measured.nvlink.iter().any(|run| run.code == -1),
        })
    }
}

/// Describes the program of a case in a few words.
pub fn label(case: &Case) -> String {
    let n = grouped(case.size);
    let text = match case.shape {
        Shape::Tiny => format!("{n} small objects"),
        Shape::Lean => format!("{n} objects that call each other"),
        Shape::Flat => format!("{n} independent objects"),
        Shape::Mixed => format!("{n} objects, function tables"),
        Shape::MixedWithoutTables => format!("{n} objects, kernels and functions"),
        Shape::Weak(count) => format!("{n} objects, the same {count} templates"),
        Shape::VirtualObjects => format!("{n} objects, virtual functions"),
        Shape::Chain => format!("calls through {n} objects"),
        Shape::Dead => format!("{n} unused objects"),
        Shape::Kernels => format!("one object, {n} kernels"),
        Shape::Leaves => format!("one object, {n} functions"),
        Shape::Indirect => format!("{n} kernels, {n} indirect callees"),
        Shape::Fan(length) => format!("{n} kernels, {} calls deep", grouped(length)),
        Shape::Diamond => format!("{n} levels of calls, two ways each"),
        Shape::Data => format!("{n} MiB of data"),
        Shape::Table => format!("table of {n} addresses"),
        Shape::Blocks(Wrapping::None) => format!("{n} objects of 256 KiB"),
        Shape::Blocks(_) => format!("{n} compressed objects of 256 KiB"),
        Shape::Classes => format!("{n} host objects in C++"),
    };
    match case.sm {
        "sm_90" => text,
        sm => format!("{text}, {sm}"),
    }
}

/// Writes a number with a comma between groups of three digits.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes a time with two digits, or three from 100 on.
fn time(seconds: f64) -> String {
    let (value, unit) = if seconds < 1.0 {
        (seconds * 1e3, "ms")
    } else {
        (seconds, "s")
    };
    let places = match value {
        value if value < 0.995 => 2,
        value if value < 9.95 => 1,
        _ => 0,
    };
    format!("{value:.places$} {unit}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

const WIDTH: f64 = 880.0;
/// Where bars begin.
const LEFT: f64 = 300.0;
/// Room for a time after the longest bar, and for the ratio.
const RIGHT: f64 = 160.0;
/// Room above the bars.
const TOP: f64 = 62.0;
const ROW: f64 = 44.0;
const BAR: f64 = 14.0;

const STYLE: &str = "\
text{font:13px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2328}\
.title{font-size:15px;font-weight:600}.small{font-size:11px;fill:#59636e}.ratio{font-size:15px;font-weight:600}\
.grid{stroke:#d1d9e0}.nvlink{fill:#9aa4ae}.cuweld{fill:#1f883d}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#9198a1}.grid{stroke:#3d444d}\
.nvlink{fill:#656c76}.cuweld{fill:#3fb950}}";

/// Draws the chart. `machine` stands below it.
pub fn draw(pairs: &[Pair], machine: &str) -> String {
    let all = || pairs.iter().flat_map(|pair| [pair.cuweld, pair.nvlink]);
    let first = all().fold(1e-3, f64::min).log10().floor();
    let last = all().fold(1e-2, f64::max).log10();
    let x =
        |seconds: f64| LEFT + (seconds.log10() - first) / (last - first) * (WIDTH - LEFT - RIGHT);
    let bottom = TOP + ROW * pairs.len() as f64;
    let height = bottom + 44.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"Times of nvlink and cuweld for the same links\">\n<style>{STYLE}</style>\n"
    );
    let text = |x: f64, y: f64, class: &str, anchor: &str, text: &str| {
        format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\" text-anchor=\"{anchor}\">{}</text>\n",
            escaped(text)
        )
    };
    svg += &text(
        12.0,
        22.0,
        "title",
        "start",
        "Time to link the same files (logarithmic; shorter is better)",
    );
    for (at, class) in [(LEFT, "nvlink"), (LEFT + 90.0, "cuweld")] {
        let _ = writeln!(
            svg,
            "<rect x=\"{at}\" y=\"36\" width=\"12\" height=\"12\" class=\"{class}\"/>"
        );
        svg += &text(at + 18.0, 47.0, "", "start", class);
    }
    svg += &text(WIDTH - 12.0, 47.0, "", "end", "times faster");
    for decade in first as i32..=last.floor() as i32 {
        let at = x(10_f64.powi(decade));
        let _ = writeln!(svg, "<path d=\"M{at:.1} {TOP}V{bottom}\" class=\"grid\"/>");
        let mark = match decade {
            decade if decade < 0 => format!("{:.0} ms", 10_f64.powi(decade + 3)),
            _ => format!("{:.0} s", 10_f64.powi(decade)),
        };
        svg += &text(at, bottom + 15.0, "small", "middle", &mark);
    }
    for (index, pair) in pairs.iter().enumerate() {
        let y = TOP + ROW * index as f64 + 7.0;
        let more = if pair.ended { "> " } else { "" };
        svg += &text(LEFT - 12.0, y + BAR + 4.0, "", "end", &pair.label);
        for (class, seconds, y, more) in [
            ("nvlink", pair.nvlink, y, more),
            ("cuweld", pair.cuweld, y + BAR + 1.0, ""),
        ] {
            let width = (x(seconds) - LEFT).max(1.0);
            let _ = writeln!(
                svg,
                "<rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{BAR}\" rx=\"2\" class=\"{class}\"/>"
            );
            svg += &text(
                LEFT + width + 6.0,
                y + 11.0,
                "small",
                "start",
                &format!("{more}{}", time(seconds)),
            );
        }
        let ratio = match pair.ratio {
            ratio if ratio < 9.95 => format!("{more}{ratio:.1}×"),
            ratio => format!("{more}{}×", grouped(ratio.round() as usize)),
        };
        svg += &text(WIDTH - 12.0, y + BAR + 6.0, "ratio", "end", &ratio);
    }
    svg += &text(12.0, height - 8.0, "small", "start", machine);
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(label: &str, cuweld: f64, nvlink: f64, ended: bool) -> Pair {
        Pair {
            label: label.into(),
            cuweld,
            nvlink,
            ratio: nvlink / cuweld,
            ended,
        }
    }

    #[test]
    fn numbers_have_few_digits() {
        assert_eq!(
            [0.000_681, 0.0078, 0.0876, 0.9, 8.28, 300.0].map(time),
            ["0.68 ms", "7.8 ms", "88 ms", "900 ms", "8.3 s", "300 s"]
        );
        assert_eq!(
            [7, 100, 1000, 12_345_678].map(grouped),
            ["7", "100", "1,000", "12,345,678"]
        );
    }

    #[test]
    fn a_chart_has_two_bars_and_a_ratio_for_each_link() {
        let svg = draw(
            &[
                pair("a < b", 0.001, 0.01, false),
                pair("c", 0.05, 30.0, true),
            ],
            "machine",
        );
        assert_eq!(svg.matches("rx=\"2\"").count(), 4);
        assert!(
            svg.contains("a &lt; b") && svg.contains(">10×<") && svg.contains(">&gt; 600×<"),
            "{svg}"
        );
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    }

    #[test]
    fn every_case_has_a_label_of_its_own() {
        let mut labels: Vec<String> = crate::shapes::CASES
            .iter()
            .filter(|case| !case.name.starts_with("blocks"))
            .map(label)
            .collect();
        let count = labels.len();
        labels.sort();
        labels.dedup();
        assert_eq!(labels.len(), count);
    }
}
