/** The folder of a standalone server: one table file, one folder of objects, the key of its download links. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createConfigRegistryPackageStore } from '../../shared/adapters/config-registry/config-registry-package-store.ts';
import { createDownloadLinks, type DownloadLinks } from '../../shared/adapters/local/download-links.ts';
import { createFilesystemObjectStore } from '../../shared/adapters/local/filesystem-object-store.ts';
import {
  createSqliteTableStore,
  type SqliteTableStore,
} from '../../shared/adapters/local/sqlite-table-store.ts';
import { createObjectPackageStore } from '../../shared/adapters/object-package-store.ts';
import { InvalidSettings, type Settings } from '../../shared/contracts/settings.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { Ids } from '../../shared/ports/ids.ts';
import type { ObjectStore } from '../../shared/ports/object-store.ts';
import type { SkillPackageStore } from '../../shared/ports/skill-package-store.ts';
import type { TableStore } from '../../shared/ports/table-store.ts';
import { ownFolder } from './own-folder.ts';
import { readPrivate, writePrivate } from './private-file.ts';

export interface LocalStores {
  readonly table: SqliteTableStore;
  readonly objects: ObjectStore;
  readonly packages: SkillPackageStore;
  readonly links: DownloadLinks;
}

export interface OpenStoresDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Known once the server listens; read at each signing of a link. */
  readonly endpoint: () => string;
}

/** @throws CognitionError `conflict` when another server has the folder; InvalidSettings when nobody can have it. */
export function openStores(settings: Settings, { clock, ids, endpoint }: OpenStoresDeps): LocalStores {
  ownFolder('COGNITION_DATA_DIR', settings.data_dir);
  // First, because it holds the lock on the whole folder.
  const table = createSqliteTableStore({ path: join(settings.data_dir, 'table.sqlite'), clock, ids });
  const links = createDownloadLinks({
    secret: downloadSecret(settings.data_dir),
    get base_url() {
      return endpoint();
    },
    clock,
  });
  const objectsIn = (root: string): ObjectStore =>
    createFilesystemObjectStore({ root, clock, signDownload: links.sign });
  const objects = objectsIn(join(settings.data_dir, 'objects'));
  return { table, objects, packages: packageStore(settings, table, objectsIn), links };
}

function packageStore(
  { packages, data_dir }: Settings,
  table: TableStore,
  objectsIn: (root: string) => ObjectStore,
): SkillPackageStore {
  switch (packages.backend) {
    case 'config_registry':
      return createConfigRegistryPackageStore({ table });
    case 'filesystem':
      return createObjectPackageStore({
        objects: objectsIn(packages.root ?? join(data_dir, 'skills')),
        backend: 'filesystem',
      });
    case 's3':
      throw new InvalidSettings([
        'COGNITION_SKILLS_BACKEND s3 needs AWS: use config_registry or filesystem here',
      ]);
  }
}

const SECRET_BYTES = 32;

/** Kept, so that a link survives a restart within its minute. */
function downloadSecret(folder: string): Uint8Array {
  const file = join(folder, 'download-secret');
  const kept = readPrivate(file);
  if (kept?.length === SECRET_BYTES) return kept;
  const secret = randomBytes(SECRET_BYTES);
  writePrivate(file, secret);
  return secret;
}
