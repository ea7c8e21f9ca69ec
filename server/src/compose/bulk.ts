/** Composition of bulk work: files of requests, and the batches that run them. */
import type { BatchesDependencies } from '#http/control/batches/routes.ts'
import type { Basics } from './basics.ts'
import { openBatches, type BatchParts, type OpenBatches } from './batches.ts'
import { openFiles, type FileParts, type OpenFiles } from './files.ts'
import type { Stores } from './stores.ts'

export interface Bulk extends AsyncDisposable {
  /** What the gateway's handlers need. */
  readonly forGateway: OpenFiles['forGateway'] & OpenBatches['forGateway']
  /** What the control API needs to show them; undefined on a node that keeps nothing. */
  readonly forControl: BatchesDependencies | undefined
  /** Begins no further chunk of a batch, and lets those under way end, for so long. */
  drain(forMs: number): Promise<void>
}

export interface BulkParts extends Omit<BatchParts & FileParts, 'stores'> {
  readonly stores: (BatchParts & FileParts)['stores'] & Pick<Stores, 'reports'>
}

export async function openBulk(basics: Basics, parts: BulkParts): Promise<Bulk> {
  await using opened = new AsyncDisposableStack()
  const files = opened.use(await openFiles(basics, parts))
  const batches = opened.use(openBatches(basics, parts))
  const all = opened.move()
  const { reports, batches: kept } = parts.stores
  return {
    forGateway: { ...files.forGateway, ...batches.forGateway },
    forControl: reports && {
      ...files.forGateway,
      reports: reports.batches,
      batches: kept,
      nowMs: basics.clock.nowMs,
    },
    drain: (forMs) => batches.drain(forMs),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
