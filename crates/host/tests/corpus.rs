//! Every input that a fuzzer found worth keeping still holds, on any toolchain.

use crate::targets;

#[test]
fn what_was_found_worth_keeping_holds() {
    for (target, check) in targets::TARGETS {
        let inputs = targets::corpus::inputs(target);
        assert!(inputs.len() >= 20, "only {} inputs of {target} are kept", inputs.len());
        for input in inputs {
            // What fails is told with the input's line, which is where it stands in the corpus.
            let held = std::panic::catch_unwind(|| check(&input));
            assert!(held.is_ok(), "{target} fails on {}", targets::corpus::line(&input));
        }
    }
}

#[test]
fn an_input_survives_its_line() {
    let all: Vec<u8> = (0..=255).collect();
    assert_eq!(targets::corpus::bytes(&targets::corpus::line(&all)), all);
}
