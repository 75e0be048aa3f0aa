// Any runtime without a package: keep `reflex eval` open, write one event per line, read one verdict per line.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const guard = spawn(process.env.REFLEX ?? 'reflex', ['eval'], { stdio: ['pipe', 'pipe', 'inherit'] });
const lines = createInterface({ input: guard.stdout })[Symbol.asyncIterator]();

async function judge(event) {
  guard.stdin.write(`${JSON.stringify(event)}\n`);
  const { value, done } = await lines.next();
  if (done) throw new Error('reflex eval has ended: do not run the call');
  return JSON.parse(value);
}

for (const command of process.argv.slice(2)) {
  const { decision } = await judge({ event: 'pre-command', command, cwd: process.cwd() });
  console.log(`${decision}: ${command}`);
}
guard.stdin.end();
