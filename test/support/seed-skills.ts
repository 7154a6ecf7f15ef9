/** Fills a server's folder, before it starts, with as many skills of one scope as a bench needs: rows, no packages. */
import { join } from 'node:path';
import { createSqliteTableStore } from '../../shared/adapters/local/sqlite-table-store.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { createUlidIds } from '../../shared/adapters/ulid-ids.ts';
import { skillRowSchema } from '../../shared/contracts/rows.ts';
import { scopeFingerprint } from '../../shared/domain/scope.ts';
import { createSkillRecords } from '../../shared/services/records/skill-records.ts';
import type { Scope } from './api.ts';

const BATCH = 100;

export async function seedSkills(folder: string, scope: Scope, count: number): Promise<void> {
  const ids = createUlidIds();
  const table = createSqliteTableStore({
    path: join(folder, 'data', 'table.sqlite'),
    clock: systemClock,
    ids,
  });
  const skills = createSkillRecords(table);
  const fingerprint = scopeFingerprint(scope);
  const now = new Date().toISOString();
  for (let from = 0; from < count; from += BATCH) {
    const writes = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) =>
      skills.writePointer(
        fingerprint,
        skillRowSchema.parse({
          name: `seeded-${from + index}`,
          description: 'One of many.',
          revision: ids.next(),
          digest: `sha256:${'0'.repeat(64)}`,
          file_count: 1,
          size_bytes: 100,
          validation_status: 'valid',
          warnings: [],
          skill_id: ids.next(),
          enabled: true,
          created_at: now,
          updated_at: now,
        }),
        { absent: true },
      ),
    );
    await table.transact(writes);
  }
  table.close();
}
