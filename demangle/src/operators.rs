//! Operators: their codes, their spelling, and how expressions of them look.

/// How an expression of an operator is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// In front of one expression.
    Prefix,
    /// In front of (with `_`) or after one expression.
    Step,
    /// Between two expressions.
    Binary,
    /// `a[b]`.
    Subscript,
    /// A member access, whose second operand is a name.
    Member,
    /// `a?b:c`.
    Conditional,
    /// Not an operator of plain expressions: a call, an allocation.
    Other,
}

/// An operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator {
    /// Its two letters.
    pub code: [u8; 2],
    /// Its spelling after `operator `.
    pub spelling: &'static str,
    /// How expressions of it look.
    pub shape: Shape,
}

const fn operator(code: &[u8; 2], spelling: &'static str, shape: Shape) -> Operator {
    Operator {
        code: *code,
        spelling,
        shape,
    }
}

/// What nvlink takes for the operators that can name a function, by code.
const OPERATORS: [Operator; 64] = [
    operator(b"aN", "&=", Shape::Binary),
    operator(b"aS", "=", Shape::Binary),
    operator(b"aa", "&&", Shape::Binary),
    operator(b"ad", "&", Shape::Prefix),
    operator(b"an", "&", Shape::Binary),
    operator(b"at", "alignof()", Shape::Other),
    operator(b"aw", "co_await", Shape::Prefix),
    operator(b"az", "alignof()", Shape::Other),
    operator(b"cc", "const_cast", Shape::Other),
    operator(b"cl", "()", Shape::Other),
    operator(b"cm", ",", Shape::Binary),
    operator(b"co", "~", Shape::Prefix),
    operator(b"dV", "/=", Shape::Binary),
    operator(b"da", "delete[] ", Shape::Prefix),
    operator(b"dc", "dynamic_cast", Shape::Other),
    operator(b"de", "*", Shape::Prefix),
    operator(b"dl", "delete ", Shape::Prefix),
    operator(b"ds", ".*", Shape::Binary),
    operator(b"dt", ".", Shape::Member),
    operator(b"dv", "/", Shape::Binary),
    operator(b"eO", "^=", Shape::Binary),
    operator(b"eo", "^", Shape::Binary),
    operator(b"eq", "==", Shape::Binary),
    operator(b"ge", ">=", Shape::Binary),
    operator(b"gt", ">", Shape::Binary),
    operator(b"ix", "[]", Shape::Subscript),
    operator(b"lS", "<<=", Shape::Binary),
    operator(b"le", "<=", Shape::Binary),
    operator(b"ls", "<<", Shape::Binary),
    operator(b"lt", "<", Shape::Binary),
    operator(b"mI", "-=", Shape::Binary),
    operator(b"mL", "*=", Shape::Binary),
    operator(b"mi", "-", Shape::Binary),
    operator(b"ml", "*", Shape::Binary),
    operator(b"mm", "--", Shape::Step),
    operator(b"na", "new[] ", Shape::Other),
    operator(b"ne", "!=", Shape::Binary),
    operator(b"ng", "-", Shape::Prefix),
    operator(b"nt", "!", Shape::Prefix),
    operator(b"nw", "new ", Shape::Other),
    operator(b"nx", "noexcept()", Shape::Other),
    operator(b"oR", "|=", Shape::Binary),
    operator(b"oo", "||", Shape::Binary),
    operator(b"or", "|", Shape::Binary),
    operator(b"pL", "+=", Shape::Binary),
    operator(b"pl", "+", Shape::Binary),
    operator(b"pm", "->*", Shape::Binary),
    operator(b"pp", "++", Shape::Step),
    operator(b"ps", "+", Shape::Prefix),
    operator(b"pt", "->", Shape::Member),
    operator(b"qu", "?", Shape::Conditional),
    operator(b"rM", "%=", Shape::Binary),
    operator(b"rS", ">>=", Shape::Binary),
    operator(b"rc", "reinterpret_cast", Shape::Other),
    operator(b"rm", "%", Shape::Binary),
    operator(b"rs", ">>", Shape::Binary),
    operator(b"sc", "static_cast", Shape::Other),
    operator(b"ss", "<=>", Shape::Binary),
    operator(b"st", "sizeof()", Shape::Other),
    operator(b"sz", "sizeof()", Shape::Other),
    operator(b"te", "typeid()", Shape::Other),
    operator(b"ti", "typeid()", Shape::Other),
    operator(b"tr", "throw", Shape::Other),
    operator(b"tw", "throw ", Shape::Other),
];

/// Returns the operator of this code.
pub fn find(code: [u8; 2]) -> Option<Operator> {
    OPERATORS
        .iter()
        .find(|operator| operator.code == code)
        .copied()
}
