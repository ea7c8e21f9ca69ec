/** Opens the ledger of one node in a database: its files on disk, its heartbeats, and its background jobs. */
import { hostname } from 'node:os'
import { ConfigError } from '#config/file/problem.ts'
import type { Identifiers } from '#ports/clock.ts'
import { NodeEnded, UnfitPooler } from '#ports/ledger.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { afterInBackground } from '#runtime/clock.ts'
import { yieldLoop } from '#runtime/event-loop.ts'
import { fingerprintsOf } from '#runtime/secret.ts'
import { hasKeyFile } from '#stores/key-file/key-file.ts'
import { changesSessions } from '#stores/postgres/pooler.ts'
import { storeClockOf } from '#stores/postgres/store-clock.ts'
import { mistakeIn, reachable } from '#stores/postgres/unreachable.ts'
import type { Database } from '#stores/postgres/database.ts'
import { PostgresLedger } from '#stores/postgres/ledger/ledger.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { PostgresRequests } from '#stores/postgres/ledger/requests.ts'
import { PostgresReconciler } from '#stores/postgres/ledger/reconciler.ts'
import { PostgresSealing } from '#stores/postgres/ledger/seal.ts'
import { checkSecret } from '#stores/postgres/secret-fingerprints.ts'
import { PostgresUpkeep } from '#stores/postgres/ledger/upkeep.ts'
import { abandonedFolders, makeNodeFolder, type NodeFolder } from '#stores/spool/node-folder.ts'
import type { Log } from '#telemetry/log.ts'
import type { Metrics } from '#telemetry/metrics.ts'
import { BatchedLedger, type LedgerEvents } from '#worker/ledger/batched-ledger.ts'
import { Membership, startProblem } from '#worker/ledger/membership.ts'
import { recover } from '#worker/ledger/recover.ts'
import { RequestLog } from '#worker/ledger/request-log.ts'
import { NodeRequestTail } from '#worker/ledger/request-tail.ts'
import { startUpkeep, STEADY_CLOCK_MS, type UpkeepEvents } from '#worker/ledger/upkeep.ts'
import { every } from '#worker/every.ts'
import { Pulse, PULSE_MS } from '#worker/pulse.ts'
import { version, type Basics } from './basics.ts'
import type { NodeLedger, StoreParts } from './stores.ts'

/** Interval of attempts to write what waits in the spool. */
const DRAIN_MS = 250
/** Interval of checks whether the disk can be written. */
const DISK_MS = 1000
/** Interval of checks for nodes that died and left records behind. */
const RECOVER_MS = 2000

export interface LedgerParts extends Pick<StoreParts, 'onEnded'> {
  readonly database: Database
  /** Connections that only the ledger and the leases use. */
  readonly forMoney: Database
}

export async function openLedger(basics: Basics, parts: LedgerParts): Promise<NodeLedger> {
  const { clock, log, metrics } = basics
  const { database, forMoney } = parts
  const { dataDir, role } = basics.settings
  const { nodeId, folder } = ownFolder(dataDir, basics.identifiers)
  const store = new PostgresLedger(forMoney)
  const storeClock = storeClockOf(database)
  const upkeep = new PostgresUpkeep(database, store, storeClock)
  const reconciler = new PostgresReconciler(database, storeClock)
  const sealing = new PostgresSealing(database, storeClock)
  const node = { id: nodeId, host: hostname(), version, role }
  const prepare = (): Promise<void> => prepareTables(basics, { database, upkeep })
  const pulse = new Pulse({ monotonicMs: clock.monotonicMs, after: afterInBackground })
  const membership = new Membership({ node, store, clock, prepare, pulse })
  const connect = (): Promise<void> => membership.renew()
  const events = ledgerEvents(log, metrics, parts.onEnded)
  const { monotonicMs, steadyMs } = clock
  const ledger = new BatchedLedger({ nodeId, store, ...folder, events, connect, monotonicMs, yieldLoop })
  const requestTail = new NodeRequestTail()
  const requests = openRequestLog(basics, new PostgresRequests(database, nodeId), membership, requestTail)
  let hasRetried = false
  const recoverDead = async (): Promise<void> => {
    if (ledger.isStoreUnreachable) return
    const recovered = await recover(abandonedFolders(dataDir), store, events)
    for (const dead of recovered) log.warn(dead, 'the records of a dead node were recovered into the ledger')
    if (hasRetried) return
    const retried = await store.retryRefused()
    hasRetried = true
    if (retried.written + retried.refused > 0)
      log.warn(retried, 'tried again to write usage records that PostgreSQL had refused')
  }
  await connect().catch((error: unknown) => {
    if (error instanceof NodeEnded) return ledger.noteTrouble(error)
    return refuseStart(error, dataDir, folder)
  })
  membership.onRefused = (error) => {
    log.error(error.message)
    parts.onEnded()
  }
  await ledger.checkDisk()
  await ledger.drain()
  await recoverDead().catch((error: unknown) => log.warn({ err: error }, 'recovery waits for PostgreSQL'))

  const quiet = (error: unknown): void => {
    if (!ledger.isStoreUnreachable) log.warn({ err: error }, 'PostgreSQL did not answer')
  }
  let ledgerDifferences = 0
  const upkept = upkeepEvents(log, metrics, (differences) => (ledgerDifferences = differences))
  const chores = [
    every(PULSE_MS, connect, (error) => {
      ledger.noteTrouble(error as Error)
      pulse.missed()
    }),
    every(DRAIN_MS, () => ledger.drainDue(), quiet),
    every(DISK_MS, () => ledger.checkDisk(), quiet),
    every(RECOVER_MS, recoverDead, quiet),
    startUpkeep({ nodeId, upkeep, reconciler, sealing, events: upkept, monotonicMs, steadyMs }),
  ]
  return {
    nodeId,
    ledger,
    appendLate: (entries) => store.appendLate(nodeId, entries),
    openCalls: () => folder.journal.size,
    settled: () => ledger.settled(),
    logRequest: (record) => requests.add(record),
    requestTail,
    liveNodes: () => membership.liveNodes,
    pulse,
    isEldest: async () => pulse.said('isEldest') ?? upkeep.isEldest(nodeId),
    storeClock,
    isClockSteady: () => steadyMs() >= STEADY_CLOCK_MS,
    isStoreUnreachable: () => ledger.isStoreUnreachable,
    ledgerDifferences: () => ledgerDifferences,
    failure: () => ledger.failure,
    describe: (setup) => void (membership.setup = setup),
    forControl: {
      reconciler,
      makePartitions: () => upkeep.makePartitions(),
      isPoolerUnfit: () => isPoolerUnfit(basics, database),
      figures: () => ({
        isStoreUnreachable: ledger.isStoreUnreachable,
        spoolWaiting: folder.spool.waiting,
        journalOpen: folder.journal.size,
        diskFailure: ledger.failure,
        clockSkewMs: clock.skewMs(),
      }),
    },
    async [Symbol.asyncDispose]() {
      await ledger.settled()
      await Promise.all(chores.map((chore) => chore.stop()))
      await ledger.checkDisk()
      await ledger.drain()
      await requests.close()
      const isEmpty = folder.spool.waiting === 0 && folder.journal.size === 0 && !ledger.isStoreUnreachable
      if (isEmpty) await store.endNode(nodeId, []).catch(quiet)
      await folder.spool.close()
      folder.leave(isEmpty)
    },
  }
}

/** A store that is unreachable comes back. A store that refuses this node is a mistake that a person must see. */
async function refuseStart(error: unknown, dataDir: string, folder: NodeFolder): Promise<void> {
  const hasWorked = hasKeyFile(dataDir)
  const problem = startProblem(error, { mistake: mistakeIn(error), hasWorked })
  if (problem === undefined) return
  await folder.spool.close()
  folder.leave(true)
  throw new ConfigError([problem])
}

async function isPoolerUnfit({ settings }: Basics, database: Database): Promise<boolean | undefined> {
  if (settings.database.kind === 'inside') return undefined
  return reachable(changesSessions(database)).catch((error: unknown) => {
    if (error instanceof StoreUnreachable) return undefined
    throw error
  })
}

async function prepareTables(
  { settings, secrets, log, metrics }: Basics,
  { database, upkeep }: { readonly database: Database; readonly upkeep: PostgresUpkeep },
): Promise<void> {
  // First, for the lock of a migration belongs to a session.
  if (settings.database.kind === 'postgres' && (await reachable(changesSessions(database))))
    throw new UnfitPooler()
  const { applied, unknown } = await reachable(migrate(database))
  if (applied.length > 0) {
    log.info({ migrations: applied.length }, 'the database was brought up to date')
    log.debug({ applied }, 'migrations')
  }
  if (unknown.length > 0)
    log.warn({ unknown }, 'the database schema is newer than this node; the node continues')
  await reachable(checkSecret(database, fingerprintsOf(secrets)))
  // Before the first row: a row in the default partition would keep its own partition from being made.
  metrics.ledger.partitions(await upkeep.makePartitions())
}

function openRequestLog(
  { log, metrics }: Basics,
  store: PostgresRequests,
  membership: Membership,
  tail: NodeRequestTail,
): RequestLog {
  return new RequestLog(
    {
      append: (records) => membership.onceJoined(() => store.append(records)),
    },
    {
      written: (records) => tail.written(records),
      dropped: (records) => metrics.ledger.requestLogDropped(records),
      refused: (records, error) =>
        log.error({ records, err: error }, 'PostgreSQL refused records of the request log'),
    },
  )
}

/** Another process that looks for dead nodes may lock a new folder first: then this node takes another id. */
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
    written: (batch) => metrics.ledger.written(batch),
    storeUnreachable: (error) =>
      log.error(
        { err: error },
        'PostgreSQL is unreachable, too slow or can not write: usage records go to the spool on disk',
      ),
    storeBack: (interruptions) => log.info({ interruptions }, 'PostgreSQL is back'),
    refused({ requestId, attempt }, error) {
      metrics.ledger.refused()
      const says = 'PostgreSQL refused a usage record: it is set aside, and budgets count it'
      log.error({ request_id: requestId, attempt, err: error }, says)
    },
    spoolFailed: (error) =>
      log.error(
        { err: error },
        'the spool on disk cannot be written: while PostgreSQL is unreachable, this node sends no more calls',
      ),
    journalFailed: (error) =>
      log.error({ err: error }, 'the journal on disk cannot be written: this node sends no more calls'),
    diskBack: () => log.info('the data folder can be written again'),
    nodeEnded() {
      log.error('another node or an operator ended this node: it stops')
      onEnded()
    },
  }
}

function upkeepEvents(log: Log, metrics: Metrics, onFigures: (differences: number) => void): UpkeepEvents {
  const compared = ({ length }: readonly unknown[]): void => {
    if (length > 0) log.error({ differences: length }, 'ledger and rollups differ: run torana doctor')
  }
  return {
    figures(figures) {
      metrics.ledger.figures(figures)
      onFigures(figures?.differences ?? 0)
    },
    reconciled(reconciliation) {
      metrics.ledger.reconciled(reconciliation)
      const { differences, budgetsCorrected } = reconciliation
      compared(differences)
      if (budgetsCorrected.length > 0)
        log.warn(
          { budgets: budgetsCorrected.map(({ budgetId }) => budgetId) },
          'budgets were corrected by the ledger',
        )
    },
    sealed({ adopted, differences, waitsFor }) {
      compared(differences)
      if (adopted > 0)
        log.info({ corrections: adopted }, 'late entries of an earlier version became corrections')
      if (waitsFor !== undefined) log.info({ waitsFor }, 'hours of the ledger wait to be sealed')
    },
    partitions(partitions) {
      metrics.ledger.partitions(partitions)
      if (partitions.missing.length > 0)
        log.warn({ missing: partitions.missing }, 'partitions could not be created')
    },
    did: (what) => log.info(what, 'upkeep'),
    done: (chore) => metrics.ledger.chore(chore, 'done'),
    postponed: () => {},
    failed(chore, error) {
      metrics.ledger.chore(chore, 'failed')
      log.error({ chore, err: error }, 'a background job failed')
    },
  }
}
