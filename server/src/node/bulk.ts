/** Opens bulk work: files of requests, and the batches that run them. */
import type { Basics } from './basics.ts'
import { openBatches, type BatchParts, type OpenBatches } from './batches.ts'
import { openFiles, type FileParts, type OpenFiles } from './files.ts'

export interface Bulk extends AsyncDisposable {
  /** What the gateway's handlers need. */
  readonly forGateway: OpenFiles['forGateway'] & OpenBatches['forGateway']
  /** Begins no further chunk of a batch, and waits up to `forMs` for those in progress. */
  drain(forMs: number): Promise<void>
}

export async function openBulk(basics: Basics, parts: BatchParts & FileParts): Promise<Bulk> {
  await using opened = new AsyncDisposableStack()
  const files = opened.use(await openFiles(basics, parts))
  const batches = opened.use(openBatches(basics, parts))
  const all = opened.move()
  return {
    forGateway: { ...files.forGateway, ...batches.forGateway },
    drain: (forMs) => batches.drain(forMs),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
