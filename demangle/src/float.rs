//! Spells floating point literals: what C's `%g` prints, with a point.

use super::ast::Floats;

/// The digits that tell most floats apart.
const SINGLE_DIGITS: usize = 6;
/// The digits that tell most doubles apart.
const DOUBLE_DIGITS: usize = 15;

/// Returns the value of a literal.
pub(super) fn spell(value: Floats) -> String {
    let single = |bits| general(f64::from(f32::from_bits(bits)), SINGLE_DIGITS);
    let double = |bits| general(f64::from_bits(bits), DOUBLE_DIGITS);
    match value {
        Floats::Single(bits) => single(bits),
        Floats::Double(bits) => double(bits),
        Floats::SinglePair(real, imaginary) => {
            format!("({}+{}i)", single(real), single(imaginary))
        }
        Floats::DoublePair(real, imaginary) => {
            format!("({}+{}i)", double(real), double(imaginary))
        }
    }
}

/// Formats a number as C's `%g` does with this many digits; whole numbers get `.0`.
fn general(value: f64, digits: usize) -> String {
    if value.is_nan() {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        return format!("{sign}nan");
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        let exponent = exponent.unsigned_abs();
        return format!("{}e{sign}{exponent:02}", without_zeros(mantissa));
    }
    let places = usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0);
    let fixed = format!("{value:.places$}");
    let fixed = without_zeros(&fixed);
    if fixed.contains('.') {
        fixed.to_owned()
    } else {
        format!("{fixed}.0")
    }
}

/// Returns a number without the zeros that end its fraction.
fn without_zeros(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}
