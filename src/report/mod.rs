//! The report of a link or of files: one HTML file that needs nothing else.
//!
//! ```text
//! files ──inspect──▶ images ──▶ model ──▶ JSON ─┐
//!                                 ▲             ├──▶ page.html with page.css and page.js
//! link ──▶ passes, map ───────────┘             ┘
//! ```
//!
//! What the page shows is data that the page's script reads; every text of an input reaches the
//! page as data, and nothing of it is ever markup. The page has a policy by which it can load
//! nothing. The report of the same inputs is the same, byte for byte, unless it has times.

mod constants;
mod duplicates;
mod functions;
mod image;
mod leaves;
mod link;
mod model;
mod names;
mod page;
mod passes;

pub use link::LinkData;
pub use model::Report;
pub use model::SCHEMA;
pub use model::SCHEMA_VERSION;
pub use page::html;
pub use passes::PassRecorder;
pub use passes::RecordedPass;

use crate::inspect::Node;
use crate::size::ObjectMap;
use crate::size::collect;

impl Report {
    /// Describes files. Linked files take the map that fits.
    pub fn of_files(title: &str, files: &[Node<'_>], maps: &[ObjectMap]) -> Self {
        let images: Vec<_> = files.iter().flat_map(collect).collect();
        Report {
            schema: SCHEMA,
            schema_version: SCHEMA_VERSION,
            title: title.to_owned(),
            tool: format!("cuweld {}", env!("CARGO_PKG_VERSION")),
            images: images.iter().map(|it| image::describe(it, maps)).collect(),
            link: None,
        }
    }

    /// Describes a link: the file that it wrote, whose map is in `data`, and what passes did.
    pub fn of_link(file: &Node<'_>, data: LinkData) -> Self {
        let title = file.name.to_string();
        let maps: Vec<ObjectMap> = data.map.iter().cloned().map(ObjectMap::new).collect();
        let mut report = Report::of_files(&title, std::slice::from_ref(file), &maps);
        let images = report.images.iter_mut();
        let mut of_link = images.filter(|image| image.name == title);
        if let Some(image) = of_link.next() {
            image.shared = link::shared(&data, &image.functions);
        }
        report.link = Some(link::describe(data));
        report
    }
}
