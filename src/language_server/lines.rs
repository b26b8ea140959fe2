//! Positions of the protocol, which count lines and UTF-16 code units, and offsets in bytes.

use std::ops::Range;

use gen_lsp_types::Position;

/// Where the lines of a text begin.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// Finds the lines of a text.
    pub fn new(text: &str) -> Self {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes());
        Lines {
            starts: std::iter::once(0).chain(ends.map(|at| at + 1)).collect(),
        }
    }

    /// Returns the bytes of a line, without its end; none after the last one.
    pub fn bytes(&self, text: &str, line: usize) -> Range<usize> {
        let Some(start) = self.starts.get(line) else {
            return text.len()..text.len();
        };
        let end = self
            .starts
            .get(line + 1)
            .map_or(text.len(), |next| next - 1);
        let whole = text.get(*start..end).unwrap_or("");
        *start..start + whole.trim_end_matches('\r').len()
    }

    /// Returns the line of a byte, counted from 0.
    pub fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset) - 1
    }

    /// Returns the byte of a position. One after the end of its line is moved to that end.
    pub fn offset(&self, text: &str, position: Position) -> usize {
        let bytes = self.bytes(text, position.line as usize);
        let mut units = 0;
        let line = text.get(bytes.clone()).unwrap_or("");
        for (at, character) in line.char_indices() {
            if units >= position.character as usize {
                return bytes.start + at;
            }
            units += character.len_utf16();
        }
        bytes.end
    }

    /// Returns the position of a byte.
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let offset = offset.min(text.len());
        let line = self.line_of(offset);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let before = text.as_bytes().get(start..offset).unwrap_or(&[]);
        // Of a character that begins with a byte from 0xf0 on there are two units.
        let units = before.iter().map(|byte| match byte {
            0x80..0xc0 => 0,
            0xf0.. => 2,
            _ => 1,
        });
        Position {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            character: units.sum(),
        }
    }

    /// Returns the range of bytes.
    pub fn range(&self, text: &str, bytes: &Range<usize>) -> gen_lsp_types::Range {
        gen_lsp_types::Range {
            start: self.position(text, bytes.start),
            end: self.position(text, bytes.end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_utf16_units() {
        let text = "aé𝄞b\r\nx\n";
        let lines = Lines::new(text);
        assert_eq!(lines.bytes(text, 0), 0..8);
        let at = |line, character| lines.offset(text, Position { line, character });
        for (units, offset) in [(0, 0), (1, 1), (2, 3), (4, 7), (5, 8), (99, 8)] {
            assert_eq!(at(0, units), offset);
        }
        // In the middle of a character of two units.
        assert_eq!(at(0, 3), 7);
        assert_eq!((at(1, 1), at(2, 0), at(9, 0)), (11, 12, 12));
        for offset in [0, 1, 3, 7, 8, 10, 11, 12] {
            let position = lines.position(text, offset);
            assert_eq!(lines.offset(text, position), offset);
        }
        assert_eq!(
            lines.position(text, 99),
            Position {
                line: 2,
                character: 0
            }
        );
    }
}
