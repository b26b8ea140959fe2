//! Contents of a section, 16 bytes to a line.

use std::fmt::Write as _;
use std::io;

use super::Printer;
use crate::inspect::device_model::Section;

impl Printer<'_> {
    pub(super) fn hex_dump(&mut self, section: &Section<'_>) -> io::Result<()> {
        if section.contents.is_empty() {
            return Ok(());
        }
        let size = section.contents.len();
        self.line(format_args!(
            "contents of {} ({size:#x} bytes):",
            section.name
        ))?;
        self.depth += 1;
        for (row, bytes) in section.contents.chunks(16).enumerate() {
            let mut digits = String::with_capacity(50);
            let mut text = String::with_capacity(16);
            for (index, byte) in bytes.iter().enumerate() {
                let gap = if index == 8 { "  " } else { " " };
                // Writing to a string does not fail.
                let _ = write!(digits, "{gap}{byte:02x}");
                text.push(match byte {
                    b' '..=b'~' => char::from(*byte),
                    _ => '.',
                });
            }
            self.line(format_args!("{:06x} {digits:49}  {text}", row * 16))?;
        }
        self.depth -= 1;
        Ok(())
    }
}
