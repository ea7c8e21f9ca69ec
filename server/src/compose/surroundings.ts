/** What the doctor of a node asks around it. */
import type { NodeSurroundings } from '#http/control/books/surroundings.ts'
import { diskSpace } from '#runtime/disk-room.ts'
import type { Basics } from './basics.ts'
import type { Blobs } from './blobs.ts'

/** A store that hangs is away. */
const ANSWER_MS = 3000

export function surroundingsOf({ settings }: Basics, blobs: Blobs): () => Promise<NodeSurroundings> {
  return async () => {
    const disk = await diskSpace(settings.dataDir)
    const [trouble, waiting] = await Promise.all([troubleWith(blobs), blobs.spooled?.waiting() ?? 0])
    return {
      disk,
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
