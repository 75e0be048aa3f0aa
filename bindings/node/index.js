'use strict';
// The interface of the native part: objects instead of JSON text, and errors with `code`, `file` and `line`.

const native = require('./native.js');

/** Turns the JSON message of a native error into an `Error`. */
function readable(error) {
  let fields;
  try {
    fields = JSON.parse(error.message);
  } catch {
    return error;
  }
  const { code, message, file, line } = fields;
  const made = new Error(message);
  made.code = code;
  if (file !== null) Object.assign(made, { file, line });
  return made;
}

function call(work) {
  try {
    return work();
  } catch (error) {
    throw readable(error);
  }
}

class RuleEngine {
  #engine;

  constructor(variables) {
    this.#engine = call(() => new native.Engine(JSON.stringify(variables ?? {})));
  }

  addRule(rule) {
    call(() => this.#engine.addRules(JSON.stringify([rule])));
  }

  addRules(rules) {
    call(() => this.#engine.addRules(JSON.stringify(rules)));
  }

  setVariable(key, value) {
    call(() => this.#engine.setVariable(String(key), JSON.stringify(value)));
  }

  evaluate(event) {
    return JSON.parse(call(() => this.#engine.evaluate(JSON.stringify(event))));
  }

  getBlocks(event) {
    return JSON.parse(call(() => this.#engine.getBlocks(JSON.stringify(event))));
  }

  isAllowed(event) {
    return call(() => this.#engine.isAllowed(JSON.stringify(event)));
  }
}

async function load(path, config) {
  try {
    return JSON.parse(await native.load(String(path), config));
  } catch (error) {
    throw readable(error);
  }
}

const loadRuleFile = (path) => load(path);
const loadRuleDirectory = (dir, config) => load(dir, JSON.stringify(config ?? {}));
const parse = (command, options) => JSON.parse(native.parse(String(command), options?.cwd ?? '/'));
const judge = (event, options) =>
  JSON.parse(
    call(() => native.judge(JSON.stringify(event) ?? '', options?.mode ?? 'balanced', options?.home ?? '/home/user')),
  );
const CORE_RULES = JSON.parse(native.coreRules());

module.exports = { RuleEngine, CORE_RULES, loadRuleFile, loadRuleDirectory, judge, parse };
