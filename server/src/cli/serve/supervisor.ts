/**
 * The process that holds the ports of several workers. It starts them, replaces one that died, and holds connections while none of them
 * takes any. No request and no secret passes through it.
 */
import cluster from 'node:cluster'
import type { Environment } from '#config/file/variable.ts'
import { JOINS_OTHERS } from '#config/unknown-variables.ts'
import { wait } from '#runtime/clock.ts'
import type { Log } from '#telemetry/log.ts'
import type { ToSupervisor } from './worker-messages.ts'
import { keepHandedConnections, onAboutToBind } from './handed-connections.ts'
import { Scrapes } from './scrapes.ts'
import { StandIn, type Address } from './stand-in.ts'
import { WorkerProcess } from './worker-process.ts'

/** Before a worker that died is started again: doubled with every death in a row. */
const PAUSE_MIN_MS = 100
/** A worker that can't start is tried six times a minute, which costs a tenth of a core. */
const PAUSE_MAX_MS = 10_000
/** A worker that ran this long resets the restart back-off. */
const LIVED_MS = 60_000

export interface SupervisorParts {
  readonly workers: number
  /** The environment of each worker. */
  readonly env: Environment
  /** Where the workers take connections. */
  readonly addresses: readonly Address[]
  readonly log: Log
}

export class Supervisor {
  readonly #parts: SupervisorParts
  /** The worker in each place that is meant to take requests. */
  readonly #inPlace = new Map<number, WorkerProcess>()
  /** All that live, with those that end because another one stands in their place. */
  readonly #living = new Set<WorkerProcess>()
  readonly #scrapes: Scrapes
  readonly #standIn: StandIn
  #isStopping = false
  #replacing: Promise<void> | undefined
  #mustReplaceAgain = false

  constructor(parts: SupervisorParts) {
    this.#parts = parts
    this.#scrapes = new Scrapes({
      all: () => [...this.#living].filter(({ isReady }) => isReady),
      isInPlace: (worker) => this.#inPlace.get(worker.place) === worker,
    })
    this.#standIn = new StandIn(parts.addresses, parts.log)
    cluster.schedulingPolicy = cluster.SCHED_RR
    // Their options stand in their environment.
    cluster.setupPrimary({ args: ['start'] })
  }

  /**
   * Resolves with the banner once all workers take requests; with the exit code of the first one if it did not come so far: what is
   * wrong with its settings would be wrong for the others too.
   */
  async start(): Promise<{ readonly banner: string } | { readonly exitCode: number }> {
    const first = this.#fork(1, false)
    this.#inPlace.set(1, first)
    const banner = await first.ready
    if (banner === undefined) {
      const code = await first.ended
      return { exitCode: typeof code === 'number' ? code : 1 }
    }
    void this.#keep(1, first)
    const places = Array.from({ length: this.#parts.workers - 1 }, (_, index) => index + 2)
    // One after another: each start takes a core for a second or two.
    for (const place of places) {
      if (this.#isStopping) break
      const worker = this.#fork(place, true)
      this.#inPlace.set(place, worker)
      void this.#keep(place, worker)
      await worker.ready
    }
    this.#parts.log.info({ workers: this.#inPlace.size, pid: process.pid }, 'the workers are ready')
    return { banner }
  }

  /** Lets all workers end in order. */
  async stop(by: 'SIGTERM' | 'SIGINT'): Promise<void> {
    this.#isStopping = true
    this.#standIn.end()
    // Also one that was started meanwhile.
    while (this.#living.size > 0) {
      const living = [...this.#living]
      for (const worker of living) worker.signal(by)
      await Promise.all(living.map(({ ended }) => ended))
    }
  }

  /** Replaces one worker after the other, each by one that is ready before it goes. At most one extra worker runs. */
  replaceAll(): void {
    if (this.#replacing !== undefined) {
      this.#mustReplaceAgain = true
      return
    }
    this.#replacing = this.#replaceEach().finally(() => {
      this.#replacing = undefined
      if (!this.#mustReplaceAgain) return
      this.#mustReplaceAgain = false
      this.replaceAll()
    })
  }

  async #replaceEach(): Promise<void> {
    const { log } = this.#parts
    log.info({ workers: this.#inPlace.size }, 'the workers are replaced, one after another')
    for (const place of this.#inPlace.keys()) {
      if (this.#isStopping) return
      const next = this.#fork(place, true)
      const isReady = (await next.ready) !== undefined
      if (this.#isStopping) return
      if (!isReady) {
        log.error({ worker: place }, 'a new worker did not start: the workers that run stay as they are')
        return
      }
      const before = this.#inPlace.get(place)
      this.#inPlace.set(place, next)
      void this.#keep(place, next)
      before?.tell({ kind: 'replaced' })
      await before?.ended
      log.info({ worker: place, pid: next.pid }, 'a worker was replaced')
    }
    log.info('all workers were replaced')
  }

  #fork(place: number, joinsOthers: boolean): WorkerProcess {
    const env = { ...this.#parts.env, ...(joinsOthers && { [JOINS_OTHERS]: 'true' }) }
    const forked = cluster.fork(env)
    const worker = new WorkerProcess(place, forked, (message, from) => this.#hear(message, from))
    const hasOthers = (): boolean => [...this.#living].some((one) => one !== worker && one.isReady)
    keepHandedConnections(forked, hasOthers)
    // Right behind this, the cluster binds the port for its worker.
    onAboutToBind(forked, (port) => this.#standIn.release(port))
    const gone = (): void => {
      if (worker.isReady && !this.#isStopping && !hasOthers()) this.#standIn.begin()
    }
    forked.once('disconnect', gone).once('exit', gone)
    this.#living.add(worker)
    void worker.ready.then((banner) => banner !== undefined && this.#standIn.handTo(forked))
    void worker.ended.then(() => {
      this.#living.delete(worker)
      this.#scrapes.ended(worker)
    })
    return worker
  }

  #hear(message: ToSupervisor, from: WorkerProcess): void {
    if (message.kind === 'scrape') this.#scrapes.begin(message.id, from)
    if (message.kind === 'counted') this.#scrapes.counted(message.id, from)
  }

  /** Puts another worker into its place whenever it ends by itself. */
  async #keep(place: number, first: WorkerProcess): Promise<void> {
    let worker = first
    let startedMs = performance.now()
    let pauseMs = PAUSE_MIN_MS
    for (;;) {
      const code = await worker.ended
      // It was replaced, or all of them end.
      if (this.#isStopping || this.#inPlace.get(place) !== worker) return
      if (performance.now() - startedMs > LIVED_MS) pauseMs = PAUSE_MIN_MS
      this.#parts.log.error(
        { worker: place, code, pauseMs },
        'a worker ended by itself: another one takes its place',
      )
      await wait(pauseMs)
      pauseMs = Math.min(PAUSE_MAX_MS, pauseMs * 2)
      if (this.#isStopping || this.#inPlace.get(place) !== worker) return
      worker = this.#fork(place, true)
      this.#inPlace.set(place, worker)
      startedMs = performance.now()
    }
  }
}
