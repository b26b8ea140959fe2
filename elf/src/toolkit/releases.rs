//! Versions of CUDA 12 and 13 but 13.0's last, by what their linkers write. Patch releases of one
//! minor release follow the same rules, but for those that name a patch release.

use super::Stamp;
use super::Toolkit;
use super::v13_0::BASE;
use crate::behaviours::Release;

/// Declares versions of CUDA: their names here, their major, minor and patch numbers, and those of
/// the builds, as `nvlink --version` prints them.
macro_rules! versions {
    ($(
        $(#[$doc:meta])*
        $name:ident = ($major:literal, $minor:literal, $patch:literal), compiler $build:literal;
    )*) => {
        $(
            $(#[$doc])*
            pub static $name: Toolkit = Toolkit {
                release: Release { major: $major, minor: $minor },
                patch: $patch,
                version: concat!($major, ".", $minor, ".", $patch),
                stamp: Stamp {
                    name: concat!("nvlink-", $major, ".", $minor, ".", $patch),
                    tool: "nvlink",
                    version: concat!(
                        "Cuda compilation tools, release ", $major, ".", $minor,
                        ", V", $major, ".", $minor, ".", $patch
                    ),
                    branch: concat!(
                        "Build cuda_", $major, ".", $minor, ".r", $major, ".", $minor,
                        "/compiler.", $build, "_0"
                    ),
                },
                number: 10 * $major + $minor,
                finalizer_version: if $minor < 5 { 0x0400 } else { 0x0440 },
                jit_library: concat!("libnvJitLink.so.", $major),
                ..BASE
            };
        )*
    };
}

versions! {
    /// CUDA 12.6, in its first version.
    V12_6_20 = (12, 6, 20), compiler 34431801;
    /// CUDA 12.6, in its second version.
    V12_6_68 = (12, 6, 68), compiler 34714021;
    /// CUDA 12.6, in its third version.
    V12_6_77 = (12, 6, 77), compiler 34841621;
    /// CUDA 12.6, in its last version.
    V12_6_85 = (12, 6, 85), compiler 35059454;
    /// CUDA 12.8, in its first version.
    V12_8_61 = (12, 8, 61), compiler 35404655;
    /// CUDA 12.8, in its last version.
    V12_8_93 = (12, 8, 93), compiler 35583870;
    /// CUDA 12.9, in its first version.
    V12_9_41 = (12, 9, 41), compiler 35813241;
    /// CUDA 12.9, in its last version.
    V12_9_86 = (12, 9, 86), compiler 36037853;
    /// CUDA 13.0, in its first version.
    V13_0_48 = (13, 0, 48), compiler 36260728;
    /// CUDA 13.1, in its first version.
    V13_1_80 = (13, 1, 80), compiler 36836380;
    /// CUDA 13.1, in its last version.
    V13_1_115 = (13, 1, 115), compiler 37061995;
    /// CUDA 13.2, in its first version.
    V13_2_51 = (13, 2, 51), compiler 37434383;
    /// CUDA 13.2, in its second version.
    V13_2_78 = (13, 2, 78), compiler 37668154;
    /// CUDA 13.2, in its last version.
    V13_2_86 = (13, 2, 86), compiler 37953736;
    /// CUDA 13.3, in its first version.
    V13_3_33 = (13, 3, 33), compiler 37862127;
    /// CUDA 13.3, in its last version.
    V13_3_73 = (13, 3, 73), compiler 38244171;
    /// CUDA 13.4, in its first version.
    V13_4_59 = (13, 4, 59), compiler 38657139;
    /// CUDA 13.4, in its last version.
    V13_4_92 = (13, 4, 92), compiler 38855100;
    /// CUDA 13.5.
    V13_5_37 = (13, 5, 37), compiler 39125733;
}

/// All versions, oldest first, [`V13_0`](super::V13_0) among them.
pub(super) const ALL: &[&Toolkit] = &[
    &V12_6_20,
    &V12_6_68,
    &V12_6_77,
    &V12_6_85,
    &V12_8_61,
    &V12_8_93,
    &V12_9_41,
    &V12_9_86,
    &V13_0_48,
    &super::V13_0,
    &V13_1_80,
    &V13_1_115,
    &V13_2_51,
    &V13_2_78,
    &V13_2_86,
    &V13_3_33,
    &V13_3_73,
    &V13_4_59,
    &V13_4_92,
    &V13_5_37,
];
