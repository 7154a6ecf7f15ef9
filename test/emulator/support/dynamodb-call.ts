/** What a DynamoDB call on the wire touches, and what it would cost. */
import * as z from 'zod';

type Attributes = Readonly<Record<string, unknown>>;

const attributes = z.record(z.string(), z.unknown());
const writeSchema = z.object({
  TableName: z.string(),
  Item: attributes.optional(),
  Key: attributes.optional(),
});
const transactionSchema = z.object({ TransactItems: z.array(z.record(z.string(), writeSchema)) });
const readSchema = z.object({ Item: attributes.optional(), Items: z.array(attributes).optional() });

const SINGLE_WRITES: readonly string[] = ['PutItem', 'UpdateItem', 'DeleteItem'];
const READS: readonly string[] = ['GetItem', 'Query'];
const KB = 1024;

interface Write {
  /** Of the item in its table. */
  readonly key: string;
  readonly bytes: number;
}

export interface DynamoCall {
  readonly transaction: boolean;
  readonly writes: readonly Write[];
}

export function readDynamoCall(operation: string, body: string): DynamoCall {
  if (operation === 'TransactWriteItems') {
    const { TransactItems } = transactionSchema.parse(JSON.parse(body));
    const writes = TransactItems.flatMap((item) => Object.values(item).map(toWrite));
    return { transaction: true, writes };
  }
  const writes = SINGLE_WRITES.includes(operation) ? [toWrite(writeSchema.parse(JSON.parse(body)))] : [];
  return { transaction: false, writes };
}

function toWrite(write: z.infer<typeof writeSchema>): Write {
  const item = write.Item ?? write.Key ?? {};
  return { key: JSON.stringify([write.TableName, item.pk, item.sk]), bytes: itemBytes(item) };
}

/** An update or delete is taken for as small as its key: what it changes is not on the wire. */
export function dynamoUnits(
  operation: string,
  call: DynamoCall,
  answer: string,
): { items?: number; write_units?: number; read_units?: number } {
  if (call.writes.length > 0) {
    const units = call.writes.reduce((sum, { bytes }) => sum + Math.max(1, Math.ceil(bytes / KB)), 0);
    return { items: call.writes.length, write_units: call.transaction ? 2 * units : units };
  }
  if (!READS.includes(operation)) return {};
  const { Item, Items = Item === undefined ? [] : [Item] } = readSchema.parse(JSON.parse(answer));
  const bytes = Items.reduce((sum, item) => sum + itemBytes(item), 0);
  return { read_units: Math.max(1, Math.ceil(bytes / (4 * KB))) };
}

/** Names and values in UTF-8, as DynamoDB counts them for texts, numbers and bytes; nearly so for the rest. */
const itemBytes = (item: Attributes): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value), 0);

function valueBytes(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  if ('S' in value && typeof value.S === 'string') return Buffer.byteLength(value.S);
  if ('B' in value && typeof value.B === 'string') return Buffer.byteLength(value.B, 'base64');
  if ('N' in value && typeof value.N === 'string') return Math.ceil(value.N.length / 2) + 1;
  return JSON.stringify(value).length;
}
