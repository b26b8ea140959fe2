//! cuweld loads the plugin and links with it.

use std::path::PathBuf;

const INPUT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/links/symbols/weak-templates/sm_90/a.cubin"
);

fn plugin() -> String {
    cuweld_test::built_library("plugin_rust")
        .display()
        .to_string()
}

fn cuweld(arguments: &[&str]) -> (u8, String) {
    let words: Vec<String> = ["cuweld"]
        .iter()
        .chain(arguments)
        .map(|word| (*word).to_owned())
        .collect();
    let (mut out, mut messages) = (Vec::new(), Vec::new());
    let code = cuweld::cli::native(
        &words,
        cuweld::cli::Program::default(),
        &mut out,
        &mut messages,
    )
    .unwrap();
    (
        code,
        String::from_utf8_lossy(&out).into_owned() + &String::from_utf8_lossy(&messages),
    )
}

#[test]
fn kernels_get_a_prefix() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    let (out, pipeline) = (path("out.cubin"), path("p.toml"));
    let text = "name = 'prefixed'\n[[pass]]\ninclude = 'executable'\n[[pass]]\n\
                use = 'prefix-kernels'\noptions = { prefix = 'v2_' }\nafter = 'classify'\n";
    std::fs::write(&pipeline, text).unwrap();
    let plugin = plugin();
    let link = [
        "link",
        INPUT,
        "--arch=sm_90",
        "--load-pass-plugin",
        &plugin,
        "-o",
        out.to_str().unwrap(),
    ];
    let with = [
        &link[..],
        &["--pipeline", pipeline.to_str().unwrap(), "--verify-each"],
    ]
    .concat();
    let (code, said) = cuweld(&with);
    assert_eq!((code, &*said), (0, ""));
    let (code, said) = cuweld(&[&with[..], &["--stats", "--remarks=prefix-kernels"]].concat());
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("kernels"), "{said}");
    // Remarks have the names that the pass leaves.
    assert!(
        said.contains("remark: prefix-kernels: 'v2__Z2kaPf' has a prefix"),
        "{said}"
    );
    let image = std::fs::read(&out).unwrap();
    let has = |name: &[u8]| image.windows(name.len()).any(|window| window == name);
    assert!(has(b"\0.text.v2_") && has(b"\0v2_"));
    // Without options it says what it lacks, and no output appears.
    std::fs::remove_file(&out).unwrap();
    let passes = ["--passes", "classify,prefix-kernels,select-objects"];
    let (code, said) = cuweld(&[&link[..], &passes[..]].concat());
    assert_eq!(code, 1);
    assert!(
        said.contains("pass 'prefix-kernels': it needs the option 'prefix'"),
        "{said}"
    );
    assert!(!out.exists());
}

#[test]
fn the_pass_is_listed() {
    let plugin = plugin();
    let (code, said) = cuweld(&["passes", "prefix-kernels", "--load-pass-plugin", &plugin]);
    assert_eq!(code, 0, "{said}");
    assert!(said.starts_with("prefix-kernels: Put a prefix"), "{said}");
    assert!(
        said.contains("prefix = ''\n    a string: What names of kernels begin with."),
        "{said}"
    );
}
