/** Opens what this node knows of its present traffic: it counts, reports to other nodes, writes a history, and drains deployments. */
import { cachedFor } from '#control/shared/cached-for.ts'
import type { Scheduler } from '#core/schedule/scheduler.ts'
import type { NodeSummary } from '#core/traffic/node-summary.ts'
import { validityOf } from '#http/certificate.ts'
import type { Listeners } from '#http/listeners.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { loopBusyMeter } from '#runtime/load.ts'
import { every } from '#worker/every.ts'
import { DrainsInForce } from '#worker/traffic/drains.ts'
import { NodeTraffic } from '#worker/traffic/node-traffic.ts'
import type { Basics } from './basics.ts'
import type { CatalogInForce } from '#worker/catalog/in-force.ts'
import type { Stores } from './stores.ts'

const SECOND_MS = 1000
/** Interval of writes to the history: a person who looks at this half hour sees them. */
const WRITE_MS = 20_000
const HOUR_MS = 3_600_000
/** Time for which several pages share one question to the store. */
const SHARED_MS = 500

interface LiveParts {
  readonly stores: Stores
  readonly catalog: CatalogInForce
  readonly scheduler: Scheduler
  readonly listeners: Pick<Listeners, 'certificate'>
}

export type Live = Awaited<ReturnType<typeof openLive>>

export async function openLive({ clock, log }: Basics, parts: LiveParts) {
  const { stores, catalog, scheduler, listeners } = parts
  const quiet = (error: unknown): void => {
    if (!(error instanceof StoreUnreachable))
      log.warn({ err: error }, 'the traffic of this node could not be told')
  }
  const drains = new DrainsInForce({
    store: stores.drains,
    apply: (deployment, isDrained) => scheduler.drain(deployment, isDrained),
  })
  await drains.refresh().catch(quiet)
  catalog.follow(() => {
    drains.apply()
    drains.refresh().catch(quiet)
  })
  let guardReason: (deployment: string) => string | undefined = () => undefined
  const traffic = new NodeTraffic({
    clock,
    states: (nowMs) => scheduler.states(nowMs),
    reasonsOf: (deployment) => ({
      guard: guardReason(deployment),
      drain: drains.of(deployment)?.reason,
    }),
  })
  const measureLoop = loopBusyMeter()
  let loopBusy = 0
  const looks = setInterval(() => {
    loopBusy = measureLoop()
    traffic.look()
  }, SECOND_MS).unref()
  const summary = (): NodeSummary =>
    traffic.summary({
      node: stores.nodeId,
      loopBusy,
      spoolWaiting: stores.forControl.figures().spoolWaiting,
      callsUnderWay: stores.openCalls(),
      isStoreAway: stores.isStoreUnreachable(),
      ledgerDifferences: stores.ledgerDifferences(),
      certificateEndsMs: validityOf(listeners.certificate)?.endsAtMs,
    })
  const write = async (): Promise<void> => {
    const page = traffic.page()
    await stores.history.write(stores.nodeId, page)
    traffic.written(page)
  }
  const dropOld = async (): Promise<void> => {
    if (stores.isClockSteady() && (await stores.isEldest())) await stores.history.dropOld()
  }
  const chores = [
    stores.pulse.on('news')(() => stores.news.tell(stores.nodeId, summary), quiet),
    every(WRITE_MS, write, quiet),
    every(HOUR_MS, dropOld, quiet),
  ]
  return {
    /** Counts what happens to requests. */
    observer: traffic,
    drains,
    /** The summaries of all nodes that reported lately; this one is always among them. */
    summaries: cachedFor(
      SHARED_MS,
      () => clock.monotonicMs(),
      async () => {
        const others = await stores.news.read().catch((error: unknown) => {
          quiet(error)
          return []
        })
        return [summary(), ...others.filter(({ node }) => node !== stores.nodeId)]
      },
    ),
    /** Sets the source of the space guard's reasons, once the guard is open. */
    explainBy: (reasonOf: typeof guardReason) => void (guardReason = reasonOf),
    async [Symbol.asyncDispose]() {
      clearInterval(looks)
      await Promise.all(chores.map((chore) => chore.stop()))
      await write().catch(quiet)
    },
  }
}
