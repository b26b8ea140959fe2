//! What `-V` prints.

use cuweld_elf::toolkit::Toolkit;

/// Returns the version text. Build systems look for the line with the release, which is that of the
/// toolkit whose linker we stand in for.
pub fn version_text(tool_name: &str, toolkit: &Toolkit) -> String {
    format!(
        "{tool_name}: cuweld {}, an open CUDA device linker\n\
         Stands in for the linker of this toolkit; not a product of its maker:\n\
         {}\n{}\n",
        env!("CARGO_PKG_VERSION"),
        toolkit.stamp.version,
        toolkit.stamp.branch,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_line_is_the_toolkits() {
        let text = version_text("nvlink", Default::default());
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("nvlink: cuweld "));
        assert!(lines.contains(&"Cuda compilation tools, release 13.0, V13.0.88"));
    }
}
