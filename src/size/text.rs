//! Sizes as text, in the form of bloaty, and as CSV.

use std::io;
use std::io::Write;

use super::rows::Needs;
use super::rows::Row;
use super::rows::SizeReport;
use super::rows::Sizes;
use crate::inspect::functions::UNKNOWN_STACK;

/// Which columns of a report are shown.
#[derive(Clone, Copy)]
struct Columns {
    is_compared: bool,
    has_stored: bool,
    has_needs: bool,
}

/// Writes a report as a table.
///
/// # Errors
///
/// Those of the writer.
pub fn write_table(report: &SizeReport, out: &mut dyn Write) -> io::Result<()> {
    let columns = Columns {
        is_compared: report.total.base.is_some(),
        has_stored: is_packed(&report.total),
        has_needs: report.sources.last() == Some(&"kernels"),
    };
    let mut titles = String::from("    FILE SIZE        VM SIZE    ");
    let mut rule = String::from(" --------------  -------------- ");
    if columns.has_stored {
        titles.push_str("     STORED     ");
        rule.push_str(" -------------- ");
    }
    if columns.has_needs {
        let width = needs_width(columns);
        for title in ["REGS", "STACK", "SHARED"] {
            titles.push_str(&format!(" {title:>width$}"));
            rule.push_str(&format!(" {}", "-".repeat(width)));
        }
    }
    writeln!(out, "{}", titles.trim_end())?;
    writeln!(out, "{}", rule.trim_end())?;
    write_rows(&report.total, 0, columns, out)?;
    write_row(&report.total, &report.total, 0, columns, out)
}

fn write_rows(
    parent: &Row,
    indent: usize,
    columns: Columns,
    out: &mut dyn Write,
) -> io::Result<()> {
    for row in &parent.rows {
        if row.is_unchanged() {
            continue;
        }
        write_row(row, parent, indent, columns, out)?;
        // One row that says the same again says nothing.
        let is_repeated = matches!(&row.rows[..], [only] if only.name == row.name);
        if !is_repeated {
            write_rows(row, indent + 2, columns, out)?;
        }
    }
    Ok(())
}

fn write_row(
    row: &Row,
    parent: &Row,
    indent: usize,
    columns: Columns,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut line = " ".repeat(indent);
    let mut column = |size: fn(&Sizes) -> u64| {
        let base = row.base.as_ref().map(size);
        let (now, all) = (size(&row.size), size(&parent.size));
        match base {
            None => line.push_str(&format!(
                " {} {} ",
                share(now, all),
                amount(now.into(), false)
            )),
            Some(base) => {
                let grown = i128::from(now) - i128::from(base);
                line.push_str(&format!(" {} {} ", change(now, base), amount(grown, true)));
            }
        }
    };
    column(|size| size.file);
    column(|size| size.memory);
    if columns.has_stored {
        column(|size| size.stored.unwrap_or(0));
    }
    if columns.has_needs {
        let width = needs_width(columns);
        for column in [registers, stack, shared] {
            let text = needs_text(row, columns, column);
            line.push_str(&format!(" {text:>width$}"));
        }
    }
    writeln!(out, "{line}   {}", row.name)
}

/// Returns `true` if an image of a row is packed.
fn is_packed(row: &Row) -> bool {
    let packed = |sizes: &Sizes| sizes.stored.is_some_and(|stored| stored != sizes.file);
    packed(&row.size) || row.base.as_ref().is_some_and(packed)
}

/// Returns the share of a size in percent, as bloaty writes it.
fn share(size: u64, of: u64) -> String {
    let percent = match of {
        0 => 0.0,
        of => 100.0 * size as f64 / of as f64,
    };
    format!("{percent:5.1}%")
}

/// Returns the change of a size in percent, as bloaty writes it.
fn change(now: u64, base: u64) -> String {
    let text = match (now, base) {
        (now, base) if now == base => "[ = ]".to_owned(),
        (_, 0) => "[NEW]".to_owned(),
        (0, _) => "[DEL]".to_owned(),
        (now, base) => {
            let percent = 100.0 * (now as f64 - base as f64) / base as f64;
            if percent > 1000.0 {
                // Six characters are enough for any change.
                let digits = percent.log10() as i32 - 1;
                format!("{:+.0}e{digits}%", percent / 10f64.powi(digits))
            } else if percent > 10.0 {
                format!("{percent:+4.0}%")
            } else {
                format!("{percent:+5.1}%")
            }
        }
    };
    format!("{text:>6}")
}

/// Returns a number of bytes with three digits, as bloaty writes it; with its sign in a comparison.
fn amount(bytes: i128, is_signed: bool) -> String {
    const UNITS: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let mut size = bytes as f64;
    let mut units = UNITS.into_iter();
    let mut unit = units.next().unwrap_or("");
    while size.abs() > 1024.0
        && let Some(next) = units.next()
    {
        size /= 1024.0;
        unit = next;
    }
    let digits = match size.abs() {
        size if size > 100.0 || unit.is_empty() => 0,
        size if size > 10.0 => 1,
        _ => 2,
    };
    let size = if digits == 0 { size.trunc() } else { size };
    let text = match is_signed && bytes != 0 {
        true => format!("{size:+.digits$}{unit}"),
        false => format!("{size:.digits$}{unit}"),
    };
    format!("{text:>7}")
}

fn needs_width(columns: Columns) -> usize {
    if columns.is_compared { 14 } else { 6 }
}

fn registers(needs: &Needs) -> String {
    needs.registers.map_or("?".to_owned(), |it| it.to_string())
}

fn stack(needs: &Needs) -> String {
    match needs.stack {
        None | Some(UNKNOWN_STACK) => "?".to_owned(),
        Some(bytes) => bytes.to_string(),
    }
}

fn shared(needs: &Needs) -> String {
    needs.shared.to_string()
}

/// Returns what a kernel needs; `24->32` if that is another amount than before.
fn needs_text(row: &Row, columns: Columns, text: fn(&Needs) -> String) -> String {
    let now = row.needs.as_ref().map(text);
    let base = row.base_needs.as_ref().map(text);
    match (now, base) {
        (Some(now), Some(base)) if columns.is_compared && now != base => format!("{base}->{now}"),
        (now, base) => now.or(base).unwrap_or_default(),
    }
}

/// Writes the rows of the last source as CSV, with those that they are part of: a column for each
/// source, then the sizes, and what kernels need.
///
/// # Errors
///
/// Those of the writer.
pub fn write_csv(report: &SizeReport, out: &mut dyn Write) -> io::Result<()> {
    let mut titles: Vec<String> = report
        .sources
        .iter()
        .map(|name| (*name).to_owned())
        .collect();
    titles.extend(["vmsize", "filesize"].map(str::to_owned));
    let is_compared = report.total.base.is_some();
    if is_compared {
        titles.extend(["base_vmsize", "base_filesize"].map(str::to_owned));
    }
    let has_needs = report.sources.last() == Some(&"kernels");
    if has_needs {
        titles.extend(["registers", "stack", "shared"].map(str::to_owned));
    }
    writeln!(out, "{}", titles.join(","))?;
    let mut path = Vec::new();
    let depth = report.sources.len();
    write_csv_rows(&report.total, &mut path, (depth, has_needs), out)
}

fn write_csv_rows<'r>(
    parent: &'r Row,
    path: &mut Vec<&'r str>,
    (depth, has_needs): (usize, bool),
    out: &mut dyn Write,
) -> io::Result<()> {
    for row in &parent.rows {
        path.push(&row.name);
        if !row.rows.is_empty() {
            write_csv_rows(row, path, (depth, has_needs), out)?;
            path.pop();
            continue;
        }
        // The others of an outer level have no name for the inner ones.
        let names = path.iter().copied().chain(std::iter::repeat(""));
        let mut cells: Vec<String> = names.take(depth).map(quoted).collect();
        for sizes in [Some(row.size), row.base].into_iter().flatten() {
            cells.extend([sizes.memory.to_string(), sizes.file.to_string()]);
        }
        if has_needs {
            let number = |number: Option<u64>| number.map_or(String::new(), |it| it.to_string());
            let needs = row.needs.or(row.base_needs);
            cells.push(number(needs.and_then(|it| it.registers).map(u64::from)));
            cells.push(number(needs.and_then(|it| it.stack).map(u64::from)));
            cells.push(number(needs.map(|it| it.shared)));
        }
        writeln!(out, "{}", cells.join(","))?;
        path.pop();
    }
    Ok(())
}

/// Returns a cell of CSV, in quotes if it needs them.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_those_of_bloaty() {
        let cases = [
            (0, "0"),
            (104, "104"),
            (1024, "1024"),
            (1025, "1.00Ki"),
            (20_320, "19.8Ki"),
            (1 << 20, "1024Ki"),
            (24_851_251, "23.7Mi"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(amount(bytes, false).trim_start(), expected);
            assert_eq!(amount(bytes, false).len(), 7);
        }
        assert_eq!(amount(104, true), "   +104");
        assert_eq!(amount(-2000, true), "-1.95Ki");
        assert_eq!(amount(0, true), "      0");
    }

    #[test]
    fn changes_are_those_of_bloaty() {
        let cases = [
            (0, 0, " [ = ]"),
            (7, 7, " [ = ]"),
            (7, 0, " [NEW]"),
            (0, 7, " [DEL]"),
            (110, 100, "+10.0%"),
            (120, 100, "  +20%"),
            (98, 100, " -2.0%"),
            (50, 100, "-50.0%"),
            (1100, 100, " +1000%".trim_start()),
            (123_400, 100, "+12e4%"),
        ];
        for (now, base, expected) in cases {
            assert_eq!(change(now, base), expected, "{now} {base}");
        }
        assert_eq!(
            (share(1, 3), share(3, 3), share(0, 0)),
            (" 33.3%".into(), "100.0%".into(), "  0.0%".into())
        );
    }

    #[test]
    fn cells_with_commas_are_quoted() {
        assert_eq!(quoted("f(int, \"x\")"), "\"f(int, \"\"x\"\")\"");
        assert_eq!(quoted("f(int)"), "f(int)");
    }
}
