import { group } from '../command.ts';

export const skillsGroup = group({
  name: 'skills',
  description: 'Publish and look after skill packages',
  commands: {
    push: {
      description: 'Publish a folder as the new revision of a skill',
      load: async () => (await import('./skills/push.ts')).pushSkill,
    },
    list: {
      description: 'List the skills of the scope',
      load: async () => (await import('./skills/list.ts')).listSkills,
    },
    show: {
      description: 'Show one skill, or one revision of it',
      load: async () => (await import('./skills/show.ts')).showSkill,
    },
    revisions: {
      description: 'List the revisions of a skill, newest first',
      load: async () => (await import('./skills/revisions.ts')).listRevisions,
    },
    files: {
      description: 'List the files of a skill, or print one',
      load: async () => (await import('./skills/files.ts')).skillFiles,
    },
    diff: {
      description: 'Compare two revisions of a skill',
      load: async () => (await import('./skills/diff.ts')).diffSkill,
    },
    enable: {
      description: 'Let runs use a skill again',
      load: async () => (await import('./skills/enable.ts')).enableSkill,
    },
    disable: {
      description: 'Keep new runs from using a skill',
      load: async () => (await import('./skills/disable.ts')).disableSkill,
    },
    rollback: {
      description: 'Make an earlier revision the current one',
      load: async () => (await import('./skills/rollback.ts')).rollbackSkill,
    },
    rm: {
      description: 'Delete a skill; runs that pinned it go on',
      load: async () => (await import('./skills/rm.ts')).removeSkill,
    },
  },
});
