// Run in a folder with `rules`, `events.json` and the results of the Rust crate in `ours.json`: the pairs of
// crates/rules/tests/differential.rs, where each difference to `@fozikio/reflex` has its reason.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { RuleEngine, loadRuleFile } from 'reflex-guard-engine';

const read = (name) => JSON.parse(readFileSync(name, 'utf8'));
const [events, ours] = [read('events.json'), read('ours.json')];
let pairs = 0;
for (const file of readdirSync('rules')) {
  const engine = new RuleEngine({ roots: ['/proj', '/data'], word: 'rm' });
  const name = read(`rules/${file}`).name;
  try {
    engine.addRule(await loadRuleFile(`rules/${file}`));
  } catch (error) {
    // A rule that is refused fires on no event, as in the crate.
    assert.equal(error.code, 'ERR_INVALID_RULE');
  }
  for (const [index, event] of events.entries()) {
    assert.equal(engine.evaluate(event).length > 0, ours[name][index], `${file}, event ${index}`);
    pairs += 1;
  }
}
console.log(`${pairs} pairs`);
