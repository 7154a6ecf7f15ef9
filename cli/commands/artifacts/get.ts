import { resolve } from 'node:path';
import picomatch from 'picomatch';
import type { Artifact } from '../../../shared/contracts/run.ts';
import { openTargetFolder } from '../../artifacts/target-folder.ts';
import type { Client } from '../../client/create-client.ts';
import { command } from '../../command.ts';
import { CliFailure } from '../../failure.ts';
import type { Session } from '../../session.ts';
import { formatBytes } from '../../terminal/format.ts';
import { printBytes } from '../../terminal/print-bytes.ts';

export const getArtifacts = command({
  name: 'get',
  description: 'Fetch artifacts of a run into a folder; never writes outside of it, never over a file',
  examples: [
    'cognition artifacts get RUN_ID --output results',
    'cognition artifacts get RUN_ID report.json',
    'cognition artifacts get RUN_ID "charts/*.svg" --output results --force',
    'cognition artifacts get RUN_ID report.json --output -    # to standard output',
  ],
  args: {
    run: { type: 'positional', required: true, description: 'Id of the run' },
    path: { type: 'positional', required: false, description: 'Path or glob; default: all' },
    output: { type: 'string', valueHint: 'dir', description: 'Folder to write to, or -', default: '.' },
    force: { type: 'boolean', description: 'Replace files that are there' },
  },
  run: async ({ args, session }) => {
    const { client } = await session.connect();
    const { items } = await client.getRunArtifacts(args.run);
    const wanted = select(items, args.path);
    if (args.output === '-') await printOne(wanted, args.run, client, session);
    else
      await writeAll(
        wanted,
        resolve(session.io.cwd, args.output),
        args.force === true,
        args.run,
        client,
        session,
      );
    return 0;
  },
});

type Kept = Artifact & { readonly sha256: string };
const isKept = (artifact: Artifact): artifact is Kept =>
  artifact.refused === undefined && artifact.sha256 !== undefined;

function select(items: readonly Artifact[], pattern: string | undefined): Kept[] {
  const matches = pattern === undefined ? () => true : picomatch(pattern, { dot: true });
  const matching = items.filter(({ path }) => path === pattern || matches(path));
  const kept = matching.filter(isKept);
  if (kept.length > 0) return kept;
  const [refused] = matching;
  if (refused?.refused !== undefined) {
    throw new CliFailure('refused_path', `${refused.path} was refused: ${refused.refused}`);
  }
  throw new CliFailure(
    'invalid_file',
    `the run has no artifact${pattern === undefined ? '' : ` ${pattern}`}`,
    {
      fix: 'see `cognition artifacts list RUN_ID`',
    },
  );
}

async function printOne(
  wanted: readonly Kept[],
  runId: string,
  client: Client,
  session: Session,
): Promise<void> {
  const [only] = wanted;
  if (only === undefined || wanted.length > 1) {
    throw new CliFailure('usage', `${wanted.length} artifacts match, standard output takes one`, {
      fix: 'name one path',
      exitCode: 2,
    });
  }
  const { bytes } = await client.getRunArtifact(runId, only.path, only.sha256);
  printBytes(bytes, session.io.stdout);
}

async function writeAll(
  wanted: readonly Kept[],
  folder: string,
  force: boolean,
  runId: string,
  client: Client,
  session: Session,
): Promise<void> {
  const target = openTargetFolder(folder, force);
  for (const { path } of wanted) await target.check(path);
  const files: { path: string; file: string; size_bytes: number; sha256: string }[] = [];
  for (const artifact of wanted) {
    const { bytes, sha256 } = await client.getRunArtifact(runId, artifact.path, artifact.sha256);
    const file = await target.write(artifact.path, bytes);
    files.push({ path: artifact.path, file, size_bytes: bytes.length, sha256 });
  }
  session.output.result({ run_id: runId, folder, files }, () =>
    files.map(({ file, size_bytes, sha256 }) => `${file}  ${formatBytes(size_bytes)}  sha256:${sha256}`),
  );
}
