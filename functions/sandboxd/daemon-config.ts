/** The daemon's environment, parsed once, every fault named at once. */
import { SANDBOX_ENV, SANDBOX_PORT } from '../../shared/contracts/daemon.ts';
import { idSchema } from '../../shared/contracts/names.ts';
import { type SandboxProfile, sandboxProfileSchema } from '../../shared/contracts/sandbox-profile.ts';

/** Set by whoever starts the task, beside SANDBOX_ENV. */
export const DAEMON_ENV = {
  /** A listening TCP socket, inherited: HTTP/1.1, as on Fargate. */
  listenFd: 'COGNITION_SANDBOX_LISTEN_FD',
  /**
   * A stream whose other end the server of local tasks holds: its end is the server's. bubblewrap's own bond to its
   * parent begins only after its set-up, and a server killed before that would leave the task behind.
   */
  lifelineFd: 'COGNITION_SANDBOX_LIFELINE_FD',
  /** For local tasks. That of an image is an argument of its entry point, which nobody who starts a task can change. */
  form: 'COGNITION_SANDBOX_FORM',
  /** Without isolation: the folder that /skills, /workspace and the others are made in. */
  root: 'COGNITION_SANDBOX_ROOT',
  /** Descriptors of the command's sandbox, which the task has started before the daemon. */
  commandFds: 'COGNITION_COMMAND_FDS',
} as const;

/** The argument of the image's entry point. */
export const CONTAINER_FORM = 'container';
export type SandboxForm = 'bubblewrap' | 'unsafe' | typeof CONTAINER_FORM;

/** What `listen` of a server takes. */
export type Transport = { readonly fd: number } | { readonly port: number };

export interface DaemonConfig {
  readonly sandbox_id: string;
  readonly public_key: string;
  readonly profile: SandboxProfile;
  readonly form: SandboxForm;
  /** Control channel, report and stderr of the command's sandbox, where the task has started one. */
  readonly command_fds: readonly [number, number, number] | undefined;
  /** Empty, so that folders lie at /, wherever there is isolation. */
  readonly root: string;
  readonly transport: Transport;
  readonly lifeline_fd: number | undefined;
}

/**
 * @param args of the process: the form of an image and nothing else, or nothing.
 * @throws Error naming everything that is missing or wrong.
 */
export function readDaemonConfig(
  env: Readonly<Record<string, string | undefined>>,
  args: readonly string[],
): DaemonConfig {
  const wrong: string[] = [];
  const sandboxId = env[SANDBOX_ENV.sandboxId] ?? '';
  if (!idSchema.safeParse(sandboxId).success) wrong.push(SANDBOX_ENV.sandboxId);
  const publicKey = env[SANDBOX_ENV.publicKey] ?? '';
  if (publicKey === '') wrong.push(SANDBOX_ENV.publicKey);
  const profile = sandboxProfileSchema.safeParse(readJson(env[SANDBOX_ENV.profile]));
  if (!profile.success) wrong.push(`${SANDBOX_ENV.profile} (${profile.error.message})`);
  const form = formOf(env, args);
  if (form === undefined) wrong.push(`${DAEMON_ENV.form} (bubblewrap or unsafe) or the arguments`);
  const commandFds = readFds(env[DAEMON_ENV.commandFds]);
  if (form === 'bubblewrap' && commandFds === undefined) wrong.push(DAEMON_ENV.commandFds);
  if (wrong.length > 0 || !profile.success || form === undefined) {
    throw new Error(`environment variables are missing or wrong: ${wrong.join(', ')}`);
  }
  return {
    sandbox_id: sandboxId,
    public_key: publicKey,
    profile: profile.data,
    form,
    command_fds: form === 'bubblewrap' ? commandFds : undefined,
    root: form === 'unsafe' ? (env[DAEMON_ENV.root] ?? '/nonexistent') : '',
    transport: transportOf(env),
    lifeline_fd: lifelineOf(env),
  };
}

/** A task that is started with a command of its own gets nothing: its words come behind those of the entry point. */
function formOf(
  env: Readonly<Record<string, string | undefined>>,
  args: readonly string[],
): SandboxForm | undefined {
  if (args.length > 0) return args.length === 1 && args[0] === CONTAINER_FORM ? CONTAINER_FORM : undefined;
  const form = env[DAEMON_ENV.form];
  return form === 'bubblewrap' || form === 'unsafe' ? form : undefined;
}

function transportOf(env: Readonly<Record<string, string | undefined>>): Transport {
  const listen = env[DAEMON_ENV.listenFd];
  return listen === undefined ? { port: SANDBOX_PORT } : { fd: Number(listen) };
}

function lifelineOf(env: Readonly<Record<string, string | undefined>>): number | undefined {
  const lifeline = env[DAEMON_ENV.lifelineFd];
  return lifeline === undefined ? undefined : Number(lifeline);
}

function readFds(text: string | undefined): readonly [number, number, number] | undefined {
  const [, control, report, stderr] = /^(\d{1,4}),(\d{1,4}),(\d{1,4})$/.exec(text ?? '') ?? [];
  if (control === undefined || report === undefined || stderr === undefined) return undefined;
  return [Number(control), Number(report), Number(stderr)];
}

function readJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
