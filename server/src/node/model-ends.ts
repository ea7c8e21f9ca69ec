/** Opens the watch over models: their ends, by daily lists of upstreams and notices to projects, and others in their place. */
import { daysLeft, endWords } from '#core/catalog/model-end.ts'
import { tasksOf } from '#core/node/node-role.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { modelEndingEvents } from '#stores/webhook-events.ts'
import type { Log } from '#telemetry/log.ts'
import { EndWatch, type EndWatchEvents } from '#worker/catalog/end-watch.ts'
import type { CatalogInForce } from '#worker/catalog/in-force.ts'
import { every } from '#worker/every.ts'
import type { Basics } from './basics.ts'
import type { Stores } from './stores.ts'
import type { Upstreams } from './upstreams.ts'
import { webhooksIn } from './webhooks.ts'

export interface ModelEndParts {
  readonly stores: Pick<Stores, 'modelEnds' | 'isEldest'>
  readonly catalog: CatalogInForce
  readonly upstreams: Pick<Upstreams, 'listing' | 'substitutions'>
}

/** Interval of checks: lists are read, and notices sent, once per day. */
const CHECK_MS = 60_000
/** Interval at which counted substitutions are kept: a person who looks at a deployment sees them. */
const KEEP_MS = 10_000

export function openModelEnds(
  basics: Basics,
  { stores, catalog, upstreams }: ModelEndParts,
): AsyncDisposable {
  const { settings, clock, log } = basics
  const onError = (error: unknown): void => {
    if (!(error instanceof StoreUnreachable)) log.warn({ err: error }, 'ends of models could not be checked')
  }
  const keep = (): Promise<void> => upstreams.substitutions.flush(stores.modelEnds)
  const watch = new EndWatch({
    store: stores.modelEnds,
    listing: upstreams.listing,
    clock,
    catalog: () => catalog.current,
    isLeader: stores.isEldest,
    eventsFor: (end, days, project) => {
      const atMs = clock.nowMs()
      const ending = { ...end, days, daysLeft: daysLeft(end, atMs), successor: end.successor }
      return modelEndingEvents(ending, project, atMs, webhooksIn(catalog))
    },
    events: eventsTo(log, () => clock.nowMs()),
    random: Math.random,
  })
  const checks = tasksOf(settings.role).doesChores ? every(CHECK_MS, () => watch.check(), onError) : undefined
  const keeping = every(KEEP_MS, keep, onError)
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all([checks?.stop(), keeping.stop()])
      await keep().catch(onError)
    },
  }
}

function eventsTo(log: Log, nowMs: () => number): EndWatchEvents {
  return {
    listed({ upstream, ends, unread }) {
      log.info({ upstream, ends }, 'an upstream lists when it shuts models down')
      if (unread.length > 0)
        log.warn(
          { upstream, models: unread },
          'shutdown_date of these models is neither Unix seconds nor an ISO date; it is left out',
        )
    },
    notListed: (upstream, failure) =>
      log.warn({ upstream, reason: failure.reason }, 'an upstream could not be asked when its models end'),
    noticed: (end, days, projects) =>
      log.warn(
        { model: end.model, upstream: end.upstream, successor: end.successor, days, projects },
        `${end.model} on ${end.upstream} ${endWords(end, nowMs())}`,
      ),
  }
}
