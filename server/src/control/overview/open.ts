/** What the overview and its live topics share: cached lists that are expensive to make. */
import type { Attention } from '#core/alerts/attention.ts'
import type { ConfiguredBudget } from '#core/catalog/catalog.ts'
import { isNear } from '#core/catalog/model-end.ts'
import { cachedFor } from '../shared/cached-for.ts'
import { usersOfModels, type ModelUsers } from '../shared/model-users-queries.ts'
import type { ControlNode } from '../shared/node.ts'
import { openSkippedFor } from '../shared/skipping-keys-queries.ts'
import { attentionOf, endingDeployments, FirstSeen, watchedDeployments } from './attention-rules.ts'
import { readAttention } from './queries.ts'
import { budgetsOf } from './rules.ts'

/** What needs attention changes slowly. */
const ATTENTION_MS = 3000
const BUDGETS_MS = 10_000
/** The users of a month change slowly, and are a sum over many rows. */
const USERS_MS = 10 * 60_000
/** Projects whose budgets count toward the pace of a day. */
const MAX_PROJECTS = 1000

export interface OpenOverview {
  readonly node: ControlNode
  readonly attention: () => Promise<readonly Attention[]>
  /** The budgets of projects, by name. */
  readonly budgets: () => Promise<ReadonlyMap<string, ConfiguredBudget>>
}

export type AttentionNode = Pick<
  ControlNode,
  | 'catalog'
  | 'clock'
  | 'declaredProjects'
  | 'isDrained'
  | 'reconciler'
  | 'reports'
  | 'spaceGuard'
  | 'summaries'
>

/** What needs attention, for the overview and for alerts. */
export function openAttention(node: AttentionNode): OpenOverview['attention'] {
  const seen = new FirstSeen()
  const usersOf = cachedUsers(node)
  return cachedFor(
    ATTENTION_MS,
    () => node.clock.monotonicMs(),
    async () => seen.dated(await readAll(node, usersOf)),
  )
}

export function openOverview(node: ControlNode): OpenOverview {
  const { keyStore, clock } = node
  const monotonicMs = (): number => clock.monotonicMs()
  return {
    node,
    attention: openAttention(node),
    budgets: cachedFor(BUDGETS_MS, monotonicMs, async () =>
      budgetsOf(await keyStore.listProjects({ limit: MAX_PROJECTS }), node.declaredProjects()),
    ),
  }
}

type UsersOf = (models: readonly string[]) => Promise<ReadonlyMap<string, ModelUsers>>

async function readAll(node: AttentionNode, usersOf: UsersOf): Promise<readonly Attention[]> {
  const { spaceGuard, clock } = node
  const nowMs = clock.nowMs()
  const summaries = await node.summaries()
  const ends = endingDeployments(node.catalog())
  const near = ends.filter((end) => isNear(end, nowMs)).map(({ model }) => model)
  const [ledger, figures, users, skippedFor] = await Promise.all([
    node.reconciler.figures(),
    readAttention(node.reports, nowMs),
    usersOf([...new Set(near)]),
    openSkippedFor(node),
  ])
  const deployments = watchedDeployments(node.catalog(), node.isDrained, skippedFor)
  return attentionOf({ summaries, deployments, ends, users, spaceGuard, ledger, figures, nowMs })
}

/** A change of the models is another question. */
function cachedUsers({ reports, clock }: Pick<ControlNode, 'reports' | 'clock'>): UsersOf {
  let asked = ''
  let users = async (): Promise<ReadonlyMap<string, ModelUsers>> => new Map()
  return (models) => {
    if (models.join() !== asked) {
      asked = models.join()
      users = cachedFor(
        USERS_MS,
        () => clock.monotonicMs(),
        () => usersOfModels(reports, models, undefined, clock.nowMs()),
      )
    }
    return users()
  }
}
