// A migration that others have run is history: it is followed by another one and not rewritten.
import { ask, defineReflex, deny, pass, pathMatchesGlob } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

const FOLDERS = [
  "**/migrations/**", "**/migrate/**", "**/alembic/versions/**", "**/db/changelog/**", "**/flyway/**", "**/supabase/migrations/**",
];
const CHANGES = ["overwrite", "append", "edit", "truncate", "delete", "move"];
/** What runs them, each by its words in a row. */
const RUNS = [
  "prisma migrate deploy", "prisma migrate reset", "prisma db push", "drizzle-kit push", "drizzle-kit migrate", "rails db:migrate",
  "rails db:rollback", "rails db:reset", "rake db:migrate", "alembic upgrade", "alembic downgrade", "flyway migrate", "flyway clean",
  "liquibase update", "knex migrate:latest", "knex migrate:rollback", "sequelize db:migrate", "typeorm migration:run", "supabase db push",
  "supabase db reset", "artisan migrate", "manage.py migrate", "goose up", "goose down", "diesel migration run", "sqlx migrate run",
  "atlas migrate apply", "dbmate up", "mix ecto.migrate", "mix ecto.rollback",
];

export default defineReflex({
  name: "migration-guard",
  onToolCall(ctx: ToolCallContext) {
    const { effects, commands, git, workspace } = ctx.reflex;
    const folders: string[] = ctx.options?.folders ?? FOLDERS;
    for (const effect of effects.filter((effect) => CHANGES.includes(effect.kind))) {
      for (const { path, exists } of effect.targets) {
        if (path === undefined || !pathMatchesGlob(path, folders, workspace)) continue;
        // What is not there yet is new, and so is what git has not seen.
        if (exists === false) continue;
        if (git === undefined) return ask(`${path} is a migration; whether others have run it is not known.`);
        const own = git.untracked.map((file) => `${git.root}/${file}`.replace(/\/$/, ""));
        if (own.some((file) => path === file || path.startsWith(`${file}/`))) continue;
        return deny(`${path} may have been run by others. Leave it as it is and write a new migration.`);
      }
    }
    const runs = ctx.options?.runs === false ? [] : RUNS;
    const lines = commands.map((command) => ` ${command.argv.join(" ")} `.replace(/[^ ]*\//g, ""));
    const run = runs.find((words) => lines.some((line) => line.includes(` ${words} `)));
    return run ? ask(`\`${run}\` changes a database's schema. Which database do the settings point at?`) : pass();
  },
});
