// `@agentreflex/core` with the functions about packs, for modules that name one of them: they are hardly ever wanted, and
// every module pays for what stands in the other.
export * from "@agentreflex/core";

// Packs: what a `pack.json` says. Their reflexes run here; the rest is for the agents themselves.
const MOMENTS = ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"];
const REFERENCE = /\$\{(secrets|options)\.([\w-]+)\}/g;

export const parsePackManifest = (text) => {
  let pack;
  try {
    pack = JSON.parse(text);
  } catch {
    throw new Error("pack.json is not valid JSON");
  }
  const wrong = (problem) => {
    throw new Error(`pack.json: ${problem}`);
  };
  if (pack === null || typeof pack !== "object" || Array.isArray(pack)) wrong("it is no object");
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(pack.name ?? "")) wrong("`name` must be kebab-case");
  const inside = (path) => {
    const parts = typeof path === "string" ? path.split(/[\\/]/) : [".."];
    if (parts[0] === "" || parts.includes("..")) wrong(`\`${path}\` must be a path inside the pack`);
  };
  for (const { source } of [...(pack.skills ?? []), ...(pack.reflexes ?? [])]) inside(source);
  for (const { event, run } of pack.hooks ?? []) {
    if (!MOMENTS.includes(event)) wrong(`hook event \`${event}\` is none of ${MOMENTS.join(" | ")}`);
    inside(run);
  }
  for (const [name, { type }] of Object.entries(pack.mcp ?? {})) {
    if (type !== "http") wrong(`MCP server \`${name}\`: only type "http" is supported`);
  }
  return pack;
};

export const interpolate = (template, values) =>
  template.replace(REFERENCE, (_whole, kind, name) => {
    const value = values[kind]?.[name];
    if (value === undefined) throw new Error(`\${${kind}.${name}}: no value was provided`);
    return value;
  });

export const referencedSecrets = (pack) => {
  const servers = Object.values(pack.mcp ?? {});
  const texts = servers.flatMap(({ url, headers }) => [url, ...Object.values(headers ?? {})]);
  const found = texts.flatMap((text) => [...text.matchAll(REFERENCE)]).filter(([, kind]) => kind === "secrets");
  return [...new Set(found.map(([, , name]) => name))];
};
