//! Unsafe code and the sizes of functions.

use std::path::PathBuf;

use proc_macro2::Delimiter;
use proc_macro2::TokenStream;
use proc_macro2::TokenTree;
use syn::BinOp;
use syn::Block;
use syn::Safety;
use syn::Signature;
use syn::spanned::Spanned;
use syn::visit::Visit;

use crate::modules::Crate;
use crate::modules::is_of_tests;

/// A function with a body.
pub struct Function {
    pub name: String,
    pub file: PathBuf,
    /// The line of its signature.
    pub line: usize,
    /// From the signature to the end of the body.
    pub lines: usize,
    /// Ways that control can take beside the first one: `if`, arms of `match` but one, loops, `&&`
    /// and `||`.
    pub branches: usize,
}

/// What is counted of a crate.
#[derive(Default)]
pub struct Counts {
    pub lines: usize,
    /// Unsafe blocks, those in macros too.
    pub blocks: usize,
    pub unsafe_functions: usize,
    /// Unsafe implementations of traits.
    pub implementations: usize,
    pub functions: Vec<Function>,
}

impl Counts {
    /// Counts what a crate has.
    pub fn add(&mut self, of: &Crate) {
        self.lines += of.lines;
        for module in &of.modules {
            let mut counter = Counter {
                counts: self,
                file: &module.file,
                open: Vec::new(),
            };
            module
                .items
                .iter()
                .for_each(|item| counter.visit_item(item));
        }
    }
}

struct Counter<'a> {
    counts: &'a mut Counts,
    file: &'a PathBuf,
    /// Functions around the code that is looked at, as places in the list.
    open: Vec<usize>,
}

impl Counter<'_> {
    fn branch(&mut self, count: usize) {
        if let Some(function) = self.open.last() {
            self.counts.functions[*function].branches += count;
        }
    }

    fn function(&mut self, signature: &Signature, body: &Block) {
        let line = signature.span().start().line;
        self.counts.unsafe_functions += usize::from(matches!(signature.safety, Safety::Unsafe(_)));
        self.counts.functions.push(Function {
            name: signature.ident.to_string(),
            file: self.file.clone(),
            line,
            lines: body.span().end().line + 1 - line,
            branches: 0,
        });
        self.open.push(self.counts.functions.len() - 1);
        self.visit_block(body);
        self.open.pop();
    }

    /// Counts unsafe blocks among the tokens of a macro.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut is_unsafe = false;
        for token in tokens {
            if let TokenTree::Group(group) = &token {
                let is_block = is_unsafe && group.delimiter() == Delimiter::Brace;
                self.counts.blocks += usize::from(is_block);
                self.tokens(group.stream());
            }
            is_unsafe = matches!(&token, TokenTree::Ident(word) if word == "unsafe");
        }
    }
}

impl<'ast> Visit<'ast> for Counter<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !item.attrs.iter().any(is_of_tests) {
            self.function(&item.sig, &item.block);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !item.attrs.iter().any(is_of_tests) {
            self.function(&item.sig, &item.block);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.function(&item.sig, body);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.counts.implementations += usize::from(item.unsafety.is_some());
        syn::visit::visit_item_impl(self, item);
    }

    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        self.counts.blocks += 1;
        syn::visit::visit_expr_unsafe(self, block);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.tokens(item.tokens.clone());
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        self.branch(1);
        syn::visit::visit_expr_if(self, branch);
    }

    fn visit_expr_match(&mut self, branches: &'ast syn::ExprMatch) {
        self.branch(branches.arms.len().saturating_sub(1));
        syn::visit::visit_expr_match(self, branches);
    }

    fn visit_expr_while(&mut self, repeated: &'ast syn::ExprWhile) {
        self.branch(1);
        syn::visit::visit_expr_while(self, repeated);
    }

    fn visit_expr_for_loop(&mut self, repeated: &'ast syn::ExprForLoop) {
        self.branch(1);
        syn::visit::visit_expr_for_loop(self, repeated);
    }

    fn visit_expr_loop(&mut self, repeated: &'ast syn::ExprLoop) {
        self.branch(1);
        syn::visit::visit_expr_loop(self, repeated);
    }

    fn visit_expr_binary(&mut self, both: &'ast syn::ExprBinary) {
        self.branch(matches!(both.op, BinOp::And(_) | BinOp::Or(_)).into());
        syn::visit::visit_expr_binary(self, both);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_not_counted_and_all_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("lib.rs");
        let text = "\
mod inner;
#[cfg(test)]
mod gone;
#[cfg(test)]
fn of_tests() {
    unsafe { gone() }
}
unsafe impl Send for S {}
macro_rules! made { () => { unsafe { f() } } }
";
        let inner = "\
pub unsafe fn long(a: bool, b: bool) -> u32 {
    // SAFETY: none.
    unsafe { g() };
    for _ in 0..3 {
        if a && b {
            return match a { true => 1, false if b => 2, false => 3 };
        }
    }
    0
}
";
        std::fs::write(&root, text).unwrap();
        std::fs::write(folder.path().join("inner.rs"), inner).unwrap();
        let mut counts = Counts::default();
        counts.add(&Crate::read(&root).unwrap());
        assert_eq!((counts.blocks, counts.unsafe_functions), (2, 1));
        assert_eq!(counts.implementations, 1);
        assert_eq!(
            counts.lines,
            3 + 10,
            "{counts_of:?}",
            counts_of = counts.lines
        );
        let [long] = counts.functions.as_slice() else {
            panic!("{} functions", counts.functions.len());
        };
        assert_eq!((long.name.as_str(), long.line), ("long", 1));
        // A loop, an if, an &&, and two arms more than one.
        assert_eq!((long.lines, long.branches), (10, 5));
    }
}
