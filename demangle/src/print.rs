//! Writes a name as nvlink does.
//!
//! A type has two parts: what stands in front of the name that it declares, and what stands after
//! it (`int (*` and `)()`). `under` says that a `*` or the like comes between them, so that
//! functions and arrays need parentheses; `space` asks for a blank after the first part.

mod expressions;

use super::ast::Ast;
use super::ast::CallOffset;
use super::ast::Dimension;
use super::ast::List;
use super::ast::Node;
use super::ast::NodeId;
use super::ast::Noexcept;
use super::ast::Qualifiers;
use super::ast::Thunk;

/// Longer results are given up: substitutions can make a name exponentially longer than its symbol.
const MAX_LENGTH: usize = 1 << 16;
/// Nodes nested deeper than this are given up; substitutions can nest deeper than the parser goes.
const MAX_DEPTH: u32 = 256;

/// How much of a name is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it, as nvlink does.
    Whole,
    /// What all instances of a template share: functions without their types, and `<...>` for
    /// template arguments.
    Family,
}

/// Returns the name as text; None if it would be too long.
pub(super) fn print(ast: &Ast<'_>, root: NodeId, extent: Extent) -> Option<String> {
    let mut printer = Printer {
        ast,
        extent,
        out: Vec::new(),
        depth: 0,
        gave_up: false,
    };
    printer.name(root);
    (!printer.gave_up).then(|| String::from_utf8_lossy(&printer.out).into_owned())
}

struct Printer<'p, 'a> {
    ast: &'p Ast<'a>,
    extent: Extent,
    out: Vec<u8>,
    depth: u32,
    gave_up: bool,
}

impl<'p> Printer<'p, '_> {
    fn text(&mut self, text: impl AsRef<[u8]>) {
        let text = text.as_ref();
        if self.out.len() + text.len() > MAX_LENGTH {
            self.gave_up = true;
        }
        if !self.gave_up {
            self.out.extend_from_slice(text);
        }
    }

    fn number(&mut self, number: u64) {
        self.text(number.to_string());
    }

    /// Prints a number as mangled names write it, with `n` for minus.
    fn signed(&mut self, number: &[u8]) {
        match number.strip_prefix(b"n") {
            Some(digits) => {
                self.text("-");
                self.text(digits);
            }
            None => self.text(number),
        }
    }

    fn blank_if(&mut self, space: bool) {
        if space {
            self.text(" ");
        }
    }

    /// Prints `const volatile restrict`, each with a blank after it.
    fn leading(&mut self, qualifiers: Qualifiers) {
        for (is, word) in words(qualifiers) {
            if is {
                self.text(word);
                self.text(" ");
            }
        }
    }

    /// Prints the same qualifiers, each with a blank in front, then `&` or `&&`.
    fn trailing(&mut self, qualifiers: Qualifiers) {
        for (is, word) in words(qualifiers) {
            if is {
                self.text(" ");
                self.text(word);
            }
        }
        self.text(qualifiers.reference);
    }

    fn comma_separated(&mut self, list: List, separator: &str) {
        let ast: &'p Ast<'_> = self.ast;
        for (index, member) in ast.members(list).iter().enumerate() {
            if index > 0 {
                self.text(separator);
            }
            self.name(*member);
        }
    }

    fn template_arguments(&mut self, list: List) {
        self.text("<");
        match self.extent {
            Extent::Whole => self.comma_separated(list, ", "),
            Extent::Family => self.text("..."),
        }
        self.text(">");
    }

    /// Prints `(int, float)`; a lone `void` is left out.
    fn parameters(&mut self, list: List) {
        self.text("(");
        let is_void = match self.ast.members(list) {
            [only] => self.ast.get(*only) == Node::Text("void"),
            _ => false,
        };
        if !is_void {
            self.comma_separated(list, ", ");
        }
        self.text(")");
    }

    /// Prints the whole of a name, a type or an expression.
    fn name(&mut self, id: NodeId) {
        self.first(id, false, false);
        self.second(id, false);
    }

    /// Prints the part of a type that stands before the declared name.
    fn first(&mut self, id: NodeId, under: bool, space: bool) {
        if self.gave_up || self.depth >= MAX_DEPTH {
            self.gave_up = true;
            return;
        }
        self.depth += 1;
        self.first_of(id, under, space);
        self.depth -= 1;
    }

    fn first_of(&mut self, id: NodeId, under: bool, space: bool) {
        match self.ast.get(id) {
            Node::Tight(ty) => self.first(ty, under, false),
            Node::TightTemplate(name, arguments) => {
                self.first(name, under, space);
                self.template_arguments(arguments);
            }
            Node::Qualified(..) => {
                let (qualifiers, ty) = self.unqualified(id);
                match self.ast.get(ty) {
                    Node::Function { .. } | Node::Array(..) => self.first(ty, under, space),
                    Node::Pointer(..)
                    | Node::MemberPointer { .. }
                    | Node::Vendor(..)
                    | Node::Complex(_) => {
                        self.first(ty, under, space);
                        self.leading(qualifiers);
                    }
                    _ => {
                        self.leading(qualifiers);
                        self.first(ty, under, space);
                    }
                }
            }
            Node::Pointer(sign, ty) => {
                self.first(ty, true, true);
                self.text(sign);
            }
            Node::MemberPointer { class, member } => {
                self.first(member, true, true);
                self.text(" :: ");
                self.name(class);
                self.text("::*");
            }
            Node::Vendor(qualifier, ty) => {
                self.first(ty, true, true);
                self.name(qualifier);
            }
            Node::PackExpansion(ty) => {
                self.first(ty, false, false);
                self.text("...");
                self.second(ty, false);
                self.blank_if(space);
            }
            Node::Complex(ty) => {
                self.text("_Complex ");
                self.first(ty, false, true);
            }
            Node::Vector(number, ty) => {
                self.name(ty);
                self.text(" __attribute((vector_size(");
                self.text(number);
                self.text("*sizeof(");
                self.name(ty);
                self.text(")))) ");
                self.blank_if(space);
            }
            Node::Function { returns, .. } => {
                self.first(returns, false, true);
                if under {
                    self.text("(");
                }
            }
            Node::Array(_, element) => {
                self.first(element, false, true);
                if under {
                    self.text("(");
                }
            }
            Node::Template(name, arguments) => {
                self.first(name, false, false);
                self.template_arguments(arguments);
                self.blank_if(space);
            }
            _ => {
                self.plain(id);
                self.blank_if(space);
            }
        }
    }

    /// Prints the part of a type that stands after the declared name.
    fn second(&mut self, id: NodeId, under: bool) {
        if self.gave_up || self.depth >= MAX_DEPTH {
            self.gave_up = true;
            return;
        }
        self.depth += 1;
        match self.ast.get(id) {
            Node::Tight(ty) | Node::Template(ty, _) | Node::TightTemplate(ty, _) => {
                self.second(ty, under);
            }
            Node::Qualified(..) => {
                let (qualifiers, ty) = self.unqualified(id);
                match self.ast.get(ty) {
                    Node::Function { .. } => self.second_of_function(ty, under, qualifiers),
                    _ => self.second(ty, under),
                }
            }
            Node::Pointer(_, ty) | Node::Vendor(_, ty) => self.second(ty, true),
            Node::MemberPointer { member, .. } => self.second(member, true),
            Node::Function { .. } => self.second_of_function(id, under, Qualifiers::default()),
            Node::Array(dimension, element) => {
                if under {
                    self.text(")");
                }
                self.text("[");
                match dimension {
                    Dimension::None => {}
                    Dimension::Number(number) => self.text(number),
                    Dimension::Expression(expression) => self.name(expression),
                }
                self.text("]");
                self.second(element, false);
            }
            _ => {}
        }
        self.depth -= 1;
    }

    fn second_of_function(&mut self, id: NodeId, under: bool, outer: Qualifiers) {
        let Node::Function {
            returns,
            parameters,
            qualifiers,
            noexcept,
        } = self.ast.get(id)
        else {
            return;
        };
        if under {
            self.text(")");
        }
        self.parameters(parameters);
        self.trailing(outer.union(qualifiers));
        self.second(returns, false);
        match noexcept {
            Noexcept::No => {}
            Noexcept::Yes => self.text(" noexcept"),
            Noexcept::If(condition) => {
                self.text(" noexcept(");
                self.name(condition);
                self.text(")");
            }
        }
    }

    /// Returns a type without its qualifiers, however many times it was given some. Names keep the
    /// mark that they are set tight.
    fn unqualified(&self, mut id: NodeId) -> (Qualifiers, NodeId) {
        let mut all = Qualifiers::default();
        while let Node::Qualified(qualifiers, ty) = self.ast.get(id) {
            all = all.union(qualifiers);
            id = ty;
        }
        (all, id)
    }

    /// Returns `true` if a scope has only parts that nvlink leaves out: namespaces of a module's
    /// internals. Their template arguments, which no compiler makes, do not count.
    fn is_silent(&self, mut id: NodeId) -> bool {
        loop {
            id = match self.ast.get(id) {
                Node::Text("") => return true,
                Node::Template(name, _) | Node::TightTemplate(name, _) | Node::Tight(name) => name,
                Node::Scoped(scope, name) if self.is_silent_name(name) => scope,
                _ => return false,
            };
        }
    }

    fn is_silent_name(&self, name: NodeId) -> bool {
        self.ast.get(name) == Node::Text("")
    }

    /// Prints a node that has no second part.
    fn plain(&mut self, id: NodeId) {
        match self.ast.get(id) {
            Node::Identifier(name) => self.text(name),
            Node::Text(text) | Node::Standard(text, _) => self.text(text),
            Node::Scoped(scope, name) => {
                self.name(scope);
                if !self.is_silent(name) && !self.is_silent(scope) {
                    self.text("::");
                }
                self.name(name);
            }
            Node::Tagged(name, tags) => {
                self.name(name);
                self.text("[abi:");
                self.comma_separated(tags, ",");
                self.text("]");
            }
            Node::Operator(spelling) => {
                self.text("operator ");
                self.text(spelling);
            }
            Node::Conversion(ty) => {
                self.text("operator ");
                self.name(ty);
            }
            Node::LiteralOperator(name) => {
                self.text("operator \"\"");
                self.text(name);
            }
            Node::Constructor(class) => self.class_name(class),
            Node::Destructor(class) => {
                self.text("~");
                self.class_name(class);
            }
            Node::UnnamedType(number) => {
                self.text("[unnamed type (instance ");
                self.number(number);
                self.text(")]");
            }
            Node::Lambda(parameters, number) => {
                self.text("[lambda");
                self.parameters(parameters);
                self.text(" (instance ");
                self.number(number);
                self.text(")]");
            }
            Node::DefaultArgument(number) => {
                self.text("[default argument ");
                self.number(number);
                self.text(" (from end)]");
            }
            Node::Binding(names) => {
                self.text("[structured binding for ");
                self.comma_separated(names, ",");
                self.text("]");
            }
            Node::StringLiteral => self.text("string"),
            Node::Instance(name, number) => {
                self.name(name);
                self.text(" (instance ");
                self.number(number);
                self.text(")");
            }
            Node::Encoding { name, .. } if self.extent == Extent::Family => self.name(name),
            Node::Encoding { .. } => {
                self.encoding(id);
                self.encoding_suffix(id);
            }
            Node::Clone(function, word) => {
                self.text("[clone ");
                self.encoding(function);
                self.text("] ");
                self.text(word);
                self.encoding_suffix(function);
            }
            Node::Entity(entity) => self.entity(entity),
            Node::Special(text, name) => {
                self.text(text);
                self.name(name);
            }
            Node::Thunk(thunk, function) => {
                self.thunk(thunk);
                self.name(function);
            }
            _ => self.expression(id),
        }
    }

    /// Prints a function with its type, without the suffixes after the parameters.
    fn encoding(&mut self, id: NodeId) {
        let Node::Encoding {
            name,
            returns,
            parameters,
            ..
        } = self.ast.get(id)
        else {
            return;
        };
        if let Some(returns) = returns {
            self.name(returns);
            self.text(" ");
        }
        self.name(name);
        if let Some(parameters) = parameters {
            self.parameters(parameters);
        }
    }

    fn encoding_suffix(&mut self, id: NodeId) {
        if let Node::Encoding {
            qualifiers, suffix, ..
        } = self.ast.get(id)
        {
            self.trailing(qualifiers);
            self.text(suffix);
        }
    }

    /// Prints a function or variable as a template argument, that is, without its type.
    fn entity(&mut self, id: NodeId) {
        match self.ast.get(id) {
            Node::Encoding { name, .. } => {
                self.name(name);
                self.encoding_suffix(id);
            }
            _ => self.name(id),
        }
    }

    fn thunk(&mut self, thunk: Thunk<'_>) {
        match thunk {
            Thunk::One(offset) => {
                self.text("Thunk for ");
                self.call_offset(offset);
            }
            Thunk::Covariant(this, result) => {
                self.text("Covariant thunk for ");
                self.call_offset(this);
                self.call_offset(result);
            }
        }
    }

    fn call_offset(&mut self, offset: CallOffset<'_>) {
        self.text("(offset ");
        match offset {
            CallOffset::Fixed(offset) => self.signed(offset),
            CallOffset::Virtual(offset, place) => {
                self.signed(offset);
                self.text(", virtual offset ");
                self.signed(place);
            }
        }
        self.text(") ");
    }

    /// Prints the name that the constructors of a class have.
    fn class_name(&mut self, class: NodeId) {
        let mut id = class;
        loop {
            id = match self.ast.get(id) {
                Node::Scoped(_, name) => name,
                Node::Template(name, _) | Node::TightTemplate(name, _) | Node::Tight(name) => name,
                Node::Standard(_, name) => return self.text(name),
                _ => return self.name(id),
            };
        }
    }
}

fn words(qualifiers: Qualifiers) -> [(bool, &'static str); 3] {
    [
        (qualifiers.is_const, "const"),
        (qualifiers.is_volatile, "volatile"),
        (qualifiers.is_restrict, "restrict"),
    ]
}
