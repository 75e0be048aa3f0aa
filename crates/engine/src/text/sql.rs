//! What a text of a database would do, told from the first words of its statements. Strings and comments are no words.

/// What the statements of a text would do, one word for each that does something worth a rule.
pub(crate) fn consequences(text: &str) -> impl Iterator<Item = &'static str> {
    let bare = without_strings(text).to_ascii_lowercase();
    let found: Vec<&'static str> = bare.split(';').filter_map(consequence).collect();
    found.into_iter()
}

/// Whether a text drops a whole database. What a shell of MongoDB is told is a call.
pub(crate) fn loses_a_database(text: &str) -> bool {
    consequences(text).any(|word| word == "drop-database") || text.to_ascii_lowercase().contains(".dropdatabase(")
}

/// The names of the databases that the statements of a text drop.
pub(crate) fn dropped_databases(text: &str) -> Vec<String> {
    let bare = without_strings(text).to_ascii_lowercase();
    let dropped = |statement: &str| {
        let mut words = statement.split_whitespace();
        let drops = words.next() == Some("drop") && matches!(words.next(), Some("database" | "keyspace"));
        let name = words.find(|word| !matches!(*word, "if" | "exists"));
        name.filter(|_| drops).map(str::to_owned)
    };
    bare.split(';').filter_map(dropped).collect()
}

/// The text with strings and comments taken out; quoted names stay, without their quotes.
fn without_strings(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\'', _) => {
                letters.by_ref().find(|letter| *letter == '\'');
                bare.push_str(" ? ");
            }
            ('-', Some('-')) | ('#', Some(' ')) => {
                letters.by_ref().find(|letter| *letter == '\n');
                bare.push(' ');
            }
            ('/', Some('*')) => {
                let mut before = ' ';
                letters
                    .by_ref()
                    .skip(1)
                    .find(|letter| std::mem::replace(&mut before, *letter) == '*' && *letter == '/');
                bare.push(' ');
            }
            ('"' | '`' | '[' | ']', _) => bare.push(' '),
            ('(' | ')' | ',', _) => bare.extend([' ', letter, ' ']),
            _ => bare.push(letter),
        }
    }
    bare
}

fn consequence(statement: &str) -> Option<&'static str> {
    let mut words: Vec<&str> = statement.split_whitespace().collect();
    // `explain` looks, `explain analyze` runs; `with x as (…) delete …` deletes.
    if words.first() == Some(&"explain") {
        let runs = words.get(1) == Some(&"analyze");
        words.drain(..if runs { 2 } else { words.len() });
    }
    if words.first() == Some(&"with") {
        let at = words.iter().position(|word| matches!(*word, "delete" | "update" | "insert")).unwrap_or(words.len());
        words.drain(..at);
    }
    let has = |wanted: &str| words.contains(&wanted);
    let first = *words.first()?;
    match (first, words.get(1).copied().unwrap_or("")) {
        ("drop", "database" | "schema" | "keyspace" | "catalog") => Some("drop-database"),
        ("drop", "table" | "materialized" | "collection" | "foreign") => Some("drop-table"),
        ("drop", "user" | "role" | "login" | "owned") => Some("change-rights"),
        ("drop", _) => Some("drop-object"),
        ("truncate", _) => Some("truncate"),
        ("delete", _) if !has("where") => Some("delete-all"),
        ("delete", _) => Some("delete-rows"),
        ("update", _) if has("set") && !has("where") => Some("update-all"),
        ("update", _) if has("set") => Some("update-rows"),
        ("alter", "table") if has("drop") => Some("drop-column"),
        ("alter", "system" | "database" | "server") => Some("change-server"),
        ("alter", "user" | "role" | "login") | ("create", "user" | "role" | "login") => Some("change-rights"),
        ("grant" | "revoke" | "reassign", _) => Some("change-rights"),
        ("flush" | "purge" | "reset", _) | ("shutdown", _) => Some("change-server"),
        ("copy", _) if has("program") => Some("run-program"),
        ("copy", _) if has("to") => Some("write-file"),
        (_, _) if statement.contains("xp_cmdshell") || statement.contains("sys_exec") => Some("run-program"),
        (_, _) if has("outfile") || has("dumpfile") || has("lo_export") => Some("write-file"),
        (_, _) if has("load_file") || has("pg_read_file") || has("pg_read_binary_file") || has("lo_import") => {
            Some("read-file")
        }
        (_, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(consequences(text).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn statements_are_told_by_their_first_words() {
        check("DROP  DATABASE a", &["drop-database"]);
        check("select 1; Truncate table a;", &["truncate"]);
        check("DELETE FROM a", &["delete-all"]);
        check("delete from a where id = 1", &["delete-rows"]);
        check("UPDATE a SET b = 1", &["update-all"]);
        check("with x as (select 1) delete from a", &["delete-all"]);
        check("explain delete from a", &[]);
        check("COPY a TO PROGRAM 'sh'", &["run-program"]);
        check("select pg_read_file('/etc/passwd')", &["read-file"]);
    }

    #[test]
    fn strings_and_comments_are_no_statements() {
        check("select 'x; drop table a'", &[]);
        check("-- drop table a\nselect 1", &[]);
        check("/* drop table a; */ select 1", &[]);
        check("insert into log values ('delete from a')", &[]);
        check("select * from deleted", &[]);
        check("select 'it", &[]);
    }

    #[test]
    fn a_whole_database_is_lost() {
        assert!(loses_a_database("drop database a"));
        assert!(loses_a_database("db.getSiblingDB('a').dropDatabase()"));
        assert!(!loses_a_database("db.a.drop()") && !loses_a_database("drop table a"));
    }

    #[test]
    fn the_databases_that_are_dropped() {
        let text = "create table a (b int); DROP DATABASE IF EXISTS \"shop_test\"; drop database x; drop schema y";
        assert_eq!(dropped_databases(text), ["shop_test", "x"]);
    }
}
