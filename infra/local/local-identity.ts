/**
 * The one principal of a standalone server. Its key lies in an AWS credentials file of its own, and `local.json`
 * beside it tells the CLI where the server listens; both are readable by this user only.
 */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import {
  LOCAL_ENDPOINT_FILE,
  type LocalEndpoint,
  localEndpointSchema,
} from '../../shared/contracts/local-endpoint.ts';
import type { ScopeBinding } from '../../shared/contracts/scope.ts';
import type { GatewayCredentials } from './gateway/signature-verifier.ts';
import { ownFolder } from './own-folder.ts';
import { createPrivate, readPrivate, writePrivate } from './private-file.ts';

export const LOCAL_REGION = 'us-east-1';

const PROFILE = 'cognition-local';
const ACCOUNT = '000000000000';
const ROLE = 'AROALOCALBUILDER';

/** What a laptop's builder may assert when no bindings are configured: any tenant, with or without a project. */
export const LOCAL_BINDINGS: readonly ScopeBinding[] = [
  {
    account_id: ACCOUNT,
    role_id: ROLE,
    scopes: [{ tenant: '*' }, { tenant: '*', project: '*' }, { tenant: '*', project: '*', user: '*' }],
  },
];

export interface LocalIdentity {
  /** For the gateway: whom an access key stands for. */
  credentials(accessKeyId: string): GatewayCredentials | undefined;
  /** Leaves the note for the CLI. */
  announce(endpoint: string): void;
  /** Takes it away, unless another server has written its own since. */
  withdraw(): void;
}

export function configFolder(env: Readonly<Record<string, string | undefined>>): string {
  return resolve(
    env.COGNITION_CONFIG_DIR || join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'cognition'),
  );
}

export function openLocalIdentity(folder: string): LocalIdentity {
  ownFolder('COGNITION_CONFIG_DIR', folder);
  const credentialsFile = join(folder, 'local-credentials');
  const localFile = join(folder, LOCAL_ENDPOINT_FILE);
  const key = readKey(credentialsFile) ?? newKey(credentialsFile);
  const identity: GatewayCredentials = {
    secretAccessKey: key.secretAccessKey,
    accountId: ACCOUNT,
    principalId: ROLE,
    sessionName: 'local',
    userArn: `arn:aws:sts::${ACCOUNT}:assumed-role/local-builder/local`,
  };
  return {
    credentials: (accessKeyId) => (accessKeyId === key.accessKeyId ? identity : undefined),
    announce(endpoint) {
      const local: LocalEndpoint = {
        endpoint,
        region: LOCAL_REGION,
        credentials_file: credentialsFile,
        profile: PROFILE,
        pid: process.pid,
      };
      writePrivate(localFile, `${JSON.stringify(local, null, 2)}\n`);
    },
    withdraw() {
      if (readLocal(localFile)?.pid === process.pid) rmSync(localFile, { force: true });
    },
  };
}

const keySchema = z.object({
  accessKeyId: z.string().regex(/^[A-Z0-9]{16,128}$/),
  secretAccessKey: z.string().min(32),
});

type Key = z.infer<typeof keySchema>;

function readKey(file: string): Key | undefined {
  const text = readPrivate(file)?.toString('utf8') ?? '';
  const value = (name: string) => new RegExp(`^${name}\\s*=\\s*(\\S+)$`, 'm').exec(text)?.[1];
  return keySchema.safeParse({
    accessKeyId: value('aws_access_key_id'),
    secretAccessKey: value('aws_secret_access_key'),
  }).data;
}

/** Of two servers that start at once, both use the key that the first one wrote. */
function newKey(file: string): Key {
  const accessKeyId = `AKIALOCAL${randomBytes(6).toString('hex').toUpperCase()}`;
  const secretAccessKey = randomBytes(30).toString('base64url');
  const text = `[${PROFILE}]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`;
  if (!createPrivate(file, text)) {
    const other = readKey(file);
    if (other !== undefined) return other;
    writePrivate(file, text);
  }
  return { accessKeyId, secretAccessKey };
}

function readLocal(file: string): LocalEndpoint | undefined {
  try {
    return localEndpointSchema.safeParse(JSON.parse(readPrivate(file)?.toString('utf8') ?? '')).data;
  } catch {
    return undefined;
  }
}
