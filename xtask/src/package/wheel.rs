//! Python wheels that carry the programs as scripts: packaging.python.org/en/latest/specifications/binary-distribution-format.

use anyhow::Result;
use sha2::{Digest, Sha256};

use super::archive::{Entry, zip};
use super::{Build, NAME};

/// The command for `uvx reflex-guard`. It finds `reflex` in its own folder, or in the folder of the file that it links
/// to.
const COMMAND: &str = "#!/bin/sh
folder=$(dirname \"$0\")
[ -x \"$folder/reflex\" ] || folder=$(dirname \"$(readlink \"$0\")\")
exec \"$folder/reflex\" \"$@\"
";

/// The wheel of a build, with its file name.
pub(crate) fn wheel(build: &Build) -> Result<(String, Vec<u8>)> {
    let stem = format!("{}-{}", NAME.replace('-', "_"), build.version);
    let (scripts, info) = (format!("{stem}.data/scripts"), format!("{stem}.dist-info"));
    let mut entries: Vec<Entry> = build.programs.iter().map(|program| program.below(&scripts)).collect();
    entries.push(Entry::program(&format!("{scripts}/{NAME}"), COMMAND.as_bytes().to_vec()));
    let licences = build.documents.iter().filter(|entry| entry.path.starts_with("LICENSE"));
    entries.extend(licences.map(|licence| licence.below(&format!("{info}/licenses"))));
    entries.push(Entry::file(&format!("{info}/METADATA"), metadata(build).into_bytes()));
    entries.push(Entry::file(&format!("{info}/WHEEL"), tags(build).into_bytes()));
    let record = record(&entries, &info);
    entries.push(Entry::file(&format!("{info}/RECORD"), record.into_bytes()));
    Ok((format!("{stem}-py3-none-{}.whl", build.target.tags.join(".")), zip(&entries)?))
}

fn metadata(build: &Build) -> String {
    let readme = build.documents.iter().find(|entry| entry.path == "README.md");
    let readme = readme.map(|entry| String::from_utf8_lossy(&entry.bytes).into_owned()).unwrap_or_default();
    format!(
        "Metadata-Version: 2.4\nName: {NAME}\nVersion: {}\nSummary: The guard between coding agents and your machine\n\
         License-Expression: MIT OR Apache-2.0\nLicense-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\n\
         Project-URL: Source, {}\nRequires-Python: >=3.7\nDescription-Content-Type: text/markdown\n\n{readme}",
        build.version,
        env!("CARGO_PKG_REPOSITORY"),
    )
}

fn tags(build: &Build) -> String {
    let tags: String = build.target.tags.iter().map(|tag| format!("Tag: py3-none-{tag}\n")).collect();
    format!("Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: false\n{tags}")
}

/// Every file with its digest and size, except for the record itself.
fn record(entries: &[Entry], info: &str) -> String {
    let line = |entry: &Entry| {
        format!("{},sha256={},{}\n", entry.path, base64(&Sha256::digest(&entry.bytes)), entry.bytes.len())
    };
    entries.iter().map(line).chain([format!("{info}/RECORD,,\n")]).collect()
}

/// URL-safe base64 without padding, as used in a wheel's record.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let digit = |value: u32| DIGITS.get(value as usize & 63).map_or('A', |byte| char::from(*byte));
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let value = group.iter().enumerate().fold(0, |value, (at, byte)| value | u32::from(*byte) << (16 - 8 * at));
        text.extend((0..=group.len()).map(|at| digit(value >> (18 - 6 * at))));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn digests_are_written_as_the_record_wants_them() {
        assert_eq!([base64(b""), base64(b"f"), base64(b"fo"), base64(b"foo")], ["", "Zg", "Zm8", "Zm9v"]);
        assert_eq!(base64(&[0xfb, 0xff]), "-_8");
    }
}
