import { describe, expect, it } from 'vitest';
import { ownLatency } from '../../infra/price/latency-model.ts';
import { PRICES } from '../../infra/price/list-prices.ts';
import { priceAtRest } from '../../infra/price/price-at-rest.ts';
import { priceOfRuns, REQUESTS } from '../../infra/price/price-of-runs.ts';
import { REQUEST_CALLS } from '../../infra/price/standard-run.ts';
import { costOfRounds, roundsOf } from '../../infra/price/standing-work.ts';
import { taskSize } from '../../infra/price/task-size.ts';
import { resourcesOf, VARIANT_NAMES, variant } from './support/synthesize.ts';

const resource = (Type: string, Properties: Record<string, unknown> = {}) => ({
  Resources: { Made: { Type, Properties } },
});

describe('the price at rest', () => {
  it.each(VARIANT_NAMES)('knows every resource type that a deployment has: %s', (name) => {
    const costs = priceAtRest([...variant(name).templates.values()]);

    expect(costs.every(({ count, usd }) => count > 0 && usd > 0)).toBe(true);
  });

  it('stops at a resource whose price it does not know', () => {
    expect(() => priceAtRest([resource('AWS::EC2::NatGateway')])).toThrow(
      'what does AWS::EC2::NatGateway (Made) cost',
    );
  });

  it.each([
    [
      'an interface endpoint in each zone by the hour',
      'AWS::EC2::VPCEndpoint',
      { VpcEndpointType: 'Interface', SubnetIds: ['a', 'b', 'c'] },
      3,
      21.9,
    ],
    ['no gateway endpoint', 'AWS::EC2::VPCEndpoint', { VpcEndpointType: 'Gateway' }, 0, 0],
    ['an alarm of one metric', 'AWS::CloudWatch::Alarm', { MetricName: 'x' }, 1, 0.1],
    [
      'each metric that an alarm’s formula reads, and not the formula',
      'AWS::CloudWatch::Alarm',
      { Metrics: [{ Expression: 'a+b' }, { MetricStat: {} }, { MetricStat: {} }] },
      2,
      0.2,
    ],
    [
      'each domain of the firewall',
      'AWS::Route53Resolver::FirewallDomainList',
      { Domains: ['a', 'b'] },
      2,
      0.001,
    ],
  ])('counts %s', (_what, type, properties, count, usd) => {
    const [cost] = priceAtRest([resource(type, properties)]);

    expect(cost?.count ?? 0).toBe(count);
    expect(cost?.usd ?? 0).toBeCloseTo(usd, 6);
  });

  it('takes the rounds by the clock from the rules', () => {
    const rounds = roundsOf([...variant('production').templates.values()]);

    expect(rounds.map(({ name }) => name).toSorted()).toEqual(['gc', 'reaper', 'sweeper']);
    expect(rounds.find(({ name }) => name === 'sweeper')?.a_month).toBe(43_800);
    for (const round of rounds) expect(costOfRounds(round)).toBeGreaterThan(0);
  });

  it.each(VARIANT_NAMES)('knows what a round of each scheduled function asks: %s', (name) => {
    const rounds = roundsOf([...variant(name).templates.values()]);

    for (const round of rounds) expect(costOfRounds(round)).toBeGreaterThan(0);
  });

  it('has one endpoint out of four for ECS, the exception that docs/operating.md accounts for', () => {
    const network = variant('production').templates.get('network');
    const services = resourcesOf(network ?? { Resources: {} }, 'AWS::EC2::VPCEndpoint')
      .filter(({ Properties }) => Properties?.VpcEndpointType === 'Interface')
      .map(({ Properties }) => JSON.stringify(Properties?.ServiceName));

    expect(services.length).toBe(4);
    expect(services.filter((name) => /\.ecs"/.test(name)).length).toBe(1);
  });

  it('of two zones is more than that of one', () => {
    const zones = (name: 'production' | 'everything') =>
      priceAtRest([...variant(name).templates.values()]).find(({ what }) => what.startsWith('Interface'))
        ?.count ?? 0;

    expect(zones('everything') / 3).toBe(zones('production') / 2);
  });
});

describe('the price of runs', () => {
  it('counts every call of the API that the standard run makes', () => {
    expect(Object.keys(REQUESTS).toSorted()).toEqual(Object.keys(REQUEST_CALLS).toSorted());
  });

  it('grows with the sandbox, which the default profile sizes', () => {
    const size = taskSize([...variant('production').templates.values()]);
    const fargate = (times: number): number =>
      priceOfRuns({ cpu: size.cpu * times, memory: size.memory * times }).find(
        ({ what }) => what === 'Fargate',
      )?.usd ?? 0;

    expect(size.memory).toBeGreaterThanOrEqual(1);
    expect(fargate(2)).toBeCloseTo(2 * fargate(1), 9);
  });

  it('is a fourth more for Fargate on x86, as docs/operating.md says', () => {
    expect(PRICES.sandbox_cpu_x64.usd / PRICES.sandbox_cpu.usd).toBeCloseTo(1.25, 2);
    expect(PRICES.sandbox_memory_x64.usd / PRICES.sandbox_memory.usd).toBeCloseTo(1.25, 2);
  });

  it('names the page of AWS for each price', () => {
    for (const { source, usd, per } of Object.values(PRICES)) {
      expect(source).toMatch(/ pricing/);
      expect(usd / per).toBeGreaterThan(0);
    }
  });
});

describe('the latency model', () => {
  it('keeps our own part of a run within 1.5 seconds', () => {
    const ms = ownLatency().reduce((sum, { work_ms, around_ms }) => sum + work_ms + around_ms, 0);

    expect(ms).toBeLessThanOrEqual(1_500);
  });
});
