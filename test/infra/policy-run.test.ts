/** A run through the real handlers, each row and object that it touches asked of the role that would touch it. */
import { describe, expect, it } from 'vitest';
import { functionOfState, functionSpec } from '../../infra/functions/function-table.ts';
import { ROUTES } from '../../shared/contracts/routes.ts';
import { type Backend, countStandardRun } from '../support/standard-run.ts';
import { may, OUTPUTS, TABLE } from './support/policy-simulator.ts';

/** `getRunArtifacts, bytes` is the second call of an operation, `Execute` is a state. */
function specOf(section: string) {
  const operation = section.split(',')[0];
  const route = ROUTES.find((one) => one.operation === operation);
  return route === undefined ? functionOfState(section) : functionSpec(route.function);
}

describe.each<Backend>(['s3', 'config_registry'])('a standard run, packages in %s', (backend) => {
  it('needs nothing that the roles of its functions do not have', async () => {
    const { touched } = await countStandardRun(backend);
    const refused: string[] = [];
    let asked = 0;
    for (const [section, calls] of touched) {
      // By hand, where the run is prepared.
      if (['before', 'putSkill', 'putAgent'].includes(section)) continue;
      for (const call of calls) {
        const [action = '', what = ''] = call.split(' ');
        // Packages have a bucket of their own, or are rows.
        if (what.startsWith('packages/')) continue;
        const allowed = action.startsWith('s3:')
          ? may(specOf(section), action, `${OUTPUTS}/${what}`)
          : may(specOf(section), action, TABLE, { 'dynamodb:LeadingKeys': [what] });
        asked += 1;
        if (!(await allowed)) refused.push(`${section}: ${call}`);
      }
    }

    expect(refused).toEqual([]);
    expect(asked).toBeGreaterThan(40);
  });
});
