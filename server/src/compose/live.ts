/** Composition of what this node knows of its traffic now: counted, told to other nodes, written down, and drained by people. */
import { performance } from 'node:perf_hooks'
import type { Scheduler } from '#core/schedule/scheduler.ts'
import type { NodeSummary } from '#core/traffic/node-summary.ts'
import type { Observer } from '#ports/observer.ts'
import { StoreAway } from '#ports/store.ts'
import { every } from '#worker/every.ts'
import { DrainsInForce } from '#worker/traffic/drains.ts'
import { NodeTraffic } from '#worker/traffic/node-traffic.ts'
import type { Basics } from './basics.ts'
import type { CatalogInForce } from './catalog.ts'
import type { Stores } from './stores.ts'

const SECOND_MS = 1000
/** A person who looks at the history of this half hour sees it. */
const WRITE_MS = 20_000
const HOUR_MS = 3_600_000
/** Several pages that ask at once share one question to the store. */
const SHARED_MS = 500

export interface LiveParts {
  readonly stores: Pick<
    Stores,
    | 'nodeId'
    | 'news'
    | 'history'
    | 'drains'
    | 'openCalls'
    | 'isEldest'
    | 'isStoreAway'
    | 'ledgerDifferences'
    | 'forControl'
  >
  readonly catalog: CatalogInForce
  readonly scheduler: Scheduler
}

export interface Live extends AsyncDisposable {
  /** Is told what happens, on the way of requests. */
  readonly observer: Pick<Observer, 'callEnded' | 'overcounted' | 'requestEnded'>
  readonly drains: DrainsInForce
  /** What all nodes say that were heard of late; this one is always among them. */
  readonly summaries: () => Promise<readonly NodeSummary[]>
  /** What the space guard says of a deployment; asked once it is known. */
  explainBy(reasonOf: (deployment: string) => string | undefined): void
}

export async function openLive({ clock, log }: Basics, parts: LiveParts): Promise<Live> {
  const { stores, catalog, scheduler } = parts
  const quiet = (error: unknown): void => {
    if (!(error instanceof StoreAway)) log.warn({ err: error }, 'the traffic of this node could not be told')
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
  let busy = performance.eventLoopUtilization()
  let loopBusy = 0
  const looks = setInterval(() => {
    const now = performance.eventLoopUtilization()
    loopBusy = performance.eventLoopUtilization(now, busy).utilization
    busy = now
    traffic.look()
  }, SECOND_MS).unref()
  const summary = (): NodeSummary =>
    traffic.summary({
      node: stores.nodeId,
      loopBusy: Math.round(loopBusy * 1000) / 1000,
      spoolWaiting: stores.forControl?.figures().spoolWaiting ?? 0,
      callsUnderWay: stores.openCalls(),
      isStoreAway: stores.isStoreAway(),
      ledgerDifferences: stores.ledgerDifferences(),
    })
  const write = async (): Promise<void> => {
    const page = traffic.page()
    await stores.history?.write(stores.nodeId, page)
    traffic.written(page)
  }
  const chores = [
    every(SECOND_MS, () => stores.news.tell(stores.nodeId, summary), quiet),
    every(WRITE_MS, write, quiet),
    every(HOUR_MS, async () => void ((await stores.isEldest()) && (await stores.history?.dropOld())), quiet),
  ]
  return {
    observer: traffic,
    drains,
    summaries: shared(
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
    explainBy: (reasonOf) => void (guardReason = reasonOf),
    async [Symbol.asyncDispose]() {
      clearInterval(looks)
      await Promise.all(chores.map((chore) => chore.stop()))
      await write().catch(quiet)
    },
  }
}

/** Questions within a moment of each other get the same answer. A failure is not kept: the next question asks again. */
export function shared<Answer>(
  forMs: number,
  nowMs: () => number,
  ask: () => Promise<Answer>,
): () => Promise<Answer> {
  let askedMs = Number.NEGATIVE_INFINITY
  let answer: Promise<Answer> | undefined
  return () => {
    if (answer === undefined || nowMs() - askedMs >= forMs) {
      askedMs = nowMs()
      const asked = ask()
      answer = asked
      asked.catch(() => {
        if (answer === asked) answer = undefined
      })
    }
    return answer
  }
}
