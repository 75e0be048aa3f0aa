// A change that nobody can review waits for a person.
import { ask, defineReflex, pass, pathMatchesGlob } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

const GENERATED = [
  "**/package-lock.json", "**/yarn.lock", "**/pnpm-lock.yaml", "**/Cargo.lock", "**/go.sum", "**/poetry.lock", "**/*.snap", "**/*.min.js",
  "**/dist/**", "**/generated/**",
];

export default defineReflex({
  name: "max-diff",
  onToolCall(ctx: ToolCallContext) {
    const { actions, history, workspace } = ctx.reflex;
    const { lines = 400, files = 20, session = 0, except = GENERATED } = ctx.options ?? {};
    const counts = (path: string | undefined) => !(except.length > 0 && pathMatchesGlob(path ?? "", except, workspace));
    const changed = actions.filter((action) => ["write", "edit", "delete"].includes(action.kind) && counts(action.path));
    if (changed.length === 0) return pass();
    const written = changed.reduce((sum, action) => sum + lineCount(action.text ?? ""), 0);
    if (lines > 0 && written > lines) return ask(`This writes ${written} lines at once; more than ${lines} are hard to review.`);
    if (files > 0 && changed.length > files) return ask(`This changes ${changed.length} files at once; at most ${files} are usual.`);
    const earlier = history.filter((call) => !call.refused).flatMap((call) => call.changes).filter(counts);
    const all = new Set([...earlier, ...changed.map((action) => action.path)]);
    if (session > 0 && all.size > session && !earlier.includes(changed[0].path ?? "")) {
      return ask(`This would be file ${all.size} that this session changes; ${session} are the limit. Commit or split the work.`);
    }
    return pass();
  },
});

function lineCount(text: string): number {
  return text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
}
