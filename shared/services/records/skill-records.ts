import type { PageQuery } from '../../contracts/names.ts';
import { type RevisionRow, revisionRowSchema, type SkillRow, skillRowSchema } from '../../contracts/rows.ts';
import { KEYS } from '../../domain/row-keys.ts';
import type { Condition, TableStore, Write } from '../../ports/table-store.ts';
import { rowData } from './row-data.ts';

export interface StoredSkill {
  readonly row: SkillRow;
  readonly version: string;
}

interface RowPage<T> {
  readonly rows: readonly T[];
  /** The last sort key when there may be more. */
  readonly next?: string;
}

type Paging = Pick<PageQuery, 'limit'> & { readonly after?: string | undefined };

/** Rows of skills: the current pointer by name, and the immutable revisions by skill id. */
export interface SkillRecords {
  get(fingerprint: string, name: string): Promise<StoredSkill | undefined>;
  list(fingerprint: string, paging: Paging): Promise<RowPage<SkillRow>>;
  getRevision(fingerprint: string, skillId: string, revision: string): Promise<RevisionRow | undefined>;
  /** Newest first. */
  listRevisions(fingerprint: string, skillId: string, paging: Paging): Promise<RowPage<RevisionRow>>;
  writePointer(fingerprint: string, row: SkillRow, condition: Condition): Write;
  writeRevision(fingerprint: string, row: RevisionRow): Write;
  /** Removes the pointer and leaves the skill id for the collector, which removes its revisions. */
  remove(fingerprint: string, skill: StoredSkill, deletedAt: string): readonly Write[];
}

export function createSkillRecords(table: TableStore): SkillRecords {
  return {
    async get(fingerprint, name) {
      const row = await table.get(KEYS.skill(fingerprint, name));
      return row && { row: skillRowSchema.parse(row.data), version: row.version };
    },
    async list(fingerprint, paging) {
      const page = await table.query(KEYS.skills(fingerprint), queryOf(paging));
      return { ...page, rows: page.rows.map((row) => skillRowSchema.parse(row.data)) };
    },
    async getRevision(fingerprint, skillId, revision) {
      const row = await table.get(KEYS.revision(fingerprint, skillId, revision));
      return row && revisionRowSchema.parse(row.data);
    },
    async listRevisions(fingerprint, skillId, paging) {
      const page = await table.query(KEYS.revisions(fingerprint, skillId), {
        ...queryOf(paging),
        descending: true,
      });
      return { ...page, rows: page.rows.map((row) => revisionRowSchema.parse(row.data)) };
    },
    writePointer: (fingerprint, row, condition) => ({
      kind: 'put',
      key: KEYS.skill(fingerprint, row.name),
      data: rowData(row),
      if: condition,
    }),
    writeRevision: (fingerprint, row) => ({
      kind: 'put',
      key: KEYS.revision(fingerprint, row.skill_id, row.revision),
      data: rowData(row),
      if: { absent: true },
    }),
    remove: (fingerprint, { row, version }, deletedAt) => [
      { kind: 'delete', key: KEYS.skill(fingerprint, row.name), if: { version } },
      {
        kind: 'put',
        key: KEYS.deletedSkill(fingerprint, row.skill_id),
        data: { fingerprint, skill_id: row.skill_id, deleted_at: deletedAt },
      },
    ],
  };
}

const queryOf = ({ limit, after }: Paging) => ({ limit, ...(after === undefined ? {} : { after }) });
