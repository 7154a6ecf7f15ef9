/** What a hostile or merely unlucky command does to its own daemon, over the whole product. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Api } from '../support/api.ts';
import { freshScope } from '../support/fresh-scope.ts';
import { shellRun } from '../support/run-scope.ts';
import { removeFolder, type StandaloneProcess, startStandalone } from '../support/standalone.ts';

let server: StandaloneProcess;
let api: Api;
beforeAll(async () => {
  server = await startStandalone({ COGNITION_SANDBOX_POOL_SIZE: '1', COGNITION_LOG_LEVEL: 'warn' });
  api = new Api(server.target, freshScope());
  await api.putAgent('agent', {});
});
afterAll(async () => {
  await server.stop();
  removeFolder(server.folder);
});

it.each([
  ['whose rest comes later', "printf 'a\\303'; sleep 1.2; printf '\\251b'", 'a\u00e9b'],
  ['on stderr, whose rest comes later', "printf '\\360\\237\\230' >&2; sleep 1.2; printf '\\200' >&2", ''],
  ['whose rest never comes', "printf 'a\\303'; sleep 1.2", 'a\ufffd'],
])('half a character %s is no breach of the protocol', async (_, script, stdout) => {
  const { json: run } = await api.run(shellRun(script));

  expect(run).toMatchObject({ status: 'succeeded', failure: null, stdout });
});

it('thousands of outputs with names that grow when they are escaped do not hide a good one', async () => {
  const script = [
    'for n in range(3500):',
    "    open('/outputs/' + chr(1) * 250 + str(n), 'w')",
    "open('/outputs/good', 'w')",
  ];

  const { json: run } = await api.run({
    agent: 'agent',
    command: { argv: ['python3', '-c', script.join('\n')] },
  });

  expect(run).toMatchObject({ status: 'succeeded', failure: null, artifact_count: 1 });
});
