'use strict';
// Finds the native part: in the package for this platform, or beside this file in a development build.

const { existsSync } = require('node:fs');
const { join } = require('node:path');

const platform = `${process.platform}-${process.arch}`;
const beside = join(__dirname, 'reflex-engine.node');

function load() {
  if (existsSync(beside)) return require(beside);
  try {
    return require(`reflex-guard-engine-${platform}`);
  } catch (cause) {
    const error = new Error(`reflex-guard-engine has no build for ${platform}`, { cause });
    error.code = 'ERR_NO_BUILD';
    throw error;
  }
}

module.exports = load();
