//! The page of the book that lists the codes.

use std::fmt::Write as _;

use crate::Kind;
use crate::codes;

/// Returns `docs/using/findings.md`.
pub fn page() -> String {
    let mut out = String::from(
        "# Findings\n\n\
         Generated from the tables in `diagnostics/src/codes`; do not edit. \
         `BLESS=1 cargo test -p cuweld --lib explain` writes it anew.\n\n\
         Each error, warning and remark of a link has a code that stays the same from version to version, whatever its wording. \
         The text of a message is nvlink's, so codes are not part of it: `--cuweld-explain=all` (`cuweld link --explain all`) \
         adds a note with the code to warnings and errors, and `cuweld explain CODE` says what is written here. \
         `cuweld explain` lists all codes.\n",
    );
    for kind in Kind::ALL {
        let _ = write!(
            out,
            "\n## {}\n\n{} {}\n\n| code | what is found | when it comes, and what to do |\n|---|---|---|\n",
            kind.name(),
            kind.doc(),
            kind.advice()
        );
        for code in codes::all().iter().filter(|code| code.kind() == *kind) {
            let own = match code.advice() {
                advice if advice == kind.advice() => String::new(),
                advice => format!(" *{advice}*"),
            };
            let _ = writeln!(
                out,
                "| `{code}` | {} | {}{own} |",
                code.title(),
                code.when()
            );
        }
    }
    out
}
