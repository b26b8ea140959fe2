//! Reads names: of functions and variables, of their scopes, and what the compiler makes of them.

use super::ast::CallOffset;
use super::ast::List;
use super::ast::Node;
use super::ast::NodeId;
use super::ast::Qualifiers;
use super::ast::Thunk;
use super::operators;
use super::parser::Parser;

/// A name, and what it means for the type after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    /// The name.
    pub node: NodeId,
    /// Its type begins with what it returns: it ends in template arguments, and belongs to no
    /// constructor, destructor or conversion.
    returns: bool,
    /// Of a member function.
    qualifiers: Qualifiers,
    /// Which variant of a constructor or destructor it is.
    suffix: &'static str,
}

/// A component of a name.
struct Component {
    node: NodeId,
    /// Has no return type even as a template.
    is_special: bool,
    suffix: &'static str,
}

impl<'a> Parser<'a> {
    /// Parses the whole name after `_Z`: a function with its type, a variable, or something
    /// special.
    pub fn encoding(&mut self, is_outermost: bool) -> Option<NodeId> {
        self.deeper(|parser| {
            if let Some(b'T' | b'G') = parser.peek() {
                return parser.special();
            }
            let name = parser.name()?;
            parser.typed(name, is_outermost)
        })
    }

    /// Parses the function type after a name, if there is one.
    fn typed(&mut self, name: Name, is_outermost: bool) -> Option<NodeId> {
        let ends = |byte: Option<u8>| match byte {
            None => true,
            Some(b'E') => !is_outermost,
            _ => false,
        };
        if ends(self.peek()) {
            return Some(self.add(Node::Encoding {
                name: name.node,
                returns: None,
                parameters: None,
                qualifiers: Qualifiers::default(),
                suffix: name.suffix,
            }));
        }
        let returns = if name.returns {
            Some(self.read_type()?)
        } else {
            None
        };
        let mut parameters = Vec::new();
        while !(ends(self.peek()) || is_outermost && self.peek() == Some(b'$')) {
            parameters.push(self.parameter_type()?);
        }
        if parameters.is_empty() {
            return None;
        }
        let parameters = Some(self.ast.list(&parameters));
        let encoding = Node::Encoding {
            name: name.node,
            returns,
            parameters,
            qualifiers: name.qualifiers,
            suffix: name.suffix,
        };
        let node = self.add(encoding);
        if is_outermost {
            self.clone_suffix(node)
        } else {
            Some(node)
        }
    }

    /// Parses the suffix that a compiler appended to the name of a clone: a number, which is not
    /// shown, or a word.
    fn clone_suffix(&mut self, function: NodeId) -> Option<NodeId> {
        let Some((_, suffix)) = self.rest().split_first() else {
            return Some(function);
        };
        self.skip(1 + suffix.len());
        match suffix.first() {
            Some(byte) if byte.is_ascii_digit() => {
                suffix.iter().all(u8::is_ascii_digit).then_some(function)
            }
            _ => Some(self.add(Node::Clone(function, suffix))),
        }
    }

    /// Parses a special name: that of a table, a guard or a thunk.
    fn special(&mut self) -> Option<NodeId> {
        let code = self.peek_two()?;
        self.skip(2);
        let of_type = |parser: &mut Self, text| {
            let ty = parser.read_type()?;
            Some(parser.add(Node::Special(text, ty)))
        };
        let of_name = |parser: &mut Self, text| {
            let name = parser.name()?;
            Some(parser.add(Node::Special(text, name.node)))
        };
        match &code {
            b"TV" => of_type(self, "Virtual function table for "),
            b"TT" => of_type(self, "Virtual table table for "),
            b"TI" => of_type(self, "Typeinfo for "),
            b"TS" => of_type(self, "Typeinfo name for "),
            b"TA" => {
                let argument = self.template_argument()?;
                Some(self.add(Node::Special("template parameter object for ", argument)))
            }
            b"TW" => of_name(self, "Thread-local wrapper routine for "),
            b"TH" => of_name(self, "Thread-local initialization routine for "),
            b"GV" => of_name(self, "Initialization guard variable for "),
            b"Th" | b"Tv" => {
                let offset = self.call_offset(code[1])?;
                self.thunk(Thunk::One(offset))
            }
            b"Tc" => {
                let this = self.lettered_offset()?;
                let result = self.lettered_offset()?;
                self.thunk(Thunk::Covariant(this, result))
            }
            _ => None,
        }
    }

    fn thunk(&mut self, thunk: Thunk<'a>) -> Option<NodeId> {
        let function = self.encoding(false)?;
        Some(self.add(Node::Thunk(thunk, function)))
    }

    fn lettered_offset(&mut self) -> Option<CallOffset<'a>> {
        let letter = self.peek()?;
        self.skip(1);
        self.call_offset(letter)
    }

    fn call_offset(&mut self, letter: u8) -> Option<CallOffset<'a>> {
        let first = self.signed()?;
        self.expect(b"_")?;
        match letter {
            b'h' => Some(CallOffset::Fixed(first)),
            b'v' => {
                let second = self.signed()?;
                self.expect(b"_")?;
                Some(CallOffset::Virtual(first, second))
            }
            _ => None,
        }
    }

    /// Parses the name of a function, a variable or a class.
    pub fn name(&mut self) -> Option<Name> {
        self.deeper(|parser| match parser.peek()? {
            b'N' => parser.nested_name(),
            b'Z' => parser.local_name(),
            b'S' if parser.peek_second() != Some(b't') => {
                let (template, _) = parser.substitution()?;
                if parser.peek() != Some(b'I') {
                    return None;
                }
                parser.finish(template, false, "")
            }
            _ => parser.unscoped_name(),
        })
    }

    fn unscoped_name(&mut self) -> Option<Name> {
        let component = if self.eat(b"St") {
            let scope = self.add(Node::Text("std"));
            let component = self.unqualified(Some(scope))?;
            Component {
                node: self.add(Node::Scoped(scope, component.node)),
                ..component
            }
        } else {
            self.unqualified(None)?
        };
        if self.peek() == Some(b'I') {
            self.remember(component.node, true);
        }
        self.finish(component.node, component.is_special, component.suffix)
    }

    /// Reads template arguments after a name, if there are any.
    fn finish(&mut self, mut node: NodeId, is_special: bool, suffix: &'static str) -> Option<Name> {
        let mut returns = false;
        if self.peek() == Some(b'I') {
            let arguments = self.template_arguments()?;
            node = self.add(Node::Template(node, arguments));
            returns = !is_special;
        }
        Some(Name {
            node,
            returns,
            qualifiers: Qualifiers::default(),
            suffix,
        })
    }

    /// Parses `N … E`.
    fn nested_name(&mut self) -> Option<Name> {
        self.expect(b"N")?;
        let mut qualifiers = self.qualifiers();
        match self.peek() {
            Some(b'R') => qualifiers.reference = " &",
            Some(b'O') => qualifiers.reference = " &&",
            _ => {}
        }
        if !qualifiers.reference.is_empty() {
            self.skip(1);
        }
        let mut scope: Option<NodeId> = None;
        let (mut returns, mut is_special, mut suffix) = (false, false, "");
        // Template arguments stand in front; there are never two lists of them.
        let mut has_arguments = false;
        let mut ends_in_substitution = false;
        loop {
            let mut is_substitution = false;
            // With template arguments these cannot be referred to.
            let is_lost = matches!(self.peek()?, b'T' | b'C')
                || self.peek() == Some(b'D') && matches!(self.peek_second(), Some(b'0'..=b'2'));
            let node = match self.peek()? {
                b'E' if !ends_in_substitution => {
                    self.skip(1);
                    break;
                }
                b'I' if !has_arguments => {
                    let arguments = self.template_arguments()?;
                    (returns, has_arguments) = (!is_special, true);
                    ends_in_substitution = false;
                    let node = self.add(Node::Template(scope?, arguments));
                    if self.peek() != Some(b'E') {
                        self.remember(node, true);
                    }
                    scope = Some(node);
                    continue;
                }
                // A data member whose initializer has a lambda: the scope is the member.
                b'M' if scope.is_some() => {
                    self.skip(1);
                    continue;
                }
                b'S' => {
                    is_substitution = true;
                    if self.eat(b"St") {
                        self.add(Node::Text("std"))
                    } else {
                        self.substitution()?.0
                    }
                }
                b'T' => self.template_parameter()?,
                b'D' if matches!(self.peek_second(), Some(b't' | b'T')) => {
                    let node = self.decltype()?;
                    // As a type; as a scope it follows below.
                    self.remember(node, false);
                    node
                }
                _ => {
                    let component = self.unqualified(scope)?;
                    (is_special, suffix) = (component.is_special, component.suffix);
                    component.node
                }
            };
            let node = match scope {
                Some(scope) => self.add(Node::Scoped(scope, node)),
                None => node,
            };
            if !is_substitution && self.peek() != Some(b'E') {
                self.remember_prefix(node, is_lost && self.peek() == Some(b'I'));
            }
            scope = Some(node);
            (returns, has_arguments, ends_in_substitution) = (false, false, is_substitution);
        }
        Some(Name {
            node: scope?,
            returns,
            qualifiers,
            suffix,
        })
    }

    /// Parses `Z function E entity`.
    fn local_name(&mut self) -> Option<Name> {
        self.expect(b"Z")?;
        let function = self.encoding(false)?;
        self.expect(b"E")?;
        let mut scope = function;
        let entity = if self.peek() == Some(b's') {
            self.skip(1);
            Name {
                node: self.add(Node::StringLiteral),
                returns: false,
                qualifiers: Qualifiers::default(),
                suffix: "",
            }
        } else {
            if self.eat(b"d") {
                let number = self.ordinal()?.checked_add(1)?;
                let argument = self.add(Node::DefaultArgument(number));
                scope = self.add(Node::Scoped(function, argument));
            }
            self.name()?
        };
        let mut node = self.add(Node::Scoped(scope, entity.node));
        if let Some(instance) = self.discriminator()? {
            node = self.add(Node::Instance(node, instance));
        }
        Some(Name { node, ..entity })
    }

    /// Parses a discriminator, if there is one: `_0` for the second entity of a name in a function,
    /// `__10_` for the twelfth.
    fn discriminator(&mut self) -> Option<Option<u64>> {
        if self.peek() != Some(b'_') {
            return Some(None);
        }
        self.skip(1);
        let number = if self.eat(b"_") {
            let number = self.number()?;
            self.expect(b"_")?;
            number
        } else {
            let digit = self.peek().filter(u8::is_ascii_digit)?;
            self.skip(1);
            u64::from(digit - b'0')
        };
        Some(Some(number.checked_add(2)?))
    }

    /// Parses one component of a name. `scope` is what stands in front of it, which constructors
    /// are named after.
    fn unqualified(&mut self, scope: Option<NodeId>) -> Option<Component> {
        let mut component = Component {
            node: NodeId::default(),
            is_special: false,
            suffix: "",
        };
        component.node = match self.peek()? {
            b'0'..=b'9' => self.source_name()?,
            b'U' => self.unnamed()?,
            b'C' => {
                self.skip(1);
                let inherits = self.eat(b"I");
                let variant = self.peek()?;
                self.skip(1);
                component.is_special = true;
                component.suffix = match (inherits, variant) {
                    (false, b'1') => "",
                    (false, b'2') => " [subobject]",
                    (false, b'3') => " [allocating]",
                    (true, b'1') => " [complete inheriting]",
                    (true, b'2') => " [base inheriting]",
                    _ => return None,
                };
                if inherits {
                    self.inherited()?
                } else {
                    let class = self.constructed(scope)?;
                    self.add(Node::Constructor(class))
                }
            }
            b'D' if self.peek_second() == Some(b'C') => {
                self.skip(2);
                let names = self.until_end(Self::source_name)?;
                self.add(Node::Binding(names))
            }
            b'D' => {
                component.is_special = true;
                component.suffix = match self.peek_second()? {
                    b'0' => " [deleting]",
                    b'1' => "",
                    b'2' => " [subobject]",
                    _ => return None,
                };
                self.skip(2);
                let class = self.constructed(scope)?;
                self.add(Node::Destructor(class))
            }
            b'a'..=b'z' => {
                component.is_special = self.rest().starts_with(b"cv");
                self.operator_name()?
            }
            _ => return None,
        };
        component.node = self.abi_tags(component.node)?;
        Some(component)
    }

    /// Returns the scope as a class that has constructors: nvlink wants one with a name.
    fn constructed(&self, scope: Option<NodeId>) -> Option<NodeId> {
        let scope = scope?;
        let mut class = scope;
        while let Node::Template(name, _) = self.ast.get(class) {
            class = name;
        }
        match self.ast.get(class) {
            Node::TemplateParameter(_) | Node::Decltype(_) | Node::DecltypeName(_) => None,
            _ => Some(scope),
        }
    }

    /// Parses the class whose constructor is inherited, which nvlink prints whole, but for the
    /// arguments of a template outside of classes and named namespaces.
    fn inherited(&mut self) -> Option<NodeId> {
        let is_unscoped = self.peek()?.is_ascii_digit() || self.rest().starts_with(b"St");
        let class = self.read_type()?;
        match self.ast.get(class) {
            Node::Template(name, _) if is_unscoped => Some(name),
            _ => Some(class),
        }
    }

    /// Parses an operator, a conversion, or a literal operator.
    pub fn operator_name(&mut self) -> Option<NodeId> {
        let code = self.peek_two()?;
        self.skip(2);
        match &code {
            b"cv" => {
                let ty = self.conversion_type()?;
                Some(self.add(Node::Conversion(ty)))
            }
            b"li" => {
                let name = self.identifier()?;
                Some(self.add(Node::LiteralOperator(name)))
            }
            // A member access cannot be overloaded.
            b"dt" => None,
            _ => {
                let operator = operators::find(code)?;
                Some(self.add(Node::Operator(operator.spelling)))
            }
        }
    }

    /// Parses the length of an identifier, and the identifier. That of an unnamed namespace is a
    /// node of its own.
    pub fn source_name(&mut self) -> Option<NodeId> {
        let name = self.identifier()?;
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
        if !name.iter().all(is_plain) {
            return None;
        }
        Some(if name.starts_with(b"_INTERNAL") {
            // The namespace that nvcc puts around what is internal to a module.
            self.add(Node::Text(""))
        } else if name.starts_with(b"_GLOBAL__N_") {
            self.add(Node::Text("<unnamed>"))
        } else {
            self.add(Node::Identifier(name))
        })
    }

    /// Parses the length of an identifier, and the identifier.
    pub fn identifier(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let name = self.rest().get(..length).filter(|name| !name.is_empty())?;
        self.skip(length);
        Some(name)
    }

    fn abi_tags(&mut self, node: NodeId) -> Option<NodeId> {
        let mut tags = Vec::new();
        while self.eat(b"B") {
            tags.push(self.source_name()?);
        }
        if tags.is_empty() {
            return Some(node);
        }
        let tags = self.ast.list(&tags);
        Some(self.add(Node::Tagged(node, tags)))
    }

    /// Parses `Ut_` or `UlvE_`: a class or lambda without a name.
    fn unnamed(&mut self) -> Option<NodeId> {
        if self.eat(b"Ut") {
            let number = self.ordinal()?.checked_add(1)?;
            return Some(self.add(Node::UnnamedType(number)));
        }
        self.expect(b"Ul")?;
        let parameters = self.until_end(Self::parameter_type)?;
        if parameters == List::default() {
            return None;
        }
        let number = self.ordinal()?.checked_add(1)?;
        Some(self.add(Node::Lambda(parameters, number)))
    }

    /// Parses a substitution. Returns with it whether it stands for a name: a part of one, or a
    /// class with an abbreviation of its own. `St` does not.
    pub fn substitution(&mut self) -> Option<(NodeId, bool)> {
        const STRING: &str =
            "std::basic_string<char, std::char_traits<char>, std::allocator<char>>";
        let node = match self.peek_second()? {
            b'a' => Node::Standard("std::allocator", "allocator"),
            b'b' => Node::Standard("std::basic_string", "basic_string"),
            b's' => Node::Standard(STRING, "basic_string"),
            b'i' => Node::Standard(
                "std::basic_istream<char, std::char_traits<char>>",
                "basic_istream",
            ),
            b'o' => Node::Standard(
                "std::basic_ostream<char, std::char_traits<char>>",
                "basic_ostream",
            ),
            b'd' => Node::Standard(
                "std::basic_iostream<char, std::char_traits<char>>",
                "basic_iostream",
            ),
            // nvlink takes every small letter for an abbreviation, and knows of no name for the
            // others.
            letter if letter.is_ascii_lowercase() => Node::Standard("", ""),
            _ => {
                let candidate = self.back_reference()?;
                return Some((candidate.node, candidate.is_prefix));
            }
        };
        self.skip(2);
        Some((self.add(node), true))
    }

    /// Parses `I … E`.
    pub fn template_arguments(&mut self) -> Option<List> {
        self.deeper(|parser| {
            parser.expect(b"I")?;
            let outer = std::mem::replace(&mut parser.in_conversion, false);
            let arguments = parser.until_end(Self::template_argument);
            parser.in_conversion = outer;
            arguments
        })
    }

    fn template_argument(&mut self) -> Option<NodeId> {
        self.deeper(|parser| match parser.peek()? {
            b'L' => parser.literal(),
            b'X' => {
                parser.skip(1);
                let expression = parser.expression()?;
                parser.expect(b"E")?;
                Some(expression)
            }
            b'J' => {
                parser.skip(1);
                let members = parser.until_end(Self::template_argument)?;
                Some(parser.add(Node::Pack(members)))
            }
            _ => parser.read_type(),
        })
    }
}
