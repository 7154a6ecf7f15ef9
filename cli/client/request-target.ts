import { ROUTES, type Route } from '../../shared/contracts/routes.ts';
import { TransportError } from './client-errors.ts';

export type Query = Readonly<Record<string, string | number | undefined>>;

const routes = new Map(ROUTES.map((route) => [route.operation, route]));

export function routeOf(operation: string): Route {
  const route = routes.get(operation);
  if (route === undefined) throw new Error(`no route is called ${operation}`);
  return route;
}

/**
 * Path and query of a route. A parameter that is no plain name or id never gets into a path: `..` would be
 * resolved away by the URL and reach another resource.
 */
export function requestTarget(
  route: Route,
  parameters: Readonly<Record<string, string>>,
  query: Query = {},
): string {
  const path = route.resource.replace(/\{(\w+)\}/g, (_match, key: string) => {
    const value = parameters[key];
    if (value === undefined || !/^[A-Za-z0-9_-]{1,512}$/.test(value)) {
      throw new TransportError(
        'refused_request',
        `${JSON.stringify(value ?? '')} is not ${key === 'name' ? 'a name' : 'an id'}: ${
          key === 'name'
            ? 'lower-case letters and digits, joined by single hyphens'
            : 'copy the 26 characters that a list shows'
        }`,
      );
    }
    return value;
  });
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) search.set(key, String(value));
  }
  return search.size === 0 ? path : `${path}?${search.toString().replaceAll('+', '%20')}`;
}
