import { TransportError } from './client-errors.ts';

/** The body of an answer, or a refusal as soon as it is longer than the cap; never more than the cap in memory. */
export async function readCapped(response: Response, maxBytes: number): Promise<Buffer> {
  const tooLong = (): TransportError =>
    new TransportError(
      'unexpected_answer',
      `the answer is larger than ${maxBytes} bytes; it was not read further`,
    );
  if (Number(response.headers.get('content-length') ?? 0) > maxBytes) {
    await response.body?.cancel();
    throw tooLong();
  }
  if (response.body === null) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.length;
    if (length > maxBytes) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}
