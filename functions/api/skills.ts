/** /skills: publish, read, roll back, delete. */
import { idSchema, nameSchema, pageQuerySchema } from '../../shared/contracts/names.ts';
import {
  createSkillSchema,
  diffQuerySchema,
  filesQuerySchema,
  patchSkillSchema,
  putSkillSchema,
  revisionQuerySchema,
  type Skill,
} from '../../shared/contracts/skill.ts';
import type { Versioned } from '../../shared/services/commit-with.ts';
import { apiHandler } from '../runtime/api-handler.ts';
import { answerOnce } from '../runtime/idempotency.ts';
import { existing, noBody, noQuery, operation } from '../runtime/operation.ts';
import { bytesOrDownload, etagHeader, json, noContent } from '../runtime/responses.ts';
import { services } from '../runtime/services.ts';

type Params = Readonly<Record<string, string>>;

const skillName = (params: Params): string => existing(params, 'name', nameSchema, 'skill');

const skillAnswer = (status: number, skill: Versioned<Skill>, headers: Record<string, string> = {}) =>
  json(status, skill.value, { ...etagHeader(skill.etag), ...headers });

const createSkill = operation({
  query: noQuery,
  format: 'package',
  body: createSkillSchema,
  handle: (request) =>
    answerOnce<Versioned<Skill>>(
      request,
      (commitWith) => services().skills.create(request.fingerprint, request.body, commitWith),
      (skill) => skillAnswer(201, skill, { location: `skills/${skill.value.name}` }),
    ),
});

const listSkills = operation({
  query: pageQuerySchema,
  ...noBody,
  handle: async ({ fingerprint, query }) => json(200, await services().skills.list(fingerprint, query)),
});

const getSkill = operation({
  query: noQuery,
  ...noBody,
  handle: async ({ fingerprint, params }) =>
    skillAnswer(200, await services().skills.get(fingerprint, skillName(params))),
});

/** The name is not checked here: one that is no name is a problem of the package, listed with the others. */
const putSkill = operation({
  query: noQuery,
  format: 'package',
  body: putSkillSchema,
  preconditions: ['if-match', 'if-none-match'],
  handle: async ({ fingerprint, params, body, preconditions }) => {
    const name = params.name ?? '';
    const skill = await services().skills.put(fingerprint, name, body, preconditions);
    return skill.created ? skillAnswer(201, skill, { location: skill.value.name }) : skillAnswer(200, skill);
  },
});

const patchSkill = operation({
  query: noQuery,
  format: 'json',
  body: patchSkillSchema,
  preconditions: ['if-match'],
  handle: async ({ fingerprint, params, body, preconditions }) =>
    skillAnswer(200, await services().skills.patch(fingerprint, skillName(params), body, preconditions)),
});

const deleteSkill = operation({
  query: noQuery,
  ...noBody,
  preconditions: ['if-match'],
  handle: async ({ fingerprint, params, preconditions }) => {
    await services().skills.delete(fingerprint, skillName(params), preconditions);
    return noContent();
  },
});

const listSkillRevisions = operation({
  query: pageQuerySchema,
  ...noBody,
  handle: async ({ fingerprint, params, query }) =>
    json(200, await services().skills.listRevisions(fingerprint, skillName(params), query)),
});

const getSkillRevision = operation({
  query: noQuery,
  ...noBody,
  handle: async ({ fingerprint, params }) => {
    const name = skillName(params);
    const revision = existing(params, 'revision', idSchema, 'revision');
    return json(200, await services().skills.getRevision(fingerprint, name, revision));
  },
});

const getSkillFiles = operation({
  query: filesQuerySchema,
  ...noBody,
  handle: async ({ fingerprint, params, query: { path, revision } }) => {
    const name = skillName(params);
    if (path === undefined) return json(200, await services().skills.listFiles(fingerprint, name, revision));
    return bytesOrDownload(await services().skills.getFile(fingerprint, name, path, revision));
  },
});

const getSkillPackage = operation({
  query: revisionQuerySchema,
  ...noBody,
  handle: async ({ fingerprint, params, query, accept }) => {
    const format = wantsZip(accept) ? 'zip' : 'canonical';
    const content = await services().skills.getPackage(
      fingerprint,
      skillName(params),
      format,
      query.revision,
    );
    return bytesOrDownload(content, { vary: 'accept' });
  },
});

const wantsZip = (accept: string | undefined): boolean =>
  (accept ?? '')
    .split(',')
    .some((range) => /^\s*application\/zip\s*(;(?!\s*q=0(\.0*)?\s*$).*)?$/i.test(range));

const diffSkill = operation({
  query: diffQuerySchema,
  ...noBody,
  handle: async ({ fingerprint, params, query }) =>
    json(200, await services().skills.diff(fingerprint, skillName(params), query.from, query.to)),
});

export const handler = apiHandler('skills', {
  createSkill,
  listSkills,
  getSkill,
  putSkill,
  patchSkill,
  deleteSkill,
  listSkillRevisions,
  getSkillRevision,
  getSkillFiles,
  getSkillPackage,
  diffSkill,
});
