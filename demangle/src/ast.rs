//! What a mangled name says, as a tree whose parts substitutions share.

/// A node of [`Ast`]. A node refers only to nodes before it, so there are no cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct NodeId(u32);

/// A run of nodes in [`Ast`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct List {
    start: u32,
    len: u32,
}

/// The qualifiers of a type or of a member function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Qualifiers {
    /// `K`.
    pub is_const: bool,
    /// `V`.
    pub is_volatile: bool,
    /// `r`.
    pub is_restrict: bool,
    /// ` &` or ` &&` of a member function, otherwise empty.
    pub reference: &'static str,
}

/// A part of a mangled name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node<'a> {
    // Names.
    /// An identifier of the source.
    Identifier(&'a [u8]),
    /// A name that is always spelled like this: a builtin type, `<unnamed>`.
    Text(&'static str),
    /// A class of the standard library that has a code of its own: the whole name, and what its
    /// constructors are called.
    Standard(&'static str, &'static str),
    /// `scope::name`.
    Scoped(NodeId, NodeId),
    /// `name<args>`.
    Template(NodeId, List),
    /// `name[abi:tags]`.
    Tagged(NodeId, List),
    /// `operator +`.
    Operator(&'static str),
    /// `operator type`.
    Conversion(NodeId),
    /// `operator ""_x`.
    LiteralOperator(&'a [u8]),
    /// The constructor of a class with this name.
    Constructor(NodeId),
    /// The destructor of a class with this name.
    Destructor(NodeId),
    /// A class without a name, the n-th of its scope.
    UnnamedType(u64),
    /// The class of a lambda: parameters, the n-th of its scope.
    Lambda(List, u64),
    /// What the n-th last default argument of a function contains.
    DefaultArgument(u64),
    /// A structured binding of these names.
    Binding(List),
    /// A string literal of a function.
    StringLiteral,
    /// One of several things of the same name in one function.
    Instance(NodeId, u64),
    /// A function with its type.
    Encoding {
        /// Its name.
        name: NodeId,
        /// What it returns, if its name says so.
        returns: Option<NodeId>,
        /// What it takes; none if this is no function.
        parameters: Option<List>,
        /// Of member functions.
        qualifiers: Qualifiers,
        /// What stands after it: which of a constructor's variants this is.
        suffix: &'static str,
    },
    /// Text in front of a name or type: tables and guards that the compiler makes.
    Special(&'static str, NodeId),
    /// A copy of a function that a compiler made, with the word that it appended.
    Clone(NodeId, &'a [u8]),
    /// A thunk: its offsets, and the function.
    Thunk(Thunk<'a>, NodeId),

    // Types.
    /// A type without the blank that others get before `*` and `&`: nvlink forgets it after
    /// substitutions that stand for a name.
    Tight(NodeId),
    /// The same with template arguments.
    TightTemplate(NodeId, List),
    /// `const T`.
    Qualified(Qualifiers, NodeId),
    /// `T *`, `T &`, `T &&`.
    Pointer(&'static str, NodeId),
    /// `T C::*`.
    MemberPointer {
        /// The class.
        class: NodeId,
        /// The type of the member.
        member: NodeId,
    },
    /// `_Complex T`.
    Complex(NodeId),
    /// A qualifier of the compiler's own.
    Vendor(NodeId, NodeId),
    /// `T [n]`; the number as written, or an expression.
    Array(Dimension<'a>, NodeId),
    /// A function type.
    Function {
        /// What it returns.
        returns: NodeId,
        /// What it takes.
        parameters: List,
        /// Of pointers to member functions.
        qualifiers: Qualifiers,
        /// Whether and when it does not throw.
        noexcept: Noexcept,
    },
    /// `T __attribute((vector_size(..)))`.
    Vector(&'a [u8], NodeId),
    /// `T...`.
    PackExpansion(NodeId),
    /// `decltype(e)`, where the expression is a plain name.
    DecltypeName(NodeId),
    /// `decltype((e))`.
    Decltype(NodeId),
    /// The n-th template parameter, from 1.
    TemplateParameter(u64),

    // Template arguments and expressions.
    /// An argument pack.
    Pack(List),
    /// `(type)number`; the number as written.
    Number(NodeId, &'a [u8]),
    /// A literal of type float or double.
    Float(NodeId, Floats),
    /// `(type)"..."`: a string, or another literal without a value.
    Valueless(NodeId),
    /// A parameter of the function: level up, qualifiers, number from 1.
    Parameter(u64, Qualifiers, u64),
    /// Operator in front of an expression.
    Prefix(&'static str, NodeId),
    /// Operator after an expression.
    Postfix(NodeId, &'static str),
    /// Operator between expressions.
    Binary(NodeId, &'static str, NodeId),
    /// `a[b]`.
    Subscript(NodeId, NodeId),
    /// `(a.b)`, `(a->b)`.
    Member(NodeId, &'static str, NodeId),
    /// `a?b:c`.
    Conditional(NodeId, NodeId, NodeId),
    /// `word(e)`.
    Wrapped(&'static str, NodeId),
    /// `word<type>(e)`.
    NamedCast(&'static str, NodeId, NodeId),
    /// `(type)e`.
    Cast(NodeId, NodeId),
    /// `e(arguments)`.
    Call(NodeId, List),
    /// `type{arguments}`, or without a type.
    Braces(Option<NodeId>, List),
    /// `.member=value`.
    Designated(NodeId, NodeId),
    /// `new (placement) T(arguments)`: the word, the placement, the type, whether the arguments
    /// stand in braces, and the arguments.
    New(&'static str, Option<List>, NodeId, Option<(bool, List)>),
    /// A function or variable, without its type.
    Entity(NodeId),
    /// `(e+...)`, `(...+e)`, `(a+...+b)`.
    Fold(Option<NodeId>, &'static str, Option<NodeId>),
}

/// The size of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension<'a> {
    /// `[]`.
    None,
    /// As written.
    Number(&'a [u8]),
    /// Computed.
    Expression(NodeId),
}

/// The exception specification of a function type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noexcept {
    /// None.
    No,
    /// `noexcept`.
    Yes,
    /// `noexcept(e)`.
    If(NodeId),
}

/// The offsets of a thunk, with their sign as printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thunk<'a> {
    /// Of `this`.
    One(CallOffset<'a>),
    /// Of `this` and of the result.
    Covariant(CallOffset<'a>, CallOffset<'a>),
}

/// How far a thunk moves a pointer. Numbers as mangled, `n` for minus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOffset<'a> {
    /// By a constant.
    Fixed(&'a [u8]),
    /// By a constant and by what a virtual table holds.
    Virtual(&'a [u8], &'a [u8]),
}

/// The value of a floating point literal, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floats {
    /// A float.
    Single(u32),
    /// A double.
    Double(u64),
    /// A complex float.
    SinglePair(u32, u32),
    /// A complex double.
    DoublePair(u64, u64),
}

/// The nodes of one name.
#[derive(Debug, Default)]
pub struct Ast<'a> {
    nodes: Vec<Node<'a>>,
    members: Vec<NodeId>,
}

impl<'a> Ast<'a> {
    /// Adds a node.
    pub fn add(&mut self, node: Node<'a>) -> NodeId {
        // A node costs at least one byte of a name, whose length is bounded.
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node);
        id
    }

    /// Adds a list.
    pub fn list(&mut self, members: &[NodeId]) -> List {
        let start = self.members.len() as u32;
        self.members.extend_from_slice(members);
        List {
            start,
            len: members.len() as u32,
        }
    }

    /// Returns a node.
    pub fn get(&self, id: NodeId) -> Node<'a> {
        self.nodes
            .get(id.0 as usize)
            .copied()
            .unwrap_or(Node::Text(""))
    }

    /// Returns the members of a list.
    pub fn members(&self, list: List) -> &[NodeId] {
        let start = list.start as usize;
        self.members
            .get(start..start + list.len as usize)
            .unwrap_or(&[])
    }
}
