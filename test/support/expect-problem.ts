import { expect } from 'vitest';
import type { Answer } from './api.ts';

/** A refusal as every one must be: RFC 9457 with the code, its status, a title, and a detail for whoever called. */
export function expectProblem(answer: Answer, status: number, code: string): void {
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(answer.json).toMatchObject({ status, code, type: 'about:blank' });
  expect(answer.status).toBe(status);
  expect(answer.json.title.length).toBeGreaterThan(3);
  expect(answer.json.detail.length).toBeGreaterThan(10);
  expect(answer.json.request_id.length).toBeGreaterThan(7);
}

/** The body without what differs between two equal refusals: the request's id. */
export function withoutRequestId(answer: Answer): unknown {
  const { request_id: _id, ...problem } = answer.json;
  return { status: answer.status, problem };
}
