//! PTX of functions and kernels that do next to nothing: what a linker sees of a program is its
//! names and references.
//!
//! Names of templates hold `Q000000`, which stands for the object itself, and `R000000` to
//! `R000007`, which stand for others.

use std::fmt::Write;

/// Returns the stand-in for the name of the `index`-th object that is used.
pub fn foreign(index: usize) -> String {
    format!("R{index:06}")
}

/// Returns the text at the beginning of every module.
pub fn header(sm: &str) -> String {
    format!(".version 9.0\n.target {sm}\n.address_size 64\n")
}

/// Returns the head of a function of one number that returns one.
fn signature(name: &str) -> String {
    format!(".func (.param .b32 r) {name}(.param .b32 a)")
}

/// Returns the declaration of a function that is defined elsewhere.
pub fn external(name: &str) -> String {
    format!(".extern {};\n", signature(name))
}

/// Returns the declaration of a function that is defined further down.
pub fn forward(name: &str) -> String {
    format!(".visible {};\n", signature(name))
}

/// Returns a function that adds a constant.
pub fn leaf(linkage: &str, name: &str, constant: usize) -> String {
    format!(
        "{linkage} {} {{ .reg .b32 %r<3>; ld.param.u32 %r1,[a]; add.s32 %r2,%r1,{constant}; st.param.b32 [r],%r2; ret; }}\n",
        signature(name)
    )
}

/// Returns a call of a function.
pub fn call(name: &str) -> String {
    format!(
        " {{ .param .b32 p; st.param.b32 [p],%r1; .param .b32 q; call.uni (q),{name},(p); ld.param.b32 %r1,[q]; }}\n"
    )
}

/// Returns a call of the function that an entry of a table names; `number` is a different one for
/// each call of a module.
pub fn indirect_call(table: &str, entry: usize, number: usize) -> String {
    format!(
        " mov.u64 %rd2,{table}; ld.global.u64 %rd3,[%rd2+{}]; {{ .param .b32 p; st.param.b32 [p],%r1; .param .b32 q; \
         pr{number}: .callprototype (.param .b32 _) _ (.param .b32 _); call (q),%rd3,(p),pr{number}; ld.param.b32 %r1,[q]; }}\n",
        8 * entry
    )
}

/// Returns a function with a body of calls.
pub fn function(linkage: &str, name: &str, body: &str) -> String {
    format!(
        "{linkage} {} {{ .reg .b32 %r<3>; .reg .b64 %rd<9>; ld.param.u32 %r1,[a];\n{body} st.param.b32 [r],%r1; ret; }}\n",
        signature(name)
    )
}

/// Returns a kernel with a body of calls.
pub fn kernel(name: &str, body: &str) -> String {
    format!(
        ".visible .entry {name}(.param .u64 p0) {{ .reg .b32 %r<3>; .reg .b64 %rd<9>; mov.u32 %r1,%tid.x; ld.param.u64 %rd1,[p0];\n\
         {body} cvta.to.global.u64 %rd1,%rd1; st.global.u32 [%rd1],%r1; ret; }}\n"
    )
}

/// Returns a table of the addresses of functions.
pub fn table(name: &str, functions: &[String]) -> String {
    format!(
        ".visible .global .align 8 .u64 {name}[{}] = {{{}}};\n",
        functions.len(),
        functions.join(",")
    )
}

/// Returns a variable with a value.
pub fn variable(name: &str, words: &[u32]) -> String {
    let mut text = format!(
        ".visible .global .align 4 .u32 {name}[{}] = {{",
        words.len()
    );
    for (index, word) in words.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(text, "{comma}{word}");
    }
    text.push_str("};\n");
    text
}
