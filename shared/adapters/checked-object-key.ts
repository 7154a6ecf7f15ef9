const KEY_LENGTH = 1_024;
const SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9._=-]{0,199}$/;

/** @throws RangeError for a key that could lead elsewhere: keys are made by us, never by callers. */
export function checkObjectKey(key: string): void {
  if (key.length > KEY_LENGTH || !key.split('/').every((segment) => SEGMENT.test(segment))) {
    throw new RangeError(`not an object key: ${JSON.stringify(key.slice(0, 200))}`);
  }
}
