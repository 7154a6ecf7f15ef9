import type { Client } from '../client/create-client.ts';
import { command } from '../command.ts';
import { EXIT, usage } from '../failure.ts';
import { followRun } from '../follow/follow-run.ts';
import { type Interruption, interruption } from '../follow/interruption.ts';
import { type RunOptions, runRequest } from '../follow/run-request.ts';
import type { Session } from '../session.ts';
import { runLines } from './runs/run-lines.ts';

export const runCommand = command({
  name: 'run',
  description: 'Start a run of an agent in a sandbox, follow it, and end with the exit code of its script',
  examples: [
    'cognition run support-analyst --skill ticket-analysis --script scripts/analyze.py --stdin tickets.json',
    'cognition run support-analyst --skill ticket-analysis --input tickets.json=./tickets.json \\',
    '    --output "report.*" -- --sla-hours high=8',
    'cognition run support-analyst -- python3 -c "print(1)"    # a program of the sandbox instead of a script',
    'cognition run support-analyst --skill ticket-analysis --detach --json',
  ],
  args: {
    agent: { type: 'positional', required: true, description: 'Name of the agent' },
    skill: { type: 'string', valueHint: 'name', description: 'The skill whose script is run' },
    script: {
      type: 'string',
      valueHint: 'path',
      description: 'Path of the script in the skill; may be left out where scripts/ holds only one',
    },
    stdin: {
      type: 'string',
      valueHint: 'file',
      description: 'Text for standard input; - reads it from here',
    },
    input: {
      type: 'string',
      valueHint: 'path=file',
      description: 'Upload FILE, put it at /workspace/inputs/PATH (repeatable)',
    },
    output: {
      type: 'string',
      valueHint: 'glob',
      description: 'Keep only these of /outputs (repeatable); default: everything',
    },
    env: {
      type: 'string',
      valueHint: 'name=value',
      description: 'A variable that the profile allows (repeatable)',
    },
    timeout: {
      type: 'string',
      valueHint: 'seconds',
      description: 'For the command; default 60, at most 3600',
    },
    detach: { type: 'boolean', description: 'Print the id and end; the run goes on' },
  },
  repeatable: ['input', 'output', 'env'],
  rest: 'arguments for the script, or without --skill the program and its arguments; no shell reads them',
  run: async ({ args, values, rest, session }) => {
    if (args.script !== undefined && args.skill === undefined) {
      throw usage('--script needs --skill: the skill that holds the script');
    }
    const { client } = await session.connect();
    const options = {
      agent: args.agent,
      skill: args.skill,
      script: args.script,
      args: rest,
      stdin: args.stdin,
      inputs: values('input'),
      outputs: values('output'),
      env: values('env'),
      timeout: args.timeout,
    };
    const interrupted = interruption(session.io);
    try {
      return await start(options, args.detach === true, client, session, interrupted);
    } finally {
      interrupted.stop();
    }
  },
});

async function start(
  options: RunOptions,
  detach: boolean,
  client: Client,
  session: Session,
  interrupted: Interruption,
): Promise<number> {
  const request = await runRequest(options, client, session);
  if (interrupted.signal !== undefined) return EXIT.interrupted;
  const run = await client.createRun(request);
  if (!detach) return followRun(run, client, session, interrupted);
  session.output.result(run, () => runLines(run));
  session.output.note(`follow it: cognition runs events ${run.run_id} --follow`);
  return EXIT.success;
}
