// Run in a folder with `events.jsonl` and the answers of `reflex eval` in `verdicts.jsonl`.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { judge } from 'reflex-guard-engine';

const lines = (name) => readFileSync(name, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));

test('every record has the verdict of `reflex eval`', () => {
  const [events, verdicts] = [lines('events.jsonl'), lines('verdicts.jsonl')];
  assert.equal(events.length, verdicts.length);
  assert.ok(events.length > 0);
  events.forEach((event, index) => assert.deepEqual(judge(event), verdicts[index], event.id));
});
