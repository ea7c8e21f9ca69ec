/** What the doctor of a node asks around it. */
import { listModels } from '#core/catalog.ts'
import type { Scheduler } from '#core/schedule/scheduler.ts'
import type { NodeSurroundings } from '#http/control/books/surroundings.ts'
import { diskSpace } from '#runtime/disk-room.ts'
import type { Basics } from './basics.ts'
import type { Blobs } from './blobs.ts'
import type { CatalogInForce } from './catalog.ts'
import { validityOf } from './certificate.ts'
import type { Listeners } from './listeners.ts'
import type { SharedVectors } from './sharing.ts'
import type { Spaces } from './spaces.ts'

/** How long a store may take to answer. One that hangs can't be used. */
const ANSWER_MS = 3000

export interface SurroundingParts {
  readonly blobs: Blobs
  readonly catalog: Pick<CatalogInForce, 'current'>
  readonly scheduler: Pick<Scheduler, 'states'>
  readonly spaces: Pick<Spaces, 'guard'>
  readonly listeners: Pick<Listeners, 'certificate'>
  readonly sharing: Pick<SharedVectors, 'sharedCacheTrouble'>
}

export function surroundingsOf(
  { settings, clock }: Basics,
  parts: SurroundingParts,
): () => Promise<NodeSurroundings> {
  const { blobs, listeners, sharing } = parts
  return async () => {
    const disk = await diskSpace(settings.dataDir)
    const [trouble, waiting] = await Promise.all([troubleWith(blobs), blobs.spooled?.waiting() ?? 0])
    const { sharedCacheTrouble } = sharing
    return {
      disk,
      images: { trouble, waiting },
      certificate: validityOf(listeners.certificate),
      cache: sharedCacheTrouble && { trouble: sharedCacheTrouble() },
      models: modelsAround(parts, clock.monotonicMs()),
    }
  }
}

/** A deployment that this node has not called yet has no state, and can be called. */
function modelsAround(
  { catalog, scheduler, spaces }: SurroundingParts,
  nowMs: number,
): NodeSurroundings['models'] {
  const states = new Map(scheduler.states(nowMs).map(({ deployment, state }) => [deployment, state]))
  return listModels(catalog.current).map(({ id: model, deployments }) => ({
    model,
    deployments: deployments.map(({ id }) => ({
      id,
      state: states.get(id) ?? 'healthy',
      reason: spaces.guard.standingOf(id)?.reason,
    })),
  }))
}

async function troubleWith({ kept }: Blobs): Promise<string | undefined> {
  const late = new Promise<string>((resolve) => {
    setTimeout(() => resolve(`no answer within ${ANSWER_MS / 1000} s`), ANSWER_MS).unref()
  })
  const asked = kept.list({ prefix: 'pictures/', limit: 1 }).then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  )
  return Promise.race([asked, late])
}
