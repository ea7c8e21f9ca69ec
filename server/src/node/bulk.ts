/** Opens bulk work: files of requests, and the batches that run them. */
import type { Basics } from './basics.ts'
import { openBatches, type BatchParts } from './batches.ts'
import { openFiles, type FileParts } from './files.ts'

export type Bulk = Awaited<ReturnType<typeof openBulk>>

export async function openBulk(basics: Basics, parts: BatchParts & FileParts) {
  await using opened = new AsyncDisposableStack()
  const files = opened.use(await openFiles(basics, parts))
  const batches = opened.use(openBatches(basics, parts))
  const all = opened.move()
  return {
    forGateway: { ...files.forGateway, ...batches.forGateway },
    drain: batches.drain,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
