import { expect, test } from 'vitest';
import { assemble } from '../../functions/sandboxd/seccomp/bpf.ts';
import { commandProgram, taskProgram } from '../../functions/sandboxd/seccomp/seccomp-programs.ts';
import {
  type Architecture,
  AUDIT_ARCHITECTURE,
  type SyscallName,
  syscallNumbers,
} from '../../functions/sandboxd/seccomp/syscall-numbers.ts';

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const errno = (number: number) => 0x00050000 | number;
const [EPERM, ENOSYS, EAFNOSUPPORT] = [errno(1), errno(38), errno(97)];

/** Runs the assembled bytes as the kernel would. */
function verdict(bytes: Buffer, call: { nr: number; arch: number; args?: (number | bigint)[] }): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.nr >>> 0, 0);
  data.writeUInt32LE(call.arch, 4);
  for (const [index, arg] of (call.args ?? []).entries()) {
    data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(arg)), 16 + 8 * index);
  }
  let accumulator = 0;
  for (let at = 0; ; at += 1) {
    const [code, jt, jf, k] = [
      bytes.readUInt16LE(at * 8),
      bytes.readUInt8(at * 8 + 2),
      bytes.readUInt8(at * 8 + 3),
      bytes.readUInt32LE(at * 8 + 4),
    ];
    if (code === 0x20) accumulator = data.readUInt32LE(k);
    else if (code === 0x54) accumulator = (accumulator & k) >>> 0;
    else if (code === 0x15) at += accumulator === k ? jt : jf;
    else if (code === 0x25) at += accumulator > k ? jt : jf;
    else if (code === 0x06) return k;
    else throw new Error(`unknown instruction ${code}`);
  }
}

const both: Architecture[] = ['x64', 'arm64'];
const programs = (architecture: Architecture) => {
  const arch = AUDIT_ARCHITECTURE[architecture];
  const [task, command] = [assemble(taskProgram(architecture)), assemble(commandProgram(architecture))];
  const number = (name: SyscallName): number => {
    const [nr] = syscallNumbers(architecture, [name]);
    if (nr === undefined) throw new Error(`${architecture} has no ${name}`);
    return nr;
  };
  return {
    task: (name: SyscallName, ...args: (number | bigint)[]) =>
      verdict(task, { nr: number(name), arch, args }),
    command: (name: SyscallName, ...args: (number | bigint)[]) =>
      verdict(command, { nr: number(name), arch, args }),
    commandNr: (nr: number, wrongArch = arch) => verdict(command, { nr, arch: wrongArch }),
    taskNr: (nr: number, wrongArch = arch) => verdict(task, { nr, arch: wrongArch }),
  };
};

test.each(both)('%s: programs fit the kernel and end in a return', (architecture) => {
  for (const program of [taskProgram(architecture), commandProgram(architecture)]) {
    expect(program.length).toBeLessThan(4_096);
    expect(program.every(({ jt, jf }) => jt < 256 && jf < 256)).toBe(true);
    expect(program.at(-1)).toMatchObject({ code: 0x06, k: ALLOW });
  }
});

test.each(both)(
  '%s: another architecture dies, x32 and calls newer than this list do not exist',
  (architecture) => {
    const { commandNr, taskNr } = programs(architecture);
    for (const run of [commandNr, taskNr]) {
      expect(run(1, 0x40000003)).toBe(KILL);
      expect(run(1, AUDIT_ARCHITECTURE[architecture === 'x64' ? 'arm64' : 'x64'])).toBe(KILL);
      expect(run(0x40000000 + 1)).toBe(ENOSYS);
      expect(run(468)).toBe(ENOSYS);
      expect(run(-1)).toBe(ENOSYS);
      expect(run(0)).toBe(ALLOW);
    }
  },
);

test.each(both)('%s: a command makes Unix sockets only; a high half does not help', (architecture) => {
  const { command, task } = programs(architecture);
  for (const call of ['socket', 'socketpair'] as const) {
    expect(command(call, 1)).toBe(ALLOW);
    for (const family of [0, 2, 10, 16, 17, 38, 40, -1]) expect(command(call, family)).toBe(EAFNOSUPPORT);
    expect(command(call, (1n << 32n) | 2n)).toBe(EAFNOSUPPORT);
    expect(task(call, 2)).toBe(EAFNOSUPPORT);
    expect(task(call, 16)).toBe(ALLOW);
  }
});

test.each(both)('%s: a command makes no namespace by any call', (architecture) => {
  const { command, task } = programs(architecture);
  for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
    expect(command('clone', flag | 17)).toBe(EPERM);
    expect(task('clone', flag | 17)).toBe(ALLOW);
  }
  expect(command('clone', 0x3d0f00)).toBe(ALLOW);
  expect(command('unshare', 0)).toBe(EPERM);
  expect(command('setns', 3)).toBe(EPERM);
  expect(command('clone3')).toBe(ENOSYS);
  expect(task('clone3')).toBe(ENOSYS);
});

test.each(both)('%s: mounts are for the task only, what reaches further for nobody', (architecture) => {
  const { command, task } = programs(architecture);
  for (const call of ['mount', 'umount2', 'pivot_root', 'unshare'] as const) {
    expect([command(call), task(call)]).toEqual([EPERM, ALLOW]);
  }
  for (const call of [
    'ptrace',
    'bpf',
    'keyctl',
    'io_uring_setup',
    'process_vm_readv',
    'memfd_create',
    'shmget',
    'setns',
  ] as const) {
    expect([command(call), task(call)]).toEqual([EPERM, EPERM]);
  }
});

test.each(both)('%s: nothing types into a terminal, and address randomization stays', (architecture) => {
  const { command } = programs(architecture);
  expect(command('ioctl', 0, 0x5412)).toBe(EPERM);
  expect(command('ioctl', 0, (7n << 32n) | 0x5412n)).toBe(EPERM);
  expect(command('ioctl', 0, 0x541c)).toBe(EPERM);
  expect(command('ioctl', 0, 0x5401)).toBe(ALLOW);
  expect(command('personality', 0x40000)).toBe(EPERM);
  expect(command('personality', 0xffffffff)).toBe(ALLOW);
});
