/**
 * A small assembler for classic BPF as seccomp takes it: straight-line rules over `struct seccomp_data`, each of which
 * either returns or falls through to the next one. Jumps never leave a rule, so their 8-bit offsets cannot overflow.
 */

/** One `struct sock_filter`. */
export interface BpfInstruction {
  readonly code: number;
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}

const LOAD_WORD_ABSOLUTE = 0x20;
const AND_CONSTANT = 0x54;
const JUMP_EQUAL = 0x15;
const JUMP_GREATER = 0x25;
const RETURN = 0x06;

/** Offsets into `struct seccomp_data`; arguments are 64 bits, little endian on both architectures. */
const OFFSET = { nr: 0, arch: 4, args: 16 } as const;

const ACTION = { killProcess: 0x8000_0000, errno: 0x0005_0000, allow: 0x7fff_0000 } as const;

const instruction = (code: number, k: number, jt = 0, jf = 0): BpfInstruction => ({
  code,
  jt,
  jf,
  k: k >>> 0,
});

export const loadNumber = (): BpfInstruction => instruction(LOAD_WORD_ABSOLUTE, OFFSET.nr);
export const loadArchitecture = (): BpfInstruction => instruction(LOAD_WORD_ABSOLUTE, OFFSET.arch);
/** The low half: what the kernel looks at for an argument that it declares as int or unsigned int. */
export const loadArgument = (index: number): BpfInstruction =>
  instruction(LOAD_WORD_ABSOLUTE, OFFSET.args + 8 * index);
export const andConstant = (mask: number): BpfInstruction => instruction(AND_CONSTANT, mask);
export const allow = (): BpfInstruction => instruction(RETURN, ACTION.allow);
export const killProcess = (): BpfInstruction => instruction(RETURN, ACTION.killProcess);
export const fail = (errno: number): BpfInstruction => instruction(RETURN, ACTION.errno | errno);

/** Runs the block when the accumulator equals any of the values, else goes on behind it. */
export function whenOneOf(values: readonly number[], block: readonly BpfInstruction[]): BpfInstruction[] {
  return values.flatMap((value) => [instruction(JUMP_EQUAL, value, 0, block.length), ...block]);
}

/** Runs the block when the accumulator is none of the values (and the values are few). */
export function unlessOneOf(values: readonly number[], block: readonly BpfInstruction[]): BpfInstruction[] {
  return [
    ...values.map((value, index) => instruction(JUMP_EQUAL, value, values.length - 1 - index + block.length)),
    ...block,
  ];
}

export function whenGreater(limit: number, block: readonly BpfInstruction[]): BpfInstruction[] {
  return [instruction(JUMP_GREATER, limit, 0, block.length), ...block];
}

/** The bytes that `bwrap --seccomp` and `setpriv --seccomp-filter` read. */
export function assemble(program: readonly BpfInstruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(({ code, jt, jf, k }, index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jt, index * 8 + 2);
    bytes.writeUInt8(jf, index * 8 + 3);
    bytes.writeUInt32LE(k, index * 8 + 4);
  });
  return bytes;
}
