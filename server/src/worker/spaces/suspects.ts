/**
 * Lists the vectors of suspect windows: requests from the ledger, lines of batches from their results, which name the request of each
 * line. One node lists for all.
 */
import { listModels, type Catalog } from '#core/catalog/catalog.ts'
import { runsOf } from '#core/batch/line-runs.ts'
import type { BlobStore } from '#ports/blobs.ts'
import type { Clock } from '#ports/clock.ts'
import {
  SUSPECTS_KEPT_MS,
  type SuspectBatch,
  type SuspectRequest,
  type SuspectStore,
  type SuspectWindow,
} from '#ports/suspects.ts'
import { linesOfPart } from '#request/batches/part-lines.ts'
import { every, type Repetition } from '../every.ts'
import type { Pulse } from '../pulse.ts'

export interface SuspectParts {
  readonly store: SuspectStore
  /** Store of the results of batches. */
  readonly blobs: Pick<BlobStore, 'open'>
  readonly catalog: () => Catalog
  readonly clock: Clock
  /** Whether this node lists for all. */
  readonly isLister: () => Promise<boolean>
  readonly pulse?: Pick<Pulse, 'may'> | undefined
  readonly onTrouble: (error: unknown) => void
}

/** Interval at which due windows are noticed. */
const LOOK_MS = 2000
const DELETE_OLD_MS = 3_600_000
/** Windows of one look: the others follow in the next. */
const AT_ONCE = 20

export class Suspects {
  readonly #parts: SuspectParts
  #loops: readonly Repetition[] = []

  constructor(parts: SuspectParts) {
    this.#parts = parts
  }

  start(): void {
    const { onTrouble } = this.#parts
    this.#loops = [
      every(LOOK_MS, () => this.#listDue(), onTrouble),
      every(DELETE_OLD_MS, () => this.#deleteOld(), onTrouble),
    ]
  }

  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()))
  }

  async #listDue(): Promise<void> {
    const { store, catalog, isLister, pulse } = this.#parts
    if (pulse?.may('suspects') === false || !(await isLister())) return
    await store.endGone(presentIn(catalog()))
    for (const window of await store.due(AT_ONCE)) await this.#list(window)
  }

  async #deleteOld(): Promise<void> {
    const { store, clock, isLister } = this.#parts
    if (await isLister()) await store.deleteOld(clock.nowMs() - SUSPECTS_KEPT_MS)
  }

  async #list(window: SuspectWindow): Promise<void> {
    const { store } = this.#parts
    await store.listRequests(window)
    for (const batch of await store.batchesIn(window)) {
      const requests = await this.#requestsIn(window, batch)
      if (requests.length > 0) await store.listLines(window, batch.id, requests)
    }
    await store.listed(window)
  }

  /** The requests of the batch whose vectors are in its results. If some results are gone, requests that are not found may be in them. */
  async #requestsIn(
    window: SuspectWindow,
    { id, requests }: SuspectBatch,
  ): Promise<readonly SuspectRequest[]> {
    const { store, blobs } = this.#parts
    const found = new Map<string, { inputs: number; numbers: number[] }>()
    let isWhole = true
    for (const { chunk, part } of await store.chunksIn(window, id)) {
      const lines = await linesOfPart({ batchId: id, chunk, part }, blobs)
      isWhole &&= lines !== undefined
      for (const { requestId, vectors, number } of lines ?? []) {
        if (!requests.has(requestId)) continue
        const request = found.get(requestId) ?? { inputs: 0, numbers: [] }
        request.inputs += vectors
        request.numbers.push(number)
        found.set(requestId, request)
      }
    }
    const listed = Array.from(found, ([requestId, { inputs, numbers }]) => ({
      requestId,
      inputs,
      lines: runsOf(numbers),
    }))
    if (isWhole) return listed
    const gone = [...requests].filter(([requestId]) => !found.has(requestId))
    return [...listed, ...gone.map(([requestId, inputs]) => ({ requestId, inputs, lines: undefined }))]
  }
}

function presentIn(catalog: Catalog): readonly { readonly model: string; readonly deployment: string }[] {
  return listModels(catalog).flatMap(({ id: model, deployments }) =>
    deployments.map(({ id: deployment }) => ({ model, deployment })),
  )
}
