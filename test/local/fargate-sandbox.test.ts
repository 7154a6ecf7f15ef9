import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ECSClient } from '@aws-sdk/client-ecs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalFargate } from '../../infra/local/fargate/local-fargate.ts';
import { createTaskRuntime } from '../../infra/local/fargate/task/task-runtime.ts';
import { createEcsSandboxProvisioner } from '../../shared/adapters/aws/ecs-sandbox-provisioner.ts';
import { createHttpSandboxClient } from '../../shared/adapters/sandbox/http-sandbox-client.ts';
import { sandboxFamily } from '../../shared/contracts/ecs-task.ts';
import { LIMITS } from '../../shared/contracts/limits.ts';
import { sandboxProfileSchema } from '../../shared/contracts/sandbox-profile.ts';
import { encodePackage, packageDigest } from '../../shared/domain/canonical-package.ts';
import { newSandboxKeyPair } from '../../shared/domain/daemon-signature.ts';
import { sha256Hex } from '../../shared/domain/sha256.ts';
import type { SandboxHandle } from '../../shared/ports/sandbox-client.ts';
import type { SandboxProvisioner } from '../../shared/ports/sandbox-provisioner.ts';
import { recordingLog, systemTestClock, testIds } from '../support/sandbox-test-ports.ts';

const ids = testIds();
const clock = systemTestClock();
const profile = sandboxProfileSchema.parse({ name: 'standard' });
const client = createHttpSandboxClient({ clock, ids });

interface World {
  readonly provisioner: SandboxProvisioner;
  close(): Promise<void>;
}

const provisionerAt = (endpoint: string, identity: string) => {
  const ecs = new ECSClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
  const provisioner = createEcsSandboxProvisioner({
    ecs,
    cluster: 'cognition',
    subnets: ['subnet-1'],
    securityGroups: ['sg-1'],
    taskDefinitions: { standard: sandboxFamily('standard') },
    imageIdentities: { standard: identity },
    isolation: 'sandbox',
  });
  return { ecs, provisioner };
};

async function startWorld(): Promise<World> {
  const log = recordingLog();
  const runtime = await createTaskRuntime({ unsafe_no_isolation: false, log });
  const fargate = createLocalFargate({ runtime, profiles: [profile], max_tasks: 8, clock, log });
  const { endpoint } = await fargate.start();
  const { ecs, provisioner } = provisionerAt(endpoint, runtime.imageIdentity(profile));
  return {
    provisioner,
    close: async () => {
      await fargate.close();
      await runtime.close();
      ecs.destroy();
    },
  };
}

async function launch(provisioner: SandboxProvisioner): Promise<SandboxHandle & { task_id: string }> {
  const keys = newSandboxKeyPair();
  const sandbox_id = ids.next();
  const { task_id } = await provisioner.launch({ sandbox_id, profile, public_key: keys.public_key });
  for (;;) {
    const [task] = await provisioner.describe([task_id]);
    if (task?.status === 'stopped' || task?.status === 'missing') throw new Error(task.stopped_reason);
    if (task?.status === 'running' && task.address !== undefined) {
      return { sandbox_id, run_id: ids.next(), ...task.address, private_key: keys.private_key, task_id };
    }
  }
}

const accepts = (address: { host: string; port: number }): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(address.port, address.host, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });

describe('a sandbox of local Fargate, over the wire', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(async () => {
    await world.close();
  });

  it('takes a package, runs its script and gives the output back', async () => {
    const sandbox = await launch(world.provisioner);
    const bytes = encodePackage(
      new Map([
        ['SKILL.md', '---\nname: echo\ndescription: Echo.\n---\n'],
        ['scripts/run.sh', '#!/bin/sh\ncat > "$OUTPUT_DIR/copy.txt"\necho "hello $1"\n'],
      ]),
    );
    const digest = packageDigest(bytes);
    const exec_id = ids.next();

    await client.bind(sandbox, { run_id: sandbox.run_id, manifest_digest: digest });
    await client.putPackage(sandbox, 'echo', digest, bytes);
    await client.putInput(sandbox, 'in.json', sha256Hex('{}'), Buffer.from('{}'));
    await client.seal(sandbox, {
      packages: [{ name: 'echo', digest }],
      inputs: [{ path: 'in.json', sha256: sha256Hex('{}') }],
    });
    await client.exec(sandbox, exec_id, {
      command: { skill: 'echo', script: 'scripts/run.sh', args: ['world'] },
      stdin: Buffer.from('data').toString('base64'),
      env: {},
      timeout_ms: 10_000,
      stream_bytes: LIMITS.streamBytes,
    });
    const offsets = { stdout_offset: 0, stderr_offset: 0 };
    let status = await client.execStatus(sandbox, exec_id, { wait_ms: 5_000, ...offsets });
    while (status.state === 'running') {
      status = await client.execStatus(sandbox, exec_id, { wait_ms: 5_000, ...offsets });
    }
    const outputs = await client.listOutputs(sandbox);
    const copy = await client.getOutput(sandbox, 'copy.txt', 100);
    await world.provisioner.stop(sandbox.task_id, 'test');

    expect(status).toMatchObject({ exit_code: 0, timed_out: false });
    expect(Buffer.from(status.stdout.data, 'base64').toString()).toBe('hello world\n');
    expect(outputs.files).toEqual([{ path: 'copy.txt', size_bytes: 4 }]);
    expect(copy.toString()).toBe('data');
  });

  it('answers only calls that are signed for it: a stale address leads nowhere', async () => {
    const [first, second] = [await launch(world.provisioner), await launch(world.provisioner)];
    const bind = { run_id: first.run_id, manifest_digest: `sha256:${sha256Hex('')}` };
    const stale = { ...first, host: second.host, port: second.port };

    await expect(client.bind(stale, bind)).rejects.toMatchObject({ code: 'bad_signature' });
    await client.bind(first, bind);

    await world.provisioner.stop(first.task_id, 'test');
    await world.provisioner.stop(second.task_id, 'test');
  });

  it('takes a package of 10 MB', async () => {
    const sandbox = await launch(world.provisioner);
    const files = Array.from({ length: 40 }, (_, index) => [`f${index}`, 'x'.repeat(262_144)] as const);
    const bytes = encodePackage(new Map(files));
    const digest = packageDigest(bytes);
    await client.bind(sandbox, { run_id: sandbox.run_id, manifest_digest: digest });

    await client.putPackage(sandbox, 'large', digest, bytes);
    const receipt = await client.seal(sandbox, { packages: [{ name: 'large', digest }], inputs: [] });

    expect(receipt.packages).toEqual([{ name: 'large', digest }]);
    await world.provisioner.stop(sandbox.task_id, 'test');
  });

  it('is gone, address and all, when it is stopped', async () => {
    const sandbox = await launch(world.provisioner);
    const before = await accepts(sandbox);

    await world.provisioner.stop(sandbox.task_id, 'test');
    for (let stopping = true; stopping; stopping = await accepts(sandbox)) await clock.sleep(10);

    const [task] = await world.provisioner.describe([sandbox.task_id]);
    expect(before).toBe(true);
    expect(task?.status).toBe('stopped');
  });
});

describe('local Fargate as a process of its own', () => {
  it('takes its tasks along when it is killed with -9', async () => {
    const main = fileURLToPath(new URL('../../infra/local/fargate/main.ts', import.meta.url));
    const server = spawn(process.execPath, [main, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: server.stdout });
    const [line] = await once(lines, 'line');
    const { endpoint, image_identities } = JSON.parse(String(line));
    const { ecs, provisioner } = provisionerAt(endpoint, image_identities.default);
    const keys = newSandboxKeyPair();
    const named = createEcsSandboxProvisioner({
      ecs,
      cluster: 'cognition',
      subnets: [],
      securityGroups: [],
      taskDefinitions: { default: sandboxFamily('default') },
      imageIdentities: image_identities,
      isolation: 'sandbox',
    });
    const started = await named.launch({
      sandbox_id: ids.next(),
      profile: sandboxProfileSchema.parse({ name: 'default' }),
      public_key: keys.public_key,
    });
    let address: { host: string; port: number } | undefined;
    while (address === undefined) address = (await provisioner.describe([started.task_id]))[0]?.address;
    const before = await accepts(address);

    server.kill('SIGKILL');
    await once(server, 'exit');
    const deadline = Date.now() + 10_000;
    while ((await accepts(address)) && Date.now() < deadline) await clock.sleep(20);

    expect(before).toBe(true);
    expect(await accepts(address)).toBe(false);
    ecs.destroy();
  });
});
