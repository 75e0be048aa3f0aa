// `@agentreflex/core/git`: what several reflexes ask about git's commands.
// The message that a `git commit` is given on its command line.
export function commitMessage(command) {
  if (command.name !== "git" || command.subcommands[0] !== "commit") return undefined;
  const words = command.argv.slice(command.argv.indexOf("commit") + 1);
  const parts = [];
  for (let at = 0; at < words.length && words[at] !== "--"; at++) {
    const word = words[at];
    const short = /^-[aeinopqsvz]*m/.exec(word);
    const long = /^--m(?:e(?:s(?:s(?:a(?:ge?)?)?)?)?)?(=|$)/.exec(word);
    if (long) parts.push(long[1] === "=" ? word.slice(long[0].length) : words[++at] ?? "");
    else if (short) parts.push(word.slice(short[0].length) || (words[++at] ?? ""));
  }
  return parts.length > 0 ? parts.join("\n\n").trimStart() : undefined;
}
