/**
 * Lists the vectors of suspect windows: requests from the ledger, lines of batches from their results, which name the request of each
 * line. One node lists for all. It also makes repairs that a node planned before it died.
 */
import { listModels, type Catalog } from '#core/catalog/catalog.ts'
import { runsOf } from '#core/batch/line-runs.ts'
import type { Actor } from '#ports/audit.ts'
import type { BlobStore } from '#ports/blobs.ts'
import {
  SUSPECTS_KEPT_MS,
  type PlannedRepair,
  type SuspectBatch,
  type SuspectRequest,
  type SuspectStore,
  type SuspectWindow,
} from '#ports/suspects.ts'
import { linesOfPart } from '#request/batches/part-lines.ts'
import { createRepair, type RepairDependencies } from '#request/batches/repair.ts'
import { every, type Repetition } from '../every.ts'
import type { Pulse } from '../pulse.ts'

export interface SuspectParts extends RepairDependencies {
  readonly store: SuspectStore
  /** Store of the results of batches. */
  readonly blobs: Pick<BlobStore, 'open'>
  readonly catalog: () => Catalog
  /** Whether this node lists for all. */
  readonly isLister: () => Promise<boolean>
  readonly pulse?: Pick<Pulse, 'may'> | undefined
  readonly onTrouble: (error: unknown) => void
}

/** Interval at which due windows are noticed. */
const LOOK_MS = 2000
/** Interval of repairs that were planned and not made: long enough for the node that planned them. */
const UNMADE_MS = 15_000
const DELETE_OLD_MS = 3_600_000
/** Windows and repairs of one look: the others follow in the next. */
const AT_ONCE = 20

export class Suspects {
  readonly #parts: SuspectParts
  #loops: readonly Repetition[] = []

  constructor(parts: SuspectParts) {
    this.#parts = parts
  }

  start(): void {
    const { store, clock, onTrouble } = this.#parts
    this.#loops = [
      every(LOOK_MS, () => this.#ifAny(() => this.#listDue()), onTrouble),
      every(UNMADE_MS, () => this.#ifAny(() => this.#makeUnmade()), onTrouble),
      every(
        DELETE_OLD_MS,
        () => this.#unlessOther(() => store.deleteOld(clock.nowMs() - SUSPECTS_KEPT_MS)),
        onTrouble,
      ),
    ]
  }

  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()))
  }

  async #ifAny(work: () => Promise<void>): Promise<void> {
    if (this.#parts.pulse?.may('suspects') !== false) await this.#unlessOther(work)
  }

  async #listDue(): Promise<void> {
    const { store, catalog } = this.#parts
    await store.endGone(presentIn(catalog()))
    for (const window of await store.due(AT_ONCE)) await this.#list(window)
  }

  async #makeUnmade(): Promise<void> {
    const { store, onTrouble } = this.#parts
    for (const { windowId, ...planned } of await store.unmadeRepairs(AT_ONCE)) {
      const window = await store.find(windowId)
      if (window !== undefined) await this.#make(window, planned).catch(onTrouble)
    }
  }

  /** Makes the batches that embed the listed lines again, once. */
  async repair(window: SuspectWindow, actor: Actor): Promise<void> {
    const { store, identifiers } = this.#parts
    const sources = await store.repairSources(window.id)
    const wanted = sources.map(({ batch }) => ({
      batchId: batch.id,
      repairBatchId: `batch_${identifiers.next().replaceAll('-', '')}`,
    }))
    const planned = await store.planRepairs(window.id, wanted, actor)
    for (const one of planned) if (!one.isMade) await this.#make(window, one)
  }

  async #make(window: SuspectWindow, { batchId, repairBatchId }: PlannedRepair): Promise<void> {
    const { store } = this.#parts
    const [source] = await store.repairSources(window.id, batchId)
    const chunks = source === undefined ? [] : await store.chunksIn(window, batchId)
    const repair = { id: repairBatchId, windowId: window.id, chunks }
    const isMade = source !== undefined && (await createRepair(source, repair, this.#parts))
    await store.settleRepair(window.id, batchId, isMade)
  }

  async #unlessOther(work: () => Promise<void>): Promise<void> {
    if (await this.#parts.isLister()) await work()
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
