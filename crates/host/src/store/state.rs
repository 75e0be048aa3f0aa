//! The folder that holds the guard's state of one user.

use super::signing::in_force::InForce;
use crate::system::context::Context;
use crate::system::files::once_made;
use crate::system::folders::Folders;
use crate::system::{hex, random};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The guard's state of one user on one machine.
#[derive(Debug, Clone)]
pub struct Store {
    pub(super) folder: PathBuf,
    /// The user's home, whose hook entries name the key that signs a person's statements.
    pub(super) home: PathBuf,
    /// Whether a person's statements count; they do not if only the environment names the home.
    pub(super) may_loosen: bool,
    /// The key that the hook entry of this call names.
    pub(super) named_key: Option<String>,
    /// The key in force, once it was looked up.
    pub(super) keys: Arc<OnceLock<InForce>>,
}

impl Context {
    /// The store on disk.
    pub fn store(&self) -> Store {
        Store { named_key: self.key().map(str::to_owned), ..Store::new(self.folders()) }
    }
}

impl Store {
    /// The store of these folders, for a command whose line names no key.
    pub fn new(folders: &Folders) -> Store {
        Store {
            folder: folders.state.clone(),
            home: folders.home.clone(),
            may_loosen: !folders.may_only_tighten(),
            named_key: None,
            keys: Arc::default(),
        }
    }

    /// The state folder.
    pub fn state(&self) -> &Path {
        &self.folder
    }

    /// Whether a person's statements count.
    pub(crate) fn may_loosen(&self) -> bool {
        self.may_loosen
    }

    /// The folder of a person's approvals of workspace files.
    pub(crate) fn trust_folder(&self) -> PathBuf {
        self.folder.join("trust")
    }

    /// Whether a person has chosen to keep the texts of calls out of records.
    pub(crate) fn structure_only(&self) -> bool {
        self.folder.join("audit/structure-only").exists()
    }

    /// An id of this machine that is meaningless elsewhere; created at the first use.
    pub fn host(&self) -> String {
        once_made(&self.folder.join("host"), random::uuid).unwrap_or_default()
    }

    /// The key for tags of secrets: equal secrets have equal tags on this machine, and without the key guesses cannot
    /// be tested against a tag.
    pub(crate) fn key(&self) -> Vec<u8> {
        let fresh = || {
            let mut bytes = [0; 32];
            random::fill(&mut bytes);
            hex::encode(&bytes)
        };
        once_made(&self.folder.join("key"), fresh).unwrap_or_else(|_| fresh()).into_bytes()
    }
}
