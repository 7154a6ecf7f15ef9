import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { createApp } from '../../infra/create-app.ts';
import { createDeployment } from '../../infra/deployment.ts';
import { SANDBOX_PORT } from '../../shared/contracts/daemon.ts';
import { type SandboxProfile, sandboxProfileSchema } from '../../shared/contracts/sandbox-profile.ts';
import { statementsOf, textOf } from './support/policy-statements.ts';
import {
  type Properties,
  resourcesOf,
  settingsOf,
  synthesize,
  templateOf,
  VARIANT_NAMES,
  type VariantName,
  variant,
} from './support/synthesize.ts';

const GiB = 1024 ** 3;

const sandbox = (name: VariantName = 'production') => templateOf(name, 'sandbox');

interface Container {
  readonly Image: unknown;
  readonly LogConfiguration: { readonly Options: Readonly<Record<string, unknown>> };
  readonly LinuxParameters: {
    readonly Tmpfs: readonly { readonly ContainerPath: string; readonly Size: number }[];
    readonly Capabilities: { readonly Drop: readonly string[] };
  };
}

function task(name?: VariantName): { readonly properties: Properties; readonly container: Container } {
  const [found] = resourcesOf(sandbox(name), 'AWS::ECS::TaskDefinition');
  const properties = found?.Properties ?? {};
  const [container] = properties.ContainerDefinitions as Container[];
  if (container === undefined) throw new Error('no container');
  return { properties, container };
}

const profile = (given: Partial<SandboxProfile> = {}): SandboxProfile =>
  sandboxProfileSchema.parse({ name: 'default', ...given });

describe('the task definition of a sandbox', () => {
  it('runs the daemon alone, on a root that cannot be written, under an init', () => {
    const { properties, container } = task();

    expect(properties).toMatchObject({
      Family: 'cognition-sandbox-default',
      NetworkMode: 'awsvpc',
      RequiresCompatibilities: ['FARGATE'],
      RuntimePlatform: { CpuArchitecture: 'ARM64', OperatingSystemFamily: 'LINUX' },
      Cpu: '512',
      Memory: '1024',
    });
    expect(properties.ContainerDefinitions).toHaveLength(1);
    expect(container).toMatchObject({
      Name: 'sandboxd',
      Essential: true,
      ReadonlyRootFilesystem: true,
      PortMappings: [{ ContainerPort: SANDBOX_PORT, Protocol: 'tcp' }],
      LinuxParameters: { InitProcessEnabled: true },
      StopTimeout: 2,
    });
  });

  it.each(VARIANT_NAMES)('has no role, secret, variable, command or volume to be found in %s', (name) => {
    const { properties, container } = task(name);

    expect(Object.keys(properties).toSorted()).toEqual([
      'ContainerDefinitions',
      'Cpu',
      'ExecutionRoleArn',
      'Family',
      'Memory',
      'NetworkMode',
      'RequiresCompatibilities',
      'RuntimePlatform',
    ]);
    expect(Object.keys(container).toSorted()).toEqual([
      'Essential',
      'Image',
      'LinuxParameters',
      'LogConfiguration',
      'Name',
      'PortMappings',
      'ReadonlyRootFilesystem',
      'StopTimeout',
      'Ulimits',
    ]);
  });

  it('keeps the capabilities that the daemon needs to end other users, and no other', () => {
    const given = [
      ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE'],
      ...['NET_RAW', 'SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
    ];
    const { Capabilities } = task().container.LinuxParameters;

    const kept = given.filter((capability) => !Capabilities.Drop.includes(capability));

    expect(Object.keys(Capabilities)).toEqual(['Drop']);
    expect(kept).toEqual(['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'SETGID', 'SETPCAP', 'SETUID']);
  });

  it('mounts memory where a sandbox writes, without devices and set-user-id programs', () => {
    expect(task().container.LinuxParameters.Tmpfs).toEqual(
      [
        ['/run', 4],
        ['/tmp', 128],
        ['/skills', 59],
        ['/workspace', 256],
        ['/outputs', 256],
      ].map(([ContainerPath, Size]) => ({ ContainerPath, Size, MountOptions: ['exec', 'nosuid', 'nodev'] })),
    );
  });

  it('never waits for its log, which is encrypted', () => {
    const { Options } = task().container.LogConfiguration;

    expect(Options).toMatchObject({ mode: 'non-blocking', 'awslogs-stream-prefix': 'default' });
    Template.fromJSON({ ...sandbox() }).hasResourceProperties('AWS::Logs::LogGroup', {
      LogGroupName: '/cognition/cognition/sandboxes',
      RetentionInDays: 90,
    });
  });

  it('keeps an old revision that functions still name', () => {
    const [definition] = resourcesOf(sandbox(), 'AWS::ECS::TaskDefinition');

    expect(definition).toMatchObject({
      DeletionPolicy: 'Delete',
      UpdateReplacePolicy: 'Retain',
    });
  });
});

describe('the execution role', () => {
  it('pulls one image and writes one log, for tasks of this account', () => {
    const [role] = resourcesOf(sandbox(), 'AWS::IAM::Role');
    const statements = statementsOf('sandbox', sandbox()).filter(({ type }) => type === 'AWS::IAM::Policy');

    expect(role?.Properties?.AssumeRolePolicyDocument).toMatchObject({
      Statement: [
        {
          Principal: { Service: 'ecs-tasks.amazonaws.com' },
          Condition: {
            StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } },
            ArnLike: { 'aws:SourceArn': expect.anything() },
          },
        },
      ],
    });
    expect(role?.Properties?.ManagedPolicyArns).toBeUndefined();
    const allowed = statements.flatMap(({ actions, resources }) =>
      actions.map((action) => [action, ...resources]),
    );
    expect(allowed.toSorted()).toEqual([
      ['ecr:BatchCheckLayerAvailability', expect.stringMatching(/:111122223333:repository\/sandbox$/)],
      ['ecr:BatchGetImage', expect.stringMatching(/repository\/sandbox$/)],
      ['ecr:GetAuthorizationToken', '*'],
      ['ecr:GetDownloadUrlForLayer', expect.stringMatching(/repository\/sandbox$/)],
      ['logs:CreateLogStream', expect.stringMatching(/^\$\{Logs/)],
      ['logs:PutLogEvents', expect.stringMatching(/^\$\{Logs/)],
    ]);
  });
});

describe('the image', () => {
  it('is the one of the settings, by its digest', () => {
    expect(task().container.Image).toMatch(
      /^111122223333\.dkr\.ecr\.eu-central-1\.amazonaws\.com\/sandbox@sha256:a{64}$/,
    );
    expect(resourcesOf(sandbox(), 'Custom::ImageDigest')).toEqual([]);
  });

  it('is built otherwise, and named by the digest that the registry gave it', () => {
    const image = textOf(task('everything').container.Image);

    expect(image).toMatch(
      /^\$\{AWS::AccountId}\.dkr\.ecr\..*cdk-hnb659fds-container-assets-.*@\$\{ImageDigest\w+\.imageDetails\.0\.imageDigest}$/,
    );
    const manifest = join(variant('everything').app.outdir, 'cognition-sandbox.assets.json');
    const { dockerImages } = JSON.parse(readFileSync(manifest, 'utf8'));
    expect(Object.values(dockerImages)).toMatchObject([
      {
        source: {
          platform: 'linux/arm64',
          dockerOutputs: [expect.stringMatching(/^type=image,.*compression=zstd/)],
        },
      },
    ]);
  });

  it('is built on the base of the settings, where they name one', () => {
    const base = `registry.example/debian@sha256:${'b'.repeat(64)}`;
    const environment = { COGNITION_SANDBOX_IMAGE: '', COGNITION_SANDBOX_BASE: base };
    const { app } = synthesize(settingsOf({ environment }));

    const { dockerImages } = JSON.parse(
      readFileSync(join(app.outdir, 'cognition-sandbox.assets.json'), 'utf8'),
    );

    expect(Object.values(dockerImages)).toMatchObject([{ source: { dockerBuildArgs: { BASE: base } } }]);
  });

  it('is required to be built somewhere', () => {
    const settings = settingsOf({ environment: { COGNITION_SANDBOX_IMAGE: '' } });

    expect(() => createDeployment(createApp(settings), settings, new Map())).toThrow(
      'there is no folder to build the image of sandboxes in',
    );
  });
});

describe('the image identity', () => {
  const identities = (environment: Record<string, string>, profiles?: readonly SandboxProfile[]) => {
    const settings = settingsOf({ environment });
    return synthesize(profiles === undefined ? settings : { ...settings, profiles }).stacks.sandbox
      .imageIdentities;
  };

  it('has the digest, and changes with the profile and with what the task is', () => {
    const [usual, larger, other] = [
      identities({}),
      identities({}, [profile({ max_processes: 257 })]),
      identities({ COGNITION_SANDBOX_ARCHITECTURE: 'x64' }),
    ];

    expect(usual.default).toMatch(/^sha256:a{64}\/[0-9a-f]{16}$/);
    expect(new Set([usual.default, larger.default, other.default]).size).toBe(3);
    expect(identities({})).toEqual(usual);
  });

  it('is of each profile', () => {
    const made = identities({}, [profile(), profile({ name: 'large', memory_bytes: 4 * GiB })]);

    expect(Object.keys(made)).toEqual(['default', 'large']);
    expect(made.default).not.toBe(made.large);
  });
});

describe('the cluster', () => {
  it('has the name of the deployment, and metrics', () => {
    Template.fromJSON({ ...sandbox() }).hasResourceProperties('AWS::ECS::Cluster', {
      ClusterName: 'cognition',
      ClusterSettings: [{ Name: 'containerInsights', Value: 'enabled' }],
    });
  });

  it('keeps agents of others out of its tasks', () => {
    Template.fromJSON({ ...sandbox() }).hasResourceProperties('AWS::ECS::Cluster', {
      Tags: [{ Key: 'GuardDutyManaged', Value: 'false' }],
    });
  });
});
