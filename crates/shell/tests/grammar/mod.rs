//! Shell scripts by chance: every construct that the reader follows, over programs that only note that they ran.

mod flows;

/// Which shell the script is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Bash,
    Posix,
}

/// What a script may call besides the stubs `p0` … `p9`.
pub(crate) const REAL_PROGRAMS: [&str; 13] =
    ["base64", "rev", "tr", "xxd", "cat", "env", "nice", "nohup", "timeout", "xargs", "sh", "bash", "tee"];

/// The lines of a script; each is a statement that can be left out.
pub(crate) fn script(dialect: Dialect, chance: Chance<'_>) -> Vec<String> {
    let mut writer = Writer { chance, dialect, depth: 0, fresh: 0 };
    let mut lines: Vec<String> = Vec::new();
    for name in VARIABLES {
        let value = writer.text();
        lines.push(format!("{name}={}", writer.quoted(&value)));
    }
    if writer.chance.next(4) > 0 {
        lines.push(format!("export {}", VARIABLES.join(" ")));
    }
    if dialect == Dialect::Bash {
        lines.push(format!("a=({} {} {})", writer.literal(), writer.literal(), writer.literal()));
    }
    lines.push(format!("set -- {} {}", writer.literal(), writer.literal()));
    let count = 1 + writer.chance.next(4);
    lines.extend((0..count).map(|_| writer.statement()));
    lines
}

/// The same choices on every machine: one for each byte as long as there are some, then from a number.
pub(crate) struct Chance<'b> {
    bytes: &'b [u8],
    number: u64,
}

impl<'b> Chance<'b> {
    pub(crate) fn seeded(seed: u64) -> Chance<'b> {
        let mut chance = Chance { bytes: &[], number: seed };
        // Seeds that are near each other shall not begin alike.
        (0..8).for_each(|_| chance.step());
        chance
    }

    pub(crate) fn of_bytes(bytes: &'b [u8]) -> Chance<'b> {
        Chance { bytes, ..Chance::seeded(0x9e37_79b9_7f4a_7c15) }
    }

    fn step(&mut self) {
        self.number ^= self.number << 13;
        self.number ^= self.number >> 7;
        self.number ^= self.number << 17;
    }

    pub(crate) fn next(&mut self, below: usize) -> usize {
        if let Some((first, rest)) = self.bytes.split_first() {
            self.bytes = rest;
            return usize::from(*first) % below.max(1);
        }
        self.step();
        ((self.number >> 20) % below.max(1) as u64) as usize
    }

    pub(crate) fn pick<'t>(&mut self, choices: &[&'t str]) -> &'t str {
        choices[self.next(choices.len())]
    }
}

const VARIABLES: [&str; 3] = ["x", "y", "z"];

/// No pattern characters: what they would match depends on the folder.
const TEXTS: [&str; 20] = [
    "a",
    "b c",
    "d-e",
    "it's",
    "f\"g",
    "h$x",
    "i;j",
    "k\\l",
    "ü",
    "-n",
    "--",
    "",
    "m=n",
    "~",
    "#o",
    "q{r}s",
    "t  u",
    " v ",
    "w/x.tar.gz",
    "!",
];

const PLAIN: [&str; 8] = ["a", "bcd", "e.f", "g/h", "-i", "--j=k", "l_m", "7"];

struct Writer<'b> {
    chance: Chance<'b>,
    dialect: Dialect,
    depth: usize,
    fresh: usize,
}

impl Writer<'_> {
    fn text(&mut self) -> String {
        if self.chance.next(2) == 0 { self.chance.pick(&PLAIN).to_owned() } else { self.chance.pick(&TEXTS).to_owned() }
    }

    /// A program that notes that it ran; few of them fail or print.
    fn program(&mut self) -> String {
        format!("p{}", if self.chance.next(4) == 0 { self.chance.next(10) } else { self.chance.next(7) })
    }

    fn literal(&mut self) -> String {
        let text = self.text();
        self.quoted(&text)
    }

    /// The text in one of the forms in which a shell reads it.
    fn quoted(&mut self, text: &str) -> String {
        let is_plain =
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./-".contains(&byte));
        match self.chance.next(6) {
            0 | 1 if is_plain => text.to_owned(),
            0 | 2 => double_quoted(text),
            3 if !text.is_empty() => text.chars().map(|ch| format!("\\{ch}")).collect(),
            4 if self.dialect == Dialect::Bash => self.ansi_c(text),
            5 if text.chars().count() > 1 => {
                let at = text.char_indices().nth(1).map_or(0, |(at, _)| at);
                let (front, back) = text.split_at(at);
                self.quoted(front) + &self.quoted(back)
            }
            _ => format!("'{}'", text.replace('\'', "'\\''")),
        }
    }

    fn ansi_c(&mut self, text: &str) -> String {
        let mut inside = String::new();
        for ch in text.chars() {
            match (self.chance.next(5), ch.is_ascii()) {
                (0, true) => inside += &format!("\\x{:02x}", ch as u32),
                (1, true) => inside += &format!("\\{:03o}", ch as u32),
                (2, _) => inside += &format!("\\u{:04x}", ch as u32),
                _ if ch == '\'' || ch == '\\' => inside.extend(['\\', ch]),
                _ => inside.push(ch),
            }
        }
        format!("$'{inside}'")
    }

    fn variable(&mut self) -> &'static str {
        self.chance.pick(&VARIABLES)
    }

    /// A word of a command, which may become none or many.
    fn word(&mut self) -> String {
        self.depth += 1;
        let deep = self.depth > 4;
        let choice = self.chance.next(if deep { 8 } else { 20 });
        let word = match choice {
            0..=6 => self.literal(),
            7..=12 => {
                let expansion = self.expansion();
                if self.chance.next(3) > 0 { format!("\"{expansion}\"") } else { expansion }
            }
            // The quotes keep `$a{1,2}` away, which is `$a1 $a2`.
            13 => format!("{}''{}", self.word(), self.word()),
            14 => self.braces(),
            15 => format!("pre\"{}\"'post'", self.expansion()),
            16..=18 => self.substitution(),
            _ => self.chance.pick(&["$((1+2))", "$#", "\"$#\"", "${#x}", "\"$*\"", "$*", "\"$@\"", "$@"]).to_owned(),
        };
        self.depth -= 1;
        word
    }

    fn words(&mut self) -> String {
        let count = self.chance.next(4);
        (0..count).map(|_| format!(" {}", self.word())).collect()
    }

    fn expansion(&mut self) -> String {
        let name = self.variable();
        let plain = self.chance.pick(&PLAIN);
        let common = 16;
        match self.chance.next(if self.dialect == Dialect::Bash { 32 } else { common }) {
            0..=3 => format!("${name}"),
            4 | 5 => format!("${{{name}}}"),
            6 => format!("${{{name}:-{plain}}}"),
            7 => format!("${{none:-{plain}}}"),
            8 => format!("${{none-{plain}}}"),
            9 => format!("${{{name}:+{plain}}}"),
            10 => format!("${{{name}#?}}").replace('?', self.chance.pick(&["a", "b", "*/", "-"])),
            11 => format!("${{{name}%?}}").replace('?', self.chance.pick(&["a", "c", ".*", "gz"])),
            12 => format!("${{{name}##*/}}"),
            13 => format!("${{{name}%%.*}}"),
            14 => self.chance.pick(&["$1", "${2}", "$@", "$*", "$3", "${1:-q}", "${3:-r}"]).to_owned(),
            15 => format!("${{n{}:={plain}}}", self.chance.next(2)),
            16 | 17 => format!("${{{name}:{}:{}}}", self.chance.next(3), self.chance.next(4)),
            18 => format!("${{{name}:1}}"),
            19 => format!("${{{name}/{}/Q}}", self.chance.pick(&["a", "b", "\\/", "."])),
            20 => format!("${{{name}//{}/Q}}", self.chance.pick(&["a", "b", "\\/", "-"])),
            21 => format!("${{{name}//{}}}", self.chance.pick(&["a", "b", "."])),
            22 => format!("${{{name}^^}}"),
            23 => format!("${{{name},,}}"),
            24 | 25 => "${a[@]}".to_owned(),
            26 => "${a[*]}".to_owned(),
            27 => format!("${{a[{}]}}", self.chance.next(4)),
            28 => "$a".to_owned(),
            29 => "${a[@]:1}".to_owned(),
            30 => format!("${{{name}: -2}}"),
            _ => "${@:2}".to_owned(),
        }
    }

    fn braces(&mut self) -> String {
        if self.dialect == Dialect::Posix {
            return self.literal();
        }
        let (front, back) = (self.chance.pick(&["", "f", "\"$x\""]), self.chance.pick(&["", "b", "'q r'", ".{c,d}"]));
        let inside = self.chance.pick(&[
            "a,b", "a,,b", "1..3", "3..1", "01..03", "1..7..3", "a..c", "c..a", "a,{b,c}", "a", "", "\"$y\",z", "-1..1",
        ]);
        format!("{front}{{{inside}}}{back}")
    }

    /// A substitution whose output is known, seldom one whose output is not.
    fn substitution(&mut self) -> String {
        let plain = self.chance.pick(&PLAIN);
        let word = self.literal_for_echo();
        let variable = self.variable();
        let body = match self.chance.next(9) {
            0 => format!("echo {plain}"),
            1 => format!("echo {word} {plain}"),
            2 => format!("printf %s {word}"),
            3 => format!("printf '%s\\n' {word} {plain}"),
            4 => format!("echo {plain} | cat"),
            5 => format!("printf '%s' \"${variable}\""),
            6 => format!("cat <<E\n{plain} ${variable}\nE\n"),
            7 => format!("echo {plain} | tr a-z b-za"),
            _ => format!("{}{}", self.program(), self.words()),
        };
        // How many words an unknown output becomes moves the parameters behind it.
        match if body.starts_with('p') && !body.starts_with("printf") { 3 } else { self.chance.next(4) } {
            0 if !body.contains(['`', '\\', '$']) => format!("`{body}`"),
            1 => format!("$({body})"),
            _ => format!("\"$({body})\""),
        }
    }

    /// What every shell's `echo` prints as it is.
    fn literal_for_echo(&mut self) -> String {
        loop {
            let text = self.text();
            if !text.starts_with('-') && !text.contains('\\') {
                return self.quoted(&text);
            }
        }
    }

    fn simple(&mut self) -> String {
        let (program, words) = (self.program(), self.words());
        match self.chance.next(24) {
            0 => format!("{program}{words} > out"),
            1 => format!("> out {program}{words} 2>&1"),
            2 => format!("{program} \\\n {words}"),
            3 => format!("{program}{words} # comment '"),
            4 => format!("! {program}{words}"),
            5 if self.dialect == Dialect::Bash => format!("time {program}{words}"),
            6 => format!("A={} {program}{words}", self.literal()),
            7 => format!("\"p\"{}{words}", program.trim_start_matches('p')),
            8 => format!("{program}{words} <<E\n{} $x\nE", self.program()),
            9 => format!("{program}{words} <<'E' && {}\n$x `p0` \"\nE", self.program()),
            10 => format!("{program}{words} <<-E\n\t\tbody\n\tE"),
            11 if self.dialect == Dialect::Bash => format!("{program}{words} <<< {}", self.word()),
            12 if self.dialect == Dialect::Bash => format!("{program}{words} <({})", self.program()),
            13 if self.dialect == Dialect::Bash => format!("{program}{words} &> out"),
            14 => format!("w={program}; $w{words}"),
            15 => format!("{program} $({}){words}", self.program()),
            _ => format!("{program}{words}"),
        }
    }

    /// A statement that stands on its own and can be followed by `;` or a newline.
    fn statement(&mut self) -> String {
        self.depth += 1;
        let statement = if self.depth > 3 { self.simple() } else { self.any_statement() };
        self.depth -= 1;
        statement
    }

    fn any_statement(&mut self) -> String {
        match self.chance.next(65) {
            50.. => self.flow(),
            0..=10 => self.simple(),
            11..=14 => self.list(),
            15..=21 => self.compound(),
            22..=27 => self.assignment(),
            28..=31 => self.function(),
            32..=38 => self.wrapper(),
            39..=43 => self.shell_text(),
            44..=46 => self.decoded(),
            _ => self.input(),
        }
    }

    fn list(&mut self) -> String {
        let (a, b, c) = (self.one_line(), self.one_line(), self.one_line());
        match self.chance.next(10) {
            0 => format!("{a} && {b} || {c}"),
            1 => format!("{a} || {b} && {c}"),
            2 => format!("{a}; {b}; {c}"),
            3 => format!("{a} | {b} | {c}"),
            4 => format!("{a} & {b}; wait"),
            5 => format!("{{ {a}; {b}; }} > out"),
            6 => format!("( {a}; {b} ) || {c}"),
            7 => format!("{a} &&\n{b}"),
            8 => format!("{a} |\n {b}"),
            _ => format!("({a};{b})"),
        }
    }

    /// A simple command without heredocs and comments, which something may follow.
    fn one_line(&mut self) -> String {
        loop {
            let simple = if self.chance.next(4) == 0 { self.assignment() } else { self.simple() };
            if !simple.contains('\n')
                && !simple.contains(" # ")
                && !simple.starts_with("! ")
                && !simple.starts_with("time ")
            {
                return simple;
            }
        }
    }

    fn block(&mut self) -> String {
        let count = 1 + self.chance.next(2);
        (0..count).map(|_| format!("{}\n", self.statement())).collect()
    }

    fn compound(&mut self) -> String {
        let (test, body, other) = (self.condition(), self.block(), self.block());
        let word = self.word();
        self.fresh += 1;
        let count = format!("i{}", self.fresh);
        match self.chance.next(if self.dialect == Dialect::Bash { 13 } else { 9 }) {
            0 => format!("if {test}; then\n{body}fi"),
            1 => format!("if {test}; then\n{body}else\n{other}fi"),
            2 => format!("if {test}; then\n{body}elif {}; then\n{other}else\n{}fi", self.condition(), self.block()),
            3 => format!("{count}=0; while [ ${count} -lt 2 ]; do\n{count}=$(({count}+1))\n{body}done"),
            4 => format!("{count}=0; until [ ${count} = 2 ]; do\n{count}=$(({count}+1))\n{body}done"),
            5 => format!("for v in{}; do p0 \"$v\"\n{body}done", self.words()),
            6 => format!("for v; do p1 \"$v\"\n{body}done"),
            7 => format!(
                "case {word} in a|b*) {};;\n({}) {body};;\n*) {};;\nesac",
                self.one_line(),
                self.chance.pick(&["c", "'b c'", "$x", "[d-f]*"]),
                self.one_line()
            ),
            8 => format!(
                "for v in{}; do\nif {test}; then {}; fi\n{body}done",
                self.words(),
                self.chance.pick(&["break", "continue"])
            ),
            9 => format!("for (({count}=0; {count}<2; {count}++)); do\n{body}done"),
            10 => format!("if [[ -n {word} && {} == a* ]]; then\n{body}fi", "$x"),
            11 => format!("if (( 1 + 1 == {} )); then\n{body}fi", 1 + self.chance.next(3)),
            _ => format!("[[ $x == {} ]] && {}", self.literal(), self.one_line()),
        }
    }

    fn condition(&mut self) -> String {
        match self.chance.next(6) {
            0 => "true".into(),
            1 => "false".into(),
            2 => "[ -n \"$x\" ]".into(),
            3 => format!("test \"$1\" = {}", self.literal()),
            4 => format!("! {}", self.program()),
            _ => format!("{}{}", self.program(), self.words()),
        }
    }

    fn assignment(&mut self) -> String {
        let (name, value) = (self.variable(), self.literal());
        let word = self.word();
        match self.chance.next(if self.dialect == Dialect::Bash { 20 } else { 11 }) {
            0..=2 => format!("{name}={value}"),
            3 => format!("{name}=${}{value}", self.variable()),
            4 => format!("x={value} y=$x"),
            5 => format!("export {name}={value}"),
            6 => format!("set -- {word} {value}"),
            7 => "shift".into(),
            8 => format!("unset {name}"),
            9 => format!("{name}=\"$(printf %s {value})\""),
            10 => format!("IFS={}; p2 $x $y; unset IFS", self.chance.pick(&["/", "-", ".", "a", "' /'", "''"])),
            11 => format!("{name}+={value}"),
            12 => format!("a=({value} {word})"),
            13 => format!("a+=({value})"),
            14 => format!("printf -v {name} %s {value}"),
            15 => format!("a[1]={value}"),
            16 => format!("declare {name}={value}"),
            17 => format!("n=x\np3 \"${{!n}}\"; x={value}; p3 \"${{!n}}\""),
            18 => format!("{name}={word}"),
            _ => format!("local_{name}={value}; p4 \"$local_{name}\""),
        }
    }

    fn function(&mut self) -> String {
        self.fresh += 1;
        let name = format!("f{}", self.fresh);
        let (body, words, other) = (self.block(), self.words(), self.words());
        let value = self.literal();
        match self.chance.next(9) {
            0 | 1 => format!("{name}() {{ {body}}}; {name}{words}"),
            2 => format!("{name}() {{ p5 \"$1\" \"$@\"; shift; p5 \"$@\"; }}; {name}{words}; {name}{other}"),
            3 if self.dialect == Dialect::Bash => format!("function {name} {{ {body}}}\n{name}{words}"),
            4 => format!("{name}() {{ local x={value}; p6 \"$x\"; }}; {name}; p6 \"$x\""),
            5 => format!("{name}() {{ x={value}; }}; {name}; p6 \"$x\""),
            6 => format!("{name}() (x={value}; {body}); {name}{words}; p6 \"$x\""),
            7 => format!("{name}() {{ p5 \"$x\" \"$1\"; }}; x={value} {name}{words}; p5 \"$x\""),
            _ => format!("{name}() {{ echo \"$1\"; }}; p1 \"$({name} {value})\""),
        }
    }

    fn wrapper(&mut self) -> String {
        let (program, words) = (self.program(), self.words());
        let front = self.chance.pick(&[
            "env",
            "env A=1",
            "nice",
            "nice -n 5",
            "nohup",
            "timeout 5",
            "command",
            "env -i PATH=\"$PATH\" ORACLE_LOG=\"$ORACLE_LOG\"",
            "timeout -k 1 5 env B=2 nice",
            "env -u x",
            "command -p env",
            "timeout --signal=KILL 5",
            "nice -5",
            "env --",
        ]);
        let plain = self.chance.pick(&PLAIN);
        match self.chance.next(16) {
            0..=6 => format!("{front} {program}{words}"),
            7 => format!("(exec {program}{words})"),
            8 => format!("echo a {plain} | xargs {program}{words}"),
            9 => format!("echo a {plain} b | xargs -n1 {program}{words}"),
            10 => format!("printf '%s\\n' a {plain} | xargs -I{{}} {program} x{{}}{words}"),
            11 => format!("printf 'a b\\0c' | xargs -0 {program}{words}"),
            12 => format!("printf '%s\\n' 'a b' c | xargs -I% {program} % y%"),
            13 => format!("{program}() {{ echo no; }}; command {program}{words}; unset -f {program}"),
            14 => format!("printf '%s\\n' 'a b' c d | xargs -L 2 {program}"),
            _ => format!("echo a b c | xargs -n 2 {program}{words}"),
        }
    }

    /// A text that a shell reads: by `eval`, `-c`, a pipe, a heredoc.
    fn shell_text(&mut self) -> String {
        let inner_dialect = std::mem::replace(&mut self.dialect, Dialect::Posix);
        let inner = self.statement();
        self.dialect = inner_dialect;
        let one_line = inner.replace('\n', " ");
        let is_one_line = !inner.contains('\n') && !inner.contains('#');
        let (word, value) = (self.word(), self.literal());
        let text = format!("'{}'", inner.replace('\'', "'\\''"));
        match self.chance.next(14) {
            0 | 1 => format!("eval {text}"),
            2 => format!("sh -c {text} zero {value} {word}"),
            3 => format!("sh -c {text}"),
            4 if self.dialect == Dialect::Bash => format!("bash -c {text} _ {value}"),
            5 if self.dialect == Dialect::Bash => format!("bash <<< {text}"),
            6 => format!("printf '%s\\n' {text} | sh"),
            7 if !inner.contains("E\n") => format!("sh <<'Q'\n{inner}\nQ"),
            8 if is_one_line && !one_line.contains('\\') => format!("echo {text} | sh -s {value}"),
            9 => format!("x={value} sh -c 'p2 \"$x\" \"$1\"' _ {word}"),
            10 => "export y; sh -c 'p2 \"$x\" \"$y\"'".into(),
            11 => format!("trap 'p3 \"$x\"' EXIT; x={value}"),
            12 => format!("env x={value} sh -c 'p2 \"$x\"; p2 $#'"),
            _ => "eval \"p4 \\\"\\$x\\\" '$1'\"".into(),
        }
    }

    fn decoded(&mut self) -> String {
        let plain = self.chance.pick(&PLAIN);
        let text = format!("{} {} {plain}", self.program(), self.chance.pick(&["'a b'", "c", "\"d\""]));
        match self.chance.next(5) {
            0 => format!("echo {} | base64 -d | sh", base64(text.as_bytes())),
            1 => format!("echo \"{}\" | rev | sh", text.replace('"', "'").chars().rev().collect::<String>()),
            2 => {
                format!("echo {} | xxd -r -p | sh", text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>())
            }
            3 => format!("echo \"{}\" | tr A-Z a-z | sh", text.replace('"', "'").to_uppercase()),
            _ => format!("echo \"{}\" | tr _ ' ' | sh", text.replace('"', "'").replace(' ', "_")),
        }
    }

    /// Variables that are read from a known text.
    fn input(&mut self) -> String {
        let plain = self.chance.pick(&PLAIN);
        let bash = self.dialect == Dialect::Bash;
        match self.chance.next(9) {
            0 if bash => format!("read -r r s <<< '{plain} b c'; p0 \"$r\" \"$s\""),
            1 if bash => format!("IFS=/ read -r r s <<< 'a/{plain}'; p0 \"$r\" \"$s\""),
            2 if bash => format!("read -ra a <<< 'a {plain} c'; p0 \"${{a[@]}}\""),
            3 if bash => format!("mapfile -t a <<< $'a\\n{plain}'; p0 \"${{a[@]}}\""),
            4 => format!("read -r r <<E\n{plain} $x\nE\np0 \"$r\""),
            5 => format!("echo {plain} b | while read -r r s; do p0 \"$r\" $s; done"),
            6 => format!("printf '%s\\n' a {plain} | while read -r r; do p0 \"$r\"; done"),
            7 => format!("while read -r r; do p0 \"$r\"; done <<E\na\n{plain} c\nE"),
            _ => format!("echo {plain} | {{ read -r r; p0 \"$r\"; }}"),
        }
    }
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for ch in text.chars() {
        if "\"\\$`".contains(ch) {
            quoted.push('\\');
        }
        quoted.push(ch);
    }
    quoted + "\""
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::new();
    for chunk in bytes.chunks(3) {
        let number = chunk.iter().chain(&[0, 0]).take(3).fold(0usize, |number, byte| number << 8 | usize::from(*byte));
        for place in 0..4 {
            let digit = char::from(DIGITS[number >> (18 - 6 * place) & 63]);
            encoded.push(if place > chunk.len() { '=' } else { digit });
        }
    }
    encoded
}
