/** Engine, image and network of the container form, once for all of its tests. */
import { createServer } from 'node:http';
import type { TestProject } from 'vitest/node';
import type { ContainerTarget } from '../support/container/container-host.ts';
import { docker, startDockerEngine } from '../support/container/docker-engine.ts';
import { buildSandboxImage } from '../support/container/sandbox-image.ts';
import { METADATA_SECRET } from './metadata-secret.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    container: ContainerTarget;
    /** Where something answers that commands must not reach. */
    metadataUrl: string;
  }
}

const NETWORK = 'cognition-test';
/** The addresses of what Fargate keeps for a task's metadata and credentials. Only this network has them here. */
const SUBNET = '169.254.170.0/24';
const METADATA = '169.254.170.2';

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const engine = await startDockerEngine();
  const closing: (() => Promise<unknown>)[] = [engine.stop];
  const close = async (): Promise<void> => {
    for (const end of closing.toReversed()) await end();
  };
  try {
    const image = await buildSandboxImage(engine.socket);
    await removeAll(engine.socket);
    await docker(engine.socket, [
      ...['network', 'create', '--internal', '--subnet', SUBNET, '--gateway', METADATA, NETWORK],
    ]);
    closing.push(() => removeAll(engine.socket));
    closing.push(await serveMetadata());
    project.provide('container', { socket: engine.socket, image, network: NETWORK });
    project.provide('metadataUrl', `http://${METADATA}/v2/credentials`);
    return close;
  } catch (error) {
    await close();
    throw error;
  }
}

/** What this run, or one that was killed, has left. */
async function removeAll(socket: string): Promise<void> {
  const list = async (...args: string[]): Promise<string[]> =>
    (await docker(socket, args)).split('\n').filter((line) => line !== '');
  const containers = await list('ps', '--all', '--quiet');
  if (containers.length > 0) await docker(socket, ['rm', '--force', ...containers]);
  const networks = await list('network', 'ls', '--quiet', '--filter', `name=${NETWORK}`);
  if (networks.length > 0) await docker(socket, ['network', 'rm', ...networks]);
}

async function serveMetadata(): Promise<() => Promise<void>> {
  const server = createServer((_, response) => response.end(METADATA_SECRET));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(80, METADATA, resolve);
  });
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
}
