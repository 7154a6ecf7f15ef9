/**
 * `npm run demo`: the main job on real input, told by the CLI as a builder would type it. Ends with 0 only if every
 * step did what it says; its server and folder are gone then, as after Ctrl-C.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { manifestSchema } from '../../shared/contracts/manifest.ts';
import { artifactSchema, runSchema } from '../../shared/contracts/run.ts';
import { skillSchema } from '../../shared/contracts/skill.ts';
import { demoEnvironment } from './demo-environment.ts';
import { SERVER_COMMAND } from './server-command.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'cognition-demo-'));
const env = demoEnvironment(process.env, folder);

const runIdSchema = z.object({ run_id: z.string() });
const manifestAnswerSchema = z.object({ manifest: manifestSchema, manifest_digest: z.string() });
const listSchema = z.object({ items: z.array(z.unknown()) });

const title = (text: string): void => {
  process.stdout.write(`\n── ${text}\n`);
};

function assert(held: boolean, what: string): asserts held {
  if (!held) throw new Error(`the demo expected: ${what}`);
}

/** Runs the CLI; shows it and its output unless quiet. */
async function cognition(args: readonly string[], quiet = false): Promise<{ code: number; stdout: string }> {
  if (!quiet) process.stdout.write(`$ cognition ${args.join(' ')}\n`);
  const child = spawn(process.execPath, [join(root, 'cli/bin/cognition.mjs'), ...args], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', quiet ? 'ignore' : 'inherit'],
  });
  let stdout = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
    if (!quiet) process.stdout.write(chunk);
  });
  const code = await new Promise<number>((resolve) => child.once('close', (exit) => resolve(exit ?? 1)));
  return { code, stdout };
}

async function succeed(...args: string[]): Promise<void> {
  const { code } = await cognition(args);
  assert(code === 0, `\`cognition ${args.join(' ')}\` exits with 0, not ${code}`);
}

async function json<T extends z.ZodType>(schema: T, ...args: string[]): Promise<z.output<T>> {
  const { code, stdout } = await cognition([...args, '--json'], true);
  assert(code === 0, `\`cognition ${args.join(' ')}\` exits with 0, not ${code}`);
  return schema.parse(JSON.parse(stdout));
}

interface DemoServer {
  untilReady(): Promise<void>;
  stop(): Promise<void>;
}

function startServer(): DemoServer {
  const server = spawn(process.execPath, SERVER_COMMAND, {
    cwd: root,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let running = true;
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve())).then(() => {
    running = false;
  });
  return {
    async untilReady() {
      while (!existsSync(join(env.COGNITION_CONFIG_DIR, 'local.json'))) {
        assert(running, 'the server starts');
        await sleep(50);
      }
    },
    async stop() {
      server.kill('SIGTERM');
      await ended;
    },
  };
}

/** The server would outlive a demo that is ended in the middle, and its folder with it. */
function cleanOnSignal(clean: () => Promise<void>): void {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.once(signal, () => void clean().finally(() => process.exit(code)));
  }
}

async function publishAndRun(): Promise<void> {
  title('Publish the example skills and an agent that attaches them');
  await succeed('skills', 'push', 'examples/skills/ticket-analysis');
  await succeed('skills', 'push', 'examples/skills/report-digest');
  const skill = await json(skillSchema, 'skills', 'show', 'ticket-analysis');
  process.stdout.write(`ticket-analysis is ${skill.digest}\n`);
  await succeed('agents', 'put', 'examples/agents/support-analyst.json');

  title('Run it on some hundreds of tickets; stages and output as they come');
  const run = ['run', 'support-analyst', '--skill', 'ticket-analysis', '--script', 'scripts/analyze.py'];
  await succeed(...run, '--stdin', 'examples/data/tickets.json');
}

async function latestRun(): Promise<z.output<typeof runSchema>> {
  const { items } = await json(listSchema, 'runs', 'list');
  return json(runSchema, 'runs', 'show', runIdSchema.parse(items[0]).run_id);
}

async function showArtifacts(runId: string): Promise<number> {
  title('What it left behind');
  const { items } = await json(listSchema, 'artifacts', 'list', runId);
  const artifacts = z.array(artifactSchema).parse(items);
  for (const { path, sha256, size_bytes } of artifacts) {
    process.stdout.write(`${sha256}  ${path}  (${size_bytes} bytes)\n`);
  }
  assert(
    artifacts.length >= 2 && artifacts.every(({ refused }) => refused === undefined),
    'a report and a chart',
  );
  return artifacts.length;
}

/** A script that says which edition it is, after it has waited. */
function writeEdition(edition: string): string {
  const skill = join(folder, 'slow-greeting');
  mkdirSync(join(skill, 'scripts'), { recursive: true });
  const frontmatter = '---\nname: slow-greeting\ndescription: Waits, then greets.\n---\n';
  writeFileSync(join(skill, 'SKILL.md'), `${frontmatter}Run scripts/greet.sh.\n`);
  writeFileSync(
    join(skill, 'scripts', 'greet.sh'),
    `#!/bin/sh\nsleep 4\necho "greetings from the ${edition} edition"\n`,
  );
  return skill;
}

async function updateDuringRun(): Promise<void> {
  title('Update a skill while a run uses it: the run keeps what it pinned');
  const agent = join(folder, 'greeter.json');
  writeFileSync(agent, JSON.stringify({ name: 'greeter', skills: ['slow-greeting'] }));
  await succeed('skills', 'push', writeEdition('first'));
  await succeed('agents', 'put', agent);
  const first = await json(skillSchema, 'skills', 'show', 'slow-greeting');
  const { run_id } = await json(
    runIdSchema,
    ...['run', 'greeter', '--skill', 'slow-greeting', '--script', 'scripts/greet.sh', '--detach'],
  );
  let run = await json(runSchema, 'runs', 'show', run_id);
  while (run.timings.started_at === null) {
    assert(run.failure === null, `the run starts, but it ${run.status}`);
    await sleep(100);
    run = await json(runSchema, 'runs', 'show', run_id);
  }
  await succeed('skills', 'push', writeEdition('second'));
  const second = await json(skillSchema, 'skills', 'show', 'slow-greeting');
  while (run.timings.finished_at === null) {
    await sleep(200);
    run = await json(runSchema, 'runs', 'show', run_id);
  }
  const { manifest } = await json(manifestAnswerSchema, 'runs', 'manifest', run_id);
  const [pinned] = manifest.packages;
  assert(first.revision !== second.revision, 'the update is a new revision');
  assert(
    pinned?.revision === first.revision && pinned.digest === first.digest,
    'the run is pinned to the first',
  );
  assert(run.stdout === 'greetings from the first edition\n', 'the run prints what it pinned');
  process.stdout.write(
    `current is ${second.revision}; the run kept ${pinned.revision} and printed: ${run.stdout}`,
  );
}

async function lookFromElsewhere(runId: string): Promise<void> {
  title('Another scope sees nothing');
  const other = ['--scope', 'tenant=globex'];
  for (const list of [
    ['skills', 'list'],
    ['agents', 'list'],
    ['runs', 'list'],
  ]) {
    const { items } = await json(listSchema, ...list, ...other);
    assert(items.length === 0, `${list.join(' ')} is empty in another scope`);
  }
  const { code } = await cognition(['runs', 'show', runId, ...other]);
  assert(code !== 0, 'a run of another scope is not found');
}

async function demo(): Promise<string> {
  title('Start the standalone server in a temporary folder');
  const server = startServer();
  const clean = async (): Promise<void> => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  cleanOnSignal(clean);
  try {
    await server.untilReady();
    await succeed('doctor');
    await publishAndRun();
    const run = await latestRun();
    assert(run.status === 'succeeded' && run.stdout.length > 0, `the run succeeds, but it ${run.status}`);
    const artifacts = await showArtifacts(run.run_id);
    await updateDuringRun();
    await lookFromElsewhere(run.run_id);
    return `run ${run.run_id} ${run.status}, manifest ${run.manifest_digest}, ${artifacts} artifacts`;
  } finally {
    await clean();
  }
}

try {
  const summary = await demo();
  process.stdout.write(`\n${summary}\n`);
} catch (error) {
  process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
