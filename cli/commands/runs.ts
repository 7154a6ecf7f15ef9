import { group } from '../command.ts';

export const runsGroup = group({
  name: 'runs',
  description: 'Look at runs, cancel them',
  commands: {
    list: {
      description: 'List runs, newest first',
      load: async () => (await import('./runs/list.ts')).listRuns,
    },
    show: {
      description: 'Show one run with what it wrote',
      load: async () => (await import('./runs/show.ts')).showRun,
    },
    events: {
      description: 'Show the events of a run, or follow them',
      load: async () => (await import('./runs/events.ts')).runEvents,
    },
    manifest: {
      description: 'Show the pinned manifest of a run',
      load: async () => (await import('./runs/manifest.ts')).runManifest,
    },
    cancel: { description: 'Cancel a run', load: async () => (await import('./runs/cancel.ts')).cancelRun },
  },
});
