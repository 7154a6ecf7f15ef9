/** Many runs at once, and many that want the same skill in the same moment. */
import { describe, expect, it } from 'vitest';
import { scopeWithSkill, scriptRun } from '../../support/run-scope.ts';
import { deployed } from '../support/deployed.ts';
import { expectRunsClosed } from '../support/run-closed.ts';

const cognition = deployed();

const SCRIPTS = { 'scripts/x.sh': 'cat; echo "$1" > /outputs/out.txt' };

describe('20 runs at once', () => {
  it('each succeeds with its own input and output, and leaves nothing behind', async () => {
    const api = await scopeWithSkill(SCRIPTS, cognition.api());
    const inputs = Array.from({ length: 20 }, (_, index) => `input ${index}`);

    const started = await Promise.all(
      inputs.map((text) =>
        api.post('/runs', {
          ...scriptRun('scripts/x.sh', { stdin: text }),
          command: { skill: 't1', script: 'scripts/x.sh', args: [text] },
        }),
      ),
    );

    expect(started.map(({ status }) => status)).toEqual(inputs.map(() => 202));
    const ids = started.map(({ json }) => json.run_id);
    const ended = await expectRunsClosed(cognition, api, ids);
    expect(ended.map(({ json }) => [json.status, json.stdout])).toEqual(
      inputs.map((text) => ['succeeded', text]),
    );
    const outputs = await Promise.all(ids.map((id) => api.get(`/runs/${id}/artifacts?path=out.txt`)));
    expect(outputs.map(({ bytes }) => bytes.toString())).toEqual(inputs.map((text) => `${text}\n`));
  });
});

describe('50 runs that pin the same skill at once', () => {
  it('all pin it, and none fails because of the others', async () => {
    const api = await scopeWithSkill(SCRIPTS, cognition.api());
    const { digest, revision } = (await api.get('/skills/t1')).json;

    const { result: ids, calls } = await cognition.faults.during(async () => {
      const started = await Promise.all(
        Array.from({ length: 50 }, () => api.post('/runs', scriptRun('scripts/x.sh'))),
      );
      expect(started.map(({ status }) => status)).toEqual(started.map(() => 202));
      const runIds: string[] = started.map(({ json }) => json.run_id);
      const ended = await expectRunsClosed(cognition, api, runIds);
      expect(ended.map(({ json }) => json.failure)).toEqual(ended.map(() => null));
      return runIds;
    });

    const manifests = await Promise.all(ids.map((id) => api.get(`/runs/${id}/manifest`)));
    for (const { json } of manifests) {
      expect(json.manifest.packages).toMatchObject([{ name: 't1', digest, revision }]);
    }
    const pins = calls.filter((call) => call.function === 'pin-manifest' && call.items !== undefined);
    expect(pins.length).toBeGreaterThanOrEqual(50);
  });
});
