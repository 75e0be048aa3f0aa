"""Where a secret stands in what the guard keeps and shows, however it is written there."""

import base64
import html
import json
import os
import re
import urllib.parse

from payloads import HOME

PLACES = [f"{HOME}/.local/state/reflex", f"{HOME}/.config/reflex", f"{HOME}/.cache/reflex"]
VIEWS = [
    ("pending", "--json"), ("pending",), ("audit", "export", "--format", "csv"), ("audit", "export", "--format", "ocsf"),
    ("audit", "export", "--format", "otlp"), ("audit", "export"), ("audit", "search", "", "-n", "1000"),
    ("audit", "search", "", "--json", "-n", "1000"), ("audit", "tail"), ("grants", "--json"), ("grants",), ("status", "--json"), ("status",),
    ("report", "--json"), ("report",), ("report", "--html"), ("task", "show"),
]
OF_ONE = [("why",), ("why", "--json"), ("report-fp",)]


def forms(secret):
    """Every form in which the secret would be readable, by name."""
    raw = secret.encode("utf-8", "surrogatepass")
    found = {"literal": {raw}}
    once = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    twice = {json.dumps(text, ensure_ascii=False)[1:-1] for text in once}
    found["json"] = {text.encode("utf-8", "surrogatepass") for text in once | twice}
    quoted = {urllib.parse.quote(raw, safe=safe) for safe in ("", "/", "/:@")} | {urllib.parse.quote_plus(raw)}
    quoted |= {"".join(f"%{byte:02X}" for byte in raw)}
    found["percent"] = {text.encode() for text in quoted | {text.lower() for text in quoted if "%" in text}}
    found["html"] = {html.escape(secret).encode("utf-8", "surrogatepass")}
    found["csv"] = {raw.replace(b'"', b'""')}
    found["hex"] = {raw.hex().encode(), raw.hex().upper().encode()}
    encoded = set()
    for before in range(3):
        size = before + len(raw)
        text = base64.b64encode(b"\0" * before + raw).rstrip(b"=")
        # Letters that other bytes have a part in are left out.
        text = text[(0, 2, 3)[before]:len(text) - (1 if size % 3 else 0)]
        encoded |= {text, text.translate(bytes.maketrans(b"+/", b"-_"))}
    found["base64"] = {text for text in encoded if len(text) >= 8}
    return found


def folded(text):
    """The bytes without what a shell or an address takes away: quotes, backslashes, escapes, letters of no width."""
    text = urllib.parse.unquote_to_bytes(text)
    text = re.sub(rb"\\+x([0-9a-fA-F]{2})", lambda found: bytes([int(found.group(1), 16)]), text)
    return re.sub(rb"[\"'\\]|\xe2\x80[\x8b-\x8f]|\xef\xbb\xbf|\xe2\x81\xa0", b"", text)


def kept():
    """Every file of the guard: where it is, and its bytes with its own path."""
    for place in PLACES:
        for folder, _, names in os.walk(place):
            for name in names:
                path = os.path.join(folder, name)
                short = os.path.relpath(path, HOME)
                try:
                    with open(path, "rb") as file:
                        text = file.read()
                except OSError:
                    text = b""
                yield channel_of(short), short.encode("utf-8", "surrogateescape") + b"\n" + text


def channel_of(path):
    """The folder of the guard's files that a path lies in."""
    parts = path.split("/reflex/", 1)
    return parts[0].rsplit("/", 1)[-1].strip(".") + ":" + (parts[1].split("/")[0] if len(parts) > 1 else parts[0])


def shown(machine):
    """Every view, and what it prints."""
    for words in VIEWS:
        yield "view:" + " ".join(words), machine.ask_reflex(*words).encode("utf-8", "surrogatepass")
    for call_id in machine.pending():
        for words in OF_ONE:
            text = machine.ask_reflex(*words, str(call_id))
            yield "view:" + " ".join(words), text.encode("utf-8", "surrogatepass")


def search(machine, secrets):
    """Where each secret stands: its number, the place and the form; and which places hold a half of one, or it split."""
    wanted = [forms(secret) for secret in secrets]
    halves = [[secret[:half].encode("utf-8", "surrogatepass"), secret[-half:].encode("utf-8", "surrogatepass")]
              for secret in secrets for half in [max(12, len(secret) // 2)]]
    split = [folded(secret.encode("utf-8", "surrogatepass")) for secret in secrets]
    found, partly = {}, set()
    for place, text in [*kept(), *shown(machine)]:
        plain = folded(text)
        for number, kinds in enumerate(wanted):
            form = next((name for name, texts in kinds.items() if any(item in text for item in texts)), None)
            if form:
                found.setdefault((number, place), form)
            elif split[number] and split[number] in plain or len(secrets[number]) > 12 and any(half in text for half in halves[number]):
                partly.add((number, place))
    rows = [{"secret": number, "place": place, "form": form} for (number, place), form in sorted(found.items())]
    return rows, [{"secret": number, "place": place} for number, place in sorted(partly)]
