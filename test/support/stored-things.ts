import type { Api } from './api.ts';

/** All that the lists of a scope hold, to see that a refused request has stored nothing and changed nothing. */
export async function storedThings(api: Api): Promise<unknown> {
  const lists = await Promise.all(['/skills', '/agents', '/runs'].map((path) => api.get(path)));
  return lists.map(({ json }) => json.items);
}
