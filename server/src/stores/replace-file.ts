import { randomBytes } from 'node:crypto'
import { open, rename, rm, type FileHandle } from 'node:fs/promises'

/** Replaces a file whole: whatever ends this process, a reader finds the old content or the new one. Only its owner may read it. */
export async function replaceFile(path: string, write: (file: FileHandle) => Promise<void>): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  const file = await open(draft, 'wx', 0o600)
  try {
    await write(file)
    await file.sync()
    await file.close()
    await rename(draft, path)
  } catch (error) {
    await file.close()
    await rm(draft, { force: true })
    throw error
  }
}
