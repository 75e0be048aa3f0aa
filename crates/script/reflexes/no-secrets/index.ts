// Files that hold keys or passwords are neither read nor written nor sent by an agent.
import { defineReflex, deny, pass, pathMatchesGlob } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

const NAMES = [
  /^\.env(\..+)?$/, /\.(pem|p12|pfx|key|jks|keystore|kdbx)$/i, /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/,
  /^\.(npmrc|netrc|pgpass|pypirc|git-credentials|htpasswd)$/, /^secrets?\.(json|ya?ml|toml|env)$/i,
];
const PLACES = [/\/\.aws\/credentials$/, /\/\.ssh\/id_[^/]*$/, /\/\.docker\/config\.json$/, /\/\.kube\/config$/];
/** What is meant to be read by everybody. */
const HARMLESS = /\.(example|sample|template|dist|defaults?|pub)$/i;
const USES = ["read", "send-file", "overwrite", "append", "edit", "truncate", "move", "run-file", "touch"];

export default defineReflex({
  name: "no-secrets",
  onToolCall(ctx: ToolCallContext) {
    const allowed: string[] = ctx.options?.allow ?? [];
    const more: string[] = ctx.options?.also ?? [];
    const touched = ctx.reflex.effects.filter((effect) => USES.includes(effect.kind));
    const paths = touched.flatMap((effect) => effect.targets.map((target) => target.path ?? target.text));
    for (const path of [...ctx.paths, ...paths]) {
      const fits = (patterns: string[]) => patterns.length > 0 && pathMatchesGlob(path, patterns, ctx.reflex.workspace);
      if ((isSecret(path) || fits(more)) && !fits(allowed)) {
        return deny(`${path} holds keys or passwords. Ask the person for what you need, or read an .example of it.`);
      }
    }
    return pass();
  },
});

function isSecret(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (HARMLESS.test(name)) return false;
  return NAMES.some((pattern) => pattern.test(name)) || PLACES.some((pattern) => pattern.test(path));
}
