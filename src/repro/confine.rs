//! Running something that can write nowhere but in some folders.

use std::path::Path;

use landlock::ABI;
use landlock::AccessFs;
use landlock::CompatLevel;
use landlock::Compatible;
use landlock::Ruleset;
use landlock::RulesetAttr;
use landlock::RulesetCreatedAttr;
use landlock::RulesetError;
use landlock::path_beneath_rules;

/// The first version of Landlock by which files are neither made, written, renamed nor truncated
/// elsewhere (Linux 6.2).
const VERSION: ABI = ABI::V3;

/// Runs `what` on a thread of its own which, with all processes that it starts, changes files in
/// these folders alone. Files that are open stay as they are.
///
/// # Errors
///
/// If the system has no such limits; nothing has run then.
pub fn confined<T: Send>(
    folders: &[&Path],
    what: impl FnOnce() -> T + Send,
) -> Result<T, RulesetError> {
    let writes = AccessFs::from_write(VERSION);
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(writes)?
        .create()?
        .add_rules(path_beneath_rules(folders, writes))?
        .add_rules(path_beneath_rules(["/dev/null"], AccessFs::WriteFile))?;
    std::thread::scope(|scope| {
        let run = || rules.restrict_self().map(|_| what());
        match scope.spawn(run).join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_kept_in_the_folder() {
        let inside = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let file = outside.path().join("file");
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, inside.path().join("link")).unwrap();
        let written = confined(&[inside.path()], || {
            [
                std::fs::write(inside.path().join("new"), "x").is_ok(),
                std::fs::write("/dev/null", "x").is_ok(),
                std::fs::write(outside.path().join("new"), "x").is_ok(),
                std::fs::write(inside.path().join("link"), "x").is_ok(),
                std::fs::remove_file(&file).is_ok(),
            ]
        });
        assert_eq!(written.unwrap(), [true, true, false, false, false]);
        assert!(std::fs::write(&file, "new").is_ok());
    }
}
