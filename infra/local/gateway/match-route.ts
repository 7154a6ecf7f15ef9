/** Finds the route of a path as API Gateway does: segment by segment, before decoding; nothing greedy. */
import { ROUTES, type Route } from '../../../shared/contracts/routes.ts';
import { decodePercent } from './request-target.ts';

export type RouteMatch =
  | { readonly kind: 'route'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'no_such_path' }
  | { readonly kind: 'no_such_method'; readonly allow: readonly string[] };

interface Resource {
  readonly segments: readonly string[];
  readonly methods: ReadonlyMap<string, Route>;
}

const resourcesByLength = groupRoutes();

function groupRoutes(): ReadonlyMap<number, readonly Resource[]> {
  const byLength = new Map<number, Resource[]>();
  for (const resource of new Set(ROUTES.map((route) => route.resource))) {
    const segments = resource.split('/');
    const methods = new Map(
      ROUTES.filter((route) => route.resource === resource).map((route) => [route.method, route]),
    );
    byLength.set(segments.length, [...(byLength.get(segments.length) ?? []), { segments, methods }]);
  }
  return byLength;
}

/** @param path percent-encoded. @throws CognitionError `invalid_request` for a segment that cannot be decoded. */
export function matchRoute(method: string, path: string): RouteMatch {
  const segments = path.split('/');
  const resource = resourcesByLength
    .get(segments.length)
    ?.find((candidate) =>
      candidate.segments.every((template, index) => fits(template, segments[index] ?? '')),
    );
  if (resource === undefined) return { kind: 'no_such_path' };
  const params = readParams(resource.segments, segments);
  // A client that resolves dots would have signed another path than this one.
  if (Object.values(params).some((value) => value === '.' || value === '..')) return { kind: 'no_such_path' };
  const route = resource.methods.get(method);
  if (route === undefined) return { kind: 'no_such_method', allow: [...resource.methods.keys()] };
  return { kind: 'route', route, params };
}

const isParam = (template: string): boolean => template.startsWith('{');

const fits = (template: string, segment: string): boolean =>
  isParam(template) ? segment !== '' : template === segment;

function readParams(templates: readonly string[], segments: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  templates.forEach((template, index) => {
    if (isParam(template)) params[template.slice(1, -1)] = decodePercent(segments[index] ?? '', 'the path');
  });
  return params;
}
