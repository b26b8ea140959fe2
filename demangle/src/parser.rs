//! The state of reading one mangled name, with what all parts of the grammar need.

use super::ast::Ast;
use super::ast::List;
use super::ast::Node;
use super::ast::NodeId;
use super::ast::Qualifiers;

/// Names nested deeper than this are not demangled. Nothing that a compiler makes comes near, and
/// each level takes some hundred bytes of stack.
const MAX_DEPTH: u32 = 192;
/// How often the reader may have read something in the wrong way, in all of a name.
const MAX_RETURNS: u32 = 32;

/// What a later `S_` can stand for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// The node.
    pub node: NodeId,
    /// It was seen as part of a name, not as a type.
    pub is_prefix: bool,
    /// nvlink counts it, but does not understand references to it.
    is_lost: bool,
}

/// Reads a mangled name. Every reader returns None for what nvlink does not understand.
pub(super) struct Parser<'a> {
    input: &'a [u8],
    at: usize,
    depth: u32,
    returns: u32,
    /// The nodes so far.
    pub ast: Ast<'a>,
    /// What substitutions can stand for.
    pub candidates: Vec<Candidate>,
    /// The type of a conversion function is being read.
    pub in_conversion: bool,
}

impl<'a> Parser<'a> {
    pub fn new(input: &'a [u8]) -> Self {
        Parser {
            input,
            at: 0,
            depth: 0,
            returns: 0,
            ast: Ast::default(),
            candidates: Vec::new(),
            in_conversion: false,
        }
    }

    /// Returns the bytes that are left to read.
    pub fn rest(&self) -> &'a [u8] {
        self.input.get(self.at..).unwrap_or_default()
    }

    pub fn peek(&self) -> Option<u8> {
        self.input.get(self.at).copied()
    }

    /// Returns the byte after the next one.
    pub fn peek_second(&self) -> Option<u8> {
        self.input.get(self.at + 1).copied()
    }

    /// Returns the next two bytes.
    pub fn peek_two(&self) -> Option<[u8; 2]> {
        Some([self.peek()?, self.peek_second()?])
    }

    pub fn skip(&mut self, count: usize) {
        self.at = self.at.saturating_add(count).min(self.input.len());
    }

    /// Reads this text if it comes next.
    pub fn eat(&mut self, text: &[u8]) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.skip(text.len());
        }
        found
    }

    pub fn expect(&mut self, text: &[u8]) -> Option<()> {
        self.eat(text).then_some(())
    }

    /// Reads bytes as long as they are of a kind.
    pub fn take_while(&mut self, is: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.rest();
        let len = rest.iter().take_while(|byte| is(**byte)).count();
        let (taken, _) = rest.split_at(len);
        self.skip(len);
        taken
    }

    /// Reads a decimal number without sign.
    pub fn number(&mut self) -> Option<u64> {
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        std::str::from_utf8(digits).ok()?.parse().ok()
    }

    /// Reads a decimal number with `n` for minus, as written.
    pub fn signed(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest();
        let sign = usize::from(rest.first() == Some(&b'n'));
        let digits = rest
            .iter()
            .skip(sign)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if digits == 0 {
            return None;
        }
        self.skip(sign + digits);
        rest.get(..sign + digits)
    }

    /// Reads `_` for 0, `0_` for 1, and so on.
    pub fn ordinal(&mut self) -> Option<u64> {
        if self.eat(b"_") {
            return Some(0);
        }
        let number = self.number()?.checked_add(1)?;
        self.expect(b"_")?;
        Some(number)
    }

    /// Runs a reader one level deeper.
    pub fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Returns the state of the reader, to go back to.
    pub fn mark(&self) -> (usize, usize) {
        (self.at, self.candidates.len())
    }

    /// Goes back. That can happen only so often, for the time to stay linear.
    pub fn go_back(&mut self, (at, candidates): (usize, usize)) -> Option<()> {
        if self.returns >= MAX_RETURNS {
            return None;
        }
        self.returns += 1;
        self.at = at;
        self.candidates.truncate(candidates);
        Some(())
    }

    /// Reads one thing after another up to an `E`.
    pub fn until_end(&mut self, mut read: impl FnMut(&mut Self) -> Option<NodeId>) -> Option<List> {
        let mut members = Vec::new();
        while !self.eat(b"E") {
            members.push(read(self)?);
        }
        Some(self.ast.list(&members))
    }

    /// Reads `r`, `V` and `K`.
    pub fn qualifiers(&mut self) -> Qualifiers {
        let mut qualifiers = Qualifiers::default();
        loop {
            match self.peek() {
                Some(b'r') => qualifiers.is_restrict = true,
                Some(b'V') => qualifiers.is_volatile = true,
                Some(b'K') => qualifiers.is_const = true,
                _ => return qualifiers,
            }
            self.skip(1);
        }
    }

    /// Makes something a candidate for substitution.
    pub fn remember(&mut self, node: NodeId, is_prefix: bool) {
        self.candidates.push(Candidate {
            node,
            is_prefix,
            is_lost: false,
        });
    }

    /// Makes part of a name a candidate for substitution. A template parameter as the scope of a
    /// name that has template arguments counts as one, but cannot be referred to.
    pub fn remember_prefix(&mut self, node: NodeId, is_lost: bool) {
        self.candidates.push(Candidate {
            node,
            is_prefix: true,
            is_lost,
        });
    }

    /// Reads `S_`, `S0_`, …: base 36.
    pub fn back_reference(&mut self) -> Option<Candidate> {
        self.expect(b"S")?;
        let digits = self.take_while(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        self.expect(b"_")?;
        let index = if digits.is_empty() {
            0
        } else {
            let text = std::str::from_utf8(digits).ok()?;
            usize::from_str_radix(text, 36).ok()?.checked_add(1)?
        };
        self.candidates
            .get(index)
            .filter(|candidate| !candidate.is_lost)
            .copied()
    }

    pub fn add(&mut self, node: Node<'a>) -> NodeId {
        self.ast.add(node)
    }
}

impl Qualifiers {
    /// Returns the qualifiers of both.
    pub fn union(self, other: Qualifiers) -> Qualifiers {
        Qualifiers {
            is_const: self.is_const || other.is_const,
            is_volatile: self.is_volatile || other.is_volatile,
            is_restrict: self.is_restrict || other.is_restrict,
            reference: if self.reference.is_empty() {
                other.reference
            } else {
                self.reference
            },
        }
    }
}
