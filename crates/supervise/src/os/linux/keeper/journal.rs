//! The list of a run's changes: fields that end with a zero byte, which no path contains, so each name stays as it is.
//! A record is written at once, before its change happens; an incomplete one at the end is ignored.

use crate::kept::{Before, Missed, Record, Status};
use crate::loss::Operation;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The file's name in the keeper's folder.
pub(super) const NAME: &str = "journal";

/// Number of fields of a record.
const FIELDS: usize = 7 + 2 * NUMBERS;

/// Number of fields of a [`Status`].
const NUMBERS: usize = 12;

const OPERATIONS: [(Operation, &str); 7] = [
    (Operation::Delete, "delete"),
    (Operation::RemoveFolder, "rmdir"),
    (Operation::Rename, "rename"),
    (Operation::Exchange, "exchange"),
    (Operation::Write, "write"),
    (Operation::Create, "create"),
    (Operation::Attributes, "attributes"),
];

const MISSED: [(Missed, &str); 5] = [
    (Missed::TooLarge, "too-large"),
    (Missed::RunFull, "run-full"),
    (Missed::DiskFull, "disk-full"),
    (Missed::Unreadable, "unreadable"),
    (Missed::Failed, "failed"),
];

fn word<T: PartialEq>(words: &[(T, &'static str)], value: &T) -> &'static str {
    words.iter().find(|(known, _)| known == value).map_or("", |(_, word)| word)
}

fn meaning<T: Copy>(words: &[(T, &'static str)], word: &[u8]) -> Option<T> {
    words.iter().find(|(_, known)| known.as_bytes() == word).map(|(value, _)| *value)
}

/// Appends a record; returns its size in bytes.
///
/// # Errors
/// It could not be written as a whole.
pub(super) fn append(mut file: &File, record: &Record) -> io::Result<usize> {
    let (kind, detail, status) = parts(&record.before);
    let mut bytes = Vec::with_capacity(256);
    for text in [word(&OPERATIONS, &record.operation), kind] {
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(0);
    }
    for text in [detail.as_slice(), record.path.as_os_str().as_bytes(), record.source.as_os_str().as_bytes()] {
        bytes.extend_from_slice(text);
        bytes.push(0);
    }
    write!(bytes, "{}\0", record.process)?;
    append_status(&mut bytes, &status)?;
    append_status(&mut bytes, &record.moved)?;
    bytes.extend_from_slice(b"\n\0");
    file.write_all(&bytes)?;
    Ok(bytes.len())
}

fn append_status(bytes: &mut Vec<u8>, status: &Status) -> io::Result<()> {
    let [read, written] = status.times;
    let owner = [status.mode, status.owner.0, status.owner.1].map(u64::from);
    for number in owner.into_iter().chain([status.place.0, status.place.1, status.names]) {
        write!(bytes, "{number}\0")?;
    }
    for number in [read.0, read.1, written.0, written.1, status.born.0, status.born.1] {
        write!(bytes, "{number}\0")?;
    }
    Ok(())
}

fn status_from(fields: &[&[u8]]) -> Option<Status> {
    let [mode, user, group, device, inode, names, times @ ..] = fields else { return None };
    let [read, read_nanos, written, written_nanos, born, born_nanos] = times else { return None };
    Some(Status {
        mode: number(mode)?,
        owner: (number(user)?, number(group)?),
        times: [(number(read)?, number(read_nanos)?), (number(written)?, number(written_nanos)?)],
        born: (number(born)?, number(born_nanos)?),
        place: (number(device)?, number(inode)?),
        names: number(names)?,
    })
}

/// The kind of what was there, its detail, and its metadata.
fn parts(before: &Before) -> (&'static str, Vec<u8>, Status) {
    match before {
        Before::Nothing => ("nothing", Vec::new(), Status::default()),
        Before::File { copy, status } => ("file", copy.to_string().into_bytes(), *status),
        Before::Link { to, status } => ("link", to.as_os_str().as_bytes().to_vec(), *status),
        Before::Unchanged(status) => ("unchanged", Vec::new(), *status),
        Before::Folder(status) => ("folder", Vec::new(), *status),
        Before::Pipe(status) => ("pipe", Vec::new(), *status),
        Before::Skipped => ("skipped", Vec::new(), Status::default()),
        Before::Missed(why, status) => ("missed", word(&MISSED, why).into(), *status),
    }
}

/// Reads the records of a keeper's folder, the first change first.
///
/// # Errors
/// The list cannot be read, or is damaged before its last record.
pub fn records(folder: &Path) -> io::Result<Vec<Record>> {
    let bytes = fs::read(folder.join(NAME))?;
    let mut fields: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
    // The part after the last zero byte is empty, or an incomplete field.
    fields.pop();
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the list of changes is damaged");
    fields.chunks_exact(FIELDS).map(|fields| record(fields).ok_or_else(damaged)).collect()
}

fn record(fields: &[&[u8]]) -> Option<Record> {
    let (words, numbers) = fields.split_at_checked(5)?;
    let [operation, kind, detail, path, source] = words else { return None };
    let (end, numbers) = numbers.split_last()?;
    let (process, numbers) = numbers.split_first()?;
    let (status, moved) = numbers.split_at_checked(NUMBERS)?;
    (*end == b"\n").then_some(())?;
    Some(Record {
        process: number(process)?,
        operation: meaning(&OPERATIONS, operation)?,
        path: path_of(path),
        source: path_of(source),
        moved: status_from(moved)?,
        before: before(kind, detail, status_from(status)?)?,
    })
}

fn before(kind: &[u8], detail: &[u8], status: Status) -> Option<Before> {
    Some(match kind {
        b"nothing" => Before::Nothing,
        b"file" => Before::File { copy: number(detail)?, status },
        b"link" => Before::Link { to: path_of(detail), status },
        b"unchanged" => Before::Unchanged(status),
        b"folder" => Before::Folder(status),
        b"pipe" => Before::Pipe(status),
        b"skipped" => Before::Skipped,
        b"missed" => Before::Missed(meaning(&MISSED, detail)?, status),
        _ => return None,
    })
}

fn number<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(before: Before) -> Record {
        let path = PathBuf::from(OsString::from_vec(b"/a\nb\xff".to_vec()));
        let moved = Status { place: (5, 6), ..Status::default() };
        Record { process: 7, operation: Operation::Rename, path, source: "/c d".into(), moved, before }
    }

    #[test]
    fn records_are_read_as_written_up_to_an_incomplete_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = File::create(folder.path().join(NAME)).unwrap();
        let times = [(-5, 6), (7, 8)];
        let status = Status { mode: 0o640, owner: (1, 2), times, born: (9, 10), place: (3, 4), names: 2 };
        let all = [
            Before::Nothing,
            Before::File { copy: 3, status },
            Before::Link { to: "/x\n".into(), status },
            Before::Unchanged(status),
            Before::Folder(status),
            Before::Pipe(status),
            Before::Skipped,
            Before::Missed(Missed::RunFull, status),
        ];
        let written: Vec<Record> = all.into_iter().map(sample).collect();
        for record in &written {
            append(&file, record).unwrap();
        }
        assert_eq!(records(folder.path()).unwrap(), written);
        let length = file.metadata().unwrap().len();
        file.set_len(length - 3).unwrap();
        assert_eq!(records(folder.path()).unwrap(), written[..written.len() - 1]);
    }
}
