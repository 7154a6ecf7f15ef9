import { group } from '../command.ts';

export const rootGroup = group({
  name: 'cognition',
  description: 'Publish skill packages, attach them to agents, run them in a sandbox, fetch the results',
  epilogue: [
    'FIRST STEPS',
    '',
    '  npm run local                                      # a server on this machine, in another terminal',
    '  cognition scope use tenant=acme,project=support    # where everything below happens',
    '  cognition skills push examples/skills/ticket-analysis',
    '  cognition agents put examples/agents/support-analyst.json',
    '  cognition run support-analyst --skill ticket-analysis --script scripts/analyze.py \\',
    '      --stdin examples/data/tickets.json',
    '  cognition artifacts get RUN_ID --output results    # the run prints its id',
    '',
    'EXIT CODES',
    '',
    '  0 success · 1 failure · 2 wrong usage · 124 the run timed out · 130 interrupted',
    "  `run` ends with the script's own exit code.",
    '',
    'Settings come from options, then the environment (COGNITION_ENDPOINT, COGNITION_SCOPE, AWS_*), then',
    '~/.config/cognition (COGNITION_CONFIG_DIR). `cognition doctor` says which source won.',
  ],
  commands: {
    skills: {
      description: 'Publish and look after skill packages',
      load: async () => (await import('./skills.ts')).skillsGroup,
    },
    agents: {
      description: 'Define agents and the skills they attach',
      load: async () => (await import('./agents.ts')).agentsGroup,
    },
    run: {
      description: 'Start a run, follow it, end with its exit code',
      load: async () => (await import('./run.ts')).runCommand,
    },
    runs: {
      description: 'Look at runs, cancel them',
      load: async () => (await import('./runs.ts')).runsGroup,
    },
    artifacts: {
      description: 'List and fetch what runs left behind',
      load: async () => (await import('./artifacts.ts')).artifactsGroup,
    },
    scope: {
      description: 'Show, choose and encode the effective scope',
      load: async () => (await import('./scope.ts')).scopeGroup,
    },
    doctor: {
      description: 'Check endpoint, credentials, clock, and what this machine can do',
      load: async () => (await import('./doctor.ts')).doctorCommand,
    },
  },
});
