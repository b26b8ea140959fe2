//! The report as text: a tree of files, each device ELF with its tables.

mod device;
mod hex_dump;

pub(crate) use self::device::AttributeText;

use std::io;
use std::io::Write;

use super::model::*;
use super::selection::Selection;

/// How the text is written.
#[derive(Clone, Debug)]
pub struct TextOptions {
    /// Which tables are written; the model holds no others.
    pub selection: Selection,
    /// Whether names are shown as in the source beside the mangled ones.
    pub demangle: bool,
}

/// Writes a report.
pub fn write_report(
    report: &Report<'_>,
    options: &TextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut printer = Printer {
        out,
        options,
        depth: 0,
    };
    for (index, file) in report.files.iter().enumerate() {
        if index > 0 && options.selection != Selection::NONE {
            printer.blank()?;
        }
        printer.node(file, "")?;
    }
    Ok(())
}

struct Printer<'a> {
    out: &'a mut dyn Write,
    options: &'a TextOptions,
    depth: usize,
}

impl Printer<'_> {
    /// Writes an indented line.
    fn line(&mut self, text: std::fmt::Arguments<'_>) -> io::Result<()> {
        write!(self.out, "{:width$}", "", width = self.depth * 2)?;
        writeln!(self.out, "{text}")
    }

    fn blank(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    /// Writes a node; `label` stands in front of its name.
    fn node(&mut self, node: &Node<'_>, label: &str) -> io::Result<()> {
        let name = &node.name;
        let size = node.size;
        let head = if name.is_empty() {
            label.to_owned()
        } else {
            format!("{label}{name}: ")
        };
        match &node.content {
            Content::Archive(archive) => {
                let thin = if archive.thin {
                    "thin archive"
                } else {
                    "archive"
                };
                let count = count(archive.members.len(), "member");
                self.line(format_args!("{head}{thin}, {count}, {size} bytes"))?;
            }
            Content::HostElf(host) => {
                let (ty, machine) = (&host.file_type, &host.machine);
                self.line(format_args!(
                    "{head}host ELF, {ty}, {machine}, {size} bytes"
                ))?;
                self.depth += 1;
                self.host_elf(host)?;
                self.depth -= 1;
            }
            Content::Fatbin(fatbin) => {
                let count = count(fatbin.members.len(), "member");
                let linkable = if fatbin.linkable {
                    ""
                } else {
                    ", not seen by device linkers"
                };
                let version = fatbin.version;
                self.line(format_args!(
                    "{head}fatbin version {version}, {count}, {size} bytes at {:#x}{linkable}",
                    node.offset
                ))?;
            }
            Content::FatbinMember(member) => self.fatbin_member(node, member)?,
            Content::DeviceElf(elf) => {
                let (ty, arch) = (&elf.header.file_type, &elf.header.arch);
                let code = &elf.header.code;
                self.line(format_args!(
                    "{head}device ELF, {ty}, {arch}, {code}, {size} bytes"
                ))?;
                self.depth += 1;
                self.device_elf(elf)?;
                self.depth -= 1;
            }
            Content::Ptx(ptx) => self.line(format_args!(
                "{head}PTX {}, target {}, {size} bytes",
                ptx.version, ptx.target
            ))?,
            Content::LtoIr => self.line(format_args!("{head}LTO-IR, {size} bytes"))?,
            Content::Unknown => self.line(format_args!("{head}unknown content, {size} bytes"))?,
        }
        self.depth += 1;
        for error in &node.errors {
            self.line(format_args!("error: {error}"))?;
        }
        for child in node.children() {
            self.node(child, "")?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn host_elf(&mut self, host: &HostElf<'_>) -> io::Result<()> {
        for id in &host.module_ids {
            self.line(format_args!("module id {id}"))?;
        }
        for id in &host.prelinked_ids {
            self.line(format_args!("linked already: module id {id}"))?;
        }
        for reference in &host.references {
            let (about, pattern) = (reference.about, &reference.pattern);
            self.line(format_args!("refers to {about} {pattern}"))?;
        }
        Ok(())
    }

    fn fatbin_member(&mut self, node: &Node<'_>, member: &FatbinMember<'_>) -> io::Result<()> {
        let code = match member.code {
            "elf" => "ELF",
            "ptx" => "PTX",
            "lto-ir" => "LTO-IR",
            _ => "other code",
        };
        let mut text = format!("{code} {}", member.arch);
        if !node.name.is_empty() {
            text.push_str(&format!(" '{}'", node.name));
        }
        text.push_str(&format!(", version {}", member.version));
        text.push_str(&match member.codec {
            "none" => format!(", {} bytes", member.stored_size),
            codec => format!(
                ", {codec} {} -> {} bytes",
                member.stored_size, member.unpacked_size
            ),
        });
        text.push_str(&format!(", flags {:#x}", member.flags));
        if !member.flag_names.is_empty() {
            text.push_str(&format!(" ({})", member.flag_names.join(", ")));
        }
        if !member.options.0.trim_ascii().is_empty() {
            text.push_str(&format!(", options '{}'", member.options));
        }
        self.line(format_args!("{text}"))
    }
}

/// Formats a count: `1 member`, `2 members`.
fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}
