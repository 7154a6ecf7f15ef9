/**
 * The HTTP API as data: the gateway of the standalone server, the CDK app, the handlers and the docs all
 * read this one table. `resource` is API Gateway's template path.
 */
export const SCOPE_PREFIX = '/v1/scopes/{scopeRef}';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/** The file in functions/api that serves the route, and the Lambda function of that name. */
export type ApiFunction = 'skills' | 'skill-validations' | 'agents' | 'runs' | 'artifacts';

export interface Route {
  operation: string;
  method: HttpMethod;
  resource: string;
  function: ApiFunction;
}

const route = (operation: string, method: HttpMethod, path: string, fn: ApiFunction) => ({
  operation,
  method,
  resource: `${SCOPE_PREFIX}${path}`,
  function: fn,
});

export const ROUTES: readonly Route[] = [
  route('createSkill', 'POST', '/skills', 'skills'),
  route('listSkills', 'GET', '/skills', 'skills'),
  route('getSkill', 'GET', '/skills/{name}', 'skills'),
  route('putSkill', 'PUT', '/skills/{name}', 'skills'),
  route('patchSkill', 'PATCH', '/skills/{name}', 'skills'),
  route('deleteSkill', 'DELETE', '/skills/{name}', 'skills'),
  route('listSkillRevisions', 'GET', '/skills/{name}/revisions', 'skills'),
  route('getSkillRevision', 'GET', '/skills/{name}/revisions/{revision}', 'skills'),
  route('getSkillFiles', 'GET', '/skills/{name}/files', 'skills'),
  route('getSkillPackage', 'GET', '/skills/{name}/package', 'skills'),
  route('diffSkill', 'GET', '/skills/{name}/diff', 'skills'),
  route('validateSkill', 'POST', '/skill-validations', 'skill-validations'),
  route('createAgent', 'POST', '/agents', 'agents'),
  route('listAgents', 'GET', '/agents', 'agents'),
  route('getAgent', 'GET', '/agents/{name}', 'agents'),
  route('putAgent', 'PUT', '/agents/{name}', 'agents'),
  route('patchAgent', 'PATCH', '/agents/{name}', 'agents'),
  route('deleteAgent', 'DELETE', '/agents/{name}', 'agents'),
  route('createRun', 'POST', '/runs', 'runs'),
  route('listRuns', 'GET', '/runs', 'runs'),
  route('getRun', 'GET', '/runs/{runId}', 'runs'),
  route('getRunManifest', 'GET', '/runs/{runId}/manifest', 'runs'),
  route('listRunEvents', 'GET', '/runs/{runId}/events', 'runs'),
  route('getRunArtifacts', 'GET', '/runs/{runId}/artifacts', 'runs'),
  route('cancelRun', 'POST', '/runs/{runId}/cancel', 'runs'),
  route('createArtifact', 'POST', '/artifacts', 'artifacts'),
  route('getArtifact', 'GET', '/artifacts/{artifactId}', 'artifacts'),
];
