import { handler as awaitSandbox } from './await-sandbox.ts';
import { handler as collectArtifacts } from './collect-artifacts.ts';
import { handler as execute } from './execute.ts';
import { handler as finish } from './finish.ts';
import { handler as launchSandbox } from './launch-sandbox.ts';
import { handler as materialize } from './materialize.ts';
import { handler as pinManifest } from './pin-manifest.ts';
import { handler as recordFailure } from './record-failure.ts';
import { handler as teardown } from './teardown.ts';

/** By the state's name in infra/run-machine.asl.json: what a machine interpreted in one process calls. */
export const STEP_HANDLERS = {
  PinManifest: pinManifest,
  LaunchSandbox: launchSandbox,
  AwaitSandbox: awaitSandbox,
  Materialize: materialize,
  Execute: execute,
  CollectArtifacts: collectArtifacts,
  Finish: finish,
  RecordFailure: recordFailure,
  Teardown: teardown,
} as const;
