/** What several reflexes ask about git's commands. */
import type { CommandView } from "./index.js";

/** The message that a `git commit` is given on its command line; a part that is not known is `…`. */
export declare function commitMessage(command: Pick<CommandView, "name" | "subcommands" | "argv">): string | undefined;
