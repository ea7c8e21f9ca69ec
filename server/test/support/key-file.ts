/** The copy of the keys on disk, in a folder of its own that goes with the process. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { snapshotKeysOf } from '#runtime/secret.ts'
import { PackedKeyFile, type KeyFileParts } from '#stores/key-file/key-file.ts'
import { SECRETS } from './directory.ts'

const folders: string[] = []
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

export function someKeyFile(): PackedKeyFile {
  return keyFileIn(someKeyFolder())
}

export function someKeyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'torana-keys-'))
  folders.push(folder)
  return folder
}

/** Its troubles end the test, unless it wants to hear of them. */
export function keyFileIn(
  folder: string,
  secrets = SECRETS,
  options: Partial<KeyFileParts> = {},
): PackedKeyFile {
  return new PackedKeyFile({
    folder,
    keys: snapshotKeysOf(secrets),
    onTrouble(trouble) {
      throw trouble
    },
    ...options,
  })
}
