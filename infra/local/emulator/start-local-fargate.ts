/** Local Fargate as a process beside an emulator, for as long as this one lives. */
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { type AttachedProcess, startAttached } from './attached-process.ts';

/** What local Fargate prints when it is ready. */
const readySchema = z.object({
  endpoint: z.string(),
  isolation: z.string(),
  warnings: z.array(z.string()),
  image_identities: z.record(z.string(), z.string()),
});

export type LocalFargateProcess = z.infer<typeof readySchema> & { stop(): Promise<void> };

export interface LocalFargateProcessOptions {
  /** Further arguments, such as `--advertise`. */
  readonly args?: readonly string[];
  /** COGNITION_SANDBOX_PROFILES and the other settings that it reads. */
  readonly settings?: Readonly<Record<string, string>>;
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MAIN = fileURLToPath(new URL('../fargate/main.ts', import.meta.url));

export async function startLocalFargate(
  options: LocalFargateProcessOptions = {},
): Promise<LocalFargateProcess> {
  const node = join(ROOT, 'node_modules/.bin/node');
  const { PATH = '/usr/bin:/bin', HOME = '/' } = process.env;
  const server = startAttached([node, MAIN, '--port', '0', '--attached', ...(options.args ?? [])], {
    cwd: ROOT,
    env: { PATH, HOME, ...options.settings },
  });
  return { ...readySchema.parse(await firstLine(server)), stop: () => server.stop() };
}

/** @throws with what it has said, when it ends before. */
async function firstLine(server: AttachedProcess): Promise<unknown> {
  const lines = createInterface({ input: server.child.stdout });
  const line = await new Promise<string | undefined>((resolve) => {
    lines.once('line', resolve);
    void server.ended.then(() => resolve(undefined));
  });
  if (line !== undefined) return JSON.parse(line);
  throw new Error(`local Fargate did not start: ${server.tail()}`);
}
