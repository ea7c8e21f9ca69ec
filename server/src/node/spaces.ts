/** Opens the space guard, which probes deployments and holds back those outside their space. */
import type { EmbeddingModel } from '#core/catalog/catalog.ts'
import type { Media } from '#core/content/content.ts'
import { PROBE_IMAGES, takesProbeImages, type ProbeImage } from '#core/embedding/probe-images.ts'
import { PROBE_TEXTS } from '#core/embedding/probe-texts.ts'
import { answeringSpace } from '#core/embedding/space.ts'
import { probeImage } from '#package/files.ts'
import type { Scheduler } from '#core/schedule/scheduler.ts'
import { StoreUnreachable } from '#ports/store.ts'
import type { EmbedOutside } from '#request/embeddings/outside.ts'
import type { SpaceWatch } from '#request/embeddings/space.ts'
import { probeInUse, probeSpace } from '#request/embeddings/probe.ts'
import { waitFor } from '#runtime/clock.ts'
import type { Log } from '#telemetry/log.ts'
import { SpaceGuard } from '#worker/spaces/guard.ts'
import { holdOf } from '#worker/spaces/knowledge.ts'
import type { SpaceAlert } from '#worker/spaces/probe.ts'
import type { Basics } from './basics.ts'
import type { CatalogInForce } from '#worker/catalog/in-force.ts'
import type { Stores } from './stores.ts'
import type { Upstreams } from './upstreams.ts'

export interface SpaceParts {
  readonly stores: Pick<Stores, 'spaces' | 'isEldest' | 'pulse'>
  readonly catalog: CatalogInForce
  readonly scheduler: Scheduler
  readonly outside: EmbedOutside
  readonly upstreams: Pick<Upstreams, 'isAsleep'>
  /** Aborts a start: then it waits for nothing. */
  readonly signal: AbortSignal
}

export interface Spaces extends AsyncDisposable {
  readonly guard: SpaceGuard
  readonly spaceNow: SpaceWatch['spaceNow']
  /** The space that names the model's answers at this width. Undefined while it is not known. */
  readonly nameSpace: (model: EmbeddingModel, width: number) => string | undefined
}

/**
 * Longest wait of a start for a slow store: without it the node does not know which deployments are in quarantine. An unreachable
 * store fails sooner: after three seconds without a connection, after ten without an answer.
 */
const FIRST_READ_MS = 15_000
/** Longest wait of a start for probes of unreachable upstreams. Deployments that may not serve are held back. */
const FIRST_PROBES_MS = 2000
/** Timeout of a probe with eight short texts, each of which may be a call: a start and an admin wait for it. */
const TEXTS_TIMEOUT_MS = 10_000
/** The same where three images follow. */
const IMAGES_TIMEOUT_MS = 20_000

/** Resolves when the guard knows what the store knows, or has waited long enough for it. */
export async function openSpaces({ log }: Basics, parts: SpaceParts): Promise<Spaces> {
  const { stores, catalog, scheduler, outside, signal } = parts
  const { clock, limits } = outside
  const onTrouble = (error: unknown): void => {
    if (!(error instanceof StoreUnreachable)) log.warn({ err: error }, 'the space guard could not probe')
  }
  const images = PROBE_IMAGES.map(mediaOf)
  const within = (requestTimeoutMs: number): EmbedOutside => ({
    ...outside,
    limits: { ...limits, requestTimeoutMs },
  })
  const guard = new SpaceGuard({
    store: stores.spaces,
    catalog: () => catalog.current,
    probe: (model, deployment, terms) => {
      const hasImages = takesProbeImages(deployment)
      const timeoutMs = hasImages ? IMAGES_TIMEOUT_MS : TEXTS_TIMEOUT_MS
      // Calls as large as callers' take as long as theirs.
      const requestTimeoutMs = terms.size === undefined ? timeoutMs : limits.requestTimeoutMs
      const question = { texts: PROBE_TEXTS, images: hasImages ? images : [] }
      return probeSpace(model, deployment, question, within(requestTimeoutMs), terms)
    },
    probeInUse: (model, deployment, asked) =>
      probeInUse(model, deployment, asked.size === undefined ? within(TEXTS_TIMEOUT_MS) : outside, asked),
    clock,
    isProber: stores.isEldest,
    isAsleep: parts.upstreams.isAsleep,
    onStanding: (standing) => scheduler.hold(standing.deployment, holdOf(standing)),
    pulse: stores.pulse,
    onAlert: (alert) => tell(alert, log),
    onTrouble,
  })
  catalog.follow(() => guard.reload())
  await waitFor(guard.follow().catch(onTrouble), FIRST_READ_MS, signal)
  if (!guard.hasRead && !signal.aborted)
    log.error(
      'PostgreSQL could not be read: until it can, only the first deployment of each model serves, and requests that pin a space are refused',
    )
  await waitFor(guard.start(), FIRST_PROBES_MS, signal)
  return {
    guard,
    spaceNow: (model) => guard.spaceNow(model),
    nameSpace: (model, width) => {
      const now = guard.spaceNow(model)
      return now && answeringSpace(now, width)
    },
    [Symbol.asyncDispose]: () => guard.stop(),
  }
}

function mediaOf({ name, ...image }: ProbeImage): Media {
  const bytes = probeImage(name)
  return {
    ...image,
    async *open() {
      yield bytes
    },
  }
}

function tell(alert: SpaceAlert, log: Log): void {
  if (alert.kind === 'returned') log.info({ alert }, 'a deployment answers in its vector space again')
  else if (alert.kind === 'unprobed')
    log.error({ alert }, 'a deployment could not be compared with its vector space')
  else log.error({ alert }, 'a deployment may have left its vector space')
}
