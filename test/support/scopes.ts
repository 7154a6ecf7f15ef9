import { inject } from 'vitest';
import { Api } from './api.ts';
import { freshScope } from './fresh-scope.ts';

/** The suite's target, in a scope that no other test has. */
export const freshApi = (): Api => new Api(inject('target'), freshScope());
