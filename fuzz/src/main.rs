//! The fuzzer: `FUZZ_TARGET` names the target, all else is libFuzzer's. `../fuzz.sh` starts it.
#![no_main]

use std::sync::OnceLock;

mod targets;

static TARGET: OnceLock<targets::Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let target = TARGET.get_or_init(|| {
        let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
        let found = targets::ALL.iter().find(|(known, _)| *known == name);
        found.unwrap_or_else(|| panic!("FUZZ_TARGET has to name a target, which `{name}` is not")).1
    });
    target(data);
});
