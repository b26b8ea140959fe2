//! Reads expressions and literals.

use super::ast::Floats;
use super::ast::Node;
use super::ast::NodeId;
use super::operators;
use super::operators::Shape;
use super::parser::Parser;

impl<'a> Parser<'a> {
    /// Parses an expression.
    pub fn expression(&mut self) -> Option<NodeId> {
        self.deeper(|parser| {
            let outer = std::mem::replace(&mut parser.in_conversion, false);
            let node = parser.any_expression();
            parser.in_conversion = outer;
            node
        })
    }

    fn any_expression(&mut self) -> Option<NodeId> {
        match self.peek()? {
            b'L' => return self.literal(),
            b'T' => return self.template_parameter(),
            b'0'..=b'9' => return self.unresolved_name(),
            _ => {}
        }
        let code = self.peek_two()?;
        let node = match &code {
            _ if self.is_parameter() => self.parameter()?,
            b"fl" | b"fr" | b"fL" | b"fR" => self.fold(code[1])?,
            b"gs" => {
                self.skip(2);
                let operand = self.expression()?;
                Node::Prefix("::", operand)
            }
            b"sr" | b"on" | b"dn" => return self.unresolved_name(),
            b"cl" => {
                self.skip(2);
                let callee = self.expression()?;
                let arguments = self.until_end(Self::expression)?;
                Node::Call(callee, arguments)
            }
            b"cv" => {
                self.skip(2);
                let ty = self.conversion_type()?;
                if self.eat(b"_") {
                    let arguments = self.until_end(Self::expression)?;
                    Node::Call(ty, arguments)
                } else {
                    let operand = self.expression()?;
                    Node::Cast(ty, operand)
                }
            }
            b"tl" => {
                self.skip(2);
                let ty = self.read_type()?;
                let members = self.until_end(Self::braced)?;
                Node::Braces(Some(ty), members)
            }
            b"il" => {
                self.skip(2);
                let members = self.until_end(Self::braced)?;
                Node::Braces(None, members)
            }
            b"nw" => self.allocation("new ")?,
            b"na" => self.allocation("new[] ")?,
            b"dc" => self.named_cast("dynamic_cast<")?,
            b"sc" => self.named_cast("static_cast<")?,
            b"cc" => self.named_cast("const_cast<")?,
            b"rc" => self.named_cast("reinterpret_cast<")?,
            b"ti" => self.of_type("typeid(")?,
            b"st" => self.of_type("sizeof(")?,
            b"at" => self.of_type("alignof(")?,
            b"te" => self.of_expression("typeid(")?,
            b"sz" => self.of_expression("sizeof(")?,
            b"az" => self.of_expression("alignof(")?,
            b"nx" => self.of_expression("noexcept(")?,
            // Of a template parameter or a function parameter.
            b"sZ" => {
                self.skip(2);
                if self.peek() != Some(b'T') && !self.is_parameter() {
                    return None;
                }
                let operand = self.expression()?;
                Node::Wrapped("sizeof...(", operand)
            }
            b"sp" => {
                self.skip(2);
                let operand = self.expression()?;
                Node::Postfix(operand, "...")
            }
            b"tw" => {
                self.skip(2);
                let operand = self.expression()?;
                Node::Prefix("throw ", operand)
            }
            b"tr" => {
                self.skip(2);
                Node::Text("throw")
            }
            _ => self.operation(code)?,
        };
        Some(self.add(node))
    }

    /// Parses an operator with its operands.
    fn operation(&mut self, code: [u8; 2]) -> Option<Node<'a>> {
        let operator = operators::find(code)?;
        self.skip(2);
        Some(match operator.shape {
            Shape::Prefix => Node::Prefix(operator.spelling, self.expression()?),
            Shape::Step if self.eat(b"_") => Node::Prefix(operator.spelling, self.expression()?),
            Shape::Step => Node::Postfix(self.expression()?, operator.spelling),
            Shape::Binary => {
                let left = self.expression()?;
                Node::Binary(left, operator.spelling, self.expression()?)
            }
            Shape::Subscript => {
                let left = self.expression()?;
                Node::Subscript(left, self.expression()?)
            }
            Shape::Member => {
                let left = self.expression()?;
                Node::Member(left, operator.spelling, self.unresolved_name()?)
            }
            Shape::Conditional => {
                let condition = self.expression()?;
                let yes = self.expression()?;
                Node::Conditional(condition, yes, self.expression()?)
            }
            Shape::Other => return None,
        })
    }

    fn of_type(&mut self, word: &'static str) -> Option<Node<'a>> {
        self.skip(2);
        Some(Node::Wrapped(word, self.read_type()?))
    }

    fn of_expression(&mut self, word: &'static str) -> Option<Node<'a>> {
        self.skip(2);
        Some(Node::Wrapped(word, self.expression()?))
    }

    fn named_cast(&mut self, word: &'static str) -> Option<Node<'a>> {
        self.skip(2);
        let ty = self.read_type()?;
        Some(Node::NamedCast(word, ty, self.expression()?))
    }

    /// Parses `nw placement _ type`, with `E` or an initializer after it.
    fn allocation(&mut self, word: &'static str) -> Option<Node<'a>> {
        self.skip(2);
        let mut placement = Vec::new();
        while !self.eat(b"_") {
            placement.push(self.expression()?);
        }
        let placement = if placement.is_empty() {
            None
        } else {
            Some(self.ast.list(&placement))
        };
        let ty = self.read_type()?;
        let initializer = if self.eat(b"E") {
            None
        } else if self.eat(b"pi") {
            let arguments = self.until_end(Self::expression)?;
            Some((false, arguments))
        } else {
            self.expect(b"il")?;
            let arguments = self.until_end(Self::braced)?;
            Some((true, arguments))
        };
        Some(Node::New(word, placement, ty, initializer))
    }

    /// Parses an initializer, which can name its member.
    fn braced(&mut self) -> Option<NodeId> {
        if !self.eat(b"di") {
            return self.expression();
        }
        self.deeper(|parser| {
            let member = parser.source_name()?;
            let value = parser.braced()?;
            Some(parser.add(Node::Designated(member, value)))
        })
    }

    /// Returns `true` if a function parameter comes next, and not a fold: `fL` with a number.
    fn is_parameter(&self) -> bool {
        match self.rest() {
            [b'f', b'p', ..] => true,
            [b'f', b'L', digit, ..] => digit.is_ascii_digit(),
            _ => false,
        }
    }

    fn parameter(&mut self) -> Option<Node<'a>> {
        let level = if self.eat(b"fp") {
            if self.eat(b"T") {
                return Some(Node::Text("this"));
            }
            0
        } else {
            self.skip(2);
            let level = self.number()?.checked_add(1)?;
            self.expect(b"p")?;
            level
        };
        let qualifiers = self.qualifiers();
        let number = self.ordinal()?.checked_add(1)?;
        Some(Node::Parameter(level, qualifiers, number))
    }

    fn fold(&mut self, kind: u8) -> Option<Node<'a>> {
        self.skip(2);
        let operator =
            operators::find(self.peek_two()?).filter(|operator| operator.shape == Shape::Binary)?;
        self.skip(2);
        let first = self.expression()?;
        Some(match kind {
            b'l' => Node::Fold(None, operator.spelling, Some(first)),
            b'r' => Node::Fold(Some(first), operator.spelling, None),
            _ => Node::Fold(Some(first), operator.spelling, Some(self.expression()?)),
        })
    }

    /// Parses a name that could not be looked up yet.
    fn unresolved_name(&mut self) -> Option<NodeId> {
        self.deeper(|parser| {
            if !parser.eat(b"sr") {
                return parser.base_name();
            }
            let mut scope = if parser.eat(b"N") {
                let mut scope = parser.read_type()?;
                while !parser.eat(b"E") {
                    let level = parser.simple_name()?;
                    scope = parser.add(Node::Scoped(scope, level));
                }
                scope
            } else if parser.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                let mut scope = parser.simple_name()?;
                while !parser.eat(b"E") {
                    let level = parser.simple_name()?;
                    scope = parser.add(Node::Scoped(scope, level));
                }
                scope
            } else {
                parser.read_type()?
            };
            let name = parser.base_name()?;
            scope = parser.add(Node::Scoped(scope, name));
            Some(scope)
        })
    }

    /// Parses a name, an operator or a destructor, with template arguments.
    fn base_name(&mut self) -> Option<NodeId> {
        if self.eat(b"on") {
            let node = self.operator_name()?;
            return self.with_arguments(node);
        }
        if self.eat(b"dn") {
            let class = if self.peek()?.is_ascii_digit() {
                self.simple_name()?
            } else {
                self.read_type()?
            };
            return Some(self.add(Node::Prefix("~", class)));
        }
        self.simple_name()
    }

    fn simple_name(&mut self) -> Option<NodeId> {
        let node = self.source_name()?;
        self.with_arguments(node)
    }

    fn with_arguments(&mut self, node: NodeId) -> Option<NodeId> {
        if self.peek() != Some(b'I') {
            return Some(node);
        }
        let arguments = self.template_arguments()?;
        Some(self.add(Node::Template(node, arguments)))
    }

    /// Parses `L type value E`, or `L_Z name E`.
    pub fn literal(&mut self) -> Option<NodeId> {
        self.expect(b"L")?;
        if self.eat(b"_Z") {
            let entity = self.encoding(false)?;
            self.expect(b"E")?;
            return Some(self.add(Node::Entity(entity)));
        }
        if self.eat(b"DnE") {
            return Some(self.add(Node::Text("nullptr")));
        }
        let letter = self.peek()?;
        let is_complex = letter == b'C';
        let float = if is_complex {
            self.peek_second()?
        } else {
            letter
        };
        let ty = self.read_type()?;
        let node = match float {
            b'f' | b'd' => {
                let floats = self.floats(float == b'd', is_complex)?;
                Node::Float(ty, floats)
            }
            _ if self.peek() == Some(b'E') => Node::Valueless(ty),
            _ => Node::Number(ty, self.signed()?),
        };
        self.expect(b"E")?;
        Some(self.add(node))
    }

    fn floats(&mut self, is_double: bool, is_complex: bool) -> Option<Floats> {
        let first = self.bits(is_double)?;
        let second = if is_complex {
            self.expect(b"_")?;
            Some(self.bits(is_double)?)
        } else {
            None
        };
        Some(match (is_double, second) {
            (false, None) => Floats::Single(first as u32),
            (true, None) => Floats::Double(first),
            (false, Some(second)) => Floats::SinglePair(first as u32, second as u32),
            (true, Some(second)) => Floats::DoublePair(first, second),
        })
    }

    /// Parses the bits of a float in hexadecimal; no digits at all mean zero.
    fn bits(&mut self, is_double: bool) -> Option<u64> {
        let digits = self.take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let length = if is_double { 16 } else { 8 };
        if digits.is_empty() {
            return Some(0);
        }
        if digits.len() != length {
            return None;
        }
        u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }
}
