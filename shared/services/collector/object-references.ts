/** Who needs a package. A reference past its expiry counts as gone, as the store may drop it at any time. */
import { runReferenceRowSchema } from '../../contracts/rows.ts';
import { KEYS } from '../../domain/row-keys.ts';
import type { Row } from '../../ports/table-store.ts';
import type { PackageCollectorDeps } from '../package-collector.ts';

type Deps = Pick<PackageCollectorDeps, 'table' | 'clock'>;

export function isReferenced(deps: Deps, fingerprint: string, digest: string): Promise<boolean> {
  return someReference(deps, KEYS.objects(fingerprint, digest), KEYS.REFERENCE_PREFIX, () => true);
}

export function isHeldByRun(
  deps: Deps,
  fingerprint: string,
  held: { readonly digest: string; readonly skill_id: string; readonly revision: string },
): Promise<boolean> {
  const { sk: prefix } = KEYS.runReference(fingerprint, held.digest, '');
  return someReference(deps, KEYS.objects(fingerprint, held.digest), prefix, (row) => {
    const { skill_id, revision } = runReferenceRowSchema.parse(row.data);
    return skill_id === held.skill_id && revision === held.revision;
  });
}

async function someReference(
  { table, clock }: Deps,
  pk: string,
  prefix: string,
  matches: (row: Row) => boolean,
): Promise<boolean> {
  let after: string | undefined;
  do {
    const page = await table.query(pk, { prefix, ...(after !== undefined && { after }) });
    const counts = (row: Row): boolean =>
      (row.expires_at === undefined || row.expires_at * 1_000 > clock.now()) && matches(row);
    if (page.rows.some(counts)) return true;
    after = page.next;
  } while (after !== undefined);
  return false;
}
