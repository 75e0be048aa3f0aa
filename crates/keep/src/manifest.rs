//! The manifest of a backup, as lines of JSON: a header, one line per item, and the number of items.

use crate::model::{About, Backup, Item, ItemKind, Left};
use crate::os;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

/// The file's name in a backup's folder.
pub(crate) const NAME: &str = "manifest";

/// The text of a manifest.
pub(crate) fn text(backup: &Backup) -> String {
    let About { record, client, session, workspace, what, undoes, tree } = &backup.about;
    let first = json!({
        "schema": "reflex/backup-v1", "id": backup.id, "time": backup.time, "bytes": backup.bytes, "record": record,
        "client": client, "session": session, "workspace": workspace, "what": what, "undoes": undoes, "tree": tree,
    });
    let mut text = first.to_string();
    for item in &backup.items {
        let _ = write!(text, "\n{}", line(item));
    }
    let _ = writeln!(text, "\n{}", json!({"items": backup.items.len()}));
    text
}

/// Writes the manifest into a backup's folder, which is complete with it.
pub(crate) fn write(backup: &Backup) -> io::Result<()> {
    os::create(&backup.folder.join(NAME))?.write_all(text(backup).as_bytes())
}

/// The same; returns once the manifest is on the disk.
pub(crate) fn write_through(backup: &Backup) -> io::Result<()> {
    write(backup)?;
    File::open(backup.folder.join(NAME))?.sync_data()?;
    File::open(&backup.folder)?.sync_data()
}

/// Reads the header alone.
pub(crate) fn about(folder: &Path) -> Option<About> {
    let mut first = String::new();
    BufReader::new(File::open(folder.join(NAME)).ok()?).read_line(&mut first).ok()?;
    Some(about_of(&serde_json::from_str(&first).ok()?))
}

/// Reads the backup in a folder. A truncated manifest is an error.
pub(crate) fn read(folder: &Path) -> io::Result<Backup> {
    let text = std::fs::read_to_string(folder.join(NAME))?;
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "its list of files is damaged");
    parsed(&text, folder).ok_or_else(damaged)
}

fn parsed(text: &str, folder: &Path) -> Option<Backup> {
    let mut lines = text.lines();
    let first: Value = serde_json::from_str(lines.next()?).ok()?;
    let mut items = Vec::new();
    let mut count = None;
    for line in lines {
        let value: Value = serde_json::from_str(line).ok()?;
        match value.get("items").and_then(Value::as_u64) {
            Some(items) => count = Some(items),
            None => items.push(item(&value)?),
        }
    }
    (count? == items.len() as u64).then_some(())?;
    Some(Backup {
        id: first.get("id")?.as_str()?.to_owned(),
        time: first.get("time")?.as_u64()?,
        bytes: first.get("bytes")?.as_u64()?,
        about: about_of(&first),
        items,
        folder: folder.to_owned(),
    })
}

fn about_of(first: &Value) -> About {
    let text = |key: &str| first.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    About {
        record: text("record"),
        client: text("client"),
        session: text("session"),
        workspace: text("workspace"),
        what: text("what"),
        undoes: text("undoes"),
        tree: text("tree"),
    }
}

fn line(item: &Item) -> Value {
    let mut line = json!({"path": path_value(&item.path)});
    let Some(fields) = line.as_object_mut() else { return line };
    let kind = match &item.kind {
        ItemKind::File { copy, size, unchanging, place } => {
            if let Some((device, number)) = place {
                fields.insert("place".into(), json!([device, number]));
            }
            fields.insert("copy".into(), (*copy).into());
            fields.insert("size".into(), (*size).into());
            if *unchanging { "unchanging" } else { "file" }
        }
        ItemKind::Folder => "folder",
        ItemKind::Link { to } => {
            fields.insert("to".into(), path_value(to));
            "link"
        }
        ItemKind::Pipe => "pipe",
        ItemKind::Absent => "absent",
        ItemKind::Unchanged { at, place: (device, number) } => {
            fields.insert("at".into(), path_value(at));
            fields.insert("place".into(), json!([device, number]));
            "unmoved"
        }
        ItemKind::Created => "created",
        ItemKind::Missed { why } => {
            fields.insert("why".into(), why.as_str().into());
            "missed"
        }
    };
    fields.insert("kind".into(), kind.into());
    match item.left {
        Left::Unknown => {}
        Left::Gone => drop(fields.insert("left".into(), json!([]))),
        Left::As { place, size, written } => {
            fields.insert("left".into(), json!([place.0, place.1, size, written.0, written.1]));
        }
    }
    if is_without_metadata(&item.kind) {
        return line;
    }
    fields.insert("mode".into(), item.mode.into());
    fields.insert("owner".into(), json!([item.owner.0, item.owner.1]));
    let [read, written] = item.times;
    fields.insert("times".into(), json!([read.0, read.1, written.0, written.1]));
    if !item.attributes.is_empty() {
        let pairs = item.attributes.iter().map(|(name, value)| json!([hex(name), hex(value)]));
        fields.insert("attributes".into(), pairs.collect());
    }
    line
}

/// Whether an item of this kind is its path alone.
fn is_without_metadata(kind: &ItemKind) -> bool {
    matches!(kind, ItemKind::Absent | ItemKind::Created | ItemKind::Missed { .. })
}

fn read_left(value: &Value) -> Option<Left> {
    let Some(left) = value.get("left") else { return Some(Left::Unknown) };
    match left.as_array()?.as_slice() {
        [] => Some(Left::Gone),
        [device, number, size, seconds, nanos] => Some(Left::As {
            place: (device.as_u64()?, number.as_u64()?),
            size: size.as_u64()?,
            written: (seconds.as_i64()?, nanos.as_i64()?),
        }),
        _ => None,
    }
}

fn item(value: &Value) -> Option<Item> {
    let number = |key: &str| value.get(key).and_then(Value::as_u64);
    let place = || value.get("place").and_then(numbers).and_then(|place| <[u64; 2]>::try_from(place).ok());
    let kind = match value.get("kind")?.as_str()? {
        word @ ("file" | "unchanging") => ItemKind::File {
            copy: number("copy")?,
            size: number("size")?,
            unchanging: word == "unchanging",
            place: place().map(Into::into),
        },
        "folder" => ItemKind::Folder,
        "link" => ItemKind::Link { to: path_from(value.get("to")?)? },
        "pipe" => ItemKind::Pipe,
        "absent" => ItemKind::Absent,
        "unmoved" => ItemKind::Unchanged { at: path_from(value.get("at")?)?, place: place()?.into() },
        "created" => ItemKind::Created,
        "missed" => ItemKind::Missed { why: value.get("why")?.as_str()?.to_owned() },
        _ => return None,
    };
    let path = path_from(value.get("path")?)?;
    let left = read_left(value)?;
    if is_without_metadata(&kind) {
        return Some(Item { left, ..Item::bare(path, kind) });
    }
    let [user, group] = <[u64; 2]>::try_from(numbers(value.get("owner")?)?).ok()?.map(u32::try_from);
    let times = value.get("times")?.as_array()?.iter().map(Value::as_i64).collect::<Option<Vec<i64>>>()?;
    let [read, read_nanos, written, written_nanos] = <[i64; 4]>::try_from(times).ok()?;
    let pairs = value.get("attributes").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let pair = |pair: &Value| Some((unhex(pair.get(0)?.as_str()?)?, unhex(pair.get(1)?.as_str()?)?));
    Some(Item {
        path,
        kind,
        mode: u32::try_from(number("mode")?).ok()?,
        owner: (user.ok()?, group.ok()?),
        times: [(read, read_nanos), (written, written_nanos)],
        attributes: pairs.iter().map(pair).collect::<Option<_>>()?,
        left,
    })
}

fn numbers(value: &Value) -> Option<Vec<u64>> {
    value.as_array()?.iter().map(Value::as_u64).collect()
}

/// A path as a string, or as `{"hex": …}` if it is not valid UTF-8.
fn path_value(path: &Path) -> Value {
    path.to_str().map_or_else(|| json!({"hex": hex(&os::bytes(path))}), Value::from)
}

fn path_from(value: &Value) -> Option<PathBuf> {
    match value.as_str() {
        Some(text) => Some(text.into()),
        None => unhex(value.get("hex")?.as_str()?).map(os::path),
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok());
    pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect()
}
