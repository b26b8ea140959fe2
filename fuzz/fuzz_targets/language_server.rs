#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| cuweld_fuzz::entries::language_server(data));
