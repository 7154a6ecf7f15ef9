/** The conformance program can tell: where it has the daemon's rights, and no filter, it finds much that is not refused. */
import { afterAll, expect, test } from 'vitest';
import { CONFORMANCE_PREFIX, conformanceSkill } from '../../cli/doctor/deployed/conformance-skill.ts';
import { readAttempts } from '../../cli/doctor/deployed/read-attempts.ts';
import { openContainers } from '../support/sandbox-form.ts';
import { sealTask, startTask } from '../support/sandboxd-task.ts';

const host = openContainers();
afterAll(() => host.close());

test('attempts of root in the container are seen to succeed', async () => {
  const task = await startTask(host);
  const files = Object.fromEntries(await conformanceSkill(CONFORMANCE_PREFIX));
  await sealTask(task, { skills: { [CONFORMANCE_PREFIX]: files } });
  const parts = 'import attempts_network, report; attempts_network.run(); report.done("parts")';
  const program = `import sys; sys.dont_write_bytecode = True; sys.path.insert(0, '/skills/${CONFORMANCE_PREFIX}/scripts'); ${parts}`;

  const stdout = await host.exec(task.process.id, 'python3', '-c', program);

  const through = readAttempts('parts', stdout).filter(({ refused }) => !refused);
  const names = through.map(({ attempt }) => attempt);
  expect(names).toContain('socket INET STREAM');
  expect(names).toContain('socket NETLINK RAW');
  // The stand-in for the metadata endpoint answers, and so does the daemon.
  expect(names).toContain('connect to the endpoint of task metadata and credentials');
  expect(names).toContain("connect to the sandbox's own daemon");
  expect(names).toContain(`connect to the daemon at ${task.sandbox.host}`);
});
