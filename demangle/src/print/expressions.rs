//! Writes expressions and literals.

use super::Printer;
use crate::ast::Node;
use crate::ast::NodeId;
use crate::float;

impl Printer<'_, '_> {
    /// Prints an expression, a literal or an argument pack; nothing for other nodes.
    pub(super) fn expression(&mut self, id: NodeId) {
        match self.ast.get(id) {
            Node::DecltypeName(expression) => {
                self.text("decltype(");
                self.name(expression);
                self.text(")");
            }
            Node::Decltype(expression) => {
                self.text("decltype((");
                self.name(expression);
                self.text("))");
            }
            Node::TemplateParameter(number) => {
                self.text("T");
                self.number(number);
            }
            Node::Pack(members) => self.comma_separated(members, ", "),
            Node::Number(ty, number) => {
                self.parenthesized(ty);
                self.signed(number);
            }
            Node::Float(ty, value) => {
                self.parenthesized(ty);
                self.text(float::spell(value));
            }
            Node::Valueless(ty) => {
                self.parenthesized(ty);
                self.text("\"...\"");
            }
            Node::Parameter(level, qualifiers, number) => {
                self.leading(qualifiers);
                self.text("param#");
                self.number(number);
                if level > 0 {
                    self.text("[up ");
                    self.number(level);
                    self.text(if level == 1 { " level]" } else { " levels]" });
                }
            }
            Node::Prefix(operator, operand) => {
                self.text(operator);
                self.name(operand);
            }
            Node::Postfix(operand, operator) => {
                self.name(operand);
                self.text(operator);
            }
            Node::Binary(left, operator, right) => {
                self.name(left);
                self.text(operator);
                self.name(right);
            }
            Node::Subscript(left, right) => {
                self.name(left);
                self.text("[");
                self.name(right);
                self.text("]");
            }
            Node::Member(left, operator, right) => {
                self.text("(");
                self.name(left);
                self.text(operator);
                self.name(right);
                self.text(")");
            }
            Node::Conditional(condition, yes, no) => {
                self.name(condition);
                self.text("?");
                self.name(yes);
                self.text(":");
                self.name(no);
            }
            Node::Wrapped(word, operand) => {
                self.text(word);
                self.name(operand);
                self.text(")");
            }
            Node::NamedCast(word, ty, operand) => {
                self.text(word);
                self.name(ty);
                self.text(">(");
                self.name(operand);
                self.text(")");
            }
            Node::Cast(ty, operand) => {
                self.parenthesized(ty);
                self.name(operand);
            }
            Node::Call(callee, arguments) => {
                self.name(callee);
                self.text("(");
                self.comma_separated(arguments, ", ");
                self.text(")");
            }
            Node::Braces(ty, members) => {
                if let Some(ty) = ty {
                    self.name(ty);
                }
                self.text("{");
                self.comma_separated(members, ", ");
                self.text("}");
            }
            Node::Designated(member, value) => {
                self.text(".");
                self.name(member);
                self.text("=");
                self.name(value);
            }
            Node::New(word, placement, ty, initializer) => {
                self.text(word);
                if let Some(placement) = placement {
                    self.text("(");
                    self.comma_separated(placement, ", ");
                    self.text(") ");
                }
                self.name(ty);
                if let Some((in_braces, arguments)) = initializer {
                    self.text(if in_braces { "{" } else { "(" });
                    self.comma_separated(arguments, ", ");
                    self.text(if in_braces { "}" } else { ")" });
                }
            }
            Node::Fold(left, operator, right) => {
                self.text("(");
                if let Some(left) = left {
                    self.name(left);
                    self.text(operator);
                }
                self.text("...");
                if let Some(right) = right {
                    self.text(operator);
                    self.name(right);
                }
                self.text(")");
            }
            _ => {}
        }
    }

    fn parenthesized(&mut self, ty: NodeId) {
        self.text("(");
        self.name(ty);
        self.text(")");
    }
}
