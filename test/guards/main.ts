/** `npm run guards`: cfn-lint and checkov on the templates of deployments, synthesized with the CDK's own validation. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPythonEnvironment } from '../../infra/local/python-environment.ts';
import { ACCEPTED_FINDINGS } from './accepted-findings.ts';
import { cfnLintFindings, checkovFindings, type Finding } from './findings.ts';
import { judgeFindings } from './judge-findings.ts';

/** The emulator's form is for no account that matters. */
const GUARDED = ['production', 'everything', 'own_bucket'] as const;
const SCHEMAS = fileURLToPath(new URL('schemas', import.meta.url));

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const programs = openPythonEnvironment({ requirements: 'test/guards/requirements.txt', name: 'guards' });
  const folder = mkdtempSync(join(tmpdir(), 'cognition-guards-'));
  try {
    await writeTemplates(folder);
    const [linted, checked] = await Promise.all([lint(programs, folder), check(programs, folder)]);
    report([...linted, ...checked]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function writeTemplates(folder: string): Promise<void> {
  // Read when the CDK is: tests leave its validation out.
  process.env.CDK_VALIDATION = 'true';
  const { variant } = await import('../infra/support/synthesize.ts');
  for (const name of GUARDED) {
    for (const [stack, template] of variant(name).templates) {
      writeFileSync(join(folder, `${name}-${stack}.json`), JSON.stringify(template, null, 1));
    }
  }
}

async function lint(programs: string, folder: string): Promise<Finding[]> {
  const templates = readdirSync(folder).map((file) => join(folder, file));
  return cfnLintFindings(
    await outputOf(join(programs, 'cfn-lint'), [
      ...['--registry-schemas', SCHEMAS],
      ...['--format', 'json'],
      ...['--non-zero-exit-code', 'none'],
      ...['--template', ...templates],
    ]),
  );
}

async function check(programs: string, folder: string): Promise<Finding[]> {
  return checkovFindings(
    await outputOf(join(programs, 'checkov'), [
      ...['--directory', folder],
      ...['--framework', 'cloudformation'],
      ...['--output', 'json'],
      ...['--quiet', '--compact', '--soft-fail', '--skip-download'],
    ]),
  );
}

/** @throws Error when the program ends with anything but 0: what it found is in its output. */
function outputOf(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(Buffer.concat(chunks).toString('utf8'));
      else reject(new Error(`${program} ended with ${code}`));
    });
  });
}

function report(findings: readonly Finding[]): void {
  const { unaccepted, unused } = judgeFindings(findings, ACCEPTED_FINDINGS);
  for (const { tool, rule, where, message } of unaccepted) say(`${tool} ${rule} ${where}: ${message}`);
  for (const { tool, rule, reason } of unused)
    say(`${tool} ${rule} is accepted, and found no more: ${reason}`);
  say(
    `guards: ${findings.length} findings, ${unaccepted.length} without a reason, ${unused.length} reasons without a finding`,
  );
  if (unaccepted.length + unused.length > 0) process.exitCode = 1;
}

await main();
