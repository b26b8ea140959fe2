//! Versions of CUDA 13 but its first release's last, by what their linkers write. Patch releases of
//! one minor release follow the same rules.

use super::Stamp;
use super::Toolkit;
use super::v13_0::BASE;
use crate::behaviours::Release;

/// Declares versions of CUDA 13: their names here, their minor and patch numbers, and those of the
/// builds, as `nvlink --version` prints them.
macro_rules! versions {
    ($($(#[$doc:meta])* $name:ident = ($minor:literal, $patch:literal), compiler $build:literal;)*) => {
        $(
            $(#[$doc])*
            pub static $name: Toolkit = Toolkit {
                release: Release { major: 13, minor: $minor },
                version: concat!("13.", $minor, ".", $patch),
                stamp: Stamp {
                    name: concat!("nvlink-13.", $minor, ".", $patch),
                    tool: "nvlink",
                    version: concat!(
                        "Cuda compilation tools, release 13.", $minor, ", V13.", $minor, ".", $patch
                    ),
                    branch: concat!(
                        "Build cuda_13.", $minor, ".r13.", $minor, "/compiler.", $build, "_0"
                    ),
                },
                number: BASE.number + $minor,
                finalizer_version: if $minor < 5 { 0x0400 } else { 0x0440 },
                ..BASE
            };
        )*
    };
}

versions! {
    /// CUDA 13.0, in its first version.
    V13_0_48 = (0, 48), compiler 36260728;
    /// CUDA 13.1, in its first version.
    V13_1_80 = (1, 80), compiler 36836380;
    /// CUDA 13.1, in its last version.
    V13_1_115 = (1, 115), compiler 37061995;
    /// CUDA 13.2, in its first version.
    V13_2_51 = (2, 51), compiler 37434383;
    /// CUDA 13.2, in its second version.
    V13_2_78 = (2, 78), compiler 37668154;
    /// CUDA 13.2, in its last version.
    V13_2_86 = (2, 86), compiler 37953736;
    /// CUDA 13.3, in its first version.
    V13_3_33 = (3, 33), compiler 37862127;
    /// CUDA 13.3, in its last version.
    V13_3_73 = (3, 73), compiler 38244171;
    /// CUDA 13.4, in its first version.
    V13_4_59 = (4, 59), compiler 38657139;
    /// CUDA 13.4, in its last version.
    V13_4_92 = (4, 92), compiler 38855100;
    /// CUDA 13.5.
    V13_5_37 = (5, 37), compiler 39125733;
}

/// All versions of CUDA 13, oldest first, [`V13_0`](super::V13_0) among them.
pub(super) const ALL: &[&Toolkit] = &[
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
