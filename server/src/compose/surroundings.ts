/** What the doctor of a node asks around it. */
import { statfs } from 'node:fs/promises'
import type { NodeSurroundings } from '#http/control/books/surroundings.ts'
import type { Basics } from './basics.ts'
import type { Blobs } from './blobs.ts'

/** A store that hangs is away. */
const ANSWER_MS = 3000

export function surroundingsOf({ settings }: Basics, blobs: Blobs): () => Promise<NodeSurroundings> {
  return async () => {
    const disk = await statfs(settings.dataDir).catch(() => undefined)
    const [trouble, waiting] = await Promise.all([troubleWith(blobs), blobs.spooled?.waiting() ?? 0])
    return {
      disk: disk && { freeBytes: disk.bavail * disk.bsize, sizeBytes: disk.blocks * disk.bsize },
      images: { trouble, waiting },
    }
  }
}

async function troubleWith({ kept }: Blobs): Promise<string | undefined> {
  const late = new Promise<string>((resolve) => {
    setTimeout(() => resolve(`no answer within ${ANSWER_MS / 1000} s`), ANSWER_MS).unref()
  })
  const asked = kept.list({ prefix: 'pictures/', limit: 1 }).then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  )
  return Promise.race([asked, late])
}
