//! The reasons why a reflex cannot be found, read, fetched or listed.

use crate::system::fault::Fault;
use crate::system::http::HttpError;
use crate::world::gzip::GzipError;
use reflex_script::TypesError;
use serde_json::Value;
use std::io;
use std::path::PathBuf;

/// Files are not a reflex, or cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// All files together have more than this number of MiB.
    #[error("its files are larger than {0} MiB together")]
    TooLarge(usize),
    /// The manifest is JSON of another kind.
    #[error("reflex.json is not a JSON object")]
    ManifestNotObject,
    /// The manifest is not JSON.
    #[error("reflex.json: {0}")]
    Manifest(serde_json::Error),
    /// The name has other characters.
    #[error("`{0}` is not a valid name: use only a-z, digits and dashes")]
    Name(String),
    /// Without a manifest, no file is known to be the module.
    #[error(
        "it contains no module: no reflex.json, no package.json that names one, no index file; `reflex reflexes new NAME` writes one to begin with"
    )]
    NoModule,
    /// The manifest names no module.
    #[error("it contains no module: reflex.json has no `entry`")]
    NoEntry,
    /// The manifest names this module, which is missing.
    #[error("it contains no module: `entry` of reflex.json names `{0}`, which is not one of its files")]
    EntryMissing(String),
    /// Too many folders are above this one.
    #[error("{}: folders are nested too deeply", .0.display())]
    Deep(PathBuf),
    /// There are more than this number of files.
    #[error("a reflex has at most {0} files")]
    TooMany(usize),
    /// The path is not a file, or the file is too long.
    #[error("{}: it is not a file of at most {max_kib} KiB; bundle it minified, without its source map", file.display())]
    NotSmallFile {
        /// Its path.
        file: PathBuf,
        /// Maximum size in KiB.
        max_kib: usize,
    },
    /// The file is not UTF-8.
    #[error("{}: it is not a text file", .0.display())]
    NotText(PathBuf),
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Its path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The types of a module cannot be removed.
    #[error(transparent)]
    Types(#[from] TypesError),
}

impl PackageError {
    /// The side at fault.
    pub fn fault(&self) -> Fault {
        match self {
            PackageError::Io { source, .. } => Fault::of_named_file(source),
            PackageError::TooLarge(_)
            | PackageError::ManifestNotObject
            | PackageError::Manifest(_)
            | PackageError::Name(_)
            | PackageError::NoModule
            | PackageError::NoEntry
            | PackageError::EntryMissing(_)
            | PackageError::Deep(_)
            | PackageError::TooMany(_)
            | PackageError::NotSmallFile { .. }
            | PackageError::NotText(_)
            | PackageError::Types(_) => Fault::State,
        }
    }
}

/// An archive cannot be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It cannot be decompressed.
    #[error(transparent)]
    Gzip(#[from] GzipError),
    /// The decompressed data are not a tar archive.
    #[error("this is not a tar archive: {0}")]
    Tar(io::Error),
    /// It holds too many files, or one is too long.
    #[error("a reflex has at most {max_files} files of {max_kib} KiB")]
    TooLarge {
        /// Maximum number of files.
        max_files: usize,
        /// Maximum size of each in KiB.
        max_kib: usize,
    },
    /// This file in it is not UTF-8.
    #[error("`{0}` is not a text file")]
    NotText(String),
    /// A name in it is not UTF-8.
    #[error("a file name in it is not valid text")]
    Name,
    /// This path in it would be written elsewhere.
    #[error("`{}` leads out of the archive", .0.display())]
    Outside(PathBuf),
}

/// A source of a reflex is not valid, or the reflex cannot be had from it.
#[derive(Debug, thiserror::Error)]
pub enum OriginError {
    /// The file has another extension.
    #[error("`{0}` is neither a module (.js, .ts, …) nor an archive (.tgz)")]
    Kind(String),
    /// The path does not exist.
    #[error("the file or folder `{0}` does not exist")]
    Missing(String),
    /// No reflex that ships has this name.
    #[error("no official reflex is named `{name}`{} (write npm:{name} for an npm package)", suggestion(.near))]
    Unknown {
        /// The given name.
        name: String,
        /// The most similar name.
        near: Option<String>,
    },
    /// The address is not one of a module.
    #[error("`{0}` is not an https address of a module (.js, .mjs, .ts, …)")]
    Address(String),
    /// The word after `npm:` is not the name of a package.
    #[error("`{0}` is not a valid npm package name")]
    NpmName(String),
    /// The word begins with `github:` and names no repository.
    #[error("`{0}` is not github:OWNER/NAME")]
    GitHub(String),
    /// Git would not take the address for a repository.
    #[error("`{0}` is not a repository address")]
    Repository(String),
    /// The part after the address of a repository.
    #[error("`{branch}:{folder}` is not a valid branch and folder")]
    Branch {
        /// The branch or tag.
        branch: String,
        /// The folder.
        folder: String,
    },
    /// It is not on the disk; with the source to install it from.
    #[error("not installed; `reflex reflexes install {0}` fetches it")]
    NotInstalled(String),
    /// Its files are not a reflex.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// The archive cannot be unpacked.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// No text came from the address.
    #[error("{address}: {source}")]
    Http {
        /// The address.
        address: String,
        /// The reason.
        source: HttpError,
    },
    /// The server of the address refuses.
    #[error("{address}: the server answers with status {status}")]
    Status {
        /// The address.
        address: String,
        /// The status.
        status: u16,
    },
    /// A temporary folder cannot be used.
    #[error("{0}")]
    Temporary(io::Error),
    /// The program that fetches it cannot be started.
    #[error("{program} cannot be started: {source}")]
    NotStarted {
        /// Its name.
        program: &'static str,
        /// The reason.
        source: io::Error,
    },
    /// The program that fetches it has failed.
    #[error("{program} failed: {why}")]
    Failed {
        /// Its name.
        program: &'static str,
        /// The line of its standard error that explains it.
        why: String,
    },
    /// Npm has ended without an error and without a package.
    #[error("npm gave no archive")]
    NoArchive,
}

impl OriginError {
    /// The side at fault.
    pub fn fault(&self) -> Fault {
        match self {
            OriginError::Kind(_)
            | OriginError::Missing(_)
            | OriginError::Address(_)
            | OriginError::NpmName(_)
            | OriginError::GitHub(_)
            | OriginError::Repository(_)
            | OriginError::Branch { .. } => Fault::Request,
            OriginError::Unknown { .. } | OriginError::NotInstalled(_) | OriginError::Archive(_) => Fault::State,
            OriginError::Package(error) => error.fault(),
            OriginError::Http { .. }
            | OriginError::Status { .. }
            | OriginError::Temporary(_)
            | OriginError::NotStarted { .. }
            | OriginError::Failed { .. }
            | OriginError::NoArchive => Fault::Machine,
        }
    }
}

/// The list of reflexes, the lock file or a copy beside them cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// An entry has no source.
    #[error("{}: an entry names no source: {entry}", file.display())]
    NoSource {
        /// The list.
        file: PathBuf,
        /// The entry.
        entry: Value,
    },
    /// The list has no entry of this name.
    #[error("no reflex `{name}` is listed in {}{}", file.display(), suggestion(.near))]
    Unlisted {
        /// The given name.
        name: String,
        /// The list.
        file: PathBuf,
        /// The most similar name.
        near: Option<String>,
    },
    /// A new reflex would replace this folder.
    #[error("{} already exists", .0.display())]
    Exists(PathBuf),
    /// A link leads elsewhere.
    #[error("{}: a link leads out of {}", path.display(), within.display())]
    Outside {
        /// The path that was to be written.
        path: PathBuf,
        /// The folder that no write may leave.
        within: PathBuf,
    },
    /// The list has the key in another form.
    #[error("{}: `reflexes` is not a list", .0.display())]
    NotList(PathBuf),
    /// The lock file has the key in another form.
    #[error("{}: `reflexes` is not a map", .0.display())]
    NotMap(PathBuf),
    /// The path is not a file, or the file is too long.
    #[error("{}: it is not a file of at most {max_kib} KiB", file.display())]
    NotSmallFile {
        /// Its path.
        file: PathBuf,
        /// Maximum size in KiB.
        max_kib: u64,
    },
    /// The file is JSON of another kind.
    #[error("{}: it is not a JSON object", .0.display())]
    NotObject(PathBuf),
    /// The file is not JSON.
    #[error("{}: {source}", file.display())]
    Json {
        /// Its path.
        file: PathBuf,
        /// The reason.
        source: serde_json::Error,
    },
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Its path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The files of a reflex cannot be written.
    #[error(transparent)]
    Package(#[from] PackageError),
}

impl ListError {
    /// The side at fault.
    pub fn fault(&self) -> Fault {
        match self {
            ListError::Unlisted { .. }
            | ListError::NoSource { .. }
            | ListError::Exists(_)
            | ListError::Outside { .. }
            | ListError::NotList(_)
            | ListError::NotMap(_)
            | ListError::NotSmallFile { .. }
            | ListError::NotObject(_)
            | ListError::Json { .. } => Fault::State,
            ListError::Io { .. } => Fault::Machine,
            ListError::Package(error) => error.fault(),
        }
    }
}

fn suggestion(near: &Option<String>) -> String {
    near.as_ref().map_or(String::new(), |near| format!(", did you mean `{near}`?"))
}
