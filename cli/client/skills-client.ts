import type { FilesMap } from '../../shared/contracts/files-map.ts';
import {
  type PatchSkill,
  revisionSchema,
  skillDiffSchema,
  skillSchema,
  validationSchema,
} from '../../shared/contracts/skill.ts';
import { fileListSchema, revisionPageSchema, skillPageSchema } from './answers.ts';
import {
  type Caller,
  type PageRequest,
  type Preconditions,
  pageQuery,
  preconditionHeaders,
} from './caller.ts';

export interface SkillSource {
  readonly files: FilesMap;
  /** Left out: enabled where the skill is new, unchanged where it is not. */
  readonly enabled?: boolean | undefined;
}

/** Object.fromEntries defines own properties, so a file called `__proto__` travels like any other. */
const sourceBody = (source: SkillSource) => ({
  files: Object.fromEntries(source.files),
  ...(source.enabled === undefined ? {} : { enabled: source.enabled }),
});

/** Each method is the route of that name in contracts/routes. */
export function skillsClient(caller: Caller) {
  const at = (name: string) => ({ parameters: { name } });
  return {
    createSkill: (name: string, source: SkillSource) =>
      caller.versioned('createSkill', skillSchema, { json: { name, ...sourceBody(source) } }),
    listSkills: (page: PageRequest = {}) =>
      caller.json('listSkills', skillPageSchema, { query: pageQuery(page) }),
    getSkill: (name: string) => caller.versioned('getSkill', skillSchema, at(name)),
    putSkill: (name: string, source: SkillSource, preconditions: Preconditions = {}) =>
      caller.versioned('putSkill', skillSchema, {
        ...at(name),
        json: sourceBody(source),
        headers: preconditionHeaders(preconditions),
      }),
    patchSkill: (name: string, patch: PatchSkill, preconditions: Preconditions = {}) =>
      caller.versioned('patchSkill', skillSchema, {
        ...at(name),
        json: patch,
        headers: preconditionHeaders(preconditions),
      }),
    deleteSkill: async (name: string, preconditions: Preconditions = {}): Promise<void> => {
      await caller.answer('deleteSkill', { ...at(name), headers: preconditionHeaders(preconditions) });
    },
    listSkillRevisions: (name: string, page: PageRequest = {}) =>
      caller.json('listSkillRevisions', revisionPageSchema, { ...at(name), query: pageQuery(page) }),
    getSkillRevision: (name: string, revision: string) =>
      caller.json('getSkillRevision', revisionSchema, { parameters: { name, revision } }),
    getSkillFiles: (name: string, revision?: string) =>
      caller.json('getSkillFiles', fileListSchema, { ...at(name), query: { revision } }),
    /** The bytes of one file. @param sha256 as the list of files gives it */
    getSkillFile: (name: string, path: string, revision?: string, sha256?: string) =>
      caller.bytes('getSkillFiles', { ...at(name), query: { revision, path } }, sha256),
    getSkillPackage: (name: string, format: 'canonical' | 'zip', revision?: string) =>
      caller.bytes('getSkillPackage', {
        ...at(name),
        query: { revision },
        headers: { accept: format === 'zip' ? 'application/zip' : 'application/octet-stream' },
      }),
    diffSkill: (name: string, from: string, to?: string) =>
      caller.json('diffSkill', skillDiffSchema, { ...at(name), query: { from, to } }),
    validateSkill: (name: string, source: SkillSource) =>
      caller.json('validateSkill', validationSchema, { json: { name, ...sourceBody(source) } }),
  };
}
