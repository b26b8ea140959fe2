//! What an output depends on: the bytes of its inputs and the options, and nothing else.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::harness::command::stderr;

/// Links of `tests/links`: folder, options, inputs.
const LINKS: [(&str, &[&str], &[&str]); 4] = [
    ("inputs/archive/sm_90", &["-arch=sm_90"], &["a.o", "libk.a"]),
    (
        "debug/debug-link/sm_90",
        &["-arch=sm_90", "-g"],
        &["a.cubin", "b.cubin"],
    ),
    (
        "debug/debug-link/sm_100",
        &["-arch=sm_100", "-g"],
        &["a.cubin", "b.cubin"],
    ),
    (
        "mercury/mercury-targets/sm_110",
        &["-arch=sm_110"],
        &["a.cubin", "b.cubin"],
    ),
];

/// The option with which outputs name the inputs as they were given, as nvlink's do.
const NAMING: &str = "-g";

/// A link somewhere: what may not matter.
struct Link {
    folder: PathBuf,
    options: &'static [&'static str],
    inputs: Vec<PathBuf>,
    environment: Vec<(&'static str, &'static str)>,
}

impl Link {
    /// Copies the inputs into a folder of a name.
    fn new(within: &Path, name: &str, link: usize) -> Self {
        let (from, options, inputs) = LINKS[link];
        let folder = within.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let from = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/links")
            .join(from);
        for input in inputs {
            std::fs::copy(from.join(input), folder.join(input)).unwrap();
        }
        Link {
            folder,
            options,
            inputs: inputs.iter().map(PathBuf::from).collect(),
            environment: Vec::new(),
        }
    }

    fn output(&self) -> Vec<u8> {
        let done = Command::new(env!("CARGO_BIN_EXE_cuweld"))
            .arg("nvlink")
            .args(self.options)
            .args(&self.inputs)
            .args(["-o", "out.cubin"])
            .current_dir(&self.folder)
            .envs(self.environment.iter().copied())
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", stderr(&done));
        std::fs::read(self.folder.join("out.cubin")).unwrap()
    }
}

/// Asserts that each link has the output that it has in a folder of its own, first and again.
fn assert_same(what: &str, change: impl Fn(&Path, usize) -> Link) {
    for (number, (name, ..)) in LINKS.iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let expected = Link::new(folder.path(), "plain", number).output();
        let changed = change(folder.path(), number);
        for _ in 0..2 {
            assert!(changed.output() == expected, "{what}: {name}");
        }
    }
}

#[test]
fn folders_do_not_matter() {
    assert_same("another folder", |within, number| {
        Link::new(within, "a longer name/with söme letters", number)
    });
}

#[test]
fn spellings_of_inputs_do_not_matter() {
    let spelled = |folder: &'static str| {
        move |within: &Path, number: usize| {
            let mut link = Link::new(within, "spelled", number);
            if !link.options.contains(&NAMING) {
                let folder = match folder {
                    "" => link.folder.clone(),
                    folder => folder.into(),
                };
                link.inputs = link.inputs.iter().map(|input| folder.join(input)).collect();
            }
            link
        }
    };
    assert_same("absolute", spelled(""));
    assert_same("dots", spelled("./../spelled/."));
}

#[cfg(unix)]
#[test]
fn links_to_inputs_do_not_matter() {
    assert_same("symbolic links", |within, number| {
        let link = Link::new(within, "links", number);
        for input in &link.inputs {
            let place = link.folder.join(input);
            let moved = place.with_extension("moved");
            std::fs::rename(&place, &moved).unwrap();
            std::os::unix::fs::symlink(&moved, &place).unwrap();
        }
        link
    });
}

#[test]
fn the_environment_does_not_matter() {
    let places = [
        ("LC_ALL", "tr_TR.UTF-8"),
        ("LANG", "ja_JP.eucJP"),
        ("TZ", "Pacific/Kiritimati"),
        ("HOME", "/nonexistent"),
        ("USER", "somebody"),
        ("HOSTNAME", "elsewhere"),
        ("SOURCE_DATE_EPOCH", "1"),
        ("TERM", "dumb"),
    ];
    assert_same("environment", |within, number| {
        let mut link = Link::new(within, "environment", number);
        link.environment = places.to_vec();
        link
    });
}

#[test]
fn times_of_inputs_do_not_matter() {
    for seconds in [1, 4_000_000_000] {
        assert_same("times", |within, number| {
            let link = Link::new(within, "times", number);
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            for input in &link.inputs {
                let place = link.folder.join(input);
                let file = std::fs::File::options().write(true).open(place).unwrap();
                file.set_modified(time).unwrap();
            }
            link
        });
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    for jobs in ["1", "2", "7"] {
        assert_same("threads", |within, number| {
            let mut link = Link::new(within, "threads", number);
            link.environment = vec![("CUWELD_JOBS", jobs)];
            link
        });
    }
}
