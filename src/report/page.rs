//! The page: its text with styles, script and data put in.

use super::model::Report;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPTS: [&str; 5] = [
    include_str!("page/base.js"),
    include_str!("page/treemap.js"),
    include_str!("page/functions.js"),
    include_str!("page/tables.js"),
    include_str!("page/main.js"),
];

/// Returns the page of a report.
///
/// # Errors
///
/// None: the data has no maps whose keys are not texts.
pub fn html(report: &Report) -> serde_json::Result<String> {
    let data = serde_json::to_string(report)?;
    // Texts alone have this character. So no name ends the data, or begins a comment.
    let data = data.replace('<', "\\u003c");
    let title = escaped(&report.title);
    let script = SCRIPTS.concat();
    let parts = [
        ("{{title}}", title.as_str()),
        ("{{style}}", STYLE),
        ("{{data}}", data.as_str()),
        ("{{script}}", script.as_str()),
    ];
    // Each part is put in where it stands in the page, so that none is looked for in another.
    let mut page = String::with_capacity(PAGE.len() + data.len() + script.len() + STYLE.len());
    let mut rest = PAGE;
    for (mark, text) in parts {
        if let Some((before, after)) = rest.split_once(mark) {
            page.push_str(before);
            page.push_str(text);
            rest = after;
        }
    }
    page.push_str(rest);
    Ok(page)
}

/// Returns a text as HTML.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            other => escaped.push(other),
        }
    }
    escaped
}
