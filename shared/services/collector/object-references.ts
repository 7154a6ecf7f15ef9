/** Who needs a package. A reference past its expiry counts as gone, as the store may drop it at any time. */
import { objectRowSchema, runReferenceRowSchema } from '../../contracts/rows.ts';
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

/** Most packages are in use: one small read tells, as the state's key sorts after those of all references. */
export async function isPlainlyInUse(deps: Deps, fingerprint: string, digest: string): Promise<boolean> {
  const pk = KEYS.objects(fingerprint, digest);
  const { rows } = await deps.table.query(pk, { descending: true, limit: 2 });
  const [state, reference] = rows;
  if (state?.sk !== KEYS.object(fingerprint, digest).sk || reference === undefined) return false;
  return objectRowSchema.parse(state.data).state === 'live' && isUnexpired(deps, reference);
}

function isUnexpired({ clock }: Deps, { expires_at }: Row): boolean {
  return expires_at === undefined || expires_at * 1_000 > clock.now();
}

async function someReference(
  deps: Deps,
  pk: string,
  prefix: string,
  matches: (row: Row) => boolean,
): Promise<boolean> {
  let after: string | undefined;
  do {
    const page = await deps.table.query(pk, { prefix, ...(after !== undefined && { after }) });
    if (page.rows.some((row) => isUnexpired(deps, row) && matches(row))) return true;
    after = page.next;
  } while (after !== undefined);
  return false;
}
