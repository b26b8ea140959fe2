//! Reads types.

use super::ast::Dimension;
use super::ast::Node;
use super::ast::NodeId;
use super::ast::Noexcept;
use super::ast::Qualifiers;
use super::parser::Parser;

impl<'a> Parser<'a> {
    /// Parses a type. One that is not a builtin becomes a candidate for substitution.
    pub fn read_type(&mut self) -> Option<NodeId> {
        self.deeper(Self::any_type)
    }

    /// Parses the type that a conversion function converts to: template arguments after a template
    /// parameter belong to the function.
    pub fn conversion_type(&mut self) -> Option<NodeId> {
        let outer = std::mem::replace(&mut self.in_conversion, true);
        let ty = self.read_type();
        self.in_conversion = outer;
        ty
    }

    fn any_type(&mut self) -> Option<NodeId> {
        let node = match self.peek()? {
            b'r' | b'V' | b'K' => {
                let qualifiers = self.qualifiers();
                let is_spelled_out = self.peek() != Some(b'S');
                let ty = self.read_type()?;
                if is_spelled_out && let Node::Function { .. } = self.ast.get(ty) {
                    // A member function's type: the candidate is the function without qualifiers.
                    return Some(self.add(Node::Qualified(qualifiers, ty)));
                }
                Node::Qualified(qualifiers, ty)
            }
            b'P' => self.pointer("*")?,
            b'R' => self.pointer("&")?,
            b'O' => self.pointer("&&")?,
            b'C' => {
                self.skip(1);
                Node::Complex(self.read_type()?)
            }
            b'U' if self.eat(b"U8__vector") => {
                let name = builtin(self.peek()?)?;
                self.skip(1);
                let element = self.add(Node::Text(name));
                Node::Special("__attribute__((vector_size(?))) ", element)
            }
            b'U' => {
                self.skip(1);
                let qualifier = self.source_name()?;
                Node::Vendor(qualifier, self.read_type()?)
            }
            b'M' => {
                self.skip(1);
                let class = self.read_type()?;
                let member = self.read_type()?;
                Node::MemberPointer { class, member }
            }
            b'A' => self.array()?,
            b'F' => self.function(Noexcept::No)?,
            b'T' => {
                let node = self.template_parameter()?;
                let before = self.mark();
                let is_conversion = self.in_conversion;
                self.remember(node, self.peek() == Some(b'I') && !is_conversion);
                if self.peek() != Some(b'I') {
                    return Some(node);
                }
                let arguments = self.template_arguments()?;
                if is_conversion && self.peek() != Some(b'I') {
                    // They are those of the conversion function.
                    self.go_back(before)?;
                    self.remember(node, false);
                    return Some(node);
                }
                Node::Template(node, arguments)
            }
            b'S' if self.peek_second() != Some(b't') => return self.substituted_type(),
            b'u' => {
                self.skip(1);
                let name = self.source_name()?;
                if self.peek() == Some(b'I') {
                    let arguments = self.template_arguments()?;
                    Node::Template(name, arguments)
                } else {
                    self.remember(name, false);
                    return Some(name);
                }
            }
            b'D' => return self.newer_type(),
            b'N' | b'Z' | b'S' | b'0'..=b'9' => {
                let node = self.name()?.node;
                self.remember(node, false);
                return Some(node);
            }
            letter => {
                let name = builtin(letter)?;
                self.skip(1);
                return Some(self.add(Node::Text(name)));
            }
        };
        let node = self.add(node);
        self.remember(node, false);
        Some(node)
    }

    fn pointer(&mut self, sign: &'static str) -> Option<Node<'a>> {
        self.skip(1);
        Some(Node::Pointer(sign, self.read_type()?))
    }

    /// Parses `S_`, `Sa…`. A substitution that stands for a part of a name is printed without the
    /// blank after it.
    fn substituted_type(&mut self) -> Option<NodeId> {
        let (mut node, is_name) = self.substitution()?;
        if is_name {
            node = self.add(Node::Tight(node));
        }
        if self.peek() == Some(b'I') {
            let arguments = self.template_arguments()?;
            node = self.add(Node::TightTemplate(node, arguments));
            self.remember(node, false);
        }
        Some(node)
    }

    /// Parses types whose code begins with `D`.
    fn newer_type(&mut self) -> Option<NodeId> {
        let code = self.peek_second()?;
        let node = match code {
            b't' | b'T' => {
                let node = self.decltype()?;
                self.remember(node, false);
                return Some(node);
            }
            b'p' => {
                self.skip(2);
                Node::PackExpansion(self.read_type()?)
            }
            b'o' => {
                self.skip(2);
                self.function(Noexcept::Yes)?
            }
            b'O' => {
                self.skip(2);
                let condition = self.expression()?;
                self.expect(b"E")?;
                self.function(Noexcept::If(condition))?
            }
            b'v' => {
                self.skip(2);
                let number = self.take_while(|byte| byte.is_ascii_digit());
                self.expect(b"_")?;
                if number.is_empty() {
                    return None;
                }
                Node::Vector(number, self.read_type()?)
            }
            b'F' => {
                self.skip(2);
                let name = self.extended_float()?;
                return Some(self.add(Node::Text(name)));
            }
            _ => {
                let name = match code {
                    b'a' => "auto",
                    b'c' => "decltype(auto)",
                    b'n' => "std::nullptr_t",
                    b'h' => "__fp16",
                    b's' => "char16_t",
                    b'i' => "char32_t",
                    b'u' => "char8_t",
                    _ => return None,
                };
                self.skip(2);
                return Some(self.add(Node::Text(name)));
            }
        };
        let node = self.add(node);
        self.remember(node, false);
        Some(node)
    }

    fn extended_float(&mut self) -> Option<&'static str> {
        let rest = self.rest();
        let (code, name) = [
            (&b"16b"[..], "std::bfloat16_t"),
            (b"16_", "_Float16"),
            (b"32_", "_Float32"),
            (b"64_", "_Float64"),
            (b"128_", "_Float128"),
            (b"32x", "_Float32x"),
            (b"64x", "_Float64x"),
        ]
        .into_iter()
        .find(|(code, _)| rest.starts_with(code))?;
        self.skip(code.len());
        Some(name)
    }

    /// Parses `F … E`.
    fn function(&mut self, noexcept: Noexcept) -> Option<Node<'a>> {
        self.expect(b"F")?;
        self.eat(b"Y");
        let returns = self.read_type()?;
        let mut parameters = Vec::new();
        let mut qualifiers = Qualifiers::default();
        loop {
            if self.eat(b"E") {
                break;
            }
            if !parameters.is_empty() && self.peek_second() == Some(b'E') {
                match self.peek() {
                    Some(b'R') => qualifiers.reference = " &",
                    Some(b'O') => qualifiers.reference = " &&",
                    _ => {}
                }
                if !qualifiers.reference.is_empty() {
                    self.skip(2);
                    break;
                }
            }
            parameters.push(self.parameter_type()?);
        }
        if parameters.is_empty() {
            return None;
        }
        Some(Node::Function {
            returns,
            parameters: self.ast.list(&parameters),
            qualifiers,
            noexcept,
        })
    }

    /// Parses the type of a parameter; the last one, after which a function type can have its own
    /// qualifier, can be an ellipsis.
    pub fn parameter_type(&mut self) -> Option<NodeId> {
        let is_last = matches!(
            (self.peek_second(), self.rest().get(2)),
            (None | Some(b'E' | b'$'), _) | (Some(b'R' | b'O'), Some(b'E'))
        );
        if self.peek() == Some(b'z') && is_last {
            self.skip(1);
            return Some(self.add(Node::Text("...")));
        }
        self.read_type()
    }

    fn array(&mut self) -> Option<Node<'a>> {
        self.expect(b"A")?;
        let number = self.take_while(|byte| byte.is_ascii_digit());
        let dimension = if !number.is_empty() {
            Dimension::Number(number)
        } else if self.peek() == Some(b'_') {
            Dimension::None
        } else {
            Dimension::Expression(self.expression()?)
        };
        self.expect(b"_")?;
        Some(Node::Array(dimension, self.read_type()?))
    }

    /// Parses `T_` for the first template parameter, `T0_` for the second.
    pub fn template_parameter(&mut self) -> Option<NodeId> {
        self.expect(b"T")?;
        let number = self.ordinal()?.checked_add(1)?;
        Some(self.add(Node::TemplateParameter(number)))
    }

    /// Parses `Dt … E` or `DT … E`.
    pub fn decltype(&mut self) -> Option<NodeId> {
        let is_name = self.peek_second() == Some(b't');
        self.skip(2);
        let expression = self.expression()?;
        self.expect(b"E")?;
        Some(self.add(if is_name {
            Node::DecltypeName(expression)
        } else {
            Node::Decltype(expression)
        }))
    }
}

fn builtin(letter: u8) -> Option<&'static str> {
    Some(match letter {
        b'v' => "void",
        b'w' => "wchar_t",
        b'b' => "bool",
        b'c' => "char",
        b'a' => "signed char",
        b'h' => "unsigned char",
        b's' => "short",
        b't' => "unsigned short",
        b'i' => "int",
        b'j' => "unsigned int",
        b'l' => "long",
        b'm' => "unsigned long",
        b'x' => "long long",
        b'y' => "unsigned long long",
        b'n' => "__int128",
        b'o' => "unsigned __int128",
        b'f' => "float",
        b'd' => "double",
        b'e' => "long double",
        b'g' => "__float128",
        _ => return None,
    })
}
