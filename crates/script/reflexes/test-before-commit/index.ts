// Nothing is committed that was not tested after its last change.
import { ask, commandMatches, defineReflex, deny, pass } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

const TESTS = [
  "npm test*", "npm run test*", "npm t", "yarn test*", "yarn run test*", "pnpm test*", "pnpm run test*", "bun test*", "npx vitest*",
  "npx jest*", "vitest*", "jest*", "deno test*", "cargo test*", "cargo nextest*", "go test*", "pytest*", "python -m pytest*",
  "python3 -m pytest*", "uv run pytest*", "tox*", "make test*", "make check*", "just test*", "mvn *test*", "mvn *verify*", "gradle *test*",
  "./gradlew *test*", "bundle exec rspec*", "rspec*", "rails test*", "phpunit*", "vendor/bin/phpunit*", "composer test*", "dotnet test*",
  "mix test*", "swift test*", "ctest*", "flutter test*", "sbt test*", "bazel test*",
];

export default defineReflex({
  name: "test-before-commit",
  onToolCall(ctx: ToolCallContext) {
    const tests: string[] = ctx.options?.tests ?? TESTS;
    const isCommit = ({ name, subcommands, argv }: { name: string; subcommands: string[]; argv: string[] }) =>
      name === "git" && subcommands[0] === "commit" && !argv.includes("--dry-run");
    if (!ctx.reflex.commands.some(isCommit) || testedInLine(ctx.command ?? "", tests)) return pass();
    const history = ctx.reflex.history;
    const changed = history.map((call) => call.changes.length > 0 && !call.refused).lastIndexOf(true);
    if (changed < 0) return pass();
    const since = history.slice(changed + 1).filter((call) => commandMatches(call.text, tests) && !call.refused);
    const last = since[since.length - 1];
    if (last && last.failed !== true) return pass();
    const reason = last
      ? `The tests failed (${last.text}). Mend that before you commit.`
      : `${history[changed].changes[0]} changed, and no tests ran since. Run them before you commit.`;
    return ctx.options?.decision === "ask" ? ask(reason) : deny(reason);
  },
});

/** `npm test && git commit …`: the commit only happens if the tests pass. */
function testedInLine(line: string, tests: string[]): boolean {
  const parts = line.split("&&").map((part) => part.trim());
  const commit = parts.findIndex((part) => /\bgit\b.*\bcommit\b/.test(part));
  const before = parts.slice(0, Math.max(commit, 0));
  return before.some((part) => commandMatches(part, tests)) && before.every((part) => !/[;|&\n#]/.test(part));
}
