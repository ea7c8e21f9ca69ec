/** Makes a backup in a temporary file of the data folder. */
import { open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Actor } from '#ports/audit.ts'
import type { ControlNode } from '../shared/node.ts'

/** A backup contains the ledger and the digests of keys: only its owner may read it. */
const OWNER_ONLY = 0o600
const TEMPORARY = /^backup-[\w-]+\.tmp$/

/** Resolves to a complete backup. Its bytes leave the disk once it is read or destroyed. */
export async function makeBackup(
  { settings, identifiers, audit, writeBackup }: Pick<ControlNode, BackupParts>,
  { pictures, actor }: { readonly pictures: boolean; readonly actor: Actor },
): Promise<Readable> {
  // To the disk first: a slow client must not hold one snapshot of the database for minutes.
  const path = join(settings.dataDir, `backup-${identifiers.next()}.tmp`)
  const file = await open(path, 'wx+', OWNER_ONLY)
  try {
    // The system frees the bytes of a file without a name when it is closed, also when this process is killed.
    await rm(path)
    const { tables, sha256 } = await writeBackup(file, pictures)
    const rows = tables.reduce((sum, one) => sum + one.rows, 0)
    const detail = { digest: sha256, rows, pictures }
    await audit.appendNews({ actor, action: 'backup.make', target: 'database', detail })
    return file.createReadStream({ start: 0 })
  } catch (error) {
    await file.close()
    throw error
  }
}

type BackupParts = 'settings' | 'identifiers' | 'audit' | 'writeBackup'

/** Call it at the start: a backup loses its name as it begins, so a named one is left over from a killed process. */
export async function deleteOldBackups(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) if (TEMPORARY.test(name)) await rm(join(dataDir, name))
}
