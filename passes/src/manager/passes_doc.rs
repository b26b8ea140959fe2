//! `docs/framework/passes.md`, made from the registry.

use std::fmt::Write as _;

use cuweld_elf::behaviours;

use crate::pass::PassInfo;
use crate::pass::Required;
use crate::registry::Registry;

/// Returns the reference of all passes, as Markdown.
pub fn generate_passes_doc(registry: &Registry) -> String {
    let mut out = String::from(
        "# Passes\n\n\
         Generated from the registry (`passes/src/registry.rs`) and the passes' own documentation; \
         do not edit. `BLESS=1 cargo test --lib passes_doc` writes it anew.\n\n\
         How passes are put together is described in [Pipelines](../using/pipelines.md).\n\n\
         | pass | requires | establishes | |\n|---|---|---|---|\n",
    );
    for info in registry.iter() {
        let establishes = info.establishes.map_or("", |phase| phase.name());
        let _ = writeln!(
            out,
            "| [{0}](#{0}) | {1} | {establishes} | {2} |",
            info.name,
            info.requires.name(),
            info.summary
        );
    }
    for info in registry.iter() {
        out.push('\n');
        section(&mut out, info);
    }
    out.push_str(&links(&out));
    out
}

/// Returns the targets of the rules that a text cites in brackets.
fn links(text: &str) -> String {
    let mut links = String::new();
    for rule in behaviours::all() {
        let name = rule.name;
        if text.contains(&format!("[{name}]")) {
            let _ = write!(links, "\n[{name}]: ../formats/behaviours.md#{name}");
        }
    }
    if !links.is_empty() {
        links.push('\n');
    }
    links
}

fn section(out: &mut String, info: &PassInfo) {
    let _ = writeln!(
        out,
        "## {}\n\n{}.",
        info.name,
        info.summary.trim_end_matches('.')
    );
    out.push_str(&place(info));
    let doc = info.documentation();
    if !doc.is_empty() {
        let _ = writeln!(out, "\n{doc}");
    }
    if !info.options.is_empty() {
        out.push_str("\n| option | takes | default | |\n|---|---|---|---|\n");
    }
    for option in info.options {
        let (name, ty, default, doc) = (option.name, option.ty, option.default, option.doc);
        let _ = writeln!(out, "| `{name}` | {ty} | `{default}` | {doc} |");
    }
    if !info.remarks.is_empty() {
        out.push_str("\n| remark | is made when |\n|---|---|\n");
    }
    for remark in info.remarks {
        let _ = writeln!(out, "| `{}` | {} |", remark.name, remark.doc);
    }
}

/// Returns where in a pipeline, and in which links, a pass may stand and has to.
fn place(info: &PassInfo) -> String {
    let mut rules = Vec::new();
    if let Some(before) = info.before {
        rules.push(format!("It runs before phase `{}`", before.name()));
    }
    if info.once {
        rules.push("It runs once".to_owned());
    }
    let needs = match info.required {
        Required::No => None,
        Required::Always => Some(String::new()),
        Required::If(fact) => Some(format!(" if `{fact}` holds")),
        Required::Unless(fact) => Some(format!(" unless `{fact}` holds")),
    };
    if let Some(condition) = needs {
        rules.push(format!(
            "A link that writes a file has to have it{condition}"
        ));
    }
    for fact in info.refuses {
        rules.push(format!("It does not run if `{fact}` holds"));
    }
    match rules.is_empty() {
        true => String::new(),
        false => format!("\n{}.\n", rules.join(". ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manager::fake::Fake;
    use crate::options::OptionInfo;
    use crate::options::OptionType;
    use crate::remark::RemarkInfo;

    const OPTIONS: &[OptionInfo] = &[OptionInfo {
        name: "roots",
        ty: OptionType::Choice(&["kernels", "all"]),
        default: "kernels",
        doc: "What keeps functions.",
    }];

    const REMARKS: &[RemarkInfo] = &[RemarkInfo {
        name: "live",
        doc: "A function stays",
    }];

    #[test]
    fn a_pass_has_a_row_and_a_section() {
        let mut registry = Registry::new();
        let info = PassInfo {
            doc: "//! Dead code.\n//!\n//! More.\n",
            options: OPTIONS,
            remarks: REMARKS,
            ..Fake::boxed("callgraph-dce").info()
        };
        registry.register_made(info, |_| Ok(Fake::boxed("callgraph-dce")));
        Fake::register(&mut registry, "relocate");
        let text = generate_passes_doc(&registry);
        let table = text.find("| pass |").unwrap();
        assert_eq!(
            &text[table..],
            "| pass | requires | establishes | |\n|---|---|---|---|\n\
             | [callgraph-dce](#callgraph-dce) | resolved | live | A pass for tests |\n\
             | [relocate](#relocate) | laid-out | relocated | A pass for tests |\n\
             \n## callgraph-dce\n\nA pass for tests.\n\nDead code.\n\nMore.\n\
             \n| option | takes | default | |\n|---|---|---|---|\n\
             | `roots` | 'kernels' or 'all' | `kernels` | What keeps functions. |\n\
             \n| remark | is made when |\n|---|---|\n\
             | `live` | A function stays |\n\
             \n## relocate\n\nA pass for tests.\n"
        );
    }
}
