/** A whole backup: tables, images and files, and a last line that says it is complete. */
import type { FileHandle } from 'node:fs/promises'
import type { TableReport, WriteLine, WrittenBackup } from '#ports/backup.ts'
import type { BlobStore } from '#ports/blobs.ts'
import { linesOf, writeBackupFile } from './backup-file.ts'
import { PictureWriter, writePictures } from './backup-pictures.ts'

/** `blobs` undefined: without images and files. */
export async function writeBackup(
  file: FileHandle,
  dump: (write: WriteLine) => Promise<readonly TableReport[]>,
  blobs: BlobStore | undefined,
): Promise<WrittenBackup> {
  let outcome: Omit<WrittenBackup, 'sha256'> = { tables: [], pictures: 0 }
  const sha256 = await writeBackupFile(file, async (write) => {
    const tables = await dump(write)
    const pictures = blobs === undefined ? 0 : await writePictures(blobs, write)
    await write(JSON.stringify({ complete: true, tables: tables.length, blobs: pictures }))
    outcome = { tables, pictures }
  })
  return { ...outcome, sha256 }
}

/** Calls `onRestored` after each image or file. */
export async function restorePictures(path: string, blobs: BlobStore, onRestored: () => void): Promise<void> {
  const pictures = new PictureWriter(blobs)
  for await (const { line } of linesOf(path))
    if (line.kind === 'blob' && (await pictures.put(line.blob))) onRestored()
}
