/** What every SandboxProvisioner must do. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sandboxProfileSchema } from '../../shared/contracts/sandbox-profile.ts';
import { newSandboxKeyPair } from '../../shared/domain/daemon-signature.ts';
import type { SandboxProvisioner, SandboxTask } from '../../shared/ports/sandbox-provisioner.ts';
import { testIds } from '../support/sandbox-test-ports.ts';

export interface ProvisionerUnderTest {
  readonly provisioner: SandboxProvisioner;
  /** Another instance with the same settings over the same provider, as after a restart of the caller. */
  again(): SandboxProvisioner;
  close(): Promise<void>;
}

const profile = sandboxProfileSchema.parse({ name: 'standard' });
const unknownProfile = sandboxProfileSchema.parse({ name: 'no-such-profile' });
const ids = testIds();

const request = (sandbox_id = ids.next()) => ({
  sandbox_id,
  profile,
  public_key: newSandboxKeyPair().public_key,
  run: { fingerprint: 'a'.repeat(52), run_id: ids.next() },
});

async function until(
  provisioner: SandboxProvisioner,
  taskId: string,
  status: SandboxTask['status'],
): Promise<SandboxTask> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const [task] = await provisioner.describe([taskId]);
    if (task?.status === status) return task;
    if (Date.now() > deadline) throw new Error(`the task is ${task?.status}, not ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export function sandboxProvisionerContract(name: string, setUp: () => Promise<ProvisionerUnderTest>): void {
  describe(`SandboxProvisioner contract: ${name}`, () => {
    let subject: ProvisionerUnderTest;
    beforeAll(async () => {
      subject = await setUp();
    });
    afterAll(async () => {
      await subject.close();
    });

    it('brings a launched sandbox to running, with an address and its id', async () => {
      const launch = request();

      const launched = await subject.provisioner.launch(launch);
      const running = await until(subject.provisioner, launched.task_id, 'running');

      expect(running.sandbox_id).toBe(launch.sandbox_id);
      expect(running.address?.host).toMatch(/./);
      expect(running.address?.port).toBeGreaterThan(0);
      expect(Number.isNaN(Date.parse(running.created_at ?? ''))).toBe(false);
    });

    it('starts one task for a sandbox id however often it is launched, also from a new instance', async () => {
      const launch = request();

      const first = await subject.provisioner.launch(launch);
      const second = await subject.provisioner.launch(launch);
      const third = await subject.again().launch(launch);

      expect([second.task_id, third.task_id]).toEqual([first.task_id, first.task_id]);
    });

    it('refuses a sandbox id that is launched again with other parameters', async () => {
      const launch = request();
      await subject.provisioner.launch(launch);

      const other = subject.provisioner.launch({ ...launch, public_key: newSandboxKeyPair().public_key });

      await expect(other).rejects.toMatchObject({ code: 'sandbox_unavailable' });
    });

    it('does not revive a stopped sandbox by launching its id again', async () => {
      const launch = request();
      const launched = await subject.provisioner.launch(launch);
      await subject.provisioner.stop(launched.task_id, 'test');
      await until(subject.provisioner, launched.task_id, 'stopped');

      const again = await subject.provisioner.launch(launch);

      expect(again).toMatchObject({ task_id: launched.task_id, status: 'stopped' });
    });

    it('says why a task was stopped, and stops it as often as asked', async () => {
      const launched = await subject.provisioner.launch(request());

      await subject.provisioner.stop(launched.task_id, 'the run has ended');
      await subject.provisioner.stop(launched.task_id, 'a second time');

      const stopped = await until(subject.provisioner, launched.task_id, 'stopped');
      expect(stopped.stopped_reason).toBe('the run has ended');
    });

    it('takes a stop of a task that never was as done', async () => {
      const launched = await subject.provisioner.launch(request());
      const unknown = launched.task_id.replace(/.{4}$/, '0000');

      await expect(subject.provisioner.stop(unknown, 'test')).resolves.toBeUndefined();
    });

    it('describes in the order of the question, unknown tasks as missing, beyond one batch', async () => {
      const launched = await subject.provisioner.launch(request());
      const unknown = Array.from({ length: 150 }, (_, index) =>
        launched.task_id.replace(/.{4}$/, String(1_000 + index)),
      );

      const tasks = await subject.provisioner.describe([...unknown, launched.task_id]);

      expect(tasks).toHaveLength(151);
      expect(tasks.slice(0, 150).every((task) => task.status === 'missing')).toBe(true);
      expect(tasks[150]?.task_id).toBe(launched.task_id);
      expect(await subject.provisioner.describe([])).toEqual([]);
    });

    it('lists every task that is not stopped, beyond one page, and no stopped one', async () => {
      const launched = await Promise.all(
        Array.from({ length: 120 }, () => subject.provisioner.launch(request())),
      );
      const gone = launched[0]?.task_id ?? '';
      await subject.provisioner.stop(gone, 'test');

      const listed = new Set((await subject.provisioner.list()).map((task) => task.task_id));

      expect(launched.slice(1).filter((task) => !listed.has(task.task_id))).toEqual([]);
      expect(listed.has(gone)).toBe(false);
    });

    it('launches a pooled sandbox, which belongs to no run', async () => {
      const { run: _, ...pooled } = request();

      const launched = await subject.provisioner.launch(pooled);

      expect(launched.sandbox_id).toBe(pooled.sandbox_id);
    });

    it('refuses a profile that it does not have, by name', async () => {
      const launch = subject.provisioner.launch({ ...request(), profile: unknownProfile });

      await expect(launch).rejects.toMatchObject({
        code: 'sandbox_unavailable',
        message: expect.stringContaining('no-such-profile'),
      });
      await expect(subject.provisioner.imageIdentity(unknownProfile)).rejects.toMatchObject({
        code: 'sandbox_unavailable',
      });
    });

    it('names the image that would run', async () => {
      expect(await subject.provisioner.imageIdentity(profile)).toMatch(/./);
    });
  });
}
