/** What the doctor of a node finds around it. */
import { listModels } from '#core/catalog/catalog.ts'
import type { ControlNode } from '../shared/node.ts'
import type { NodeSurroundings } from './surroundings-rules.ts'

/** Timeout of the image store: one that hangs can't be used. */
const ANSWER_MS = 3000

export async function surroundingsOf(node: ControlNode): Promise<NodeSurroundings> {
  const [disk, trouble, waiting, memory, unfit] = await Promise.all([
    node.diskSpace(),
    imageStoreTrouble(node),
    node.imagesWaiting(),
    node.limiterMemory(),
    node.isPoolerUnfit(),
  ])
  return {
    disk,
    images: { trouble, waiting },
    certificate: node.certificate(),
    cache: node.sharedCache(),
    isPoolerUnfit: unfit,
    limiterMemory: memory,
    models: modelsAround(node),
  }
}

/** A deployment that this node has not called yet has no state, and can be called. */
function modelsAround({ catalog, scheduler, spaceGuard, clock }: ControlNode): NodeSurroundings['models'] {
  const states = new Map(
    scheduler.states(clock.monotonicMs()).map(({ deployment, state }) => [deployment, state]),
  )
  return listModels(catalog()).map(({ id: model, deployments }) => ({
    model,
    deployments: deployments.map(({ id }) => ({
      id,
      state: states.get(id) ?? 'healthy',
      reason: spaceGuard.standingOf(id)?.reason,
    })),
  }))
}

async function imageStoreTrouble({ imageStore }: ControlNode): Promise<string | undefined> {
  const late = new Promise<string>((resolve) => {
    setTimeout(() => resolve(`no answer within ${ANSWER_MS / 1000} s`), ANSWER_MS).unref()
  })
  const asked = imageStore.list({ prefix: 'pictures/', limit: 1 }).then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  )
  return Promise.race([asked, late])
}
