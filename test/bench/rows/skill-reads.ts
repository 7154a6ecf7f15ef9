/** GET of a skill over HTTP: how many a second, and whether 100,000 skills in the scope slow it or pinning down. */
import autocannon from 'autocannon';
import type { Scope, TestTarget } from '../../support/api.ts';
import { freshScope } from '../../support/fresh-scope.ts';
import { seedSkills } from '../../support/seed-skills.ts';
import { skillFiles } from '../../support/skill-files.ts';
import {
  newFolder,
  removeFolder,
  type StandaloneProcess,
  startStandalone,
} from '../../support/standalone.ts';
import { BenchClient } from '../bench-client.ts';
import { atLeast, atMost, type BenchRow, median } from '../bench-row.ts';

const SKILLS = { few: 100, many: 100_000 };

async function requestsPerSecond(target: TestTarget, client: BenchClient): Promise<number> {
  const signed = await client.sign('GET', '/skills/t1');
  const load = (duration: number) =>
    autocannon({
      url: target.endpoint,
      connections: 16,
      duration,
      requests: [{ method: 'GET', path: signed.path, headers: signed.headers }],
    });
  await load(3);
  const result = await load(8);
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} refused, ${result.errors} errors`);
  return result.requests.average;
}

async function getTime(client: BenchClient): Promise<number> {
  const signed = await client.sign('GET', '/skills/t1');
  const begin = performance.now();
  await client.send(signed);
  return performance.now() - begin;
}

/** From queued to pinned, by the run's own times. */
async function pinTime(client: BenchClient): Promise<number> {
  const { run_id } = await client.wholeRun({ agent: 'agent', command: { argv: ['true'] } });
  const { timings } = (await client.call('GET', `/runs/${run_id}`)).json;
  return Date.parse(timings.pinned_at) - Date.parse(timings.queued_at);
}

interface Samples {
  readonly few: number[];
  readonly many: number[];
}

interface Side {
  readonly server: StandaloneProcess;
  readonly client: BenchClient;
}

async function side(count: number, scope: Scope): Promise<Side> {
  const folder = newFolder();
  await seedSkills(folder, scope, count);
  const server = await startStandalone({}, folder);
  const client = new BenchClient(server.target, scope);
  await client.call('PUT', '/skills/t1', { files: skillFiles('t1') });
  await client.call('PUT', '/agents/agent', { skills: ['t1'] });
  return { server, client };
}

export async function skillReads(): Promise<BenchRow[]> {
  const scope = freshScope();
  const few = await side(SKILLS.few, scope);
  const many = await side(SKILLS.many, scope);
  try {
    // Both, so that the two servers are equally warm when they are compared.
    await requestsPerSecond(many.server.target, many.client);
    const perSecond = await requestsPerSecond(few.server.target, few.client);
    const gets: Samples = { few: [], many: [] };
    const pins: Samples = { few: [], many: [] };
    for (let round = -50; round < 500; round += 1) {
      const [a, b] = [await getTime(few.client), await getTime(many.client)];
      if (round >= 0) gets.few.push(a);
      if (round >= 0) gets.many.push(b);
    }
    for (let round = -3; round < 30; round += 1) {
      const [a, b] = [await pinTime(few.client), await pinTime(many.client)];
      if (round >= 0) pins.few.push(a);
      if (round >= 0) pins.many.push(b);
    }
    return [
      atLeast(
        'get-rate',
        'GET of a skill over HTTP, 16 connections, every signature verified',
        perSecond,
        1200,
        '/s',
      ),
      atMost(
        'get-100k',
        'the same GET with 100,000 skills in the scope: of 100',
        median(gets.many) / median(gets.few),
        1.2,
        '×',
      ),
      atMost(
        'pin-100k',
        'pinning with 100,000 skills in the scope: of 100',
        median(pins.many) / median(pins.few),
        1.2,
        '×',
      ),
    ];
  } finally {
    for (const { server, client } of [few, many]) {
      client.close();
      await server.stop();
      removeFolder(server.folder);
    }
  }
}
