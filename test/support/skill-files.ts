export const skillMd = (name: string, description = 'Test skill one.'): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\nbody\n`;

/** A package of SKILL.md and these files. */
export const skillFiles = (name: string, files: Record<string, string> = {}): Record<string, string> => ({
  'SKILL.md': skillMd(name),
  ...files,
});
