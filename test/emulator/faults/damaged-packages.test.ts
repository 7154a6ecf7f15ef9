/** Package objects that somebody deletes or changes behind the product's back. */
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { describe, expect, it } from 'vitest';
import { scopeFingerprint } from '../../../shared/domain/scope.ts';
import type { Api } from '../../support/api.ts';
import { scopeWithSkill, shellRun } from '../../support/run-scope.ts';
import { skillFiles } from '../../support/skill-files.ts';
import { deployed } from '../support/deployed.ts';
import { expectRunsClosed } from '../support/run-closed.ts';

const cognition = deployed();
const Bucket = cognition.facts.packages_bucket;
const SCRIPTS = { 'scripts/x.sh': 'echo ran; echo ran > /outputs/ran', 'references/a.md': 'x'.repeat(5_000) };

async function packageKey(api: Api): Promise<string> {
  const prefix = `packages/${scopeFingerprint(api.scope)}/`;
  const keys = (await cognition.objects(Bucket)).filter((key) => key.startsWith(prefix));
  expect(keys).toHaveLength(1);
  return keys[0] ?? '';
}

/** Asks for the command by its path, so that the package is first read when it is to be materialized. */
const RUN = shellRun('sh /skills/t1/scripts/x.sh');

async function expectNothingRan(api: Api, code: string): Promise<void> {
  const started = await api.post('/runs', RUN);
  expect(started.status).toBe(202);
  const id = started.json.run_id;
  const [ended] = await expectRunsClosed(cognition, api, [id]);
  expect(ended?.json).toMatchObject({ status: 'failed', failure: { code }, exit_code: null, stdout: '' });
  const { items } = (await api.get(`/runs/${id}/events`)).json;
  const types = items.map(({ type }: { type: string }) => type);
  expect(types).not.toContain('command.started');
}

async function expectRepaired(api: Api): Promise<void> {
  await api.publish('t1', skillFiles('t1', SCRIPTS));
  expect((await api.run(RUN)).json).toMatchObject({ status: 'succeeded', stdout: 'ran\n' });
}

describe('a package object', () => {
  it('that was deleted: no run starts a command, until the same files are published again', async () => {
    const api = await scopeWithSkill(SCRIPTS, cognition.api());
    const Key = await packageKey(api);
    await cognition.s3.send(new DeleteObjectCommand({ Bucket, Key }));

    await expectNothingRan(api, 'package_unavailable');

    await expectRepaired(api);
  });

  it('that was altered in one byte: no run starts a command, until the same files are published again', async () => {
    const api = await scopeWithSkill(SCRIPTS, cognition.api());
    const Key = await packageKey(api);
    const { Body } = await cognition.s3.send(new GetObjectCommand({ Bucket, Key }));
    const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
    bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100);
    await cognition.s3.send(new PutObjectCommand({ Bucket, Key, Body: bytes }));

    await expectNothingRan(api, 'digest_mismatch');

    await expectRepaired(api);
  });
});
