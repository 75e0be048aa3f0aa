// Claude Agent SDK: what Reflex stops is denied in a hook, and `canUseTool` answers what remains.
// npm install @anthropic-ai/claude-agent-sdk reflex-guard-engine
import { query } from '@anthropic-ai/claude-agent-sdk';
import { homedir } from 'node:os';
import { judge } from 'reflex-guard-engine';

const judged = (tool, input) =>
  judge({ event: 'pre-tool', tool, tool_input: input, cwd: process.cwd(), home: homedir() });

async function preToolUse({ tool_name: tool, tool_input: input }) {
  const { decision, reasons } = judged(tool, input);
  if (decision !== 'block') return {};
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: reasons[0],
    },
  };
}

// Called for tools that the SDK's own rules do not allow. Ask your user where the decision is `require_approval`.
async function canUseTool(tool, input) {
  const { decision, reasons } = judged(tool, input);
  const isAllowed = decision === 'allow' || decision === 'warn';
  return isAllowed ? { behavior: 'allow', updatedInput: input } : { behavior: 'deny', message: reasons[0] };
}

const options = { hooks: { PreToolUse: [{ hooks: [preToolUse] }] }, canUseTool };
for await (const message of query({ prompt: process.argv[2], options })) {
  if (message.type === 'result') console.log(message.result);
}
