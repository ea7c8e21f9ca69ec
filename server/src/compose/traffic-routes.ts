/** Composition of what the console shows of traffic: overview, deployments, and their live topics. */
import { announcedEnds } from '#core/announced-ends.ts'
import {
  listModels,
  type ConfiguredBudget,
  type Deployment,
  type ImageDeployment,
  type Model,
} from '#core/catalog.ts'
import { UpstreamFailure } from '#core/fault/failure.ts'
import { Fault } from '#core/fault/fault.ts'
import { faultOfFailure } from '#core/fault/of-failure.ts'
import { endedOf } from '#core/model-end.ts'
import type { Cost } from '#core/price.ts'
import {
  allDeployments,
  type DeploymentDependencies,
  type DeploymentTests,
} from '#http/control/deployments/routes.ts'
import type { EventTopic } from '#http/control/events/topic.ts'
import {
  attentionOf,
  FirstSeen,
  type AttentionParts,
  type EndingDeployment,
} from '#http/control/overview/attention.ts'
import type { ModelUsers } from '#ports/model-figures.ts'
import type { OverviewDependencies } from '#http/control/overview/routes.ts'
import { attentionTopic, deploymentTopic, flowTopic } from '#http/control/overview/topics.ts'
import { mostOfTest, testEmbedding } from '#request/embeddings/probe.ts'
import type { EmbedOutside } from '#request/embeddings/outside.ts'
import type { ImageDependencies } from '#request/images/image.ts'
import { mostOfPicture, testPicture } from '#request/images/test-call.ts'
import type { Basics } from './basics.ts'
import type { CatalogInForce } from './catalog.ts'
import type { Images } from './images.ts'
import { shared, type Live } from './live.ts'
import type { Spaces } from './spaces.ts'
import type { Stores } from './stores.ts'

export interface TrafficRouteParts {
  readonly catalog: CatalogInForce
  readonly stores: Stores
  readonly live: Live
  readonly spaces: Spaces
  readonly outside: EmbedOutside
  readonly images: Images
}

export interface TrafficRoutes {
  readonly overview: OverviewDependencies
  readonly deployments: DeploymentDependencies
  readonly topics: readonly EventTopic[]
}

/** What needs attention changes slowly, and asks the books. */
const ATTENTION_MS = 3000
const BUDGETS_MS = 10_000
const USERS_MS = 10 * 60_000
/** Projects whose budgets make the pace of a day. */
const MOST_PROJECTS = 1000

export function trafficRoutes({ clock }: Basics, parts: TrafficRouteParts): TrafficRoutes {
  const { catalog, stores, live, spaces } = parts
  const { summaries, drains } = live
  const monotonicMs = (): number => clock.monotonicMs()
  const common = {
    catalog: () => catalog.current,
    summaries,
    liveNodes: stores.liveNodes,
    history: stores.history,
    startedAtMs: clock.nowMs(),
    nowMs: () => clock.nowMs(),
  }
  const deployments: DeploymentDependencies = {
    ...common,
    drains: stores.drains,
    spaceStandingOf: (deployment) => spaces.guard.standingOf(deployment),
    generationOf: spaces.generationOf,
    tests: testsOf(parts),
  }
  const seen = new FirstSeen()
  const usersOf = sharedUsers(stores.modelFigures, monotonicMs)
  const attention = shared(ATTENTION_MS, monotonicMs, async () =>
    seen.dated(
      await attentionOf({
        summaries,
        deployments: () => watched(catalog, (id) => drains.of(id) !== undefined),
        ends: () => ending(catalog),
        usersOf,
        spaceStandingOf: deployments.spaceStandingOf,
        reconciler: stores.forControl?.reconciler,
        nodes: stores.forControl?.nodes,
        figures: stores.attention,
        nowMs: common.nowMs,
      }),
    ),
  )
  const overview: OverviewDependencies = {
    ...common,
    attention,
    isDrained: (deployment) => drains.of(deployment) !== undefined,
    budgets: shared(BUDGETS_MS, monotonicMs, () => budgetsOf(catalog, stores)),
    figures: stores.attention,
  }
  const topics = { ...common, attention, deployments: () => allDeployments(deployments) }
  return {
    overview,
    deployments,
    topics: [flowTopic(topics), deploymentTopic(topics), attentionTopic(topics)],
  }
}

function watched({ current }: CatalogInForce, isDrained: (deployment: string) => boolean) {
  return listModels(current).flatMap((model) => {
    const ids = model.deployments.map(({ id }) => id)
    return ids
      .filter((id) => !isDrained(id))
      .map((id) => ({ id, model: model.id, siblings: ids.filter((other) => other !== id) }))
  })
}

function ending({ current }: CatalogInForce): readonly EndingDeployment[] {
  return announcedEnds(current).map((one) => {
    const { deployments = [], managedBy } = current.models.get(one.model) ?? {}
    const later = deployments.filter(
      ({ end }: Model['deployments'][number]) => end === undefined || end.atMs > one.atMs,
    )
    return { ...one, isBuiltIn: managedBy === 'built-in', outlastedBy: later.map(({ id }) => id) }
  })
}

/** Who used models within a month changes slowly, and is a sum over many rows. Other models are another question. */
function sharedUsers(figures: Stores['modelFigures'], monotonicMs: () => number): AttentionParts['usersOf'] {
  let asked = ''
  let users = async (): Promise<ReadonlyMap<string, ModelUsers> | undefined> => undefined
  return (models) => {
    if (models.join() !== asked) {
      asked = models.join()
      users = shared(USERS_MS, monotonicMs, async () => figures?.users(models, undefined))
    }
    return users()
  }
}

/** Where both the file and the store have a project, the file counts. */
async function budgetsOf(
  catalog: CatalogInForce,
  { keys }: Pick<Stores, 'keys'>,
): Promise<ReadonlyMap<string, ConfiguredBudget>> {
  const stored = await keys.listProjects({ limit: MOST_PROJECTS })
  const all = [...stored, ...catalog.projects].flatMap(({ name, budget }) =>
    budget === undefined ? [] : [[name, budget] as const],
  )
  return new Map(all)
}

function testsOf({ outside, images }: Pick<TrafficRouteParts, 'outside' | 'images'>): DeploymentTests {
  const { clock, identifiers } = outside
  const forImages: ImageDependencies = { ...outside, ...images.forGateway }
  const call = (model: Model, one: Deployment | ImageDeployment, requestId: string): Promise<Cost> =>
    model.kind === 'embedding'
      ? testEmbedding(model, one as Deployment, requestId, outside)
      : testPicture(model, one as ImageDeployment, requestId, forImages)
  return {
    most: (model, one) =>
      model.kind === 'embedding'
        ? mostOfTest(one as Deployment)
        : mostOfPicture(model, one as ImageDeployment, forImages),
    async run(model, one) {
      const requestId = identifiers.next()
      const startedMs = clock.monotonicMs()
      const durationMs = (): number => clock.monotonicMs() - startedMs
      try {
        const cost = await call(model, one, requestId)
        return { requestId, durationMs: durationMs(), cost, fault: undefined }
      } catch (error) {
        const fault =
          error instanceof UpstreamFailure
            ? faultOfFailure(error, model.id, 1, endedOf(model, error.detail.deployment, clock.nowMs()))
            : error
        if (!(fault instanceof Fault)) throw error
        return { requestId, durationMs: durationMs(), cost: undefined, fault }
      }
    },
  }
}
