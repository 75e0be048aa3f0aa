//! A class of paths: an entry of `library/places`.

use super::map::put;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Place {
    pub(super) class: String,
    #[expect(dead_code, reason = "for readers of the file and the generated manual")]
    about: String,
    paths: Vec<String>,
    #[serde(default)]
    except: Vec<String>,
    /// Files one of which must lie beside the matched folder (manifests of build folders).
    #[serde(default)]
    beside: Vec<String>,
    /// A tool keeps it for itself: only its top may hold what a person put there.
    #[serde(default)]
    own: bool,
    /// Texts in the first bytes of a file that say that a tool wrote it.
    #[serde(default)]
    openings: Vec<String>,
    /// Words of a person's intent that name what lies there.
    #[serde(default)]
    subjects: Vec<String>,
    /// Switches that turn an agent's hooks off there: `key=value`, with `*` for any text.
    #[serde(default)]
    off: Vec<String>,
    /// What a program must not make of the hooks, in the same form.
    #[serde(default)]
    dropped: Vec<String>,
    /// Words of keys that are about what an agent runs, asks or trusts.
    #[serde(default)]
    careful: Vec<String>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    matches: Vec<String>,
    #[expect(dead_code, reason = "examples are read from the raw entry by the tests")]
    no_match: Vec<String>,
}

impl Place {
    pub(super) fn lower(self) -> Value {
        let mut node = json!({"paths": self.paths, "except": self.except, "beside": self.beside});
        let lists = [
            ("openings", self.openings),
            ("subjects", self.subjects),
            ("off", self.off),
            ("dropped", self.dropped),
            ("careful", self.careful),
        ];
        if let Some(node) = node.as_object_mut() {
            if self.own {
                node.insert("own".into(), json!(true));
            }
            lists.into_iter().for_each(|(name, list)| put(node, name, json!(list)));
        }
        node
    }
}
