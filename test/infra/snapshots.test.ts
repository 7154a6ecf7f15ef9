/** Each stack as it was when somebody last looked: `vitest -u` takes a change over, and its diff is to be read. */
import { expect, it } from 'vitest';
import { variant } from './support/synthesize.ts';

const { templates } = variant('production');

/** Hashes of code and images change with every build; that there is one, and where, does not. */
const masked = (template: unknown): string =>
  `${JSON.stringify(template, null, 1).replaceAll(/\b[0-9a-f]{64}\b/g, '<asset>')}\n`;

it('covers every stack', () => {
  expect([...templates.keys()].toSorted()).toEqual([
    'api',
    'network',
    'observability',
    'runs',
    'sandbox',
    'storage',
  ]);
});

it.each([...templates])('the stack %s is as it was', async (stack, template) => {
  await expect(masked(template)).toMatchFileSnapshot(`snapshots/${stack}.template.snap`);
});
