//! The exit statuses of all commands, by the obstacle.

use crate::support::Machine;
use std::fmt::Write;

/// Exit statuses by command, in these situations:
///
/// - `well`: a home with a wired agent, a stopped call and a kept file; no terminal
/// - `tty`: the same with a terminal, on which `y` is entered
/// - `file`: a file is in the place of the state folder
/// - `closed`: the state folder belongs to another user
/// - `damaged`: every file of the state folder holds `{garbage`
/// - `full`: the disk of the home is full, with a terminal as in `tty`
///
/// 0 is done, 1 not possible as things are, 64 wrong usage, 70 a failure of this machine. A `-` is not played.
const TABLE: &str = "\
well    tty     file    closed  damaged full
64      -       -       -       -       -       check --nope ls
64      -       -       -       -       -       init --agent nope --yes
64      -       -       -       -       -       run -- nofile
64      -       -       -       -       -       watch
64      -       -       -       -       -       mode nope
64      -       -       -       -       -       mode allow-all --for nope
64      -       -       -       -       -       off
64      -       -       -       -       -       off --for nope --reason x
64      -       -       -       -       -       report --since nope
64      -       -       -       -       -       audit search --since nope x
64      -       -       -       -       -       audit purge --before nope
64      -       -       -       -       -       audit export --format nope
64      -       -       -       -       -       emit --agent nope
64      -       -       -       -       -       completions nope
64      -       -       -       -       -       config nope
64      -       -       -       -       -       nope
64      -       -       -       -       -       rules check nofile
64      -       -       -       -       -       policy backtest nofile
64      -       -       -       -       -       verify --file nofile
64      -       -       -       -       -       import nofile
1       -       -       -       -       -       rules show nope/x
1       -       -       -       -       -       reflexes add nope
1       -       -       -       -       -       reflexes remove nope
64      -       -       -       -       -       reflexes add ./nope
70      -       -       -       -       -       man /dev/null/x
70      -       -       -       -       -       watch -- nofile
0       -       0       0       0       0       check ls
0       -       0       0       0       0       eval
0       -       70      70      0       70      init --agent gemini --yes
0       0       70      70      0       0       status
0       -       1       1       1       1       doctor
0       -       1       1       0       1       verify
0       0       70      70      0       70      watch -- true
0       0       70      70      0       70      watch -- rm a
1       0       -       -       -       -       mode
1       0       1       1       1       70      mode balanced
1       1       -       -       -       -       pin
1       0       1       1       1       70      off --for 10m --reason x
0       0       70      70      0       0       off --end
0       0       70      70      70      0       pending
1       0       70      70      1       0       pending --clear
1       0       70      70      1       70      approve CALL
1       1       70      70      1       1       approve nope
1       0       70      70      1       0       deny CALL
1       1       70      70      1       1       allow nope
3       0       70      70      1       70      appeal CALL --because x
0       0       70      70      0       0       suggest
0       0       70      70      70      0       grants
1       1       70      70      1       1       grants --revoke nope
1       1       -       -       -       -       trust
1       0       1       1       1       70      task start x
1       1       -       -       -       -       task end
0       0       70      70      0       0       report
0       0       70      70      1       0       why CALL
1       1       70      70      1       1       why nope
0       0       70      70      0       0       undo
1       0       70      70      1       70      undo KEPT
0       0       70      70      1       70      undo KEPT --to back
1       1       70      70      1       1       undo nope
0       0       70      70      0       0       redo
0       0       70      70      0       0       gc
0       0       70      70      1       0       audit verify
0       0       70      70      0       0       audit search
0       0       70      70      1       0       report-fp CALL
0       -       0       70      0       0       uninstall --yes
";

/// Plays the lines of its standard input in a situation, each as `STATUS COMMAND`.
///
/// Arguments: the situation and the program.
const PLAY: &str = r#"
    situation=$1 home=/tmp/home as= tty=
    mount -t tmpfs -o mode=755 tmpfs /tmp || exit 77
    mount -t tmpfs -o mode=755 tmpfs /opt && touch /opt/reflex && mount --bind "$2" /opt/reflex || exit 77
    mkdir $home && mount -t tmpfs -o mode=755,size=1m tmpfs $home || exit 77
    state=$home/.local/state/reflex
    unset HOME
    begin() {
        cd / && find $home -mindepth 1 -maxdepth 1 -exec rm -rf {} + && cp -r /tmp/before/. $home && cd $home/shop
    }
    mkdir -p /tmp/before/shop/.git /tmp/before/.claude && echo notes | tee /tmp/before/shop/notes > /tmp/before/shop/a
    ask() { # the hook about a command
        printf '{"session_id":"s1","cwd":"%s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"%s"}}' \
            $home/shop "$1" | /opt/reflex --home $home hook --agent claude > /dev/null
    }
    begin && /opt/reflex --home $home init --agent claude --yes > /dev/null || exit 1
    ask 'git push -f origin main' 2> /dev/null; ask 'rm notes' > /dev/null && rm notes && cp -r $home/. /tmp/before || exit 1
    call=$(ls $state/calls/waiting | cut -d- -f1) kept=$(ls $state/kept | cut -d- -f1)
    case $situation in
        file) rm -r $state; echo x > $state ;;
        closed) chmod 700 $state; as="setpriv --reuid=64000 --regid=64000 --clear-groups" ;;
        damaged) find $state -type f -exec sh -c 'echo "{garbage" > "$1"' _ {} \; ;;
        tty | full) tty=1 ;;
    esac
    exec 3<&0
    echo begun
    while read -r line <&3; do
        words=$(echo "$line" | sed "s/CALL/$call/; s/KEPT/$kept/")
        # Commands that can succeed begin with the same home.
        case $situation in
            well | tty) begin ;;
            full) begin && dd if=/dev/zero of=$home/fill bs=1k 2>/dev/null ;;
        esac
        if [ -n "$tty" ]; then
            printf 'y\ny\n' | timeout 60 script -qec "/opt/reflex --home $home $words" /dev/null > /tmp/said 2>&1
        else
            eval "timeout 60 $as /opt/reflex --home $home $words" < /dev/null > /tmp/said 2>&1
        fi
        echo "$? $line" && sed 's/^/#   /' /tmp/said
    done
"#;

#[test]
fn the_exit_status_tells_the_request_the_state_and_the_machine_apart() {
    let machine = Machine::new();
    let mut rows = TABLE.lines();
    let situations: Vec<&str> = rows.next().unwrap_or_default().split_whitespace().collect();
    let rows: Vec<Row> = rows.map(|row| Row::new(row, situations.len())).collect();
    let play = |column: usize| play(&machine, situations[column], &rows, column);
    // Two at a time: each waits for its terminal now and then.
    let columns: Vec<Option<Vec<String>>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..situations.len()).map(|column| scope.spawn(move || play(column))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let Some(columns) = columns.into_iter().collect::<Option<Vec<_>>>() else { return };
    let mut table = heading(&situations);
    for (index, row) in rows.iter().enumerate() {
        columns.iter().for_each(|column| write!(table, "{:<WIDTH$}", column[index]).unwrap());
        writeln!(table, "{}", row.command).unwrap();
    }
    assert!(table == TABLE, "played:\n{table}");
}

/// A line of the table.
struct Row {
    statuses: Vec<&'static str>,
    command: &'static str,
}

impl Row {
    fn new(row: &'static str, columns: usize) -> Row {
        let (statuses, command) = row.split_at(columns * WIDTH);
        Row { statuses: statuses.split_whitespace().collect(), command }
    }
}

/// Width of a column.
const WIDTH: usize = 8;

fn heading(situations: &[&str]) -> String {
    situations.iter().map(|name| format!("{name:<WIDTH$}")).collect::<String>().trim_end().to_owned() + "\n"
}

/// The statuses of one column; `None` without the right to mount.
fn play(machine: &Machine, situation: &str, rows: &[Row], column: usize) -> Option<Vec<String>> {
    let is_played = |row: &&Row| row.statuses[column] != "-";
    let input: String = rows.iter().filter(is_played).map(|row| format!("{}\n", row.command)).collect();
    let words = ["--mount", "sh", "-c", PLAY, "sh", situation, env!("CARGO_BIN_EXE_reflex")];
    let output = machine.program("unshare", words).input(input).patience(500).run();
    if output.code == 77 {
        println!("skipped: this needs root and mount namespaces: {}", output.stderr);
        return None;
    }
    println!("{situation}\n{}", output.stdout);
    let lines = output.stdout.lines().skip_while(|line| *line != BEGUN).skip(1).filter(|line| !line.starts_with('#'));
    let mut statuses = lines.map(|line| line.split_once(' ').unwrap().0.to_owned());
    let status = |row: &Row| if is_played(&row) { statuses.next().unwrap() } else { "-".to_owned() };
    Some(rows.iter().map(status).collect())
}

/// The line after which the statuses follow.
const BEGUN: &str = "begun";
