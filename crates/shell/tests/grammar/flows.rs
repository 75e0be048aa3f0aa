//! What a shell does between its commands: ways that branches leave open, descriptors, jumps, names, arithmetic.

use super::{Dialect, Writer};

impl Writer<'_> {
    fn is_bash(&self) -> bool {
        self.dialect == Dialect::Bash
    }

    /// Something that the shells read line by line or open and close: it holds for the whole script.
    pub(super) fn flow(&mut self) -> String {
        match self.chance.next(8) {
            0 => self.open_way(),
            1 => self.descriptor(),
            2 => self.jump(),
            3 => self.name(),
            4 => self.pattern(),
            5 => self.file(),
            6 => self.arithmetic(),
            _ if self.is_bash() => self.of_bash(),
            _ => self.loop_of_numbers(),
        }
    }

    /// What a branch may have set.
    fn open_way(&mut self) -> String {
        let (test, a, b) = (self.condition(), self.literal(), self.literal());
        let (one, two) = (self.program(), self.program());
        let name = self.variable();
        match self.chance.next(13) {
            0 => format!("if {test}; then {name}={a}; else {name}={b}; fi; p0 \"${name}\" x"),
            1 => format!("if {test}; then w={one}; else w={two}; fi; $w {a}"),
            2 => format!("{test} && {name}={a}; p1 ${name} \"${name}\""),
            3 => format!("{test} || {name}={a}; p1 \"${name}\"; {name}=$({one} | cat)"),
            4 => format!("{one} && set -- {a} c || set -- {b}; p2 \"$@\" $#"),
            5 => format!("case $x in a*) w={one};; *) w={two};; esac; $w {a}"),
            6 => format!("if {test}; then p5() {{ p6 in {a}; }}; fi; p5 {b}; unset -f p5"),
            7 => format!("w={one}; while {test}; do w={two}; break; done; $w {a}"),
            8 => format!("w={one}; for v in a b; do {test} && w={two}; done; $w {a}"),
            9 => format!("p3 \"$(if {test}; then echo a; else echo b; fi)\" {a}"),
            10 => format!("$(if {test}; then echo {one}; else echo {two}; fi) {a}"),
            11 => format!("p4 \"$(case $x in a*) echo a;; *) echo b;; esac)\" $({one} >/dev/null && echo c || echo d)"),
            _ => {
                let word = self.plain();
                format!("if {test}; then w={one}; else w={two}; fi; echo \"$w {word}\" | tr a b | sh")
            }
        }
    }

    fn descriptor(&mut self) -> String {
        let (one, two) = (self.program(), self.program());
        let plain = self.plain();
        match self.chance.next(if self.is_bash() { 18 } else { 9 }) {
            0 => format!("exec 3<<E\n{one} {plain}\nE\nsh <&3; exec 3<&-"),
            1 => format!("{{ read -r r; read -r s; p0 \"$r\" \"$s\"; }} <<E\n{plain} b\nc\nE"),
            2 => format!("{{ read -r r; {one} \"$r\"; read -r s; p0 \"$s\"; }} <<E\na\n{plain}\nE"),
            3 => format!("{{ echo {one} {plain} >&3; }} 3>&1 | sh"),
            4 => format!("{{ echo {one} {plain}; echo no >&2; }} 2>/dev/null | sh"),
            5 => format!("p1 \"$(echo {plain}; echo no >&2)\" \"$( {{ echo e >&2; }} 2>&1)\""),
            6 => format!("while read -r r <&3; do {one} \"$r\"; done 3<<E\n{plain}\nb\nE"),
            7 => format!("(read -r r; p0 \"$r\"; cat) <<E | sh\n{plain}\n{one} b\nE"),
            8 => format!("(exec 4>&1; echo {one} a >&4) | sh"),
            9 => format!("exec 3<<<'{one} {plain}'; bash <&3"),
            10 => format!("exec {{fd}}<<<'{one} {plain}'; sh <&$fd; exec {{fd}}<&-"),
            11 => format!("read -r -u 3 r 3<<<'{plain} b'; p0 \"$r\""),
            12 => format!("echo '{one} {plain}' > >(sh); sleep 0 2>/dev/null; wait"),
            13 => format!("echo '{one} {plain}' | tee >(bash) >/dev/null; wait"),
            14 => format!("source <(echo {one} {plain}); . <(echo {two})"),
            15 => format!("{{ read a0; read b0; }} <<< $'{plain}\\ny'; p0 \"$a0\" \"$b0\""),
            16 => format!("{one} {plain} |& cat; {{ echo {two} >&2; }} |& sh"),
            _ => format!("mapfile -t a < <(printf '%s\\n' {plain} 'b c'); p0 \"${{a[@]}}\""),
        }
    }

    fn plain(&mut self) -> &'static str {
        self.chance.pick(&["a", "bcd", "g/h", "l_m", "7"])
    }

    /// What is behind them does not run, or runs elsewhere.
    fn jump(&mut self) -> String {
        let (one, two, test) = (self.one_line(), self.one_line(), self.condition());
        self.fresh += 1;
        let name = format!("f{}", self.fresh);
        match self.chance.next(15) {
            0 => format!("{name}() {{ {one}; return; x=no; {two}; }}; {name}; p0 \"$x\""),
            1 => format!("{name}() {{ if {test}; then x=a; return 1; fi; x=b; }}; {name}; p0 \"$x\""),
            2 => format!("({one}; exit 3; x=no; {two}); p0 \"$x\""),
            3 => format!("{name}() {{ ({one}; exit; {two}); p0 \"$1\"; }}; {name} a b"),
            4 => format!("for v in a b c; do x=$v; {test} && break; p0 \"$x\"; done; p1 \"$x\""),
            5 => "for v in a b; do for u in c d; do [ $u = d ] && continue 2; p0 $v $u; done; p1 no; done".to_owned(),
            6 => format!("for v in a b; do if [ $v = a ]; then continue; fi; p0 $v; {one}; done"),
            7 => format!("while true; do {one}; break; p1 no; done; p0 \"$x\""),
            8 => format!("(exec {}; p1 no)", self.program()),
            9 => format!("({test} || exit; x=in; p0 \"$x\"); p0 \"$x\""),
            10 => format!("set -e; set +e; {test} || true; p0 \"$x\""),
            11 => "(trap 'p2 \"$x\"' EXIT; x=a; exit; x=b)".to_owned(),
            12 => format!("sh -c 'p3 \"$1\"; exit; p4' _ {}; p0 x", self.plain()),
            13 => format!("{name}() {{ [ $# -gt 0 ] || return 0; p0 \"$1\"; shift; {name} \"$@\"; }}; {name} a b c"),
            _ => "eval 'for v in a b; do p1 $v; break; done; p2 $v'".to_owned(),
        }
    }

    /// Aliases and functions under the names of programs.
    fn name(&mut self) -> String {
        let (one, plain) = (self.program(), self.plain());
        let enabled = if self.is_bash() { "shopt -s expand_aliases\n" } else { "" };
        self.fresh += 1;
        let name = format!("l{}", self.fresh);
        match self.chance.next(10) {
            0 => format!("{enabled}alias {name}='{one} {plain}'\n{name} x\nunalias {name}"),
            1 => format!("{enabled}alias p6='{one} {plain}'; p6 x\np6 y\nunalias p6"),
            2 => format!("{enabled}alias p6='{one} {plain}'\n\\p6 x; 'p6' y; command p6 z\nunalias p6"),
            3 => format!("alias p6='p5 {plain}'\np6 x\nunalias p6"),
            4 => format!("{enabled}alias {name}='{one} {plain};p4'\n{name} x | cat\nunalias {name}"),
            5 => format!("{enabled}alias p6='p6 {plain}'\nfw() {{ p6 z; }}\nunalias p6\nfw; unset -f fw"),
            6 => format!("p6() {{ command p6 in \"$@\"; }}; p6 {plain}; unset -f p6; p6 out"),
            7 => format!("p6() (p5 {plain}); p6 | cat; unset -f p6; p6 a"),
            8 => format!("{enabled}eval \"alias p6='{one} {plain}'\"\neval 'p6 x'\nunalias p6"),
            _ => {
                format!("{enabled}{} && alias p6='{one} {plain}'\np6 x\nunalias p6 2>/dev/null || true", self.program())
            }
        }
    }

    /// Patterns that are matched against a known text.
    fn pattern(&mut self) -> String {
        let name = self.variable();
        let plain = self.plain();
        let pattern = self.chance.pick(&["[a-c]*", "?", "*/*", "[!a]?", "a?c", "b*d", "[[:alpha:]]*", "\\*", "\"a\"*"]);
        match self.chance.next(if self.is_bash() { 14 } else { 5 }) {
            0 => format!("case {plain} in {pattern}) w=p1;; ?) w=p2;; *) w=p3;; esac; $w {plain}"),
            1 => format!("p0 \"${{{name}#{pattern}}}\" \"${{{name}##{pattern}}}\""),
            2 => format!("p0 \"${{{name}%{pattern}}}\" \"${{{name}%%{pattern}}}\""),
            3 => "w=abcabc; p0 \"${w#*b}\" \"${w##*b}\" \"${w%b*}\" \"${w%%b*}\" \"${w%[bc]}\"".to_owned(),
            4 => format!("case ${name} in a|b) p1;; \"$x\") p2 x;; *) p3 y;; esac"),
            5 => format!("p0 \"${{{name}/{pattern}/Q}}\""),
            6 => "w=aXbXc; p0 \"${w//[A-Z]/-}\" \"${w/#a/Z}\" \"${w/%c/Z}\" \"${w/X*}\" \"${w//X}\"".to_owned(),
            7 => format!("case {plain} in a) w=p1;& b) w=p2;; *) w=p3;; esac; $w {plain}"),
            8 => format!("case {plain} in a) p1 a;;& [a-b]) p2 b;;& ?) p3 c;; *) p4 d;; esac"),
            9 => format!("shopt -s extglob\ncase {plain} in @(a|bcd)) w=p1;; !(7)) w=p2;; *) w=p3;; esac; $w x"),
            10 => format!("shopt -s extglob\nw={plain}; p0 \"${{w/+([a-c])/Q}}\" \"${{w##*(a|b)}}\""),
            11 => format!("[[ {plain} == {pattern} ]] && w=p1 || w=p2; $w x"),
            12 => format!("if [[ {plain} =~ ^(a|b)[a-z]*$ ]]; then p1 a; else p2 b; fi"),
            _ => format!("p0 \"${{{name}^}}\" \"${{{name},}}\" \"${{{name}^^}}\" \"${{{name}@Q}}\""),
        }
    }

    /// Files that the script writes, and runs or reads.
    fn file(&mut self) -> String {
        let (one, two, plain) = (self.program(), self.program(), self.plain());
        match self.chance.next(10) {
            0 => format!("echo {one} {plain} > s.sh; sh s.sh"),
            1 => format!("printf '%s\\n' '{one} {plain}' '{two}' > s.sh; . ./s.sh"),
            2 => format!("cat <<E > s.sh\n{one} {plain} $x\nE\nsh < s.sh"),
            3 => format!("echo {one} a > s.sh; echo {two} {plain} >> s.sh; sh s.sh"),
            4 => format!("echo {plain} > s.txt; p0 \"$(cat s.txt)\" \"$(cat < s.txt)\""),
            5 => format!("echo {plain} > s.txt; read -r r < s.txt; p0 \"$r\""),
            6 => format!("{{ echo {one} a; echo {two} {plain}; }} > s.sh; sh ./s.sh"),
            7 => format!("echo {one} {plain} | tee s.sh >/dev/null; sh s.sh"),
            8 if self.is_bash() => format!("echo {plain} > s.txt; p0 \"$(<s.txt)\""),
            _ => format!("(mkdir -p d 2>/dev/null; echo {one} {plain} > s.sh; sh s.sh a)"),
        }
    }

    fn arithmetic(&mut self) -> String {
        let number = self.chance.next(9) + 1;
        let operator = self.chance.pick(&["+", "-", "*", "/", "%", "<<", "&", "|", "^", "<", "==", "!=", "&&", "||"]);
        match self.chance.next(if self.is_bash() { 13 } else { 5 }) {
            0 => format!("n0={number}; p0 $((n0 {operator} 3)) $((2*(n0+1)-1))"),
            1 => format!("n0={number}; p0 $(($n0 {operator} 2)) $((n0 > 4 ? 10 : 20)) $((0x1f + 010))"),
            2 => format!("n0={number}; p0 $((n0 += 2)) $n0; p1 $((-n0)) $((!n0)) $((~n0))"),
            3 => format!("w='n0+1'; n0={number}; p0 $((n0*2)) \"$((${{x:+1}}0+1))\""),
            4 => format!("p0 $((1 {operator} {number})) \"$(( (1,2) ))\"").replace("(1,2)", "(2)"),
            5 => format!("(( n0 = {number} )); (( n0++ )); p0 $n0 $((n0--)) $n0"),
            6 => format!("let n0={number} 'n0 += 1'; p0 $n0"),
            7 => format!("declare -i n1; n1={number}+2; p0 $n1"),
            8 => format!("for ((k=0; k<{number}; k+=2)); do p0 $k; done; p1 $k"),
            9 => format!("n0={number}; if (( n0 > 4 )); then w=p1; else w=p2; fi; $w $((2**3)) $((2#101))"),
            10 => "a=(x y z); n0=1; p0 \"${a[n0]}\" \"${a[$n0+1]}\" \"${a[-1]}\"".to_owned(),
            11 => format!(
                "w=abcdef; n0=2; p0 \"${{w:n0:2}}\" \"${{w:$n0}}\" \"${{w: -3:2}}\" \"${{w:1:-1}}\" \"${{#w}}\" $[n0+{number}]"
            ),
            _ => format!("[[ {number} -gt 4 ]] && w=p1 || w=p2; $w x"),
        }
    }

    fn loop_of_numbers(&mut self) -> String {
        let number = 1 + self.chance.next(4);
        let one = self.one_line();
        match self.chance.next(4) {
            0 => format!("k=0; while [ $k -lt {number} ]; do p0 $k; k=$((k+1)); done; p1 $k"),
            1 => format!("k={number}; until [ $k -eq 0 ]; do p0 $k; k=$((k-1)); {one}; done"),
            2 => "while [ $# -gt 0 ]; do p0 \"$1\"; shift; done; p1 $#".to_owned(),
            _ => "for v in 1 2 3; do [ $v = 2 ] && continue; p0 $v; done".to_owned(),
        }
    }

    /// What dash does not know.
    fn of_bash(&mut self) -> String {
        let (one, two, plain) = (self.program(), self.program(), self.plain());
        match self.chance.next(22) {
            0 => format!("declare -n r0=x; p0 \"$r0\"; r0={plain}; p0 \"$x\" \"${{!r0}}\"; unset -n r0"),
            1 => format!("f0() {{ local -n q0=$1; q0={plain}; }}; f0 y; p0 \"$y\""),
            2 => format!("printf -v 'a[1]' %s {plain}; p0 \"${{a[1]}}\""),
            3 => format!("i0='a[$({one} {plain})]'; (( i0 )) ; p0 x"),
            4 => format!("a[$({one} {plain} >&2; echo 1)]=z; p0 \"${{a[1]}}\""),
            5 => format!("test -v 'a[$({one} {plain})]'; [[ -v a[$({two})] ]]; unset 'a[$({one})]'; a=(b c)"),
            6 => format!("w='$({one} {plain})'; p0 \"${{w@P}}\""),
            7 => format!("coproc {one} {plain}; wait; coproc N0 {{ {two} b; }}; wait"),
            8 => format!("time -p {one} {plain}; time {{ {two}; }}; ! {one} if then else"),
            9 => format!("select v in {plain} b; do {one} \"$v\"; break; done <<< 1"),
            10 => "a1=u a2=v; p0 $a{1,2} \"$x\"{1,2} ${x}{1,2}; unset a1 a2".to_owned(),
            11 => format!("p0 {{1..12}} {{a..e..2}} {{{plain},b}}{{c,d}} pre{{,x}}"),
            12 => "f0() { p0 \"${@:2}\" \"${@:1:1}\" $# \"$*\"; }; f0 a 'b c' d; IFS=-; f0 e f; unset IFS".to_owned(),
            13 => format!("cat <<A - <<'B' | sh\n{one} $x\nA\n{two} {plain}\nB"),
            14 => format!("{one} \"$(cat <<'E'\n$x `no` \"\nE\n)\" {plain}"),
            15 => format!("w=`echo \\`echo {plain}\\``; p0 \"$w\" \"`echo \"a b\"`\""),
            16 => format!("p0 $'\\x61\\u0062\\143' $\"d\" ${{none:=$(echo {plain})}} $none; unset none"),
            17 => format!("{one} {plain}; eval \"{two} \\$x\"; eval eval \"{two} b\""),
            18 => format!("OPTIND=1; while getopts ab: o -a -b {plain}; do p0 \"$o\" \"$OPTARG\"; done"),
            19 => format!("pushd / >/dev/null; {one} {plain}; popd >/dev/null; cd .; {two}"),
            20 => format!("declare -A m0=([k]={plain}); p0 \"${{m0[k]}}\"; a=([2]=x y); p1 \"${{a[3]}}\"; a=(b c)"),
            _ => format!("{one}() {{ command {one} \"$FUNCNAME\"; }}; env {one} {plain}; unset -f {one}"),
        }
    }
}
