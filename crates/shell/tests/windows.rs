//! What texts in PowerShell and cmd would run, and that nothing makes their readers fail or take for ever.

use crate::support::programs;
use reflex_shell::{Language, Reading, Surroundings, Value, read_as};
use std::time::{Duration, Instant};

fn reading(language: Language, text: &str) -> Reading {
    read_as(language, text, &Surroundings::new(programs()))
}

/// One line per command, its words in brackets, and its files; then one line per gap.
fn lines(language: Language, text: &str) -> Vec<String> {
    let reading = reading(language, text);
    let words = |words: &[Value]| words.iter().map(|word| format!("[{}]", word.shown())).collect::<String>();
    let line = |command: &reflex_shell::Command| {
        let files: String =
            command.redirects.iter().map(|file| format!(" {:?} {}", file.access, file.target.shown())).collect();
        format!("{}{files}", words(&command.words))
    };
    let gaps = reading.gaps.iter().map(|gap| format!("gap {:?} `{}`", gap.why, gap.origin.span.slice(text)));
    reading.commands.iter().map(line).chain(gaps).collect()
}

#[track_caller]
fn powershell(text: &str, expected: &[&str]) {
    assert_eq!(lines(Language::PowerShell, text), expected, "{text}");
}

#[track_caller]
fn cmd(text: &str, expected: &[&str]) {
    assert_eq!(lines(Language::Cmd, text), expected, "{text}");
}

#[test]
fn a_quoted_program_with_arguments_is_a_call() {
    powershell(r#""C:\x\tool.exe" -Command 'b c'"#, &[r"[C:\x\tool.exe][-Command][b c]"]);
    powershell("'tool.cmd' a; d", &["[tool.cmd][a]", "[d]"]);
    powershell(r#""C:\x\tool.exe""#, &[]);
    powershell(r#""tool.exe" -join 'a' | b"#, &["[b]"]);
    powershell(r#""tool.exe" + ' a'"#, &[]);
    // Read as another statement, as before.
    powershell(r#""some text" -Flag"#, &["[-Flag]"]);
}

#[test]
fn powershell_statements_and_pipelines_are_split() {
    powershell("a; b\nc && d || e", &["[a]", "[b]", "[c]", "[d]", "[e]"]);
    powershell("a | b | c", &["[a]", "[b]", "[c]"]);
    powershell("a |\n  b", &["[a]", "[b]"]);
    powershell("a\n| b", &["[a]", "[b]"]);
    powershell("a & b", &["[a]", "[b]"]);
    powershell("a `\n  b", &["[a][b]"]);
    powershell("a # b\nc <# d\n #> e", &["[a]", "[c][e]"]);
    powershell("if (a) { b } elseif (c) { d } else { e }", &["[a]", "[b]", "[c]", "[d]", "[e]"]);
    powershell("switch (a) { 'x' { b } default { c } }", &["[a]", "[b]", "[c]"]);
    powershell("for ($i = 0; $i -lt 3; $i++) { a }", &["[a]", "[a]"]);
    powershell("while (a) { b }; do { c } until (d)", &["[a]", "[b]", "[c]", "[d]"]);
    powershell("try { a } catch [X.Y] { b } finally { c }", &["[a]", "[b]", "[c]"]);
    powershell("trap { a }; begin { b } process { c } end { d }", &["[a]", "[b]", "[c]", "[d]"]);
    powershell("foreach ($x in 'a', 'b') { c $x }", &["[c][a]", "[c][b]"]);
    powershell("return a; throw b", &["[a]", "[b]"]);
    powershell(":top while ($true) { a; break top }", &["[a]", "[top]"]);
}

#[test]
fn powershell_words_are_what_a_command_is_given() {
    powershell("a 'it''s' \"x\"\"y\" b`'c", &["[a][it's][x\"y][b'c]"]);
    powershell("a \"`t`u{41}`$x\"", &["[a][\tA$x]"]);
    powershell("R`emove-It`em x", &["[Remove-Item][x]"]);
    powershell("a ‘b’ “c” –d", &["[a][b][c][-d]"]);
    powershell("a @'\nx 'y'\n'@ @\"\n$(b)\n\"@", &["[b]", "[a][x 'y'][$(b …)]"]);
    powershell("a b,c (d) @(1, 2) $(e)", &["[d]", "[e]", "[a][b][c][$(d …)][1][2][$(e …)]"]);
    powershell("a -x:b -y: c --z", &["[a][-x:b][-y:c][--z]"]);
    powershell("$p = @{Path = 'b'; Force = $true}; ri @p", &["[ri][-Path:b][-Force:True]"]);
    powershell("$q = 'b', 'c'; a @q", &["[a][b][c]"]);
    powershell("a --% b;c \"d e\"\nf", &["[a][b;c][d][e]", "[f]"]);
    powershell(
        "a > b 2>&1; a >> c; a *> d; a 2> $null",
        &["[a] Overwrite b", "[a] Append c", "[a] Overwrite d", "[a]"],
    );
    powershell("'x' > b", &[" Overwrite b"]);
    powershell("& 'a b' c; & \"d\"; . ./e.ps1", &["[a b][c]", "[d]", "[./e.ps1]"]);
}

#[test]
fn powershell_blocks_and_substitutions_run() {
    powershell("& { a }; . { b }; { c }", &["[a]", "[b]", "[c]"]);
    powershell("$f = { param($x) a $x }; & $f b; $f.Invoke('c')", &["[a][b]", "[a][c]"]);
    powershell("function f($x, $y) { a $y $x }; f 1 -y 2", &["[a][2][1]"]);
    powershell("function f { f }; f", &[]);
    powershell("function f { a }", &[]);
    powershell("filter f { a $_ }; 'x' | f", &["[a][x]"]);
    powershell("class X { [int] $y = 1; Z([string] $s) { a } }", &["[a]"]);
    powershell("$x = a; $y += b; $z.w = c", &["[a]", "[b]", "[c]"]);
    powershell("$env:X = 'b'; a $env:X ${env:X} $Env:x", &["[a][b][b][b]"]);
    powershell("Measure-Command { a }", &["[Measure-Command][{ a }]", "[a]"]);
    powershell("\"$(a) $((b))\"", &["[a]", "[b]"]);
    powershell("@{x = a; y = { b }} | Out-Null", &["[a]", "[b]", "[Out-Null]"]);
    powershell("Set-Alias z a; z b", &["[a][b]"]);
}

#[test]
fn powershell_texts_are_followed() {
    let removes = ["[Remove-Item][x]"];
    powershell("& ('Remove' + '-Item') x", &removes);
    powershell("& ('{1}{0}' -f 'Item', 'Remove-') x", &removes);
    powershell("& (-join ('metI-evomeR'[-1..-11])) x", &removes);
    powershell("& ('Rxmove-Itxm'.Replace('x', 'e')) x", &removes);
    powershell("& ('Rxmove-Itxm' -replace 'x', 'e') x", &removes);
    powershell("& ('..Remove-Item'.Substring(2)) x", &removes);
    powershell("& (([char]82) + 'emove-Item') x", &removes);
    powershell("& ([string]::Join('-', ('Remove', 'Item'))) x", &removes);
    powershell("& (('Remove,Item' -split ',') -join '-') x", &removes);
    powershell("$a = 'Remove'; $b = '-Item'; & \"$a$b\" x", &removes);
    powershell("& ([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('UmVtb3ZlLUl0ZW0='))) x", &removes);
    let found = |text: &str| {
        let lines = lines(Language::PowerShell, text);
        assert!(lines.iter().any(|line| line == removes[0]), "{text}: {lines:?}");
    };
    found("iex 'Remove-Item x'");
    found("'Remove-Item x' | iex");
    found("Invoke-Expression -Command \"Remove-Item `\"x`\"\"");
    found("& ([scriptblock]::Create('Remove-Item x'))");
    found("[scriptblock]::Create('Remove-Item x').Invoke()");
    found("powershell -NoProfile -enc UgBlAG0AbwB2AGUALQBJAHQAZQBtACAAeAA=");
    found("pwsh -Command { Remove-Item x }");
    found("cmd /c 'powershell -c \"Remove-Item x\"'");
    found("bash -c 'pwsh -c \"Remove-Item x\"'");
    found(
        "$s = 'x meti-evomer'.ToCharArray(); [array]::Reverse($s); $t = (-join $s) -replace 'remove-item', 'Remove-Item'; iex $t",
    );
}

#[test]
fn what_comes_through_the_pipe_of_powershell_is_a_word() {
    powershell("'x', 'y' | Remove-Item", &["[Remove-Item][-Path][x,y]"]);
    powershell(
        "gci -r a | ? { $_.Length -gt 1 } | ri -fo",
        &["[gci][-r][a]", "[?][{ $_.Length -gt 1 }]", "[ri][-fo][-Path][a/**]"],
    );
    powershell("gci *.log | % { ri $_.FullName }", &["[gci][*.log]", "[%][{ ri $_.FullName }]", "[ri][*.log]"]);
    powershell("'a', 'b' | % { c $_ }", &["[%][{ c $_ }]", "[c][a]", "[c][b]"]);
}

#[test]
fn cmd_lists_and_blocks_are_split() {
    cmd("a & b && c || d | e", &["[a]", "[b]", "[c]", "[d]", "[e]"]);
    cmd("(a & (b)) else c", &["[a]", "[b]", "[c]"]);
    cmd("a\r\nb", &["[a]", "[b]"]);
    cmd("@a & rem b & c\n:: d\n:label\ne", &["[a]", "[e]"]);
    cmd("if exist x a", &["[a]"]);
    cmd("if /i not \"%x%\"==\"y\" (a) else (b)", &["[a]", "[b]"]);
    cmd("if 1 equ 2 a", &["[a]"]);
    cmd("for %i in (a b) do c %i", &["[c][a]", "[c][b]"]);
    cmd("for %%i in (a) do (b %%i & c %%~ni)", &["[b][a]", "[c][a]"]);
    cmd("for /f \"tokens=*\" %i in ('a b') do c %i", &["[a][b]", "[c][$(a …)]"]);
    cmd("a > b 2>&1 & a >> c & a > nul & > d a", &["[a] Overwrite b", "[a] Append c", "[a]", "[a] Overwrite d"]);
    cmd("a \"b & c\" d", &["[a][b & c][d]"]);
}

#[test]
fn cmd_words_are_what_a_command_is_given() {
    cmd("d^el x^&y", &["[del][x&y]"]);
    cmd("de^\r\nl x", &["[del][x]"]);
    cmd("del,/s;/q=x", &["[del][/s][/q][x]"]);
    cmd("del/s/q x", &["[del][/s/q][x]"]);
    cmd("DEL \"a b\".txt", &["[DEL][a b.txt]"]);
    cmd("set x=del& %x% y", &["[del][y]"]);
    cmd("set \"x=del /q\"& %x% y", &["[del][/q][y]"]);
    cmd("set x=dxl& %x:x=e% y & %x:~0,1%el z", &["[del][y]", "[del][z]"]);
    cmd("set x=del& !x! y", &["[del][y]"]);
    cmd("set a=d& set b=el& %a%%b% y", &["[del][y]"]);
    cmd("a 100%", &["[a][100%]"]);
    cmd("cd x & del y", &["[del][y]"]);
}

#[test]
fn text_is_not_a_command() {
    powershell("Write-Host \"Remove-Item -Recurse C:\\\"", &["[Write-Host][Remove-Item -Recurse C:\\]"]);
    powershell("Select-String 'rm -rf' a", &["[Select-String][rm -rf][a]"]);
    powershell("git commit -m 'rd /s /q'", &["[git][commit][-m][rd /s /q]"]);
    powershell("# rm x", &[]);
    powershell("$x = 'rm y'", &[]);
    powershell("@'\nrm x\n'@ | Out-Null", &["[Out-Null]"]);
    cmd("echo del x", &["[echo][del][x]"]);
    cmd("rem del x", &[]);
    cmd("git commit -m \"del & rd\"", &["[git][commit][-m][del & rd]"]);
}

#[test]
fn what_is_not_finished_or_not_known_is_a_gap() {
    let gaps = |language, text: &str| !reading(language, text).gaps.is_empty();
    for text in ["a (b", "a { b", "a 'b", "a \"b", "& $x y", "$x.Invoke()", ")"] {
        assert!(gaps(Language::PowerShell, text), "{text}");
    }
    assert!(gaps(Language::Cmd, "(a"), "a block that is not closed");
    assert!(lines(Language::PowerShell, "a (rm b").iter().any(|line| line == "[rm][b]"));
}

#[test]
fn commands_say_where_they_stand() {
    let place = |language, text: &'static str, name: &str| {
        let reading = reading(language, text);
        let command = reading.commands.iter().find(|command| command.name == name).unwrap();
        command.origin.span.slice(text)
    };
    assert_eq!(place(Language::PowerShell, "a; & { rm 'x y' } ; b", "rm"), "rm 'x y' ");
    assert_eq!(place(Language::PowerShell, "if ($x) { foreach ($y in 1) { rm $y } }", "rm"), "rm $y ");
    assert_eq!(place(Language::PowerShell, "a \"x $(rm y)\"", "rm"), "rm y");
    assert_eq!(place(Language::Cmd, "a & (del x) & b", "del"), "del x");
}

#[test]
fn deep_nesting_is_a_gap_and_what_follows_is_still_found() {
    for (language, open) in [
        (Language::PowerShell, "("),
        (Language::PowerShell, "{"),
        (Language::PowerShell, "$("),
        (Language::PowerShell, "[int]"),
        (Language::PowerShell, "& {"),
        (Language::PowerShell, "!"),
        (Language::PowerShell, "a ? "),
        (Language::PowerShell, "\"$("),
        (Language::PowerShell, "if (1) {"),
        (Language::PowerShell, "@{a="),
        (Language::Cmd, "("),
        (Language::Cmd, "if 1==1 "),
        (Language::Cmd, "for %i in (a) do "),
    ] {
        let text = format!("rm x\n{}", open.repeat(20_000));
        let reading = reading(language, &text);
        assert!(!reading.commands.is_empty(), "{open}");
    }
    let text = format!("{}{}; rm x", "(".repeat(300), ")".repeat(300));
    let found = lines(Language::PowerShell, &text);
    assert!(found.iter().any(|line| line == "[rm][x]") && found.iter().any(|line| line.starts_with("gap Limit")));
}

#[test]
fn long_texts_take_no_longer_than_they_are_long() {
    let unit = [
        "rm 'a b' $x; ",
        "$x = \"a $(b) c\"; ",
        "if ($x) { rm a } else { b }\n",
        "a | b -c d,e\n",
        "@{a=1}; ",
        "'a'+'b'; ",
        "x`",
    ];
    for unit in unit {
        let text = unit.repeat(250_000 / unit.len());
        let begin = Instant::now();
        reading(Language::PowerShell, &text);
        reading(Language::Cmd, &text);
        assert!(begin.elapsed() < Duration::from_secs(20), "{unit:?}: {:?}", begin.elapsed());
    }
}

/// What both languages give a meaning to, each behind a mark.
const PARTS: &str = "rm\u{1} \u{1}\n\u{1}'\u{1}\"\u{1}`\u{1}$\u{1}(\u{1})\u{1}{\u{1}}\u{1}[\u{1}]\u{1}@\u{1};\u{1}|\u{1}&\u{1}%\u{1}!\
    \u{1}^\u{1}=\u{1}+\u{1}-\u{1},\u{1}.\u{1}::\u{1}#\u{1}<#\u{1}#>\u{1}@'\u{1}'@\u{1}if\u{1}for\u{1}foreach\u{1}function\u{1}x\u{1}1\
    \u{1}..\u{1}-f\u{1}-join\u{1}-replace\u{1}é\u{1}\u{f0000}\u{1}\u{2019}\u{1}/s\u{1}>\u{1}<\u{1}?\u{1}\\\u{1}~\u{1}param\u{1}iex\
    \u{1}switch\u{1}class\u{1}try\u{1}$x\u{1}%x%\u{1}in\u{1}do\u{1}0x";

#[test]
fn no_text_makes_the_readers_fail() {
    let parts: Vec<&str> = PARTS.split('\u{1}').collect();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for _ in 0..20_000 {
        let count = next(25);
        let text: String = (0..count).map(|_| parts[next(parts.len())]).collect();
        reading(Language::PowerShell, &text);
        reading(Language::Cmd, &text);
    }
}
