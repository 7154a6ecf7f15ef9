import { describe, expect, it } from 'vitest';
import {
  BINDING,
  CALLER,
  DIGEST,
  type Files,
  IMAGE,
  PROFILE,
  PROFILES,
  problemsOf,
  withBinding,
  withProfile,
} from './support/given-settings.ts';

type Case = readonly [name: string, given: Readonly<Record<string, string>>, line: string, files?: Files];

const ONE_LINE: readonly Case[] = [
  [
    'no bindings at all',
    { COGNITION_SCOPE_BINDINGS: '' },
    'COGNITION_SCOPE_BINDINGS is required: a JSON file that says who may assert which scopes, such as examples/deployment/scope-bindings.json',
  ],
  [
    'a file of bindings that is not there',
    {},
    "COGNITION_SCOPE_BINDINGS: bindings.json is not a JSON file that can be read (ENOENT: no such file or directory, open 'bindings.json')",
    {},
  ],
  [
    'a file without any binding',
    {},
    'COGNITION_SCOPE_BINDINGS: bindings.json has no binding, so nobody could call: add a principal and its scopes',
    { 'bindings.json': [] },
  ],
  [
    'bindings that are no list',
    {},
    'COGNITION_SCOPE_BINDINGS: bindings.json at /: Invalid input: expected array, received object',
    { 'bindings.json': {} },
  ],
  [
    'every account',
    {},
    'COGNITION_SCOPE_BINDINGS: bindings.json at /0/account_id: a wildcard would let in every account: name one, of 12 digits',
    withBinding({ ...BINDING, account_id: '*' }),
  ],
  [
    'every role',
    {},
    'COGNITION_SCOPE_BINDINGS: bindings.json at /0/role_id: a wildcard would let in every principal: name one by its unique id',
    withBinding({ ...BINDING, role_id: 'AROA*' }),
  ],
  [
    'an ARN for a role',
    {},
    'COGNITION_SCOPE_BINDINGS: bindings.json at /0/role_id: this looks like an ARN or a name; the unique id is what `aws iam get-role --role-name builder --query Role.RoleId --output text` prints',
    withBinding({ ...BINDING, role_id: 'arn:aws:iam::111122223333:role/team/builder' }),
  ],
  [
    'a session for a role',
    {},
    'COGNITION_SCOPE_BINDINGS: bindings.json at /0/role_id: leave out the session name, from the colon on',
    withBinding({ ...BINDING, role_id: 'AROA1234567890EXAMPLE:session' }),
  ],
  [
    'an access key for a role',
    {},
    'COGNITION_SCOPE_BINDINGS: bindings.json at /0/role_id: a unique id of a role begins with AROA, that of a user with AIDA',
    withBinding({ ...BINDING, role_id: 'AKIA1234567890EXAMPLE' }),
  ],
  [
    'a principal without scopes',
    {},
    'COGNITION_SCOPE_BINDINGS: bindings.json at /0/scopes: Too small: expected array to have >=1 items',
    withBinding({ ...BINDING, scopes: [] }),
  ],
  [
    'a scope without keys',
    {},
    'COGNITION_SCOPE_BINDINGS: bindings.json at /0/scopes/0: a scope has 1 to 16 entries',
    withBinding({ ...BINDING, scopes: [{}] }),
  ],
  [
    'a wildcard for keys',
    {},
    'COGNITION_SCOPE_BINDINGS: bindings.json at /0/scopes/0/*: a key is 1 to 32 lower-case letters, digits and underscores, beginning with a letter',
    withBinding({ ...BINDING, scopes: [{ '*': '*' }] }),
  ],
  [
    'a wildcard within a value',
    {},
    'COGNITION_SCOPE_BINDINGS: bindings.json at /0/scopes/0/tenant: a value is * alone, for any, or exact: 1 to 128 letters, digits and ._:@-, beginning with a letter or digit',
    withBinding({ ...BINDING, scopes: [{ tenant: 'a*' }] }),
  ],
  [
    'a mistyped member',
    {},
    'COGNITION_SCOPE_BINDINGS: bindings.json at /0: Unrecognized key: "scope"',
    withBinding({ ...BINDING, scope: [] }),
  ],
  [
    'an egress alias',
    PROFILES,
    'COGNITION_SANDBOX_PROFILES: profile default has egress_aliases, but a deployment has no gateway for them: leave them out',
    withProfile({ ...PROFILE, egress_aliases: ['search'] }),
  ],
  [
    'less memory than the mounts want',
    PROFILES,
    'COGNITION_SANDBOX_PROFILES: profile default has memory_bytes 1073741824, too little for what is kept in memory: at least 1716518912, or a smaller workspace_bytes',
    withProfile({ ...PROFILE, workspace_bytes: 2 ** 29 }),
  ],
  [
    'more memory than there is',
    PROFILES,
    'COGNITION_SANDBOX_PROFILES: profile default wants more memory than Fargate has: at most 128849018880 bytes',
    withProfile({ ...PROFILE, memory_bytes: 2 ** 40 }),
  ],
  [
    'more open files than Fargate lets a task have',
    PROFILES,
    'COGNITION_SANDBOX_PROFILES: profile default has max_open_files 65536, and Fargate allows 65535',
    withProfile({ ...PROFILE, max_open_files: 65_536 }),
  ],
  [
    'a profile too long to be handed to a task',
    PROFILES,
    'COGNITION_SANDBOX_PROFILES: profile default is too long for ECS, which hands 8192 characters to a task: name fewer variables',
    withProfile({ ...PROFILE, env_names: Array.from({ length: 500 }, (_, index) => `VARIABLE_${index}`) }),
  ],
  [
    'two profiles of one name',
    PROFILES,
    'COGNITION_SANDBOX_PROFILES: profiles.json at /: names are unique',
    { 'bindings.json': [BINDING], 'profiles.json': [PROFILE, PROFILE] },
  ],
  [
    'no profile',
    PROFILES,
    'COGNITION_SANDBOX_PROFILES: profiles.json has no profile: leave the setting out for the default one',
    { 'bindings.json': [BINDING], 'profiles.json': [] },
  ],
  [
    'more profiles than a function can be told',
    PROFILES,
    'COGNITION_SANDBOX_PROFILES: profiles.json has 9 profiles, and the environment of a function has room for 8',
    {
      'bindings.json': [BINDING],
      'profiles.json': Array.from({ length: 9 }, (_, index) => ({ name: `p${index}` })),
    },
  ],
  [
    'a folder for packages',
    { COGNITION_SKILLS_BACKEND: 'filesystem' },
    'COGNITION_SKILLS_BACKEND filesystem is for standalone servers: use s3 or config_registry',
  ],
  [
    'a Region without a bucket',
    { COGNITION_SKILLS_S3_REGION: 'eu-central-1', CDK_DEFAULT_REGION: 'eu-central-1' },
    'COGNITION_SKILLS_S3_REGION is the Region of an existing bucket: name it in COGNITION_SKILLS_S3_BUCKET, or leave the Region out',
  ],
  [
    'a bucket out of reach',
    {
      COGNITION_SKILLS_S3_BUCKET: 'our-packages',
      COGNITION_SKILLS_S3_REGION: 'us-east-1',
      CDK_DEFAULT_REGION: 'eu-central-1',
    },
    'COGNITION_SKILLS_S3_REGION is us-east-1, but the network reaches only eu-central-1: use a bucket there',
  ],
  [
    'an image by tag',
    { COGNITION_SANDBOX_IMAGE: '111122223333.dkr.ecr.eu-central-1.amazonaws.com/sandbox:latest' },
    'COGNITION_SANDBOX_IMAGE names no digest: end it with @sha256: and 64 hex digits, which `aws ecr describe-images` prints',
  ],
  [
    'an image from elsewhere',
    { COGNITION_SANDBOX_IMAGE: `docker.io/library/sandbox@${DIGEST}` },
    'COGNITION_SANDBOX_IMAGE is not in ECR, and the network reaches no other registry: push it to <account>.dkr.ecr.<Region>.amazonaws.com',
  ],
  [
    'an image in another Region',
    { COGNITION_SANDBOX_IMAGE: IMAGE, CDK_DEFAULT_REGION: 'us-east-1' },
    'COGNITION_SANDBOX_IMAGE is in eu-central-1, but the network reaches only us-east-1: push it there',
  ],
  [
    'a base by tag',
    { COGNITION_SANDBOX_BASE: 'debian:trixie-slim' },
    'COGNITION_SANDBOX_BASE names no digest: end it with @sha256: and 64 hex digits',
  ],
  [
    'a base of what is not built',
    { COGNITION_SANDBOX_BASE: `debian@${DIGEST}`, COGNITION_SANDBOX_IMAGE: IMAGE },
    'COGNITION_SANDBOX_BASE is for an image that is built, but COGNITION_SANDBOX_IMAGE names one: leave one of the two out',
  ],
  [
    'an emulator without a caller',
    { COGNITION_ENVIRONMENT: 'development', COGNITION_ENDPOINT_URL_ECS: 'http://127.0.0.1:1' },
    'COGNITION_ENDPOINT_URL_ECS is for emulators: set COGNITION_UNSAFE_CALLER too, or leave it out',
  ],
  [
    'a mistyped name',
    { COGNITION_ALARMS_EMAIL: 'a@example.com' },
    'COGNITION_ALARMS_EMAIL is not a setting: did you mean COGNITION_ALARM_EMAIL?',
  ],
  [
    'running without isolation',
    { COGNITION_UNSAFE_NO_ISOLATION: '1' },
    'COGNITION_UNSAFE_NO_ISOLATION is for development: leave it out',
  ],
  [
    'a name for AWS that is too long',
    { COGNITION_DEPLOYMENT: 'a'.repeat(21) },
    'COGNITION_DEPLOYMENT is "aaaaaaaaaaaaaaaaaaaaa": it must be 1 to 20 lower-case letters, digits and single hyphens, beginning with a letter',
  ],
  [
    'no e-mail address',
    { COGNITION_ALARM_EMAIL: 'ops' },
    'COGNITION_ALARM_EMAIL is "ops": it must be one e-mail address',
  ],
  [
    'two e-mail addresses',
    { COGNITION_ALARM_EMAIL: 'a@x.com,b@x.com' },
    'COGNITION_ALARM_EMAIL is "a@x.com,b@x.com": it must be one e-mail address',
  ],
  [
    'a value too long to be shown',
    { COGNITION_WAF: 'y'.repeat(61) },
    `COGNITION_WAF is "${'y'.repeat(60)}…": it must be 0 or 1`,
  ],
  ['a half flag', { COGNITION_WAF: 'yes' }, 'COGNITION_WAF is "yes": it must be 0 or 1'],
  [
    'no zone',
    { COGNITION_AVAILABILITY_ZONES: '0' },
    'COGNITION_AVAILABILITY_ZONES is "0": it must be a whole number from 1 to 4',
  ],
];

describe('bad settings of a deployment', () => {
  it.each(ONE_LINE.map(([name, given, line, files]) => ({ name, given, line, files })))(
    'say in one line what is wrong and how to mend it: $name',
    ({ given, line, files }) => {
      const problems = problemsOf(given, files);

      expect(problems).toStrictEqual([line]);
      expect(line).not.toContain('\n');
    },
  );

  it.each(['7.5', '8', '100', '0', '-1', '1e2', ' 7', '007'])('refuse %j days of logs', (days) => {
    const [problem] = problemsOf({ COGNITION_LOG_RETENTION_DAYS: days });

    expect(problem).toMatch(
      /^COGNITION_LOG_RETENTION_DAYS is ".*": it must be a number of days that CloudWatch Logs knows: 1, 3,/,
    );
  });

  it.each(['A', '-a', 'a-', 'a--b', 'a_b', '1a', 'ä', 'a b'])('refuse %j as a name', (name) => {
    expect(problemsOf({ COGNITION_DEPLOYMENT: name })).toHaveLength(1);
  });

  it.each(['111122223333/builder', '*/AROALOCALBUILDER', '000000000000', 'AROALOCALBUILDER'])(
    'refuse %j as a caller',
    (caller) => {
      const given = { COGNITION_ENVIRONMENT: 'development', COGNITION_UNSAFE_CALLER: caller };

      expect(problemsOf(given)).toHaveLength(1);
    },
  );

  it.each(['ftp://x', 'localhost:4566', 'http//x', 'x'])('refuse %j as an endpoint', (endpoint) => {
    const given = {
      COGNITION_ENVIRONMENT: 'development',
      COGNITION_UNSAFE_CALLER: CALLER,
      COGNITION_ENDPOINT_URL_ECS: endpoint,
    };

    expect(problemsOf(given)).toHaveLength(1);
  });

  it('are all told at once, those in files too', () => {
    const problems = problemsOf(
      {
        ...PROFILES,
        COGNITION_WAF: '2',
        COGNITION_SKILLS_BACKEND: 'filesystem',
        COGNITION_UNSAFE_CALLER: CALLER,
        COGNITION_NONSENSE: '1',
      },
      {
        'bindings.json': [{ ...BINDING, role_id: '*' }],
        'profiles.json': [{ ...PROFILE, egress_aliases: ['search'], workspace_bytes: 2 ** 40 }],
      },
    );

    expect(problems.map((problem) => problem.split(' ')[0])).toStrictEqual([
      'COGNITION_WAF',
      'COGNITION_NONSENSE',
      'COGNITION_SKILLS_BACKEND',
      'COGNITION_UNSAFE_CALLER',
      'COGNITION_SCOPE_BINDINGS:',
      'COGNITION_SANDBOX_PROFILES:',
      'COGNITION_SANDBOX_PROFILES:',
    ]);
  });
});
