// `@agentreflex/core`: what modules are written against.
export const pass = () => ({ action: "pass" });
export const deny = (reason) => ({ action: "deny", reason });
export const ask = (reason) => ({ action: "ask", reason });
export const modify = (args, reason) =>
  reason === undefined ? { action: "modify", args } : { action: "modify", args, reason };
export const defineReflex = (reflex) => reflex;

const list = (value) => (Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]);
const literal = (text) => text.replace(/[.+^${}()|[\]\\*?]/g, "\\$&");
export const parseCommand = (command) => JSON.parse(__reflex.parse(String(command)));

// Whether a text is these parts with anything between them: as early as possible each, the last at the end.
const holds = (text, parts) => {
  const [first, last] = [parts[0], parts[parts.length - 1]];
  if (parts.length === 1) return text === first;
  const end = text.length - last.length;
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (let next = 1; next < parts.length - 1; next++) {
    const found = text.indexOf(parts[next], at);
    if (found < 0 || found + parts[next].length > end) return false;
    at = found + parts[next].length;
  }
  return true;
};

export const commandMatches = (command, globs) => {
  const texts = [String(command).trim(), ...parseCommand(command).map(({ argv }) => argv.join(" "))];
  const patterns = list(globs).map((glob) => String(glob).split("*"));
  return patterns.some((parts) => texts.some((text) => holds(text, parts)));
};

const slashes = (path) => String(path).replace(/\\/g, "/");
const bare = (path) => path.replace(/^(\.\/)+/, "");

export const pathGlobToRegExp = (glob) => {
  const parts = bare(slashes(glob)).split("/").filter((part, at) => part !== "" || at === 0);
  let source = "";
  parts.forEach((part, at) => {
    const last = at === parts.length - 1;
    if (part === "**") {
      source = !last ? `${source}(?:[^/]+/)*` : at === 0 ? ".*" : `${source.replace(/\/$/, "")}(?:/.*)?`;
      return;
    }
    const own = [...part].map((letter) => (letter === "*" ? "[^/]*" : letter === "?" ? "[^/]" : literal(letter)));
    source += own.join("") + (last ? "" : "/");
  });
  return new RegExp(`^${source}$`);
};

const settled = (path) => {
  const parts = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
};

export const pathMatchesGlob = (file, globs, cwd) => {
  const [path, folder] = [slashes(file), slashes(cwd ?? "")];
  const absolute = path.startsWith("/") || /^[A-Za-z]:\//.test(path);
  const whole = settled(absolute ? path : `${folder}/${path}`);
  const above = settled(folder);
  if (above !== "" && whole !== above && !whole.startsWith(`${above}/`)) return false;
  const below = above === "" ? whole : whole.slice(above.length + 1);
  return list(globs).some((glob) => pathGlobToRegExp(glob).test(below));
};

const DECISIONS = ["deny", "ask", "modify"];

export const runToolCall = async (reflexes, ctx) => {
  for (const reflex of reflexes) {
    try {
      const decision = await reflex.onToolCall?.(ctx);
      if (DECISIONS.includes(decision?.action)) return decision;
    } catch {
      // One that fails stops no other.
    }
  }
  return pass();
};

export const runToolResult = async (reflexes, ctx) => {
  for (const reflex of reflexes) {
    try {
      await reflex.onToolResult?.(ctx);
    } catch {
      // As above.
    }
  }
};
