/** The app as `npx cdk` starts it: another process, with the settings of an operator around it. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { readDeploymentSettings } from '../../infra/read-deployment-settings.ts';
import { DEPLOYMENT_SETTINGS } from '../../shared/contracts/deployment-setting-schema.ts';
import { InvalidSettings } from '../../shared/contracts/given-settings.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BINDINGS = [
  { account_id: '111122223333', role_id: 'AROA1234567890EXAMPLE', scopes: [{ tenant: 'acme' }] },
];
const IMAGE = `111122223333.dkr.ecr.eu-central-1.amazonaws.com/sandbox@sha256:${'a'.repeat(64)}`;

interface Ended {
  readonly code: number;
  readonly stderr: string;
  readonly stdout: string;
}

/** A folder as an operator has it. */
function operatorFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'cognition-operator-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const settingsIn = (folder: string): string => join(folder, 'cdk.out');

function synth(folder: string, environment: Readonly<Record<string, string>> = {}): Promise<Ended> {
  mkdirSync(settingsIn(folder), { recursive: true });
  const env = {
    PATH: process.env.PATH ?? '',
    CDK_OUTDIR: settingsIn(folder),
    CDK_VALIDATION: 'false',
    ...environment,
  };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(ROOT, 'infra', 'app.ts')],
      { cwd: folder, env },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : Number(error.code ?? -1);
        resolve({ code, stdout, stderr });
      },
    );
  });
}

describe('the app', () => {
  it('says what is wrong with the settings, a line each, and nothing else', async () => {
    const { code, stdout, stderr } = await synth(operatorFolder({}), {
      COGNITION_WAF: 'yes',
      COGNITION_UNSAFE_CALLER: '000000000000/AROALOCALBUILDER',
    });

    expect(stderr.trimEnd().split('\n')).toEqual([
      'cognition: the settings are not valid:',
      '- COGNITION_WAF is "yes": it must be 0 or 1',
      '- COGNITION_UNSAFE_CALLER is for development: leave it out',
      expect.stringMatching(/^- COGNITION_SCOPE_BINDINGS is required: /),
    ]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });

  it('refuses a context that names no file', async () => {
    const { code, stderr } = await synth(operatorFolder({}), { CDK_CONTEXT_JSON: '{"settings":true}' });

    expect(code).toBe(1);
    expect(stderr).toBe(
      'cognition: the settings are not valid:\n- -c settings is the name of a file: -c settings=<file>\n',
    );
  });
});

describe('a synthesis', () => {
  const files = {
    'bindings.json': JSON.stringify(BINDINGS),
    'production.env': `COGNITION_SCOPE_BINDINGS=bindings.json\nCOGNITION_SANDBOX_IMAGE=${IMAGE}\nCOGNITION_PORT=1\n`,
  };
  const context = { CDK_CONTEXT_JSON: '{"settings":"production.env"}' };
  const folders = [operatorFolder(files), operatorFolder(files)];
  let runs: readonly Ended[] = [];

  beforeAll(async () => {
    // At once, as two commands of an operator may be.
    runs = await Promise.all(folders.map((folder) => synth(folder, context)));
  }, 120_000);

  it('makes all stacks, with the settings of the file that was named, and warns', () => {
    for (const { code, stderr } of runs) {
      expect(stderr).toBe('warning: COGNITION_PORT is ignored: it is a setting of a standalone server\n');
      expect(code).toBe(0);
    }
    const templates = readdirSync(settingsIn(folders[0] ?? '')).filter((name) =>
      name.endsWith('.template.json'),
    );
    expect(templates.toSorted()).toEqual(
      ['api', 'network', 'observability', 'runs', 'sandbox', 'storage'].map(
        (name) => `cognition-${name}.template.json`,
      ),
    );
  });

  it('gives the same templates and the same assets every time, so that nothing is deployed without need', () => {
    const [first = '', second = ''] = folders.map(settingsIn);
    const names = readdirSync(first);

    expect(readdirSync(second)).toEqual(names);
    for (const name of names.filter((one) => /\.(template|assets)\.json$/.test(one))) {
      expect(readFileSync(join(second, name), 'utf8'), name).toBe(readFileSync(join(first, name), 'utf8'));
    }
    expect(names.filter((name) => name.startsWith('asset.')).length).toBeGreaterThan(15);
  });

  it('leaves nothing of the machine that it was made on in a template', () => {
    const folder = settingsIn(folders[0] ?? '');
    for (const name of readdirSync(folder).filter((one) => one.endsWith('.template.json'))) {
      const text = readFileSync(join(folder, name), 'utf8');
      expect(text, name).not.toContain(ROOT);
      expect(text, name).not.toContain(folder);
    }
  });
});

describe('settings in a file', () => {
  const read = (
    files: Readonly<Record<string, string>>,
    more: { file?: string; env?: Record<string, string> } = {},
  ) =>
    readDeploymentSettings({
      environment: more.env ?? {},
      directory: operatorFolder({ 'bindings.json': JSON.stringify(BINDINGS), ...files }),
      file: more.file,
    }).settings;
  const problems = (...args: Parameters<typeof read>): readonly string[] => {
    try {
      read(...args);
    } catch (error) {
      if (error instanceof InvalidSettings) return error.problems;
      throw error;
    }
    return [];
  };
  const LINES =
    'COGNITION_SCOPE_BINDINGS=bindings.json\nCOGNITION_WAF=1 # a comment\nCOGNITION_API_RATE="7"\n';

  it('are read from cognition.env when it is there, and the environment wins', () => {
    expect(read({ 'cognition.env': LINES })).toMatchObject({ waf: true, api_rate: 7 });
    expect(
      read({ 'cognition.env': LINES }, { env: { COGNITION_WAF: '0', COGNITION_API_RATE: '' } }),
    ).toMatchObject({ waf: false, api_rate: 7 });
  });

  it('are read from another file when one is named, and then from no other', () => {
    const files = { 'cognition.env': 'COGNITION_WAF=nonsense', 'other.env': LINES };

    expect(read(files, { file: 'other.env' })).toMatchObject({ waf: true });
    expect(problems({}, { file: 'missing.env' })).toEqual([
      expect.stringMatching(
        /^missing\.env is not a file of settings that can be read \(ENOENT.*\): name another one/,
      ),
    ]);
  });

  it('are refused where a name is mistyped before its prefix ends', () => {
    expect(problems({ 'cognition.env': `${LINES}COGNTION_WAF=1\nAWS_REGION=x\n` }).toSorted()).toEqual([
      expect.stringMatching(/^AWS_REGION in cognition\.env is not a setting: did you mean COGNITION_/),
      'COGNTION_WAF in cognition.env is not a setting: did you mean COGNITION_WAF?',
    ]);
  });

  it('are told by name when a file that they name is broken', () => {
    expect(problems({ 'cognition.env': LINES, 'bindings.json': '[{' })).toEqual([
      expect.stringMatching(/^COGNITION_SCOPE_BINDINGS: bindings\.json is not a JSON file that can be read/),
    ]);
  });

  it('are shown in examples that are valid', () => {
    const directory = join(ROOT, 'examples', 'deployment');

    const { settings, warnings } = readDeploymentSettings({ environment: {}, directory });

    expect(settings.bindings).toHaveLength(1);
    expect(warnings).toEqual([]);
    const example = readFileSync(join(directory, 'cognition.env'), 'utf8');
    const names = new Set([...example.matchAll(/^#?(COGNITION_\w+)=/gm)].map(([, name]) => name));
    const known = DEPLOYMENT_SETTINGS.map(({ name }) => name);
    expect([...names].filter((name) => !known.includes(name ?? ''))).toEqual([]);
    expect(names.size).toBeGreaterThan(2);
  });
});
