//! `--limit NAME=VALUE`: bounds by name, with sizes like `64M`.

use crate::{audit::filter::nearest, capture::Limits};

const NAMES: [&str; 7] = ["body", "unpacked", "ratio", "members", "depth", "nesting", "reassembly"];

/// Sets one bound.
///
/// # Errors
/// Names a limit that does not exist, or a value that is no number.
pub fn set(limits: &mut Limits, setting: &str) -> anyhow::Result<()> {
    let (name, text) =
        setting.split_once('=').ok_or_else(|| anyhow::anyhow!("--limit {setting}: write it as NAME=VALUE"))?;
    let wrong = || anyhow::anyhow!("--limit {setting}: '{text}' is no number like 5000, 64K, 16M or 2G");
    let value = size(text).ok_or_else(wrong)?;
    let small = || u32::try_from(value).map_err(|_| wrong());
    match name {
        "body" => limits.body = value,
        "unpacked" => limits.unpacked = value,
        "ratio" => limits.ratio = value,
        "members" => limits.members = value,
        "depth" => limits.depth = small()?,
        "nesting" => limits.nesting = small()?,
        "reassembly" => limits.reassembly = value,
        _ => {
            let hint = nearest(name, NAMES.into_iter()).map(|n| format!("; did you mean '{n}'?")).unwrap_or_default();
            anyhow::bail!("--limit {setting}: no limit is called '{name}' (there are {}){hint}", NAMES.join(", "))
        }
    }
    Ok(())
}

/// A number with an optional binary suffix.
fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "" | "B" => 0,
        "K" | "KiB" | "k" => 10,
        "M" | "MiB" => 20,
        "G" | "GiB" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_set_by_name_and_a_wrong_one_is_told() {
        let mut limits = Limits::default();
        set(&mut limits, "body=64M").unwrap();
        set(&mut limits, "nesting=9").unwrap();
        assert_eq!((limits.body, limits.nesting), (64 << 20, 9));
        for wrong in ["body", "body=", "body=-1", "body=1T", "depth=5G", "boby=1", "body=99999999999G"] {
            assert!(set(&mut limits, wrong).is_err(), "{wrong}");
        }
        assert!(set(&mut limits, "boby=1").unwrap_err().to_string().contains("did you mean 'body'?"));
    }
}
