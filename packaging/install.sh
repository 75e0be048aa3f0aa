#!/bin/sh
# Installs reflex @VERSION@ for this user, without root, and prints what it writes.
#
#     curl -fsSL https://github.com/reflex-guard/reflex/releases/download/v@VERSION@/install.sh | sh
#     curl -fsSL … | sh -s -- --uninstall
#
# Environment:
#   REFLEX_INSTALL   folder for the links `reflex` and `rfx` (default: ~/.local/bin)
#   REFLEX_DOWNLOAD  folder or address with the archives and SHA256SUMS (default: the release page)
#   REFLEX_KEY       minisign public key of SHA256SUMS.minisig (default: that of the release)
#
# The programs are in ~/.local/share/reflex-guard, which no installer of another package writes: `pip install --user reflex`
# puts the command of a web framework into ~/.local/bin. Agents start the program there.
#
# The checksum is always verified. The signature of the checksums is verified if `minisign` is installed and a key is known.
set -eu

version="@VERSION@"
key=${REFLEX_KEY:-@KEY@}

say() { printf '%s\n' "$*"; }
fail() {
    printf 'reflex install: %s\n' "$*" >&2
    exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }

target() {
    case "$(uname -s)/$(uname -m)" in
        Linux/x86_64 | Linux/amd64) say x86_64-unknown-linux-musl ;;
        Linux/aarch64 | Linux/arm64) say aarch64-unknown-linux-musl ;;
        Darwin/x86_64) say x86_64-apple-darwin ;;
        Darwin/arm64) say aarch64-apple-darwin ;;
        *) fail "there is no archive for $(uname -s) on $(uname -m); build from source with cargo" ;;
    esac
}

# fetch NAME FILE
fetch() {
    case "$source" in
        /*) cp "$source/$1" "$2" ;;
        *)
            if has curl; then
                curl --proto '=https' --tlsv1.2 -fsSL -o "$2" "$source/$1"
            elif has wget; then
                wget -q --https-only -O "$2" "$source/$1"
            else
                fail "this needs curl or wget"
            fi
            ;;
    esac
}

digest() {
    if has sha256sum; then
        sha256sum "$1" | cut -d ' ' -f 1
    elif has shasum; then
        shasum -a 256 "$1" | cut -d ' ' -f 1
    elif has openssl; then
        openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
    else
        fail "this needs sha256sum, shasum or openssl: nothing is installed unverified"
    fi
}

# Verifies the archive $1 in the folder $2.
verify() {
    wanted=$(sed -n "s/^\([0-9a-f]\{64\}\)  $1\$/\1/p" "$2/SHA256SUMS")
    [ -n "$wanted" ] || fail "SHA256SUMS does not list $1"
    found=$(digest "$2/$1")
    [ "$wanted" = "$found" ] || fail "the checksum of $1 is $found, and SHA256SUMS says $wanted: nothing was installed"
    say "checksum verified: $found"
    if [ -z "$key" ]; then
        say "signature not verified: this build names no release key"
    elif ! has minisign; then
        say "signature not verified: minisign is not installed; \`reflex verify --file\` verifies it afterwards"
    else
        fetch SHA256SUMS.minisig "$2/SHA256SUMS.minisig" || fail "SHA256SUMS.minisig is missing: nothing was installed"
        minisign -Vq -P "$key" -m "$2/SHA256SUMS" || fail "the signature is wrong: nothing was installed"
        say "signature verified"
    fi
}

# put MODE FILE PLACE: copies beside the place and renames, so that a running program is never half written.
put() {
    mkdir -p "$(dirname "$3")"
    rm -f "$3.new"
    cp "$2" "$3.new"
    chmod "$1" "$3.new"
    mv -f "$3.new" "$3"
    say "$3" >>"$receipt.new"
}

# leads LINK: whether a link leads to our program of that name.
leads() { [ "$(readlink "$1" 2>/dev/null)" = "$own/${1##*/}" ]; }

# link NAME: a file of an older installation is replaced, another program keeps its name. Each of our programs has one of
# these texts.
link() {
    texts='reflex-guard: the guard between coding agents\|rfx: reflex cannot be started'
    if [ -f "$bin/$1" ] && ! [ -L "$bin/$1" ] && grep -q "$texts" "$bin/$1"; then
        rm -f "$bin/$1"
    fi
    if ! [ -e "$bin/$1" ] && ! [ -L "$bin/$1" ]; then
        mkdir -p "$bin"
        ln -s "$own/$1" "$bin/$1"
    fi
    if leads "$bin/$1"; then
        say "$bin/$1" >>"$receipt.new"
    else
        say "$bin/$1 stays as it is, because it is another program; $own/$1 starts the guard"
    fi
}

# The files of a list: programs by name, manual pages and completions by number.
summary() {
    awk -v share="$share/" '
        index($0, share) != 1 || index($0, "/reflex-guard/") { print "  " $0; next }
        { file = $0; sub(/[^\/]*$/, ""); if (!count[$0]++) { order[++folders] = $0; first[$0] = file } }
        END {
            for (i = 1; i <= folders; i++) {
                many = count[order[i]]
                print "  " (many == 1 ? first[order[i]] : order[i] "  (" many " files)")
            }
        }'
}

install_all() {
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    trap 'exit 130' INT TERM HUP
    name="reflex-$version-$(target)"
    fetch SHA256SUMS "$folder/SHA256SUMS" || fail "cannot fetch $source/SHA256SUMS"
    fetch "$name.tar.gz" "$folder/$name.tar.gz" || fail "cannot fetch $source/$name.tar.gz"
    verify "$name.tar.gz" "$folder"
    tar -xzf "$folder/$name.tar.gz" -C "$folder"
    "$folder/$name/reflex" --version >/dev/null || fail "$name does not run on this machine: nothing was installed"
    mkdir -p "$(dirname "$receipt")"
    : >"$receipt.new"
    say "installed:"
    # Not writable, so that a `cp` through a link does not change them.
    put 555 "$folder/$name/reflex" "$own/reflex"
    put 555 "$folder/$name/rfx" "$own/rfx"
    link reflex
    link rfx
    for page in "$folder/$name"/man/man1/*; do
        put 644 "$page" "$share/man/man1/$(basename "$page")"
    done
    put 644 "$folder/$name/completions/reflex.bash" "$share/bash-completion/completions/reflex"
    put 644 "$folder/$name/completions/_reflex" "$share/zsh/site-functions/_reflex"
    put 644 "$folder/$name/completions/reflex.fish" "$share/fish/vendor_completions.d/reflex.fish"
    mv -f "$receipt.new" "$receipt"
    summary <"$receipt"
    say "the list of these files is $receipt"
    case ":$PATH:" in
        *":$bin:"*) if leads "$bin/reflex"; then say "next: reflex init"; else say "next: $own/reflex init"; fi ;;
        *) say "next: $own/reflex init   ($bin is not on your PATH)" ;;
    esac
}

uninstall() {
    [ -f "$receipt" ] || fail "$receipt does not exist: nothing was installed by this script"
    if [ -x "$own/reflex" ] && "$own/reflex" uninstall --dry-run 2>/dev/null | grep -qv 'has no Reflex hook'; then
        say "agents may still name this program: run \`$own/reflex uninstall\` first if you have not"
    fi
    while IFS= read -r file; do
        # Another program may have taken the name since.
        case "$file" in
            "$own"/* | "$share"/*) ;;
            *) leads "$file" || continue ;;
        esac
        rm -f "$file"
    done <"$receipt"
    say "removed:"
    summary <"$receipt"
    rm -f "$receipt"
    rmdir "$(dirname "$receipt")" 2>/dev/null || true
    say "settings, log and kept copies stay: ~/.config/reflex, ~/.local/state/reflex, ~/.cache/reflex"
}

main() {
    [ -n "${HOME:-}" ] || fail "HOME is not set"
    bin=${REFLEX_INSTALL:-$HOME/.local/bin}
    share=${XDG_DATA_HOME:-$HOME/.local/share}
    # Not below XDG_DATA_HOME, which a project can set: the guard looks here.
    own=$HOME/.local/share/reflex-guard
    receipt=$own/installed
    source=${REFLEX_DOWNLOAD:-https://github.com/reflex-guard/reflex/releases/download/v$version}
    case "${1:-}" in
        "") install_all ;;
        --uninstall) uninstall ;;
        *) fail "unknown option $1; the only one is --uninstall" ;;
    esac
}

# The last line, so that a download that breaks off runs nothing.
main "$@"
