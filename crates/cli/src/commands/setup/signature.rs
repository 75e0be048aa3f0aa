//! `reflex verify --file FILE`: verifies that a file carries the signature of a release.

use crate::error::{Error, SignatureError};
use crate::exit_code;
use crate::terminal::output::print;
use crate::terminal::visible::visible;
use clap::ArgMatches;
use minisign_verify::{PublicKey, Signature};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Public key of the release of this program; `None` in a build from source.
const RELEASE_KEY: Option<&str> = option_env!("REFLEX_RELEASE_KEY");

pub(in crate::commands) fn run(file: &Path, matches: &ArgMatches) -> u8 {
    let named = matches.get_one::<String>("public-key").map(String::as_str);
    let Some(key) = named.or(RELEASE_KEY).filter(|key| !key.is_empty()) else {
        return Error::NoReleaseKey.report();
    };
    match verified(file, key) {
        Ok(comment) => {
            print(&visible(&format!("{}: the signature is valid ({comment})", file.display())));
            exit_code::OK
        }
        Err(source) => Error::Signature { file: file.to_owned(), source }.report(),
    }
}

/// Verifies the signature beside the file and returns its trusted comment.
fn verified(file: &Path, key: &str) -> Result<String, SignatureError> {
    let key = PublicKey::from_base64(key).map_err(SignatureError::Key)?;
    let beside =
        PathBuf::from([file.as_os_str().to_owned(), OsString::from(".minisig")].into_iter().collect::<OsString>());
    let signature = Signature::from_file(&beside).map_err(|reason| SignatureError::Unreadable { beside, reason })?;
    let bytes = fs::read(file).map_err(SignatureError::File)?;
    key.verify(&bytes, &signature, false).map_err(SignatureError::NotSigned)?;
    Ok(signature.trusted_comment().to_owned())
}

#[cfg(test)]
mod tests {
    use super::verified;
    use std::fs;

    /// Created with minisign 0.11 for a file that contains `test`.
    const KEY: &str = "RWSUFwOMly2tSoDK+GNRkeFbFyIAqScSAur/8HPllMVzJCQJj1jN510U";
    const SIGNATURE: &str = "untrusted comment: signature from minisign secret key
RUSUFwOMly2tSjDFsQDRcgC/nYOD64XRlsiu5cSEiKMAyNjW0cpkFxSzkOXuLH+29xWlpdfWcp+D2vuSzGDlW6kXsJFK6Jq9ugY=
trusted comment: reflex 0.1.0
MOLtRgdK6auk9RFrbUPFf0XwP45CpudLNGXxflxrrgzxJ2Y1bJ6jm0kV577a6hgRuRbp68y2+URGc0/848l4Dw==
";

    #[test]
    fn a_file_is_verified_by_the_signature_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("SHA256SUMS");
        fs::write(&file, "test").unwrap();
        assert!(verified(&file, KEY).unwrap_err().to_string().contains(".minisig"));
        fs::write(folder.path().join("SHA256SUMS.minisig"), SIGNATURE).unwrap();
        assert_eq!(verified(&file, KEY).unwrap(), "reflex 0.1.0");
        fs::write(&file, "tesT").unwrap();
        assert!(verified(&file, KEY).unwrap_err().to_string().starts_with("NOT SIGNED"));
        assert!(verified(&file, "RWQ").unwrap_err().to_string().starts_with("the public key is invalid"));
    }
}
