/** Composition of what keeps account: database, ledger, leases, limits, and the workers beside them. */
import { hostname } from 'node:os'
import { ConfigError } from '#config/file/problem.ts'
import type { LedgerEntry } from '#core/ledger.ts'
import type { Settings } from '#core/settings.ts'
import type { BooksDependencies } from '#http/control/books.ts'
import type { SpendingReader } from '#ports/budgets.ts'
import type { Clock, Identifiers } from '#ports/clock.ts'
import type { RequestRecord } from '#ports/observer.ts'
import type { RequestLogStore } from '#ports/request-log.ts'
import { StoreAway } from '#ports/store.ts'
import type { NodeFigures } from '#ports/upkeep.ts'
import type { MoneyOutside } from '#request/money/admission.ts'
import { Leases } from '#request/money/leases.ts'
import { takeTurn } from '#runtime/turns.ts'
import { MemoryBooks } from '#stores/memory/books.ts'
import { MemoryLedger } from '#stores/memory/ledger.ts'
import { MemoryLimiter } from '#stores/memory/limiter.ts'
import { reachable } from '#stores/postgres/away.ts'
import { PostgresBudgets } from '#stores/postgres/books/budgets.ts'
import { openPostgres, type Database } from '#stores/postgres/database.ts'
import { PostgresLedger } from '#stores/postgres/books/ledger.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { openPglite } from '#stores/postgres/pglite.ts'
import { PostgresRequests } from '#stores/postgres/books/requests.ts'
import { PostgresReconciler } from '#stores/postgres/books/upkeep-books.ts'
import { PostgresNodes } from '#stores/postgres/books/upkeep-nodes.ts'
import { PostgresUpkeep } from '#stores/postgres/books/upkeep.ts'
import { RedisConnection } from '#stores/redis/connection.ts'
import { RedisLimiter } from '#stores/redis/limiter.ts'
import { RedisSpending, SPENT_SCRIPT } from '#stores/redis/spending.ts'
import { TAKE_SCRIPT } from '#stores/redis/take.ts'
import { abandonedFolders, makeNodeFolder, type NodeFolder } from '#stores/spool/node-folder.ts'
import type { Log } from '#telemetry/log.ts'
import type { Metrics } from '#telemetry/metrics.ts'
import { BatchedLedger, type LedgerEvents } from '#worker/books/batched-ledger.ts'
import { BudgetMarks, type BudgetMark } from '#worker/books/budget-marks.ts'
import { every, type Repeating } from '#worker/every.ts'
import { recover } from '#worker/books/recover.ts'
import { RequestLog } from '#worker/books/request-log.ts'
import { startUpkeep, type UpkeepEvents } from '#worker/books/upkeep.ts'

/** An answer waits no longer for PostgreSQL; then its record goes to the spool. */
const COMMIT_MS = 2000
/** One batch at a time, and a few questions for leases. */
const LEDGER_CONNECTIONS = 4
const HEARTBEAT_MS = 1000
/** How soon a store that came back is noticed. */
const DRAIN_MS = 250
const IDLE_LEASES_MS = 250
/** How soon a sibling that died is noticed. */
const RECOVER_MS = 2000
/** A mark that is passed is told within a few seconds. */
const BUDGET_MARKS_MS = 1000

export interface Accounts {
  readonly nodeId: string
  /** Whether what one node does for all is this one's to do. */
  readonly isEldest: () => Promise<boolean>
  /** Nodes that share the work, as of the last heartbeat. */
  readonly liveNodes: () => number
  /** Adds entries where others may stand for the same calls. */
  readonly appendLate: (entries: readonly LedgerEntry[]) => Promise<void>
  readonly money: Omit<MoneyOutside, 'bytesOf'>
  /** Undefined for a node that keeps nothing. */
  readonly database: Database | undefined
  /** For the control API; undefined for a node that keeps nothing. */
  readonly books: BooksDependencies | undefined
  logRequest(record: RequestRecord): void
  /** Why this node must get no requests, if so. */
  failure(): string | undefined
  stop(): Promise<void>
}

export interface AccountParts {
  readonly clock: Clock
  readonly identifiers: Identifiers
  readonly log: Log
  readonly metrics: Metrics
  readonly version: string
  readonly unsettled: MoneyOutside['unsettled']
  /** A budget passed a mark; several nodes may notice. */
  readonly onBudgetMark: (mark: BudgetMark) => void
  /** Somebody ended this node: it must stop. */
  readonly onEnded: () => void
}

export async function openAccounts(settings: Settings, parts: AccountParts): Promise<Accounts> {
  const { clock, identifiers, log, metrics, unsettled } = parts
  let liveNodes = 1
  const local = new MemoryLimiter(clock, () => 1 / liveNodes)
  const redis = settings.redisUrl === undefined ? undefined : openRedis(settings.redisUrl, log)
  await redis?.open()
  const budgetMarks = (ledger: SpendingReader): BudgetMarks =>
    new BudgetMarks(redis ? new RedisSpending(redis, ledger) : ledger, clock, (mark) => {
      const { budget, percent, spentNanoUsd } = mark
      const { id, hard } = budget
      log.warn({ budget: id, hard, percent, spentNanoUsd: String(spentNanoUsd) }, 'a budget passed a mark')
      parts.onBudgetMark(mark)
    })
  const limiter = redis ? new RedisLimiter({ connection: redis, fallback: local }) : local

  if (settings.database.kind === 'memory') {
    const books = new MemoryBooks(clock)
    const nodeId = identifiers.next()
    await books.startNode({ id: nodeId })
    const lease = { nodeId, store: books, clock, identifiers, liveNodes: () => 1, isStoreAway: () => false }
    const leases = new Leases(lease)
    const marks = budgetMarks(books)
    const checking = every(
      BUDGET_MARKS_MS,
      () => marks.check(),
      () => {},
    )
    return {
      nodeId,
      isEldest: async () => true,
      liveNodes: () => 1,
      appendLate: (entries) => books.appendLate(nodeId, entries),
      money: {
        ledger: new MemoryLedger(books, nodeId),
        limiter,
        leases,
        underBudget: (budget) => marks.use(budget),
        unsettled,
      },
      database: undefined,
      books: undefined,
      logRequest: () => {},
      failure: () => undefined,
      async stop() {
        await checking.stop()
        redis?.close()
      },
    }
  }

  const onError = (error: Error): void => log.warn({ err: error }, 'a connection to PostgreSQL broke')
  const database =
    settings.database.kind === 'inside'
      ? await openPglite(settings.database.folder, { onError })
      : openPostgres(settings.database.url, { onError })
  const forMoney =
    settings.database.kind === 'inside'
      ? database
      : openPostgres(settings.database.url, {
          onError,
          queryTimeoutMs: COMMIT_MS,
          poolSize: LEDGER_CONNECTIONS,
        })
  const { nodeId, folder } = ownFolder(settings.dataDir, identifiers)
  const store = new PostgresLedger(forMoney)
  const events = ledgerEvents(log, metrics, parts.onEnded)
  const upkeep = new PostgresUpkeep(database, store, clock)
  const reconciler = new PostgresReconciler(database, clock)

  let isKnown = false
  /** Ready to be written to: the tables are there, and this node is known. */
  const connect = async (): Promise<void> => {
    if (!isKnown) {
      const { applied, unknown } = await reachable(migrate(database))
      if (applied.length > 0) log.info({ applied }, 'the database was brought up to date')
      if (unknown.length > 0) log.warn({ unknown }, 'the database is of a newer version; this node works on')
      // Before the first row: one that lies in the default partition stands in the way of its own.
      metrics.books.partitions(await upkeep.makePartitions())
      await store.startNode({ id: nodeId, host: hostname(), version: parts.version })
      isKnown = true
    }
    liveNodes = (await store.heartbeat(nodeId)).liveNodes
  }
  const ledger = new BatchedLedger({
    nodeId,
    store,
    ...folder,
    events,
    connect,
    monotonicMs: clock.monotonicMs,
    nextTurn: takeTurn,
  })
  const budgets = new PostgresBudgets(forMoney)
  const marks = budgetMarks(budgets)
  const leases = new Leases({
    nodeId,
    store: budgets,
    clock,
    identifiers,
    liveNodes: () => liveNodes,
    isStoreAway: () => ledger.isStoreAway,
  })
  const requestStore = new PostgresRequests(database)
  const whenKnown: RequestLogStore = {
    // Its table may not be there before.
    append: (records) =>
      isKnown ? requestStore.append(records) : Promise.reject(new StoreAway('not connected yet')),
  }
  const requests = new RequestLog(whenKnown, {
    dropped: (records) => metrics.books.requestLogDropped(records),
    refused: (records, error) => log.error({ records, err: error }, 'the request log was refused'),
  })
  const recoverDead = async (): Promise<void> => {
    if (ledger.isStoreAway) return
    const recovered = await recover(abandonedFolders(settings.dataDir), store, events)
    for (const dead of recovered) log.warn(dead, 'what a dead node left behind is in the books')
  }
  // A store that is away comes back. One that refuses us at the start is a mistake that somebody must see.
  await connect().catch((error: unknown) => {
    if (error instanceof StoreAway) return
    throw new ConfigError([`the database can't be used: ${(error as Error).message}`])
  })
  await ledger.drain()
  await recoverDead().catch((error: unknown) => log.warn({ err: error }, 'recovery waits for the store'))

  const quiet = (error: unknown): void => {
    if (!ledger.isStoreAway) log.warn({ err: error }, 'the store did not answer')
  }
  const nodeFigures = (): NodeFigures => ({
    isStoreAway: ledger.isStoreAway,
    spoolWaiting: folder.spool.waiting,
    journalOpen: folder.journal.size,
    limiter: limiter instanceof RedisLimiter ? { state: limiter.state(), counts: limiter.counts } : undefined,
  })
  metrics.books.readNode(nodeFigures)
  const repeating: Repeating[] = [
    every(HEARTBEAT_MS, connect, (error) => ledger.noteTrouble(error as Error)),
    every(DRAIN_MS, () => ledger.drain(), quiet),
    every(IDLE_LEASES_MS, () => leases.returnIdle(), quiet),
    every(RECOVER_MS, recoverDead, quiet),
    every(BUDGET_MARKS_MS, () => marks.check(), quiet),
    startUpkeep({
      nodeId,
      upkeep,
      reconciler,
      events: upkeepEvents(log, metrics),
      monotonicMs: clock.monotonicMs,
    }),
  ]
  return {
    nodeId,
    isEldest: () => upkeep.isEldest(nodeId),
    liveNodes: () => liveNodes,
    appendLate: (entries) => store.appendLate(nodeId, entries),
    money: { ledger, limiter, leases, underBudget: (budget) => marks.use(budget), unsettled },
    database,
    books: {
      ledger: store,
      nodes: new PostgresNodes(database),
      reconciler,
      upkeep,
      nodeFigures,
      nowMs: clock.nowMs,
    },
    logRequest: (record) => requests.add(record),
    failure: () => ledger.failure,
    async stop() {
      await ledger.settled()
      await Promise.all(repeating.map((one) => one.stop()))
      await ledger.drain()
      await leases.returnAll()
      await requests.close()
      const isEmpty = folder.spool.waiting === 0 && folder.journal.size === 0 && !ledger.isStoreAway
      if (isEmpty) await store.endNode(nodeId, []).catch(quiet)
      await folder.spool.close()
      folder.leave(isEmpty)
      redis?.close()
      if (forMoney !== database) await forMoney.close()
      await database.close()
    },
  }
}

function openRedis(url: string, log: Log): RedisConnection {
  let wasAway = false
  return new RedisConnection({
    url,
    scripts: [TAKE_SCRIPT, SPENT_SCRIPT],
    onError: (error) => {
      if (!wasAway) log.warn({ err: error }, 'Redis is away: limits are shared out between the nodes')
      wasAway = true
    },
  })
}

/** Another process that looks for dead nodes may be quicker with a folder that was just made: then another id is taken. */
function ownFolder(
  dataDir: string,
  identifiers: Identifiers,
): { readonly nodeId: string; readonly folder: NodeFolder } {
  for (;;) {
    const nodeId = identifiers.next()
    const folder = makeNodeFolder(dataDir, nodeId)
    if (folder) return { nodeId, folder }
  }
}

function ledgerEvents(log: Log, metrics: Metrics, onEnded: () => void): LedgerEvents {
  return {
    written: (batch) => metrics.books.written(batch),
    storeAway: (error) => log.error({ err: error }, 'PostgreSQL is away: usage records go to the spool'),
    storeBack: () => log.info('PostgreSQL is back'),
    refused(entries, error) {
      metrics.books.refused(entries)
      log.error({ entries, err: error }, 'usage records were refused and set aside')
    },
    spoolFailed: (error) => log.error({ err: error }, 'the spool can not be written: no result may leave'),
    nodeEnded() {
      log.error('this node was ended by another one, or by an operator: it stops')
      onEnded()
    },
  }
}

function upkeepEvents(log: Log, metrics: Metrics): UpkeepEvents {
  return {
    figures: (figures) => metrics.books.figures(figures),
    reconciled(reconciliation) {
      metrics.books.reconciled(reconciliation)
      const { differences, budgetsCorrected } = reconciliation
      if (differences.length > 0)
        log.error({ differences: differences.length }, 'ledger and rollups differ: run torana doctor')
      if (budgetsCorrected.length > 0)
        log.warn(
          { budgets: budgetsCorrected.map(({ budgetId }) => budgetId) },
          'budgets were corrected by the ledger',
        )
    },
    partitions(partitions) {
      metrics.books.partitions(partitions)
      if (partitions.missing.length > 0)
        log.warn({ missing: partitions.missing }, 'partitions could not be made')
    },
    did: (what) => log.info(what, 'upkeep'),
    postponed: () => {},
    failed: (chore, error) => log.error({ chore, err: error }, 'upkeep failed'),
  }
}
