//! Bytes in the text form: slices of images, hex, or a hash.

use sha2::Digest;
use sha2::Sha256;

use super::DumpBytes;
use super::quote::put;
use super::quote::put_hex;
use crate::ids::ObjectId;
use crate::module::Module;

/// Returns the SHA-256 of `bytes`.
pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// The images of a module by address, to say of a slice where it comes from.
pub(super) struct ImageIndex {
    /// Start address, size and object, sorted.
    rows: Vec<(usize, usize, ObjectId)>,
    form: DumpBytes,
}

impl ImageIndex {
    pub(super) fn new(module: &Module<'_>, form: DumpBytes) -> Self {
        let images = module
            .objects
            .iter()
            .filter(|(_, object)| !object.image.is_empty());
        let mut rows: Vec<_> = images
            .map(|(id, object)| (object.image.as_ptr() as usize, object.image.len(), id))
            .collect();
        // An image that is given twice is named after its first object.
        rows.sort_by_key(|(start, size, id)| (*start, *size, *id));
        rows.dedup_by_key(|(start, size, _)| (*start, *size));
        ImageIndex { rows, form }
    }

    /// Returns the object and the offset in its image at which these bytes are.
    ///
    /// Addresses are only compared: equal addresses of two live slices mean the same bytes.
    fn find(&self, bytes: &[u8]) -> Option<(ObjectId, usize)> {
        let start = bytes.as_ptr() as usize;
        let after = self.rows.partition_point(|(image, _, _)| *image <= start);
        let (image, size, id) = *self.rows.get(after.checked_sub(1)?)?;
        let offset = start - image;
        (offset <= size && bytes.len() <= size - offset).then_some((id, offset))
    }

    /// Appends bytes. `reader` is the object block they stand in: images of later objects are not
    /// known there to a parser that reads from top to bottom.
    pub(super) fn put(&self, out: &mut String, bytes: &[u8], reader: Option<ObjectId>) {
        if bytes.is_empty() {
            out.push_str("x\"\"");
            return;
        }
        if self.form == DumpBytes::Hash {
            out.push_str("hash:");
            put_hex(out, &sha256(bytes)[..8]);
            put!(out, "+{}", bytes.len());
            return;
        }
        match self.find(bytes) {
            Some((id, offset)) if reader.is_none_or(|reader| id <= reader) => {
                put!(out, "{id}[{offset:#x}..{:#x}]", offset + bytes.len());
            }
            _ => {
                out.push_str("x\"");
                put_hex(out, bytes);
                out.push('"');
            }
        }
    }
}

/// Appends `sha256:<hex> size=N`.
pub(super) fn put_digest(out: &mut String, bytes: &[u8]) {
    out.push_str("sha256:");
    put_hex(out, &sha256(bytes));
    put!(out, " size={}", bytes.len());
}

/// Appends whole bytes as a block of hex lines, 32 bytes a line.
pub(super) fn put_block(out: &mut String, bytes: &[u8], indent: &str) {
    put!(out, "{indent}image-bytes\n");
    for (line, chunk) in bytes.chunks(32).enumerate() {
        put!(out, "{indent}  {:#06x}: ", line * 32);
        put_hex(out, chunk);
        out.push('\n');
    }
}
