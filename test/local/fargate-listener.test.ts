/** What a task inherits must lead nowhere, even in the hands of a daemon that has been taken over. */
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createTaskListeners } from '../../infra/local/fargate/task-listeners.ts';

/** Above what the kernel gives. */
const DEAD_PID = 99_999_999;
const isRoot = process.getuid?.() === 0;

const listeners = createTaskListeners(undefined);
afterAll(() => listeners.close());

describe('the listener of a task', () => {
  it('hands the task a Unix socket, while callers meet an address of its own', async () => {
    const { server, host, close } = await listeners.open();

    const inherited = server.address();

    expect(typeof inherited).toBe('string');
    expect(host).toMatch(/^127\.88\.\d+\.\d+$/);
    close();
  });

  it('passes bytes and ends on in both directions', async () => {
    const { server, host, port, close } = await listeners.open();
    server.on('connection', (socket) => {
      socket.on('data', (bytes) => socket.write(bytes));
      socket.on('end', () => socket.end('bye'));
    });
    const caller = connect({ host, port, allowHalfOpen: true });
    const received: Buffer[] = [];
    caller.on('data', (bytes) => received.push(bytes));

    caller.end('hello ');
    await once(caller, 'end');

    expect(Buffer.concat(received).toString()).toBe('hello bye');
    close();
  });

  it('lets go of its callers when it closes, and takes no more', async () => {
    const { host, port, close } = await listeners.open();
    const caller = connect({ host, port });
    await once(caller, 'connect');

    close();
    await once(caller, 'close');

    const late = connect({ host, port });
    const [error] = await once(late, 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('the folder of the sockets', () => {
  it('of a server that was killed is removed by the next one, that of a living one stays', () => {
    const dead = mkdtempSync(join(tmpdir(), `cognition-tasks-${DEAD_PID}-`));
    const living = mkdtempSync(join(tmpdir(), `cognition-tasks-${process.pid}-`));

    createTaskListeners(undefined).close();

    expect(existsSync(dead)).toBe(false);
    expect(existsSync(living)).toBe(true);
    rmdirSync(living);
  });

  it('that is of another user stays, though its name says that its server is dead', () => {
    const link = join(tmpdir(), `cognition-tasks-${DEAD_PID}-link`);
    const target = mkdtempSync(join(tmpdir(), 'cognition-target-'));
    writeFileSync(join(target, 'kept'), '');
    symlinkSync(target, link);
    const foreign = mkdtempSync(join(tmpdir(), `cognition-tasks-${DEAD_PID}-`));
    if (isRoot) chownSync(foreign, 54_321, 54_321);

    createTaskListeners(undefined).close();

    expect(existsSync(join(target, 'kept'))).toBe(true);
    expect(existsSync(foreign)).toBe(isRoot);
    for (const path of [target, link, foreign]) rmSync(path, { recursive: true, force: true });
  });
});
