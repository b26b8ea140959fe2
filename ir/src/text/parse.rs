//! Parsing: the module header, object blocks, and how values and references are read.

use super::DumpBytes;
use super::ImageKey;
use super::ParseError;
use super::content::sha256;
use super::finding_rows::FindingsRead;
use super::lexer::Cursor;
use super::lexer::Parsed;
use super::lexer::Position;
use super::rebuild::rebuild;
use super::references::References;
use super::renumber::Numbering;
use super::values::Decimal;
use crate::arena::Arena;
use crate::ids::*;
use crate::module::Module;
use crate::module::Phase;
use crate::object::Object;
use cuweld_elf::target::Target;
use cuweld_elf::target::arch::Suffix;
use cuweld_elf::toolkit::Toolkit;

/// Finds the image that a text refers to.
type Resolve<'r, 'data> = &'r dyn Fn(&ImageKey<'_>) -> Option<&'data [u8]>;

/// Parses the text form. `resolve` gives the images of inputs that the text only names; names and
/// bytes that stand in the text are copied into the arena.
///
/// Every reference of the module that is returned is an id of its table.
pub fn parse<'data>(
    text: &str,
    arena: &'data Arena,
    resolve: &dyn Fn(&ImageKey<'_>) -> Option<&'data [u8]>,
) -> Result<Module<'data>, ParseError> {
    let mut parser = Parser::new(text, arena, resolve);
    parser.text()?;
    let findings = std::mem::take(&mut parser.findings);
    parser.module.findings.add_sorted(findings.nested());
    parser.references.check(&parser.module)?;
    parser.output_image()?;
    Ok(parser.module)
}

/// What the text says of an image.
#[derive(Clone, Copy)]
pub(super) struct Digest {
    position: Position,
    sha256: [u8; 32],
    size: u64,
}

impl Digest {
    /// Checks that bytes are those of the image.
    fn check(&self, bytes: &[u8], whose: &str) -> Parsed<()> {
        if bytes.len() as u64 != self.size {
            return Err(self.position.error(format!(
                "expected an image of {} bytes, but {whose} has {}",
                self.size,
                bytes.len()
            )));
        }
        if sha256(bytes) != self.sha256 {
            return Err(self
                .position
                .error(format!("the SHA-256 of {whose} is another one")));
        }
        Ok(())
    }
}

pub(crate) struct Parser<'t, 'data, 'r> {
    pub(super) cursor: Cursor<'t>,
    pub(super) arena: &'data Arena,
    resolve: Resolve<'r, 'data>,
    pub(super) module: Module<'data>,
    pub(super) references: References<'t>,
    /// The object block that rows stand in.
    pub(super) object: Option<ObjectId>,
    pub(super) reloc_section: Option<SectionId>,
    /// `None` outside a group, `Some(None)` in one that belongs to no section.
    pub(super) attribute_section: Option<Option<SectionId>>,
    pub(super) note_section: Option<Option<SectionId>>,
    /// The image of the object whose row is read.
    pub(super) input: Option<Digest>,
    image: Option<(Digest, Option<Vec<u8>>)>,
    pub(super) findings: FindingsRead,
    /// Set if ids may be any, and only the text is of interest.
    pub(super) numbering: Option<Numbering<'t>>,
}

impl<'t, 'data, 'r> Parser<'t, 'data, 'r> {
    pub(super) fn new(text: &'t str, arena: &'data Arena, resolve: Resolve<'r, 'data>) -> Self {
        Parser {
            cursor: Cursor::new(text),
            arena,
            resolve,
            module: Module::default(),
            references: References::default(),
            object: None,
            reloc_section: None,
            attribute_section: None,
            note_section: None,
            input: None,
            image: None,
            findings: FindingsRead::default(),
            numbering: None,
        }
    }
}

/// Returns where ids stand that a text refers to: line and column, counted from 1.
#[cfg(test)]
pub(super) fn claimed_ids(text: &str) -> Vec<(usize, usize)> {
    let arena = Arena::new();
    let mut parser = Parser::new(text, &arena, &|_| None);
    parser.text().unwrap();
    parser.references.places_of_ids()
}

impl<'t, 'data> Parser<'t, 'data, '_> {
    pub(super) fn text(&mut self) -> Parsed<()> {
        self.cursor.start_row();
        self.cursor.expect("lir")?;
        let position = self.cursor.position();
        let version = self.cursor.number()?;
        if version != 1 {
            return Err(position.error(format!("expected version 1, found {version}")));
        }
        self.cursor.end_row()?;
        self.cursor.start_row();
        if !self.cursor.eat_word("module") {
            return Err(self.cursor.expected("`module`"));
        }
        self.header()?;
        loop {
            if !self.cursor.start_row() {
                return Err(self.cursor.expected("`end`"));
            }
            if self.cursor.eat_word("end") {
                break;
            }
            self.row()?;
        }
        self.cursor.end_row()?;
        if self.cursor.start_row() {
            return Err(self.cursor.expected("nothing after `end`"));
        }
        Ok(())
    }

    fn header(&mut self) -> Parsed<()> {
        while let Some((position, key)) = self.cursor.field()? {
            self.cursor.expect("=")?;
            let at = self.cursor.position();
            match key {
                "phase" => {
                    let word = self.cursor.word("a phase")?;
                    self.module.phase = Phase::from_name(word)
                        .ok_or_else(|| at.error(format!("expected a phase, found `{word}`")))?;
                }
                "toolkit" => {
                    let word = self.cursor.version("a toolkit")?;
                    self.module.toolkit = Toolkit::by_version(word).ok_or_else(|| {
                        let known = Toolkit::ALL.iter().map(|toolkit| toolkit.version);
                        let known = known.collect::<Vec<_>>().join(", ");
                        at.error(format!("unknown toolkit `{word}`; known are {known}"))
                    })?;
                }
                "target" => self.module.target = self.target_name()?,
                "bytes" => {
                    let word = self.cursor.word("a form of bytes")?;
                    match DumpBytes::from_name(word) {
                        Some(DumpBytes::Hash) => {
                            return Err(at.error(
                                "this dump holds hashes in place of bytes and cannot be parsed; \
                                 make it with --dump-bytes=ref or full",
                            ));
                        }
                        Some(_) => {}
                        None => {
                            return Err(at.error(format!("expected ref or full, found `{word}`")));
                        }
                    }
                }
                _ => return Err(unknown(position, key, "phase, toolkit, target, bytes")),
            }
        }
        self.cursor.end_row()
    }

    fn target_name(&mut self) -> Parsed<Target> {
        let position = self.cursor.position();
        let word = self.cursor.word("a target")?;
        let parse = || {
            let rest = word.strip_prefix("sm_")?;
            let (digits, suffix) = match rest.as_bytes().last()? {
                b'a' => (rest.strip_suffix('a')?, Suffix::Specific),
                b'f' => (rest.strip_suffix('f')?, Suffix::Family),
                _ => (rest, Suffix::None),
            };
            Some(Target {
                sm: digits.parse().ok()?,
                suffix,
            })
        };
        parse().ok_or_else(|| {
            position.error(format!("expected a target such as sm_90a, found `{word}`"))
        })
    }

    pub(super) fn start_block(&mut self, object: Option<ObjectId>) {
        self.object = object;
        self.reloc_section = None;
        self.attribute_section = None;
        self.note_section = None;
        if let (Some(numbering), None) = (&mut self.numbering, object) {
            numbering.start_block(None);
        }
    }

    pub(super) fn object_block(&mut self) -> Parsed<()> {
        let id = self.defined(self.module.objects.len())?;
        let mut object = Object::default();
        let start = self.cursor.position();
        self.fields(start, &mut object)?;
        self.cursor.end_row()?;
        let start = self.cursor.start_row().then(|| self.cursor.offset());
        if let Some(start) = start.filter(|_| self.cursor.eat_word("owns")) {
            match &mut self.numbering {
                Some(numbering) => numbering.owns(start..self.cursor.skip_row()),
                None => self.owned(&mut object)?,
            }
            self.cursor.end_row()?;
        }
        if self.numbering.is_some() {
            self.input = None;
            self.image_bytes()?;
        }
        if let Some(digest) = self.input.take() {
            object.image = match self.image_bytes()? {
                Some(bytes) => {
                    digest.check(&bytes, "the block of hex below")?;
                    self.arena.bytes(&bytes)
                }
                None => self.resolve(&digest, &object)?,
            };
        }
        self.module.objects.push(object);
        self.start_block(Some(id));
        Ok(())
    }

    fn resolve(&self, digest: &Digest, object: &Object<'data>) -> Parsed<&'data [u8]> {
        let Digest { sha256, size, .. } = *digest;
        let key = ImageKey {
            sha256,
            size,
            name: object.name,
            member: object.member,
        };
        let image = (self.resolve)(&key).ok_or_else(|| {
            digest.position.error(format!(
                "the input `{}` is not at hand; make the dump with --dump-bytes=full",
                object.display()
            ))
        })?;
        digest.check(image, &format!("the input `{}`", object.display()))?;
        Ok(image)
    }

    /// Parses `sha256:<hex> size=N`.
    pub(super) fn digest(&mut self) -> Parsed<Digest> {
        let position = self.cursor.position();
        self.cursor.expect("sha256:")?;
        let mut bytes = Vec::new();
        self.cursor.hex(&mut bytes)?;
        let sha256 = bytes
            .try_into()
            .map_err(|_| position.error("expected `sha256:` and 64 hex digits"))?;
        self.cursor.expect("size")?;
        Ok(Digest {
            position,
            sha256,
            size: self.value(Decimal)?,
        })
    }

    /// Reads the row of the output image, and its bytes if they follow.
    pub(super) fn image_row(&mut self, position: Position) -> Parsed<()> {
        let digest = self.digest()?;
        self.cursor.end_row()?;
        let bytes = self.image_bytes()?;
        match self.image.replace((digest, bytes)) {
            Some(_) => Err(position.error("a second image")),
            None => Ok(()),
        }
    }

    /// Parses a block of hex lines, if one comes next.
    fn image_bytes(&mut self) -> Parsed<Option<Vec<u8>>> {
        if !self.cursor.start_row() || !self.cursor.eat_word("image-bytes") {
            return Ok(None);
        }
        self.cursor.end_row()?;
        let mut bytes = Vec::new();
        while self.offset_row(bytes.len())? {
            self.cursor.hex(&mut bytes)?;
            self.cursor.end_row()?;
        }
        Ok(Some(bytes))
    }

    /// Starts a row that begins with its offset, as in `0x40: ...`.
    pub(super) fn offset_row(&mut self, expected: usize) -> Parsed<bool> {
        if !self.cursor.start_row() || !self.cursor.peek().is_some_and(|b| b.is_ascii_digit()) {
            return Ok(false);
        }
        let position = self.cursor.position();
        let offset = self.cursor.number()?;
        if offset != expected as u64 {
            return Err(position.error(format!(
                "expected the line at {expected:#x}, found the one at {offset:#x}"
            )));
        }
        self.cursor.expect(":")?;
        self.cursor.position();
        Ok(true)
    }

    /// Makes the output image anew, or takes the bytes that the text has.
    fn output_image(&mut self) -> Parsed<()> {
        let Some((digest, bytes)) = self.image.take() else {
            return Ok(());
        };
        let image = match bytes {
            Some(bytes) => bytes,
            None => {
                // The plan of a damaged text may name any size.
                let inputs: usize = self
                    .module
                    .objects
                    .values()
                    .map(|row| row.image.len())
                    .sum();
                let known = (self.cursor.text_size() as u64).saturating_add(inputs as u64);
                let limit = known
                    .saturating_mul(16)
                    .saturating_add(1 << 24)
                    .min(digest.size);
                rebuild(&self.module, limit).map_err(|why| {
                    digest
                        .position
                        .error(format!("the image cannot be written again: {why}"))
                })?
            }
        };
        digest.check(&image, "what the plan gives")?;
        self.module.image = Some(image);
        Ok(())
    }
}

/// Returns the error for a field that a row does not have.
pub(super) fn unknown(position: Position, key: &str, known: &str) -> ParseError {
    position.error(format!("expected one of the fields {known}, found `{key}`"))
}
