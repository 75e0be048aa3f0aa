// A package whose name is nearly that of a well-known one, or that appeared only yesterday, waits for a person.
import { ask, defineReflex, deny, pass } from "@agentreflex/core";
import type { ToolCallContext } from "@agentreflex/core";

type Registry = "npm" | "pypi" | "crates";

/** Programs that install: the words after which names stand. */
const INSTALLERS: Record<string, [Registry, string[]]> = {
  npm: ["npm", ["install", "i", "add", "exec", "x"]],
  pnpm: ["npm", ["install", "i", "add", "dlx", "exec"]],
  yarn: ["npm", ["add", "dlx"]],
  bun: ["npm", ["add", "install", "i", "x"]],
  npx: ["npm", []],
  bunx: ["npm", []],
  pip: ["pypi", ["install"]],
  pip3: ["pypi", ["install"]],
  pipx: ["pypi", ["install", "run"]],
  uv: ["pypi", ["add", "install"]],
  uvx: ["pypi", []],
  poetry: ["pypi", ["add"]],
  cargo: ["crates", ["add", "install"]],
};

/** Options whose next word is a value. */
const VALUED = /^(-r|-c|-e|-t|-i|-p|--requirement|--constraint|--editable|--target|--index-url|--extra-index-url|--find-links|--registry|--prefix|--features|--vers|--version|--path|--git|--branch|--tag|--rev|--python|--group|--filter|--package|--from|--with)$/;

/** Names that many know: what somebody who imitates would choose. */
const POPULAR: Record<Registry, string> = {
  npm: `react react-dom preact vue svelte angular next nuxt vite webpack rollup esbuild parcel typescript eslint prettier babel jest
    vitest mocha chai sinon cypress playwright puppeteer jsdom express koa fastify hapi nestjs axios node-fetch got superagent request
    undici lodash underscore ramda rxjs moment dayjs date-fns luxon uuid nanoid chalk colors kleur picocolors commander yargs minimist
    inquirer prompts ora debug winston pino morgan dotenv cross-env rimraf mkdirp glob globby fs-extra chokidar nodemon concurrently
    husky lint-staged semver async bluebird classnames clsx tailwindcss postcss autoprefixer sass less styled-components zod yup joi ajv
    redux zustand mobx immer graphql apollo-client mongoose mongodb mysql mysql2 sequelize prisma typeorm knex redis ioredis socket.io
    jsonwebtoken bcrypt bcryptjs passport cors helmet body-parser cookie-parser multer sharp jimp cheerio marked showdown ejs pug
    handlebars mustache electron three d3 chart.js jquery bootstrap core-js tslib ts-node tsx tsup turbo lerna nx storybook discord.js
    telegraf openai langchain web3 ethers bignumber.js event-stream left-pad is-odd ms ws`,
  pypi: `requests urllib3 httpx aiohttp numpy scipy pandas polars matplotlib seaborn plotly scikit-learn tensorflow torch torchvision keras
    transformers datasets tokenizers openai anthropic langchain django flask fastapi starlette uvicorn gunicorn tornado sanic jinja2
    markupsafe werkzeug click typer rich colorama tqdm pyyaml toml tomli python-dateutil pytz attrs pydantic marshmallow sqlalchemy
    alembic psycopg2 psycopg2-binary pymysql pymongo redis celery boto3 botocore awscli google-cloud-storage azure-storage-blob
    cryptography pycryptodome pyjwt paramiko fabric ansible pytest tox nox coverage mock hypothesis black ruff flake8 pylint mypy isort
    setuptools wheel pip virtualenv pipenv poetry twine build beautifulsoup4 lxml scrapy selenium playwright pillow opencv-python
    imageio jupyter notebook ipython ipykernel sphinx mkdocs docutils pygments six certifi idna chardet packaging protobuf grpcio
    streamlit gradio dash bokeh networkx sympy numba cython nltk spacy gensim discord.py python-telegram-bot pyautogui pygame kivy`,
  crates: `serde serde_json serde_yaml serde_derive tokio async-std futures hyper reqwest axum actix-web rocket warp tonic prost clap
    structopt anyhow thiserror log env_logger tracing tracing-subscriber rand regex chrono time uuid bytes itertools rayon crossbeam
    parking_lot once_cell lazy_static dashmap indexmap hashbrown smallvec arrayvec bitflags libc nix winapi syn quote proc-macro2
    diesel sqlx rusqlite sea-orm redis mongodb tempfile walkdir glob toml base64 hex sha2 md5 ring rustls openssl native-tls url http
    image criterion proptest quickcheck mockall insta bevy wgpu egui tauri wasm-bindgen web-sys js-sys num-traits ndarray nalgebra
    crossterm ratatui indicatif console dialoguer git2 flate2 zip tar memchr aho-corasick nom pest petgraph mio socket2`,
};

export default defineReflex({
  name: "package-age",
  onToolCall(ctx: ToolCallContext) {
    const known: string[] = ctx.options?.known ?? [];
    const published: Record<string, string> = ctx.options?.published ?? {};
    const { days = 14, unknown = "pass", decision = "ask" } = ctx.options ?? {};
    const say = (reason: string) => (decision === "deny" ? deny(reason) : ask(reason));
    for (const [registry, name] of ctx.reflex.commands.flatMap(installed)) {
      const id = `${registry}:${name}`;
      if (known.includes(name) || known.includes(id)) continue;
      const popular = POPULAR[registry].split(/\s+/);
      const near = popular.includes(name) ? undefined : popular.find((other) => isNear(name, other));
      if (near) return say(`${id} looks like ${near}, but is another package. Which one is meant?`);
      const date = published[id] ?? published[name];
      if (date === undefined) {
        if (unknown === "ask" && !popular.includes(name)) return say(`Since when there is ${id} is not known.`);
        continue;
      }
      const age = Math.floor((Date.parse(ctx.reflex.time) - Date.parse(date)) / 86_400_000);
      if (!(age >= days)) return say(`${id} was published ${age === 1 ? "1 day" : `${age} days`} ago; ${days} days are wanted, so that others find what is wrong.`);
    }
    return pass();
  },
});

/** The packages that a command names. */
function installed({ name, argv }: { name: string; argv: string[] }): [Registry, string][] {
  const python = /^python[0-9.]*$/.test(name) && argv[1] === "-m" && /^pip3?$/.test(argv[2] ?? "");
  const [program, words] = python ? ["pip", argv.slice(3)] : [name, argv.slice(1)];
  const installer = INSTALLERS[program];
  if (!installer) return [];
  const [registry, verbs] = installer;
  const first = verbs.length === 0 ? -1 : words.findIndex((word) => verbs.includes(word));
  // `uv pip install` has a word before the verb; any other word in front means something else.
  const before = words.slice(0, Math.max(first, 0)).filter((word) => !word.startsWith("-"));
  if ((verbs.length > 0 && first < 0) || before.some((word) => word !== "pip" && !word.startsWith("+"))) return [];
  const runs = verbs.length === 0 || /^(exec|x|dlx|run)$/.test(words[first] ?? "");
  const names: [Registry, string][] = [];
  for (let at = first + 1; at < words.length; at++) {
    const word = words[at];
    if (word.startsWith("-")) {
      if (VALUED.test(word)) at++;
      continue;
    }
    const bare = bareName(registry, word);
    if (bare) names.push([registry, bare]);
    // What stands behind a program that is run are its own words.
    if (runs) break;
  }
  return names;
}

/** The name without version and extras; nothing for a path or an address. */
function bareName(registry: Registry, word: string): string | undefined {
  if (/^[./~]|:\/\/|^git\+|^file:|^[a-z]+:|\.(whl|tgz|gz|zip)$|…/.test(word)) return undefined;
  const name =
    registry === "npm"
      ? /^(@[^/@\s]+\/)?[^/@\s]+/.exec(word)?.[0]
      : /^[A-Za-z0-9][A-Za-z0-9._-]*/.exec(word)?.[0];
  // PyPI holds these for one name.
  return registry === "pypi" ? name?.toLowerCase().replace(/[._]+/g, "-") : name;
}

/** Whether two names differ in one letter: another, one more, one less, or two swapped; or only in their dashes. */
function isNear(name: string, other: string): boolean {
  if (name === other || other.length < 4 || Math.abs(name.length - other.length) > 1) {
    return name !== other && other.length > 3 && name.replace(/[-_.]/g, "") === other.replace(/[-_.]/g, "");
  }
  let from = 0;
  while (from < name.length && name[from] === other[from]) from++;
  const [rest, wanted] = [name.slice(from), other.slice(from)];
  const swapped = rest.length > 1 && rest[0] === wanted[1] && rest[1] === wanted[0] && rest.slice(2) === wanted.slice(2);
  return swapped || rest.slice(1) === wanted.slice(1) || rest.slice(1) === wanted || rest === wanted.slice(1);
}
