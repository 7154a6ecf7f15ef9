/** What every RunOrchestrator keeps. An adapter passes by calling this with a factory of machines that nobody else uses. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunRef } from '../../shared/contracts/workflow.ts';
import type { RunOrchestrator } from '../../shared/ports/run-orchestrator.ts';

export interface OrchestratorUnderTest {
  readonly orchestrator: RunOrchestrator;
  /** The inputs of all executions that have begun, in no order. */
  begun(): Promise<readonly unknown[]>;
  /** Resolves when no execution is under way. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

const refOf = (n: number): RunRef => ({ fingerprint: 'a'.repeat(52), run_id: String(n).padStart(26, '0') });

export function runOrchestratorContract(name: string, open: () => Promise<OrchestratorUnderTest>): void {
  describe(`${name} keeps the contract of RunOrchestrator`, () => {
    let opened: OrchestratorUnderTest;
    let orchestrator: RunOrchestrator;
    beforeEach(async () => {
      opened = await open();
      orchestrator = opened.orchestrator;
    });
    afterEach(() => opened.close());

    it('tells an execution the fingerprint and the id of its run, whatever else the caller knows', async () => {
      await orchestrator.start({ ...refOf(1), stdin: 'secret' } as RunRef);
      await opened.idle();
      expect(await opened.begun()).toStrictEqual([refOf(1)]);
    });

    it('begins one execution for a run that is started many times at once', async () => {
      await Promise.all(Array.from({ length: 20 }, () => orchestrator.start(refOf(1))));
      await orchestrator.start(refOf(1));
      expect(await opened.begun()).toStrictEqual([refOf(1)]);
    });

    it('begins none for a run that is started again after its execution has ended', async () => {
      await orchestrator.start(refOf(1));
      await opened.idle();

      await orchestrator.start(refOf(1));

      await opened.idle();
      expect(await opened.begun()).toStrictEqual([refOf(1)]);
    });

    it('begins one for each of many runs', async () => {
      const runs = Array.from({ length: 30 }, (_, n) => refOf(n));
      await Promise.all(runs.map((run) => orchestrator.start(run)));
      await opened.idle();
      expect(new Set((await opened.begun()).map((input) => JSON.stringify(input)))).toStrictEqual(
        new Set(runs.map((run) => JSON.stringify(run))),
      );
    });
  });
}
