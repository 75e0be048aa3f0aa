//! Classes of paths, settings files, and places of passwords.

use crate::view;
use crate::view::Texts;

view! {
    /// Paths of one class: an entry of `library/places`.
    pub struct Place<'a> {
        /// Patterns of the paths.
        paths: Texts<'a>,
        /// Patterns of paths that are excluded.
        except: Texts<'a>,
        /// Files of which one must exist next to the matched folder.
        beside: Texts<'a>,
        /// Whether the folder belongs to a tool.
        own: bool,
        /// Texts at the beginning of a generated file.
        openings: Texts<'a>,
        /// Words of a person's intent that refer to the contents.
        subjects: Texts<'a>,
        /// Settings that turn an agent's hooks off in this file.
        off: Texts<'a>,
        /// Further settings that turn the hooks off if a program's argument or code sets them.
        dropped: Texts<'a>,
        /// Words in keys that control what an agent runs, asks or trusts.
        careful: Texts<'a>,
    }
}

view! {
    /// The way in which a client reads a settings file: an entry of `library/settings`.
    pub struct SettingsForm<'a> {
        /// Its name.
        form: &'a str,
        /// The agent that reads it.
        agent: &'a str,
        /// Version of the client for which this was observed.
        version: &'a str,
        /// Patterns of its paths.
        paths: Texts<'a>,
        /// `json`, or any other value for a file that is compared by its bytes only.
        format: &'a str,
        /// Whether an unreadable file disables the hooks.
        stops: bool,
        /// Top-level keys that are allowed; any key if empty.
        known: Texts<'a>,
        /// Events that the client supports.
        events: Texts<'a>,
        /// Types as `key.key: type`.
        types: Texts<'a>,
        /// Extensions to strict JSON that it accepts.
        reads: Texts<'a>,
        /// Environment variables under which the client runs no user hooks.
        variables: Texts<'a>,
        /// Top-level keys that its hooks depend on; all keys if empty.
        weighty: Texts<'a>,
        /// Other files that its hooks depend on.
        with: Texts<'a>,
    }
}

view! {
    /// The position of a password in a command: an entry of `library/logins`.
    pub struct Login<'a> {
        /// Words of which one must be present.
        with: Texts<'a>,
        /// Options whose value is the password.
        options: Texts<'a>,
        /// Whether the value must be joined to its option.
        joined: bool,
        /// Position of the password among the operands, counted from the end; 0 for none.
        last: u32,
        /// The number of operands required for that.
        of: u32,
        /// Whether the program reads the password from standard input.
        input: bool,
        /// Separator between a user name and the password.
        sign: &'a str,
    }
}
