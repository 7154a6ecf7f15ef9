import { expect, test } from 'vitest';
import {
  CONTAINER_IDENTITY,
  checkCommandIdentity,
  NAMESPACED_IDENTITY,
} from '../../functions/sandboxd/command/command-identity.ts';

const EVERYWHERE = {
  caps: '0000000000000000',
  ids: '65534',
  nnp: '1',
  seccomp: '2',
  filters: '2',
  inet: '97',
  inet6: '97',
  netlink: '97',
  root: '30',
};
const NAMESPACED = { ...EVERYWHERE, links: 'lo', pids: '1', skills: '30', inputs: '30' };
const CONTAINER = {
  ...EVERYWHERE,
  links: 'lo,eth0',
  pids: '4',
  skills: '13',
  inputs: '13',
  writable: '/dev/mqueue,/dev/shm,/outputs,/tmp,/workspace',
};

const check = (facts: object, expected = NAMESPACED_IDENTITY): void =>
  checkCommandIdentity(new Map(Object.entries(facts)), expected, 1);

test('the identity that must be passes, in each form', () => {
  check(NAMESPACED);
  check(CONTAINER, CONTAINER_IDENTITY);
  check({ ...CONTAINER, writable: '/outputs,/tmp,/workspace' }, CONTAINER_IDENTITY);
});

const ANYWHERE: [key: string, value: string][] = [
  ['caps', '0000000000000001'],
  ['caps', '0000000000000000,00000000000001eb'],
  ['ids', '0,65534'],
  ['nnp', '0'],
  ['seccomp', '0'],
  ['filters', '1'],
  ['inet', '0'],
  ['inet6', '0'],
  ['netlink', '0'],
  ['root', '0'],
  ['root', '13'],
];

test.each([...ANYWHERE, ['links', 'lo,eth0'], ['pids', '2'], ['skills', '0'], ['inputs', '13']])(
  'an identity with namespaces whose %s is %s is refused by name',
  (key, value) => {
    expect(() => check({ ...NAMESPACED, [key]: value })).toThrow(`${key} is ${value}`);
  },
);

test.each<[key: string, value: string]>([
  ...ANYWHERE,
  ['skills', '0'],
  ['inputs', '0'],
  ['writable', '/dev/shm,/outputs,/skills,/tmp'],
  ['writable', '/tmp,/workspace/inputs'],
  ['writable', '/tmpfoo'],
  ['writable', ''],
  ['writable', 'unknown'],
])('an identity of a container whose %s is %j is refused by name', (key, value) => {
  expect(() => check({ ...CONTAINER, [key]: value }, CONTAINER_IDENTITY)).toThrow(`${key} is ${value}`);
});

test('an identity that says nothing is refused', () => {
  expect(() => check({})).toThrow('caps is unknown');
  expect(() => check({}, CONTAINER_IDENTITY)).toThrow('writable is unknown');
});
