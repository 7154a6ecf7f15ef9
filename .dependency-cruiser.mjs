/** Import directions of the layers, as docs/architecture.md draws them. `npm run lint` enforces them. */
const only = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: '^(shared|functions|infra|cli|test|examples)/', pathNot: [from, ...allowed] },
});
const AWS_SDK = '^node_modules/@aws-sdk/';
const CONTRACTS = '^shared/contracts/';
const DOMAIN = '^shared/domain/';
const PORTS = '^shared/ports/';
const SERVICES = '^shared/services/';
const RUNTIME = '^functions/runtime/';
const ADAPTERS = '^shared/adapters/';

export default {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'a cycle hides which of two modules is the lower one',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    only('contracts-stand-alone', CONTRACTS, [], 'schemas of the boundaries depend on nothing of ours'),
    {
      name: 'contracts-zod-only',
      severity: 'error',
      from: { path: CONTRACTS },
      to: { path: '^node_modules/', pathNot: '^node_modules/zod/' },
    },
    only(
      'domain-on-contracts',
      DOMAIN,
      [CONTRACTS, PORTS],
      'pure rules; row keys share a type with the port',
    ),
    only('ports-on-domain', PORTS, [DOMAIN, CONTRACTS], 'ports speak the language of the domain'),
    only('services-on-ports', SERVICES, [PORTS, DOMAIN, CONTRACTS], 'services know no adapter'),
    only('adapters-on-ports', ADAPTERS, [PORTS, DOMAIN, CONTRACTS, SERVICES], 'adapters implement ports'),
    {
      name: 'no-sdk-below-adapters',
      severity: 'error',
      from: {
        path: ['^shared/', '^functions/(api|run-steps|maintenance|sandboxd)/'],
        pathNot: '^shared/adapters/aws/',
      },
      to: { path: AWS_SDK },
    },
    {
      name: 'aws-adapters-in-wiring-only',
      severity: 'error',
      from: { pathNot: ['^shared/adapters/aws/', RUNTIME, '^infra/local/', '^test/'] },
      to: { path: '^shared/adapters/aws/' },
    },
    {
      name: 'local-adapters-in-standalone-only',
      severity: 'error',
      from: { pathNot: ['^shared/adapters/local/', '^infra/local/', '^test/'] },
      to: { path: '^shared/adapters/local/' },
    },
    only(
      'api-on-services',
      '^functions/api/',
      [SERVICES, CONTRACTS, DOMAIN, PORTS, RUNTIME],
      'handlers parse, call, render',
    ),
    only(
      'steps-on-services',
      '^functions/run-steps/',
      [SERVICES, CONTRACTS, DOMAIN, PORTS, RUNTIME],
      'a state calls a step',
    ),
    only(
      'maintenance-on-services',
      '^functions/maintenance/',
      [SERVICES, CONTRACTS, DOMAIN, PORTS, RUNTIME],
      'a schedule calls a service',
    ),
    only(
      'runtime-knows-no-handler',
      RUNTIME,
      [SERVICES, CONTRACTS, DOMAIN, PORTS, ADAPTERS],
      'handlers are built on it',
    ),
    only(
      'sandboxd-small',
      '^functions/sandboxd/',
      [CONTRACTS, DOMAIN],
      'the daemon holds nothing of the control plane',
    ),
    only(
      'cdk-on-contracts',
      '^infra/(?!local/|sandbox-image/)',
      [CONTRACTS, '^infra/sandbox-image/'],
      'templates are made of settings and tables; code is named by its file and bundled',
    ),
    only('cli-is-a-client', '^cli/', [CONTRACTS, DOMAIN], 'the CLI knows the API, not the server'),
    {
      name: 'nothing-imports-tests',
      severity: 'error',
      from: { pathNot: '^test/' },
      to: { path: '^test/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    parser: 'swc',
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { extensions: ['.ts', '.mjs', '.js', '.json'] },
  },
};
