import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DEPLOYMENT_SETTINGS } from '../../shared/contracts/deployment-setting-schema.ts';
import { InvalidSettings, parseSettings, SETTINGS, type Settings } from '../../shared/contracts/settings.ts';

const DEFAULTS: Settings = {
  environment: 'development',
  port: 8787,
  data_dir: '.cognition-local',
  log_level: 'info',
  scope_bindings_file: undefined,
  sandbox_profiles_file: undefined,
  sandbox_pool_size: 2,
  max_tasks: 16,
  runs_at_once: 500,
  unsafe_no_isolation: false,
  packages: { backend: 'config_registry' },
};

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    parseSettings(environment);
  } catch (error) {
    if (error instanceof InvalidSettings) return error.problems;
    throw error;
  }
  return [];
}

describe('settings', () => {
  it('have defaults for everything, without a warning', () => {
    expect(parseSettings({})).toStrictEqual({ settings: DEFAULTS, warnings: [] });
  });

  it('leave the rest of the environment alone, and take an empty value as not set', () => {
    const environment = {
      PATH: '/bin',
      AWS_REGION: 'x',
      cognition_port: '1',
      COGNITION_PORT: '',
      HOME: undefined,
    };
    expect(parseSettings(environment).settings).toStrictEqual(DEFAULTS);
  });

  it('take every setting as it is named', () => {
    const { settings } = parseSettings({
      COGNITION_ENVIRONMENT: 'production',
      COGNITION_PORT: '0',
      COGNITION_DATA_DIR: '/var/lib/cognition',
      COGNITION_LOG_LEVEL: 'debug',
      COGNITION_SCOPE_BINDINGS: 'bindings.json',
      COGNITION_SANDBOX_PROFILES: 'profiles.json',
      COGNITION_SANDBOX_POOL_SIZE: '0',
      COGNITION_MAX_TASKS: '4',
      COGNITION_RUNS_AT_ONCE: '7',
      COGNITION_UNSAFE_NO_ISOLATION: '0',
      COGNITION_SKILLS_BACKEND: 's3',
      COGNITION_SKILLS_S3_BUCKET: 'cognition-skills',
      COGNITION_SKILLS_S3_PREFIX: 'packages/',
      COGNITION_SKILLS_S3_REGION: 'us-east-1',
      COGNITION_ENDPOINT: 'http://elsewhere',
      COGNITION_SCOPE: 'tenant=a',
    });
    expect(settings).toStrictEqual({
      environment: 'production',
      port: 0,
      data_dir: '/var/lib/cognition',
      log_level: 'debug',
      scope_bindings_file: 'bindings.json',
      sandbox_profiles_file: 'profiles.json',
      sandbox_pool_size: 0,
      max_tasks: 4,
      runs_at_once: 7,
      unsafe_no_isolation: false,
      packages: { backend: 's3', bucket: 'cognition-skills', prefix: 'packages/', region: 'us-east-1' },
    });
  });

  it('report every problem of an environment at once', () => {
    const problems = problemsOf({
      COGNITION_ENVIRONMENT: 'production',
      COGNITION_PORT: '99999',
      COGNITION_MAX_TASKS: 'many',
      COGNITION_SKILS_BACKEND: 's3',
      COGNITION_UNSAFE_NO_ISOLATION: '1',
      COGNITION_SKILLS_BACKEND: 'filesystem',
      COGNITION_LOG_LEVEL: 'loud',
    });
    for (const part of [
      'COGNITION_PORT is "99999": it must be a whole number from 0 to 65535',
      'COGNITION_MAX_TASKS is "many": it must be a whole number',
      'COGNITION_SKILS_BACKEND is not a setting: did you mean COGNITION_SKILLS_BACKEND?',
      'COGNITION_UNSAFE_NO_ISOLATION is for development',
      'COGNITION_SKILLS_BACKEND filesystem is for development',
      'COGNITION_LOG_LEVEL is "loud": it must be debug, info, warn or error',
    ]) {
      expect(problems.filter((problem) => problem.startsWith(part))).toHaveLength(1);
    }
    expect(problems).toHaveLength(6);
  });

  it('name the nearest setting for one that is not known', () => {
    expect(problemsOf({ COGNITION_RUNS_AT_A_TIME: '1' })).toStrictEqual([
      'COGNITION_RUNS_AT_A_TIME is not a setting: did you mean COGNITION_RUNS_AT_ONCE?',
    ]);
    expect(problemsOf({ COGNITION_S3_BUCKET: 'x' })[0]).toContain('COGNITION_SKILLS_S3_BUCKET');
    expect(problemsOf({ COGNITION_POOL_SIZE: '2' })[0]).toContain('COGNITION_SANDBOX_POOL_SIZE');
  });

  it('ignore what belongs to a backend that is not selected, whatever it says, with a warning each', () => {
    const { settings, warnings } = parseSettings({
      COGNITION_SKILLS_S3_BUCKET: 'NOT A BUCKET',
      COGNITION_SKILLS_FILESYSTEM_ROOT: '/srv/skills',
    });
    expect(settings.packages).toStrictEqual({ backend: 'config_registry' });
    expect(warnings).toStrictEqual([
      'COGNITION_SKILLS_FILESYSTEM_ROOT is ignored: COGNITION_SKILLS_BACKEND is config_registry',
      'COGNITION_SKILLS_S3_BUCKET is ignored: COGNITION_SKILLS_BACKEND is config_registry',
    ]);
  });

  it('warn about the filesystem backend and about running without isolation', () => {
    const { settings, warnings } = parseSettings({
      COGNITION_SKILLS_BACKEND: 'filesystem',
      COGNITION_SKILLS_FILESYSTEM_ROOT: '/srv/skills',
      COGNITION_UNSAFE_NO_ISOLATION: '1',
    });
    expect(settings.packages).toStrictEqual({ backend: 'filesystem', root: '/srv/skills' });
    expect(warnings).toHaveLength(2);
    expect(warnings.join('\n')).toMatch(/filesystem.*development.*without a sandbox/s);
  });

  it('ask for a bucket where s3 is selected', () => {
    expect(problemsOf({ COGNITION_SKILLS_BACKEND: 's3' })).toStrictEqual([
      'COGNITION_SKILLS_S3_BUCKET is required when COGNITION_SKILLS_BACKEND is s3',
    ]);
  });

  it.each(['0x10', '1e3', ' 5', '-1', '1.5', '5 ', '٣', '9'.repeat(400)])(
    'refuse %j as a number',
    (value) => {
      expect(problemsOf({ COGNITION_MAX_TASKS: value })).not.toHaveLength(0);
    },
  );

  it('describe each default by the value that leaving it out gives', () => {
    for (const { name, default: value, effect } of SETTINGS) {
      expect(effect).not.toBe('');
      if (value !== undefined) {
        expect(parseSettings({ [name]: value }).settings).toStrictEqual(DEFAULTS);
      }
    }
  });

  it('are listed in docs/settings.md as they are', () => {
    const expected = SETTINGS.map(({ name, default: value, effect, backend, read_by }) => {
      const reader = read_by ?? (backend === undefined ? 'server' : `server, with \`${backend}\``);
      return `| \`${name}\` | ${value === undefined ? '' : `\`${value}\``} | ${effect} | ${reader} |`;
    });
    expect(rowsOf('Settings')).toStrictEqual(expected);
  });

  it('are listed in docs/settings.md for a deployment too', () => {
    const expected = DEPLOYMENT_SETTINGS.filter(({ read_by }) => read_by === undefined).map(
      ({ name, default: value, effect, backend }) => {
        const condition = backend === undefined ? '' : ` (with \`${backend}\`)`;
        return `| \`${name}\` | ${value === undefined ? '' : `\`${value}\``} | ${effect}${condition} |`;
      },
    );
    expect(rowsOf('Deployment on AWS')).toStrictEqual(expected);
  });
});

/** Of the table below a heading. */
function rowsOf(heading: string): string[] {
  const lines = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8').split('\n');
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.endsWith(` ${heading}`));
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => line.startsWith('#'));
  return rest.slice(0, end === -1 ? undefined : end).filter((line) => line.startsWith('| `'));
}
