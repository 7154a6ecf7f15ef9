/** The Lambda functions of a deployment, as its emulator has them. */
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import * as z from 'zod';
import { FUNCTIONS } from '../../../infra/functions/function-table.ts';
import type { EmulatorApi } from '../../../infra/local/emulator/emulator-api.ts';

const API = '/2015-03-31/functions';

const listSchema = z.object({
  Functions: z.array(z.object({ FunctionName: z.string() })),
  NextMarker: z.string().nullish(),
});
const configurationSchema = z.object({
  Environment: z.object({ Variables: z.record(z.string(), z.string()) }).optional(),
});

export type Variables = Readonly<Record<string, string>>;

export interface DeployedFunctions {
  /** As in the function table; one that a deployment has no use for is not there. */
  names(): Promise<string[]>;
  environment(name: string): Promise<Variables>;
  /** Replaces all of it. */
  setEnvironment(name: string, variables: Variables): Promise<void>;
  /** @param files by their name in the function's folder. */
  setCode(name: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<void>;
  /** @returns what the handler returns. @throws FunctionFailure with what it throws. */
  invoke(name: string, event: unknown): Promise<unknown>;
}

export class FunctionFailure extends Error {
  override readonly name = 'FunctionFailure';
  readonly error_type: string;

  constructor(message: string, errorType: string) {
    super(message);
    this.error_type = errorType;
  }
}

const failureSchema = z.object({ errorMessage: z.string(), errorType: z.string() });

export function deployedFunctions(api: EmulatorApi, deployment: string): DeployedFunctions {
  const path = (name: string): string => `${API}/${deployment}-${name}`;
  return {
    names: async () => {
      const names: string[] = [];
      for (let marker = ''; ; ) {
        const page = listSchema.parse(await api.rest('lambda', 'GET', `${API}/${marker}`));
        names.push(...page.Functions.map(({ FunctionName }) => FunctionName));
        if (!page.NextMarker) break;
        marker = `?Marker=${encodeURIComponent(page.NextMarker)}`;
      }
      const prefix = `${deployment}-`;
      const known = FUNCTIONS.map(({ name }) => name);
      return names
        .filter((name) => name.startsWith(prefix))
        .map((name) => name.slice(prefix.length))
        .filter((name) => known.includes(name));
    },
    environment: async (name) => {
      const answer = await api.rest('lambda', 'GET', `${path(name)}/configuration`);
      return configurationSchema.parse(answer).Environment?.Variables ?? {};
    },
    setEnvironment: async (name, variables) => {
      await api.rest('lambda', 'PUT', `${path(name)}/configuration`, {
        Environment: { Variables: variables },
      });
    },
    setCode: async (name, files) => {
      const ZipFile = (await zip(files)).toString('base64');
      await api.rest('lambda', 'PUT', `${path(name)}/code`, { ZipFile });
    },
    invoke: async (name, event) => {
      const answer = await api.rest('lambda', 'POST', `${path(name)}/invocations`, event);
      const failure = failureSchema.safeParse(answer);
      if (failure.success) throw new FunctionFailure(failure.data.errorMessage, failure.data.errorType);
      return answer;
    },
  };
}

function zip(files: Readonly<Record<string, string | Uint8Array>>): Promise<Buffer> {
  const archive = new ZipFile();
  for (const [name, content] of Object.entries(files)) archive.addBuffer(Buffer.from(content), name);
  archive.end();
  return buffer(archive.outputStream);
}
