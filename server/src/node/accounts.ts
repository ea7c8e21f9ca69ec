/** Opens what money needs beside the ledger: rate limits, leases and marks of budgets. */
import type { Budget } from '#core/money/budget.ts'
import type { NodeFigures } from '#ports/upkeep.ts'
import type { MoneyOutside } from '#request/money/admission.ts'
import { Leases } from '#request/money/leases.ts'
import { MemoryLimiter } from '#stores/memory/limiter.ts'
import { RedisConnection } from '#stores/redis/connection.ts'
import { memoryOf } from '#stores/redis/memory.ts'
import { RedisLimiter } from '#stores/redis/limiter.ts'
import { RedisSpending, SPENT_SCRIPT } from '#stores/redis/spending.ts'
import { TAKE_SCRIPT } from '#stores/redis/take.ts'
import type { Log } from '#telemetry/log.ts'
import { BudgetMarks, type BudgetMark } from '#worker/ledger/budget-marks.ts'
import { every } from '#worker/every.ts'
import type { Basics } from './basics.ts'
import type { CatalogInForce } from '#worker/catalog/in-force.ts'
import type { Stores } from './stores.ts'

/** Interval at which leases that nothing uses are returned. */
const IDLE_LEASES_MS = 250
/** Interval of checks whether a budget has passed a mark. */
const BUDGET_MARKS_MS = 1000

export type Accounts = Awaited<ReturnType<typeof openAccounts>>

interface AccountParts {
  readonly stores: Stores
  readonly catalog: Pick<CatalogInForce, 'refusal'>
  /** The budget of a project or a key as this node knows it now. */
  readonly budgetInForce: (budgetId: string) => Budget | undefined
  /** Called when a budget has passed a mark, on every node that notices. */
  readonly onBudgetMark: (mark: BudgetMark) => void
}

export async function openAccounts(basics: Basics, parts: AccountParts) {
  const { settings, storeUrls, clock, identifiers, log, metrics } = basics
  const { stores, budgetInForce } = parts
  const { nodeId, ledger, budgets, liveNodes, isStoreUnreachable } = stores
  const redis = await openRedis(storeUrls.redis, log)
  const local = new MemoryLimiter(clock, () => 1 / liveNodes())
  const limiter = redis ? new RedisLimiter({ connection: redis, fallback: local }) : local
  const leases = new Leases({
    nodeId,
    store: budgets,
    clock,
    identifiers,
    liveNodes,
    budgetInForce,
    isStoreUnreachable,
  })
  const spending = redis ? new RedisSpending(redis, budgets) : budgets
  const marks = new BudgetMarks(spending, clock, (mark) => {
    const { budget, percent, spentNanoUsd } = mark
    const { id, hard } = budget
    log.warn(
      { budget: id, hard, percent, spentNanoUsd: String(spentNanoUsd) },
      'a budget passed a warning threshold',
    )
    parts.onBudgetMark(mark)
  })
  const quiet = (error: unknown): void => {
    if (!isStoreUnreachable()) log.warn({ err: error }, 'PostgreSQL did not answer')
  }
  const chores = [
    every(IDLE_LEASES_MS, () => leases.returnIdle(), quiet),
    every(BUDGET_MARKS_MS, () => marks.check(), quiet),
  ]
  const shared = limiter instanceof RedisLimiter ? limiter : undefined
  const nodeFigures = (): NodeFigures => ({
    ...stores.forControl.figures(),
    limiter: shared && { state: shared.state(), lastError: redis?.lastError?.message, counts: shared.counts },
    hasConfigFile: settings.configFile !== undefined,
    configRefusal: parts.catalog.refusal,
  })
  metrics.ledger.readNode(nodeFigures)
  return {
    money: {
      ledger,
      limiter,
      leases,
      underBudget: (budget) => marks.use(budget),
      unsettled: (requestId, error) =>
        log.error({ requestId, err: error }, 'a usage record waits in the journal'),
    } satisfies Omit<MoneyOutside, 'bytesOf'>,
    nodeFigures,
    /** Asks Redis. Undefined: it does not answer, does not say, or is not configured. */
    limiterMemory: async () => redis && memoryOf(redis),
    async [Symbol.asyncDispose]() {
      await Promise.all(chores.map((chore) => chore.stop()))
      // Spending is in the ledger before the rest of a lease is returned.
      await stores.settled()
      await leases.returnAll()
      redis?.close()
    },
  }
}

async function openRedis(url: (() => string) | undefined, log: Log): Promise<RedisConnection | undefined> {
  if (url === undefined) return undefined
  let wasAway = false
  const redis = new RedisConnection({
    url,
    scripts: [TAKE_SCRIPT, SPENT_SCRIPT],
    onError: (error) => {
      if (!wasAway)
        log.warn(
          { err: error },
          'Redis (REDIS_URL) is unreachable: each node applies its share of the rate limits',
        )
      wasAway = true
    },
    onReady: () => void warnOfEviction(redis, log),
  })
  await redis.open()
  return redis
}

/** Only a warning for people: an answer that never comes is no trouble. */
async function warnOfEviction(redis: RedisConnection, log: Log): Promise<void> {
  const policy = (await memoryOf(redis))?.evictionPolicy
  if (policy === undefined || policy === 'noeviction') return
  log.warn(
    { policy },
    'the Redis of REDIS_URL may evict rate limits, which then start anew: set its maxmemory-policy to noeviction',
  )
}
