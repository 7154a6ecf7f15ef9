/** cdk-nag over every variant of a deployment: each finding is fixed, or acknowledged where its construct is made. */
import { Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, NagPack, NIST80053R5Checks, ServerlessChecks } from 'cdk-nag';
import type { IConstruct } from 'constructs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { VARIANT_NAMES, variant } from './support/synthesize.ts';

/**
 * Wildcards in the resources of policies have a test of their own, which asks for a reason for each statement and all
 * of its actions (policy-statements.test.ts). The id of these findings holds generated names.
 */
const ELSEWHERE = /^AwsSolutions-IAM5\[Resource::/;

interface Acknowledgement {
  readonly path: string;
  readonly id: string;
  readonly reason: string;
}

const PACKS = /^(AwsSolutions|NIST\.800\.53\.R5|Serverless)-/;

function acknowledgementsOf(construct: IConstruct): Acknowledgement[] {
  return construct.node.metadata
    .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
    .flatMap(({ data }) => Object.entries(data as Record<string, string>))
    .map(([id, reason]) => ({ path: construct.node.path, id: id.replace(/^annotation::/i, ''), reason }))
    .filter(({ id }) => PACKS.test(id));
}

/** Every acknowledgement that let a finding pass, as `path id`, over all variants. */
const used = new Set<string>();

/** cdk-nag keeps to itself which acknowledgement it found. */
function watchAcknowledgements(): () => void {
  const nag = NagPack.prototype as unknown as { isAcknowledged(node: IConstruct, id: string): boolean };
  const asked = nag.isAcknowledged;
  const spy = vi.spyOn(nag, 'isAcknowledged').mockImplementation(function (this: unknown, node, id) {
    const found = asked.call(this, node, id);
    const by = found ? node.node.scopes.flatMap(acknowledgementsOf).filter((one) => one.id === id) : [];
    for (const { path } of by) used.add(`${path} ${id}`);
    return found;
  });
  return () => spy.mockRestore();
}

function findings(app: IConstruct): string[] {
  return [AwsSolutionsChecks, NIST80053R5Checks, ServerlessChecks].flatMap((Pack) =>
    new Pack(app)
      .validateScope(app)
      .violations.filter(({ ruleName }) => !ELSEWHERE.test(ruleName))
      .flatMap(({ ruleName, description, violatingResources }) =>
        violatingResources.map(
          (resource) =>
            `${ruleName} ${'constructPath' in resource ? resource.constructPath : ''}: ${description}`,
        ),
      ),
  );
}

describe('cdk-nag (AwsSolutions, NIST 800-53 R5, Serverless)', () => {
  let unwatch: () => void;
  beforeAll(() => {
    unwatch = watchAcknowledgements();
  });
  afterAll(() => unwatch());

  it.each(VARIANT_NAMES)('finds nothing in %s that has no reason', (name) => {
    expect(findings(variant(name).app)).toEqual([]);
  });

  it('needs each acknowledgement in some variant', () => {
    const given = VARIANT_NAMES.flatMap((name) =>
      variant(name).app.node.findAll().flatMap(acknowledgementsOf),
    );

    const unused = new Set(given.map(({ path, id }) => `${path} ${id}`).filter((key) => !used.has(key)));

    expect([...unused]).toEqual([]);
    expect(used.size).toBeGreaterThan(0);
  });

  it('is given reasons in whole sentences', () => {
    const reasons = VARIANT_NAMES.flatMap((name) =>
      variant(name).app.node.findAll().flatMap(acknowledgementsOf),
    );

    for (const { path, id, reason } of reasons) {
      expect(reason, `${path} ${id}`).toMatch(/^[A-Z][^\n]{30,}\.$/);
    }
  });
});
