/** Asks all workers what they have counted, and adds it up for the one that was scraped. */
import { mergeMetrics } from '#telemetry/merged-metrics.ts'
import type { WorkerProcess } from './worker-process.ts'

/** Timeout of a worker: after it, its last known counts are used. Prometheus waits ten seconds. */
const COUNT_MS = 2000

interface Scrape {
  readonly by: WorkerProcess
  /** The number under which the scraped worker asked. */
  readonly askedAs: number
  readonly missing: Set<WorkerProcess>
  readonly late: NodeJS.Timeout
}

export interface ScrapedWorkers {
  readonly all: () => readonly WorkerProcess[]
  /** Whether it takes requests; else it only ends. */
  readonly isInPlace: (worker: WorkerProcess) => boolean
}

export class Scrapes {
  readonly #workers: ScrapedWorkers
  readonly #open = new Map<number, Scrape>()
  #next = 1
  /** The counts of workers that have ended: without them, sums would fall whenever a worker ends. */
  #past = ''

  constructor(workers: ScrapedWorkers) {
    this.#workers = workers
  }

  begin(askedAs: number, by: WorkerProcess): void {
    const id = this.#next++
    const workers = this.#workers.all()
    const late = setTimeout(() => this.#answer(id), COUNT_MS).unref()
    this.#open.set(id, { by, askedAs, missing: new Set(workers), late })
    for (const worker of workers) worker.tell({ kind: 'count', id })
  }

  /** Without an id it is the last word of a worker that ends. */
  counted(id: number | undefined, worker: WorkerProcess): void {
    const scrape = id === undefined ? undefined : this.#open.get(id)
    if (id !== undefined && scrape?.missing.delete(worker) && scrape.missing.size === 0) this.#answer(id)
  }

  ended(worker: WorkerProcess): void {
    this.#past = mergeMetrics([this.#past, worker.counted].map((text) => ({ text, worker: undefined })))
    for (const id of this.#open.keys()) this.counted(id, worker)
  }

  #answer(id: number): void {
    const scrape = this.#open.get(id)
    if (scrape === undefined) return
    clearTimeout(scrape.late)
    this.#open.delete(id)
    const counted = this.#workers.all().map((worker) => ({
      text: worker.counted,
      worker: this.#workers.isInPlace(worker) ? String(worker.place) : undefined,
    }))
    const text = mergeMetrics([...counted, { text: this.#past, worker: undefined }])
    scrape.by.tell({ kind: 'scraped', id: scrape.askedAs, text })
  }
}
