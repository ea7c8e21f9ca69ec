/** The copy of the keys on disk, in a folder of its own that goes with the process. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { snapshotKeysOf } from '#runtime/secret.ts'
import { PackedKeyFile } from '#stores/key-file/key-file.ts'
import { SECRETS } from './directory.ts'

const folders: string[] = []
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

export function someKeyFile(): PackedKeyFile {
  const folder = mkdtempSync(join(tmpdir(), 'torana-keys-'))
  folders.push(folder)
  return keyFileIn(folder)
}

/** Its troubles end the test. */
export function keyFileIn(folder: string, secrets = SECRETS): PackedKeyFile {
  return new PackedKeyFile({
    folder,
    keys: snapshotKeysOf(secrets),
    onTrouble(trouble) {
      throw trouble
    },
  })
}
