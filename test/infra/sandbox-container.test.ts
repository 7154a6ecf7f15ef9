/** The containers of test/container are those of a deployment: what its task definition says is what they are started with. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { SANDBOX_PORT } from '../../shared/contracts/daemon.ts';
import { taskOptions } from '../support/container/container-host.ts';
import { profileOf } from '../support/sandboxd-task.ts';
import { resourcesOf, templateOf } from './support/synthesize.ts';

const containerSchema = z.strictObject({
  Name: z.string(),
  Image: z.unknown(),
  Essential: z.literal(true),
  ReadonlyRootFilesystem: z.literal(true),
  PortMappings: z.tuple([
    z.strictObject({ ContainerPort: z.literal(SANDBOX_PORT), Protocol: z.literal('tcp') }),
  ]),
  LinuxParameters: z.strictObject({
    InitProcessEnabled: z.literal(true),
    Capabilities: z.strictObject({ Drop: z.array(z.string()) }),
    Tmpfs: z.array(
      z.strictObject({ ContainerPath: z.string(), Size: z.int(), MountOptions: z.array(z.string()) }),
    ),
  }),
  LogConfiguration: z.unknown(),
  StopTimeout: z.int(),
  /** Of files, which the daemon lowers for commands, and of core dumps. */
  Ulimits: z.array(
    z.strictObject({ Name: z.enum(['core', 'nofile']), SoftLimit: z.int(), HardLimit: z.int() }),
  ),
});

test('a task definition gives what the tests give, and nothing else', () => {
  const [found] = resourcesOf(templateOf('production', 'sandbox'), 'AWS::ECS::TaskDefinition');
  const { ContainerDefinitions, Memory, NetworkMode, TaskRoleArn } = z
    .object({
      ContainerDefinitions: z.tuple([containerSchema]),
      Memory: z.string(),
      NetworkMode: z.string(),
      TaskRoleArn: z.unknown().optional(),
    })
    .parse(found?.Properties);
  const [{ LinuxParameters: linux }] = ContainerDefinitions;

  const options = [
    '--init',
    '--read-only',
    `--memory=${Memory}m`,
    `--memory-swap=${Memory}m`,
    ...linux.Capabilities.Drop.map((name) => `--cap-drop=${name}`),
    ...linux.Tmpfs.map(
      ({ ContainerPath, Size, MountOptions }) =>
        `--tmpfs=${ContainerPath}:${MountOptions.join(',')},size=${Size}m`,
    ),
  ];
  expect(options.toSorted()).toEqual(taskOptions(profileOf({ name: 'default' })).toSorted());
  expect([NetworkMode, TaskRoleArn]).toEqual(['awsvpc', undefined]);
});
