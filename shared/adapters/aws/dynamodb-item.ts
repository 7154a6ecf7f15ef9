/** Rows as items of the table: `pk` and `sk`, `v` version, `d` data as JSON text, `b` bytes, `ttl` expiry. */
import * as z from 'zod';
import type { Condition, Row, Write } from '../../ports/table-store.ts';
import type { CheckedWrite } from '../checked-writes.ts';

const itemSchema = z.object({
  pk: z.string(),
  sk: z.string(),
  v: z.string(),
  // Text, because DynamoDB's own maps refuse deep ones and lose what JSON tells apart.
  d: z.string(),
  b: z.instanceof(Uint8Array).optional(),
  ttl: z.number().optional(),
});

interface Item {
  readonly pk: string;
  readonly sk: string;
  readonly v: string;
  readonly d: string;
  readonly b?: Uint8Array;
  readonly ttl?: number;
}

export function toRow(item: unknown): Row {
  const { pk, sk, v, d, b, ttl } = itemSchema.parse(item);
  return {
    pk,
    sk,
    version: v,
    data: JSON.parse(d),
    ...(b !== undefined && { bytes: b }),
    ...(ttl !== undefined && { expires_at: ttl }),
  };
}

export function toItem(
  { key, bytes, expires_at }: Extract<Write, { kind: 'put' }>,
  json: CheckedWrite['json'],
  version: string,
): Item {
  return {
    pk: key.pk,
    sk: key.sk,
    v: version,
    d: json,
    ...(bytes !== undefined && { b: bytes }),
    ...(expires_at !== undefined && { ttl: expires_at }),
  };
}

interface ConditionExpression {
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeNames?: Record<string, string>;
  readonly ExpressionAttributeValues?: Record<string, string>;
}

/** To be spread into a write; nothing for none. */
export function conditionExpression(condition: Condition | undefined): ConditionExpression {
  if (condition === undefined) return {};
  if ('absent' in condition) return { ConditionExpression: 'attribute_not_exists(pk)' };
  if ('present' in condition) return { ConditionExpression: 'attribute_exists(pk)' };
  return {
    ConditionExpression: '#v = :version',
    ExpressionAttributeNames: { '#v': 'v' },
    ExpressionAttributeValues: { ':version': condition.version },
  };
}
