//! Effects of SQL, determined by the first words of its statements. Strings and comments are ignored.

/// Returns one word for each statement with a consequence that rules refer to.
pub(crate) fn consequences(text: &str) -> impl Iterator<Item = &'static str> {
    let bare = without_strings(text).to_ascii_lowercase();
    let found: Vec<&'static str> = bare.split(';').filter_map(consequence).collect();
    let rolls_back = is_rolled_back(&bare);
    found.into_iter().filter(move |word| !rolls_back || !ROLLED_BACK.contains(word))
}

/// Whether a text for a database in a file, of statements and commands of its shell, changes or removes data that is
/// there. Adding rows to a table does not count, except from a file.
pub(crate) fn changes_data(text: &str) -> bool {
    const LOSSES: [&str; 9] = [
        "drop-database",
        "drop-table",
        "drop-object",
        "drop-column",
        "truncate",
        "delete-all",
        "delete-rows",
        "update-all",
        "update-rows",
    ];
    const COMMANDS: [&str; 4] = [".restore ", ".import ", ".recover", ".archive "];
    const STATEMENTS: [&str; 4] = ["alter ", "replace ", "insert or replace ", "pragma writable_schema"];
    if consequences(text).any(|word| LOSSES.contains(&word)) {
        return true;
    }
    let begins = |line: &str, words: &[&str]| words.iter().any(|word| line.starts_with(word));
    let bare = without_strings(text).to_ascii_lowercase();
    bare.lines().any(|line| begins(line.trim_start(), &COMMANDS))
        || bare.split(';').any(|statement| begins(statement.trim_start(), &STATEMENTS))
}

/// Consequences that every database reverts on rollback. MySQL commits before it drops or truncates.
const ROLLED_BACK: [&str; 4] = ["delete-all", "delete-rows", "update-all", "update-rows"];

/// Whether all statements form one transaction that ends with a rollback. Many statements commit implicitly, so only
/// those known not to are accepted.
fn is_rolled_back(bare: &str) -> bool {
    const BEGINS: [&str; 4] = ["begin", "begin transaction", "begin work", "start transaction"];
    const STAYS: [&str; 5] = ["select ", "insert ", "update ", "delete ", "explain "];
    let mut statements = bare.split(';').map(str::trim).filter(|statement| !statement.is_empty());
    let begins = statements.next().is_some_and(|first| BEGINS.contains(&first));
    let mut rest: Vec<&str> = statements.collect();
    let ends = rest.pop() == Some("rollback");
    // A backslash begins a client command.
    let stays = |statement: &&str| STAYS.iter().any(|word| statement.starts_with(word)) && !statement.contains('\\');
    begins && ends && rest.iter().all(stays)
}

/// Names of the databases that the statements drop.
pub(crate) fn dropped_databases(text: &str) -> Vec<String> {
    databases_after("drop", text)
}

/// Names of the databases that the statements create. Excludes `IF NOT EXISTS`, with which the database may already
/// have existed.
pub(crate) fn created_databases(text: &str) -> Vec<String> {
    databases_after("create", text)
}

fn databases_after(verb: &str, text: &str) -> Vec<String> {
    let bare = without_strings(text).to_ascii_lowercase();
    let named = |statement: &str| {
        let mut words = statement.split_whitespace();
        let is_meant = words.next() == Some(verb) && matches!(words.next(), Some("database" | "keyspace"));
        let name = words.find(|word| verb != "drop" || !matches!(*word, "if" | "exists"));
        name.filter(|name| is_meant && *name != "if").map(str::to_owned)
    };
    bare.split(';').filter_map(named).collect()
}

/// Removes strings and comments. Quoted names are kept without their quotes.
fn without_strings(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(ch) = chars.next() {
        match (ch, chars.peek()) {
            ('\'', _) => {
                chars.by_ref().find(|ch| *ch == '\'');
                bare.push_str(" ? ");
            }
            ('-', Some('-')) | ('#', Some(' ')) => {
                chars.by_ref().find(|ch| *ch == '\n');
                bare.push(' ');
            }
            ('/', Some('*')) => {
                let mut before = ' ';
                chars.by_ref().skip(1).find(|ch| std::mem::replace(&mut before, *ch) == '*' && *ch == '/');
                bare.push(' ');
            }
            ('"' | '`' | '[' | ']', _) => bare.push(' '),
            ('(' | ')' | ',', _) => bare.extend([' ', ch, ' ']),
            _ => bare.push(ch),
        }
    }
    bare
}

fn consequence(statement: &str) -> Option<&'static str> {
    let mut words: Vec<&str> = statement.split_whitespace().collect();
    // `explain` only reads, `explain analyze` executes; `with x as (…) delete …` deletes.
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
    fn statements_are_recognized_by_their_first_words() {
        check("DROP  DATABASE a", &["drop-database"]);
        check("BEGIN; DELETE FROM a; ROLLBACK;", &[]);
        check("begin; delete from a; commit; begin; rollback", &["delete-all"]);
        check("begin; drop table a; rollback", &["drop-table"]);
        check("begin; delete from a; lock tables b write; rollback", &["delete-all"]);
        check("begin; delete from a; select 1 \\gexec; rollback", &["delete-all"]);
        assert_eq!(created_databases("CREATE DATABASE a; create database if not exists b"), ["a"]);
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
    fn changes_of_a_database_in_a_file() {
        for text in
            ["DELETE FROM a", "alter table a rename to b", "insert or replace into a values (1)", ".restore x.db"]
        {
            assert!(changes_data(text), "{text}");
        }
        for text in
            ["select 1", "insert into a values (1)", "create table a (b int)", ".schema", ".dump", "select 'x; drop'"]
        {
            assert!(!changes_data(text), "{text}");
        }
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
    fn the_databases_that_are_dropped() {
        let text = "create table a (b int); DROP DATABASE IF EXISTS \"shop_test\"; drop database x; drop schema y";
        assert_eq!(dropped_databases(text), ["shop_test", "x"]);
    }
}
