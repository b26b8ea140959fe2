//! The report as a table and as JSON.

use std::fmt::Write as _;

use cuweld_ir::Module;
use cuweld_ir::table::EntityId;

use super::Needs;
use super::call_chains::CallChains;
use crate::analyses::CallGraph;
use crate::analyses::LiveFunctions;

/// What a kernel needs.
pub(super) struct Row {
    name: String,
    registers: u32,
    registers_for: String,
    barriers: u8,
    stack: u32,
    shared: u64,
    local: u64,
    banks: Vec<(u8, u64)>,
    chain: Vec<String>,
}

/// Returns the kernels of a link, first created first.
pub(super) fn rows(module: &Module<'_>, graph: &CallGraph, live: &LiveFunctions) -> Vec<Row> {
    let needs = Needs::new(module);
    let chains = CallChains::new(module, graph, &needs.frame);
    live.kernels
        .iter()
        .map(|&(link, function)| Row {
            name: String::from_utf8_lossy(module.link_name(link)).into_owned(),
            registers: needs.registers[link.index()],
            registers_for: chains.greediest(module, link.index() as u32),
            barriers: needs.barriers[function.index()],
            stack: needs.stack(link),
            shared: needs.shared(module, function),
            local: needs.local[function.index()],
            banks: needs.banks[function.index()].clone(),
            chain: chains.deepest(module, link.index() as u32),
        })
        .collect()
}

/// Returns the rows as JSON, sizes in bytes.
pub(super) fn json(rows: &[Row]) -> String {
    let kernels: Vec<String> = rows
        .iter()
        .map(|row| {
            let constants: Vec<String> = row
                .banks
                .iter()
                .map(|(bank, size)| format!("\"{bank}\":{size}"))
                .collect();
            let chain: Vec<String> = row.chain.iter().map(|name| quoted(name)).collect();
            format!(
                "{{\"name\":{},\"registers\":{},\"registers_for\":{},\"barriers\":{},\"stack\":{},\
                 \"shared\":{},\"local\":{},\"constants\":{{{}}},\"call_chain\":[{}]}}",
                quoted(&row.name),
                row.registers,
                quoted(&row.registers_for),
                row.barriers,
                row.stack,
                row.shared,
                row.local,
                constants.join(","),
                chain.join(",")
            )
        })
        .collect();
    format!("{{\"kernels\":[{}]}}", kernels.join(","))
}

/// Formats a text as a JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                out.push('\\');
                out.push(character);
            }
            '\0'..'\x20' => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
    out
}

/// Returns the rows as a table, sizes in bytes.
pub(super) fn table(rows: &[Row]) -> String {
    let heads = [
        "kernel",
        "registers",
        "barriers",
        "stack",
        "shared",
        "local",
        "constants",
        "registers for",
        "call chain",
    ];
    let mut lines: Vec<Vec<String>> = vec![heads.map(str::to_owned).to_vec()];
    for row in rows {
        let constants: Vec<String> = row
            .banks
            .iter()
            .map(|(bank, size)| format!("[{bank}]={size}"))
            .collect();
        lines.push(vec![
            row.name.clone(),
            row.registers.to_string(),
            row.barriers.to_string(),
            row.stack.to_string(),
            row.shared.to_string(),
            row.local.to_string(),
            constants.join(" "),
            row.registers_for.clone(),
            row.chain.join(" > "),
        ]);
    }
    let mut widths = [0; 9];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.len());
        }
    }
    let lines: Vec<String> = lines
        .iter()
        .map(|line| {
            let mut text = String::new();
            for (index, (cell, width)) in line.iter().zip(widths).enumerate() {
                // Numbers stand at the right.
                let _ = match index {
                    1..=5 => write!(text, "{cell:>width$}  "),
                    _ => write!(text, "{cell:<width$}  "),
                };
            }
            text.trim_end().to_owned()
        })
        .collect();
    lines.join("\n")
}
