//! The cases of tests/passes, each on the program of this package. BLESS=1 writes them anew.

fn main() -> std::process::ExitCode {
    cuweld_test::run_cases("tests/passes", env!("CARGO_BIN_EXE_my-pass"))
}
