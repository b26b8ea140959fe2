#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| cuweld_fuzz::entries::mercury_section(data));
