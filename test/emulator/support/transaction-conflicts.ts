/**
 * DynamoDB refuses a transaction that meets another, or a write, under way on the same item; emulators do them one after
 * the other. This refuses as DynamoDB does.
 */
import type { DynamoCall } from './dynamodb-call.ts';

export interface Refusal {
  readonly status: 400;
  readonly body: string;
}

export interface TransactionConflicts {
  /** @returns the refusal, or what to call when the write is done. */
  enter(call: DynamoCall): Refusal | (() => void);
}

const PREFIX = 'com.amazonaws.dynamodb.v20120810#';

export function createTransactionConflicts(): TransactionConflicts {
  const transactions = new Map<string, number>();
  const singles = new Map<string, number>();
  return {
    enter: ({ transaction, writes }) => {
      const keys = writes.map(({ key }) => key);
      const meets = (key: string): boolean => transactions.has(key) || (transaction && singles.has(key));
      if (keys.some(meets)) return transaction ? cancelled(keys.map(meets)) : conflicting();
      const own = transaction ? transactions : singles;
      for (const key of keys) own.set(key, (own.get(key) ?? 0) + 1);
      return () => {
        for (const key of keys) {
          const left = (own.get(key) ?? 1) - 1;
          if (left === 0) own.delete(key);
          else own.set(key, left);
        }
      };
    },
  };
}

const CONFLICT = 'Transaction is ongoing for the item';

function cancelled(conflicts: readonly boolean[]): Refusal {
  const reasons = conflicts.map((conflict) =>
    conflict ? { Code: 'TransactionConflict', Message: CONFLICT } : { Code: 'None' },
  );
  const names = reasons.map(({ Code }) => Code).join(', ');
  return refusal('TransactionCanceledException', {
    Message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${names}]`,
    CancellationReasons: reasons,
  });
}

const conflicting = (): Refusal => refusal('TransactionConflictException', { Message: CONFLICT });

const refusal = (type: string, fields: Readonly<Record<string, unknown>>): Refusal => ({
  status: 400,
  body: JSON.stringify({ __type: `${PREFIX}${type}`, ...fields }),
});
