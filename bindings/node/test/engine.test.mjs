// Run in a folder where the packed package is installed.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker, isMainThread } from 'node:worker_threads';
import { CORE_RULES, RuleEngine, loadRuleDirectory, loadRuleFile, judge, parse } from 'reflex-guard-engine';

const RULE = {
  name: 'no-prod',
  events: ['bash_command'],
  conditions: [{ field: 'command', op: 'contains', pattern: '{{word}}' }],
  action: 'block',
  message: '{{command}} names {{word}}',
};

function folder(files) {
  const dir = mkdtempSync(join(tmpdir(), 'reflex-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(dir, name, '..'), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  return dir;
}

test('both module systems have the same interface', () => {
  const required = createRequire(import.meta.url)('reflex-guard-engine');
  assert.deepEqual(Object.keys(required).sort(), [
    'CORE_RULES',
    'RuleEngine',
    'judge',
    'loadRuleDirectory',
    'loadRuleFile',
    'parse',
  ]);
  assert.equal(required.RuleEngine, RuleEngine);
});

test('a result has the fields of @fozikio/reflex', () => {
  const engine = new RuleEngine({ word: 'prod' });
  engine.addRule(RULE);
  const event = { event: 'bash_command', command: 'deploy prod' };
  const expected = {
    rule: 'no-prod',
    triggered: true,
    action: 'block',
    severity: 'medium',
    message: 'deploy prod names prod',
    matched_conditions: ['command contains {{word}}'],
  };
  assert.deepEqual(engine.evaluate(event), [expected]);
  assert.deepEqual(engine.getBlocks(event), [expected]);
  assert.equal(engine.isAllowed(event), false);
  engine.setVariable('word', ['staging']);
  assert.equal(engine.isAllowed(event), true);
});

test('rules are added all or none, and errors have a code', () => {
  const engine = new RuleEngine({ word: 'prod' });
  const wrong = { ...RULE, name: 'wrong', conditions: [{ field: 'command', op: 'resembles', pattern: 'x' }] };
  assert.throws(() => engine.addRules([RULE, wrong]), { code: 'ERR_INVALID_RULE' });
  assert.equal(engine.isAllowed({ event: 'bash_command', command: 'deploy prod' }), true);
  assert.throws(() => new RuleEngine({ word: 7 }), { code: 'ERR_INVALID_ARGUMENT' });
  assert.throws(() => engine.evaluate('rm -rf /'), { code: 'ERR_INVALID_ARGUMENT' });
});

test('files of rules are loaded with the place of an error', async () => {
  const rule = "name: a\nevents: [any]\nconditions:\n  - {field: command, op: contains, pattern: x}\naction: warn\n";
  const core = rule.replace('name: a', 'name: b\ntier: core');
  const dir = folder({ 'a.yaml': rule, 'below/b.yml': core, 'notes.txt': 'no rule' });
  const rules = await loadRuleDirectory(dir, { disabled_rules: ['a', 'b'] });
  assert.deepEqual(rules.map(({ name, enabled }) => [name, enabled]).sort(), [['a', false], ['b', true]]);
  assert.equal((await loadRuleFile(join(dir, 'a.yaml'))).tier, 'custom');
  const bad = folder({ 'bad.yaml': 'name: bad\nevents: [bash_command]\nconditions:\n  - {field: command, op: near}\n' });
  await assert.rejects(loadRuleDirectory(bad), (error) => {
    assert.deepEqual([error.code, error.file, error.line], ['ERR_INVALID_RULE', join(bad, 'bad.yaml'), 4]);
    return true;
  });
  await assert.rejects(loadRuleDirectory(join(bad, 'missing')), { code: 'ERR_INVALID_RULE' });
});

test('a loaded rule can be added as it is', async () => {
  const engine = new RuleEngine({ allowed_roots: ['/home/user'] });
  engine.addRules(CORE_RULES);
  const again = new RuleEngine({ allowed_roots: ['/home/user'] });
  again.addRules(JSON.parse(JSON.stringify(CORE_RULES)));
  for (const command of ['rm -rf /', 'sudo rm -rf /', 'ls', 'git status']) {
    const event = { event: 'bash_command', command };
    assert.deepEqual(engine.evaluate(event), again.evaluate(event));
  }
});

test('an event is judged as `reflex eval` does', () => {
  const event = { event: 'pre-command', command: 'rm -rf ~', id: 7 };
  const verdict = judge(event);
  assert.deepEqual([verdict.decision, verdict.id], ['block', 7]);
  assert.ok(verdict.reasons[0].includes('home'), verdict.reasons[0]);
  assert.equal(judge({ event: 'pre-command', command: 'ls' }).decision, 'allow');
  const reset = { event: 'pre-command', command: 'git reset --hard', facts: { git: { branch: 'main', dirty: [] } } };
  assert.equal(judge(reset).decision, 'allow');
  assert.equal(judge(event, { mode: 'observe' }).decision, 'allow');
  for (const wrong of [{}, undefined, null, 7, { event: 'pre-command' }]) {
    assert.equal(judge(wrong).decision, 'block');
    assert.ok(judge(wrong).error);
  }
  assert.throws(() => judge(event, { mode: 'brisk' }), { code: 'ERR_INVALID_ARGUMENT' });
});

test('commands and effects are data', () => {
  const { commands, effects, gaps } = parse('sudo rm -rf build && $unknown', { cwd: '/repo' });
  assert.deepEqual(commands.filter(({ name }) => name === 'rm').map(({ words }) => words), [['rm', '-rf', 'build']]);
  const deletion = effects.find(({ kind }) => kind === 'delete');
  assert.deepEqual([deletion.targets, commands[deletion.command].name], [['/repo/build'], 'rm']);
  assert.ok(Array.isArray(gaps));
});

test('16 threads evaluate at the same time', async () => {
  assert.ok(isMainThread);
  const work = `
    const { RuleEngine, CORE_RULES } = require('reflex-guard-engine');
    const engine = new RuleEngine({ allowed_roots: '/home/user' });
    engine.addRules(CORE_RULES);
    let blocked = 0;
    for (let index = 0; index < 200; index++) {
      blocked += engine.isAllowed({ event: 'bash_command', command: index % 2 ? 'ls' : 'rm -rf /' }) ? 0 : 1;
    }
    require('node:worker_threads').parentPort.postMessage(blocked);
  `;
  const one = () =>
    new Promise((resolve, reject) => {
      const worker = new Worker(work, { eval: true });
      worker.once('message', resolve);
      worker.once('error', reject);
    });
  assert.deepEqual(await Promise.all(Array.from({ length: 16 }, one)), Array(16).fill(100));
});

test('memory does not grow', () => {
  const engine = new RuleEngine({ allowed_roots: '/home/user' });
  engine.addRules(CORE_RULES);
  const run = (times) => {
    for (let index = 0; index < times; index++) engine.isAllowed({ event: 'bash_command', command: 'rm -rf /' });
  };
  run(2000);
  const before = process.memoryUsage().rss;
  run(10000);
  assert.ok(process.memoryUsage().rss - before < 32 * 1024 * 1024);
});
