/** /skill-validations: the whole judgement of a package, with nothing stored. */
import { createSkillSchema } from '../../shared/contracts/skill.ts';
import { apiHandler } from '../runtime/api-handler.ts';
import { noQuery, operation } from '../runtime/operation.ts';
import { json } from '../runtime/responses.ts';
import { services } from '../runtime/services.ts';

const validateSkill = operation({
  query: noQuery,
  format: 'package',
  body: createSkillSchema,
  handle: async ({ body }) => json(200, services().skills.validate(body)),
});

export const handler = apiHandler('skill-validations', { validateSkill });
