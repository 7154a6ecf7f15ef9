import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { usage } from '../failure.ts';

/** A whole file of at most so many bytes. @param option named in the refusal */
export async function readBounded(path: string, maxBytes: number, option: string): Promise<Buffer> {
  const handle = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw usage(`${option}: cannot read ${path} (${error.code ?? error.message})`);
  });
  try {
    if ((await handle.stat()).isDirectory()) throw usage(`${option}: ${path} is a folder`, 'name a file');
    return await readStream(handle.createReadStream({ autoClose: false }), maxBytes, option);
  } finally {
    await handle.close();
  }
}

export async function readStream(stream: Readable, maxBytes: number, option: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > maxBytes) throw usage(`${option}: more than ${maxBytes} bytes`, 'send less');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks, length);
}
