use super::demangle;
use super::displayed;
use super::explained;

/// `mangled | what nvlink 13.0.88 prints for it` in `-dump-callgraph`, one a line.
const MEASURED: &str = include_str!("measured.txt");

#[test]
fn names_are_spelled_as_nvlink_spells_them() {
    let mut wrong = Vec::new();
    for line in MEASURED.lines() {
        let (mangled, expected) = line.split_once(" | ").expect("two columns");
        let found = displayed(mangled.as_bytes());
        if found != expected {
            wrong.push(format!("{mangled}\n  nvlink {expected}\n  cuweld {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(MEASURED.lines().count() >= 150);
}

#[test]
fn other_names_stay_as_they_are() {
    for name in ["", "_", "_Z", "main", "_ZL6localkPi", "_Z1fv.part.0"] {
        assert_eq!(demangle(name.as_bytes()), None, "{name}");
        assert_eq!(displayed(name.as_bytes()), name);
    }
    assert_eq!(displayed(b"\xff"), "\u{fffd}");
}

#[test]
fn every_cut_of_a_name_is_safe() {
    for line in MEASURED.lines() {
        let mangled = line.split(" | ").next().unwrap_or_default().as_bytes();
        for end in 0..mangled.len() {
            let _ = demangle(&mangled[..end]);
            let mut changed = mangled.to_vec();
            changed[end] = changed[end].wrapping_add(1);
            let _ = demangle(&changed);
        }
    }
}

#[test]
fn names_that_grow_without_end_are_left_alone() {
    // Each type holds the one before it twice.
    let doubling = |count: u8| {
        let mut name = String::from("_Z1f1aIiiE");
        for last in (b'0'..=b'9').chain(b'A'..=b'Z').take(usize::from(count)) {
            let last = char::from(last);
            name.push_str(&format!("S_IS{last}_S{last}_E"));
        }
        name
    };
    assert_eq!(
        demangle(doubling(1).as_bytes()).as_deref(),
        Some("f(a<int, int>, a<a<int, int>, a<int, int>>)")
    );
    let lengths = |count| demangle(doubling(count).as_bytes()).map(|text| text.len());
    assert_eq!(lengths(8), Some(8150));
    assert_eq!(lengths(36), None);
}

#[test]
fn depth_is_bounded() {
    let pointers = |count| demangle(format!("_Z1f{}i", "P".repeat(count)).as_bytes());
    assert_eq!(pointers(2).as_deref(), Some("f(int **)"));
    assert!(pointers(100).is_some());
    for count in [10_000, 60_000] {
        assert_eq!(pointers(count), None);
    }
    for part in [
        "P", "N1a", "1aI", "XngT", "Dt", "Z1f", "F", "M", "cvPi", "IX", "DTcl",
    ] {
        assert_eq!(
            demangle(format!("_Z1f{}", part.repeat(5_000)).as_bytes()),
            None
        );
    }
    // References nest deeper than what is written.
    let mut chain = String::from("_Z1f1aPS_");
    for number in 0..300_u32 {
        chain.push_str(&format!("PS{}_", base_36(number)));
    }
    assert_eq!(demangle(chain.as_bytes()), None);
}

fn base_36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(
            char::from_digit(number % 36, 36)
                .unwrap_or('0')
                .to_ascii_uppercase(),
        );
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

#[test]
fn time_is_linear() {
    // Template arguments after a conversion to a template parameter are read twice.
    let name = format!("_ZN1X{}", "cvT_I".repeat(60));
    assert_eq!(demangle(name.as_bytes()), None);
}

#[test]
fn names_of_internal_linkage_are_explained() {
    let check = |name: &str, expected: Option<&str>| {
        assert_eq!(explained(name.as_bytes()).as_deref(), expected, "{name}");
    };
    check("_Z1kPi", Some("k(int *)"));
    check("_ZL1kPi", Some("k(int *)"));
    check("_ZN2ns3fooEv", Some("ns::foo()"));
    check("_Z1fIfEvT_", Some("void f<float>(T1)"));
    check(
        "__nv_static_23__4a5b99f3_4_s_cu__Z1kPi__Z2skPi",
        Some("sk(int *)"),
    );
    check("__nv_static_23__4a5b99f3_4_s_cu__Z1kPi_sv", Some("sv"));
    check(
        "__nv_static_23__4a5b99f3_4_s_cu__Z1kPi__ZN34_GLOBAL__N__4a5b99f3_4_s_cu__Z1kPi2akEPf",
        Some("<unnamed>::ak(float *)"),
    );
    check(
        "_ZN32_INTERNAL_4a5b99f3_4_s_cu__Z1kPi2sfEi",
        Some("sf(int)"),
    );
    check(
        "_ZN32_INTERNAL_4a5b99f3_4_s_cu__Z1kPi34_GLOBAL__N__4a5b99f3_4_s_cu__Z1kPi1gEi",
        Some("<unnamed>::g(int)"),
    );
    for name in [
        "vprintf",
        "",
        "_Z",
        "_Zgarbage",
        "__nv_static_",
        "__nv_static_23",
        "__nv_static_23_short",
        "__nv_static_99999999999999999999999_x_y",
        "__nv_static_1_x",
        "__nv_static_1_x_",
        "__nv_static__x_y",
    ] {
        check(name, None);
    }
    assert_eq!(explained(b"_Z\xff\xfe"), None);
}

#[test]
fn instances_of_a_template_are_a_family() {
    let cases = [
        ("_Z8clamp_toIfET_S0_S0_S0_", "clamp_to<...>"),
        ("_Z8clamp_toIiET_S0_S0_S0_", "clamp_to<...>"),
        ("_Z4blurPK5PixelPS_i", "blur"),
        ("_ZN1a1bIiE1cIfEEvT_", "a::b<...>::c<...>"),
        ("_ZN1a1bIiEC1Ei", "a::b<...>::b"),
        ("_ZlsIiEvT_", "operator <<<...>"),
        (
            "_ZZ1fiENKUliE_clEi",
            "f::[lambda(int) (instance 1)]::operator ()",
        ),
        ("_ZL1fv", "f"),
    ];
    for (name, expected) in cases {
        assert_eq!(
            super::family(name.as_bytes()).as_deref(),
            Some(expected),
            "{name}"
        );
    }
    assert_eq!(super::family(b"main"), None);
}
