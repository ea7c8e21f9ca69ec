/** Composition of what money needs beside the books: rate limits, leases and marks of budgets. */
import type { Budget } from '#core/budget.ts'
import type { BooksDependencies } from '#http/control/books/books.ts'
import type { NodeFigures } from '#ports/upkeep.ts'
import type { MoneyOutside } from '#request/money/admission.ts'
import { Leases } from '#request/money/leases.ts'
import { MemoryLimiter } from '#stores/memory/limiter.ts'
import { RedisConnection } from '#stores/redis/connection.ts'
import { RedisLimiter } from '#stores/redis/limiter.ts'
import { RedisSpending, SPENT_SCRIPT } from '#stores/redis/spending.ts'
import { TAKE_SCRIPT } from '#stores/redis/take.ts'
import type { Log } from '#telemetry/log.ts'
import { BudgetMarks, type BudgetMark } from '#worker/books/budget-marks.ts'
import { every } from '#worker/every.ts'
import type { Basics } from './basics.ts'
import type { CatalogInForce } from './catalog.ts'
import type { ControlBooks, Stores } from './stores.ts'

const IDLE_LEASES_MS = 250
/** A mark that is passed is told within a few seconds. */
const BUDGET_MARKS_MS = 1000

export interface Accounts extends AsyncDisposable {
  readonly money: Omit<MoneyOutside, 'bytesOf'>
  /** For the control API; undefined where there are no books to show. */
  readonly books: BooksDependencies | undefined
}

export interface AccountParts {
  readonly stores: Stores
  readonly catalog: Pick<CatalogInForce, 'refusal'>
  /** The budget of a project or a key as this node knows it now. */
  readonly budgetInForce: (budgetId: string) => Budget | undefined
  /** A budget passed a mark; several nodes may notice. */
  readonly onBudgetMark: (mark: BudgetMark) => void
}

export async function openAccounts(basics: Basics, parts: AccountParts): Promise<Accounts> {
  const { settings, storeUrls, clock, identifiers, log, metrics } = basics
  const { stores, budgetInForce } = parts
  const { nodeId, ledger, budgets, liveNodes, isStoreAway } = stores
  const eviction: Eviction = { policy: undefined }
  const redis = await openRedis(storeUrls.redis, eviction, log)
  const local = new MemoryLimiter(clock, () => 1 / liveNodes())
  const limiter = redis ? new RedisLimiter({ connection: redis, fallback: local }) : local
  const leases = new Leases({
    nodeId,
    store: budgets,
    clock,
    identifiers,
    liveNodes,
    budgetInForce,
    isStoreAway,
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
    if (!isStoreAway()) log.warn({ err: error }, 'PostgreSQL did not answer')
  }
  const chores = [
    every(IDLE_LEASES_MS, () => leases.returnIdle(), quiet),
    every(BUDGET_MARKS_MS, () => marks.check(), quiet),
  ]
  const hasConfigFile = settings.configFile !== undefined
  const books =
    stores.forControl &&
    booksOf(stores.forControl, { limiter, eviction, hasConfigFile, catalog: parts.catalog })
  if (books) metrics.books.readNode(books.nodeFigures)
  return {
    money: {
      ledger,
      limiter,
      leases,
      underBudget: (budget) => marks.use(budget),
      unsettled: (requestId, error) =>
        log.error({ requestId, err: error }, 'a usage record waits in the journal'),
    },
    books,
    async [Symbol.asyncDispose]() {
      await Promise.all(chores.map((chore) => chore.stop()))
      // What was spent is in the books before the rest of a lease goes back.
      await stores.settled()
      await leases.returnAll()
      redis?.close()
    },
  }
}

/** What Redis said of it when it was last reached. */
interface Eviction {
  policy: string | undefined
}

async function openRedis(
  url: (() => string) | undefined,
  eviction: Eviction,
  log: Log,
): Promise<RedisConnection | undefined> {
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
    onReady: () => void warnOfEviction(redis, eviction, log),
  })
  await redis.open()
  return redis
}

/** Not every server tells. What it says is a warning for people, so an answer that never comes is no trouble. */
async function warnOfEviction(redis: RedisConnection, eviction: Eviction, log: Log): Promise<void> {
  const told: string[] = []
  await redis.exchange([['INFO', 'memory']], (reply) => void told.push(String(reply))).catch(() => {})
  const policy = /^maxmemory_policy:(\S+)/m.exec(told.join(''))?.[1]
  eviction.policy = policy
  if (policy === undefined || policy === 'noeviction') return
  log.warn(
    { policy },
    'the Redis of REDIS_URL may evict rate limits, which then start anew: set its maxmemory-policy to noeviction',
  )
}

function booksOf(
  { figures, ...books }: ControlBooks,
  {
    limiter,
    eviction,
    hasConfigFile,
    catalog,
  }: {
    readonly limiter: MemoryLimiter | RedisLimiter
    readonly eviction: Eviction
    readonly hasConfigFile: boolean
    readonly catalog: AccountParts['catalog']
  },
): BooksDependencies {
  const shared = limiter instanceof RedisLimiter ? limiter : undefined
  const nodeFigures = (): NodeFigures => ({
    ...figures(),
    limiter: shared && {
      state: shared.state(),
      evictionPolicy: eviction.policy,
      counts: shared.counts,
    },
    hasConfigFile,
    configRefusal: catalog.refusal,
  })
  return { ...books, nodeFigures }
}
