import { describe, expect, it } from 'vitest';
import type { DeploymentSettings } from '../../shared/contracts/deployment-settings.ts';
import { parseSettings } from '../../shared/contracts/settings.ts';
import { BINDING, CALLER, IMAGE, PROFILE, parse, problemsOf, withProfile } from './support/given-settings.ts';

describe('settings of a deployment', () => {
  it('have safe defaults for everything but the bindings', () => {
    const { settings, warnings } = parse();

    expect(settings).toStrictEqual({
      deployment: 'cognition',
      environment: 'production',
      log_level: 'info',
      bindings: [BINDING],
      profiles: [
        {
          name: 'default',
          env_names: [],
          egress_aliases: [],
          memory_bytes: 2 ** 30,
          workspace_bytes: 2 ** 28,
          max_processes: 256,
          max_open_files: 1024,
        },
      ],
      packages: { backend: 's3', bucket: undefined, prefix: '' },
      sandbox_pool_size: 0,
      runs_at_once: 500,
      sandbox_image: undefined,
      sandbox_base: undefined,
      sandbox_architecture: 'arm64',
      availability_zones: 2,
      retain_data: true,
      log_retention_days: 90,
      alarm_email: undefined,
      waf: false,
      api_rate: 100,
      api_burst: 200,
      emulator: undefined,
    } satisfies DeploymentSettings);
    expect(warnings).toStrictEqual([]);
  });

  it('take every setting as it is named', () => {
    const { settings } = parse(
      {
        COGNITION_DEPLOYMENT: 'team-a',
        COGNITION_ENVIRONMENT: 'production',
        COGNITION_LOG_LEVEL: 'debug',
        COGNITION_SANDBOX_PROFILES: 'profiles.json',
        COGNITION_SANDBOX_POOL_SIZE: '3',
        COGNITION_SANDBOX_IMAGE: IMAGE,
        COGNITION_SANDBOX_ARCHITECTURE: 'x64',
        COGNITION_RUNS_AT_ONCE: '7',
        COGNITION_SKILLS_S3_BUCKET: 'our-packages',
        COGNITION_SKILLS_S3_PREFIX: 'team-a/',
        COGNITION_SKILLS_S3_REGION: 'eu-central-1',
        COGNITION_AVAILABILITY_ZONES: '3',
        COGNITION_RETAIN_DATA: '0',
        COGNITION_LOG_RETENTION_DAYS: '365',
        COGNITION_ALARM_EMAIL: 'ops@example.com',
        COGNITION_WAF: '1',
        COGNITION_API_RATE: '10',
        COGNITION_API_BURST: '20',
        CDK_DEFAULT_REGION: 'eu-central-1',
      },
      withProfile({ ...PROFILE, memory_bytes: 2 ** 31, env_names: ['TZ'] }),
    );

    expect(settings).toMatchObject({
      deployment: 'team-a',
      log_level: 'debug',
      profiles: [{ name: 'default', memory_bytes: 2 ** 31, env_names: ['TZ'] }],
      sandbox_pool_size: 3,
      sandbox_image: IMAGE,
      sandbox_architecture: 'x64',
      runs_at_once: 7,
      packages: { backend: 's3', bucket: 'our-packages', prefix: 'team-a/' },
      availability_zones: 3,
      retain_data: false,
      log_retention_days: 365,
      alarm_email: 'ops@example.com',
      waf: true,
      api_rate: 10,
      api_burst: 20,
    });
  });

  it('make an emulator form of two settings that production refuses', () => {
    const emulator = {
      COGNITION_UNSAFE_CALLER: CALLER,
      COGNITION_ENDPOINT_URL_ECS: 'http://127.0.0.1:4566/secret',
    };

    const { settings, warnings } = parse({ ...emulator, COGNITION_ENVIRONMENT: 'development' });

    expect(settings.emulator).toStrictEqual({
      unsafe_caller: CALLER,
      endpoint_url_ecs: 'http://127.0.0.1:4566/secret',
    });
    expect(warnings).toStrictEqual([
      `COGNITION_UNSAFE_CALLER is set: every caller without an identity is ${CALLER}, and the network is open`,
    ]);
    expect(problemsOf(emulator)).toStrictEqual([
      'COGNITION_UNSAFE_CALLER is for development: leave it out',
      'COGNITION_ENDPOINT_URL_ECS is for development: leave it out',
    ]);
  });

  it('take packages in the table, and any image where an emulator starts the tasks', () => {
    const { settings } = parse({
      COGNITION_ENVIRONMENT: 'development',
      COGNITION_UNSAFE_CALLER: CALLER,
      COGNITION_SKILLS_BACKEND: 'config_registry',
      COGNITION_SANDBOX_IMAGE: 'sandbox:local',
    });

    expect(settings.packages).toStrictEqual({ backend: 'config_registry' });
    expect(settings.sandbox_image).toBe('sandbox:local');
  });

  it('ignore what has no effect, with a warning each', () => {
    const { warnings } = parse({
      COGNITION_PORT: '1',
      COGNITION_SKILLS_BACKEND: 'config_registry',
      COGNITION_SKILLS_S3_BUCKET: 'our-packages',
      COGNITION_ENDPOINT: 'https://example.com',
    });

    expect(warnings).toStrictEqual([
      'COGNITION_SKILLS_S3_BUCKET is ignored: COGNITION_SKILLS_BACKEND is config_registry',
      'COGNITION_PORT is ignored: it is a setting of a standalone server',
    ]);
  });

  it('are no mistake in the environment of a standalone server', () => {
    const { warnings } = parseSettings({ COGNITION_WAF: '1', COGNITION_DEPLOYMENT: 'team-a' });

    expect(warnings).toStrictEqual([
      'COGNITION_DEPLOYMENT is ignored: it is a setting of a deployment',
      'COGNITION_WAF is ignored: it is a setting of a deployment',
    ]);
    expect(() =>
      parseSettings({ COGNITION_ENVIRONMENT: 'production', COGNITION_UNSAFE_CALLER: CALLER }),
    ).toThrow('COGNITION_UNSAFE_CALLER is for development: leave it out');
  });
});
