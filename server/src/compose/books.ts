/** Composition of one node's books in a database: its ledger, its files on disk, and its chores. */
import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { ConfigError } from '#config/file/problem.ts'
import type { NodeRole } from '#core/node-role.ts'
import type { Identifiers } from '#ports/clock.ts'
import { NodeEnded, type LedgerStore } from '#ports/ledger.ts'
import type { NodeSetup } from '#ports/node-setup.ts'
import type { RequestLogStore } from '#ports/request-log.ts'
import { StoreAway } from '#ports/store.ts'
import type { Upkeep } from '#ports/upkeep.ts'
import { yieldLoop } from '#runtime/event-loop.ts'
import { fingerprintsOf } from '#runtime/secret.ts'
import { mistakeIn, reachable } from '#stores/postgres/away.ts'
import type { Database } from '#stores/postgres/database.ts'
import { PostgresLedger } from '#stores/postgres/books/ledger.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { PostgresRequests } from '#stores/postgres/books/requests.ts'
import { PostgresReconciler } from '#stores/postgres/books/upkeep-books.ts'
import { PostgresNodes } from '#stores/postgres/books/upkeep-nodes.ts'
import { PostgresServer } from '#stores/postgres/books/upkeep-server.ts'
import { PostgresAudit } from '#stores/postgres/audit.ts'
import { checkSecret, OtherSecret, type SecretFingerprints } from '#stores/postgres/secret-fingerprints.ts'
import { PostgresUpkeep } from '#stores/postgres/books/upkeep.ts'
import { abandonedFolders, makeNodeFolder, type NodeFolder } from '#stores/spool/node-folder.ts'
import type { Log } from '#telemetry/log.ts'
import type { Metrics } from '#telemetry/metrics.ts'
import { BatchedLedger, type LedgerEvents } from '#worker/books/batched-ledger.ts'
import { recover } from '#worker/books/recover.ts'
import { RequestLog } from '#worker/books/request-log.ts'
import { NodeRequestTail } from '#worker/books/request-tail.ts'
import { startUpkeep, type UpkeepEvents } from '#worker/books/upkeep.ts'
import { every } from '#worker/every.ts'
import { KEY_SNAPSHOT, version, type Basics } from './basics.ts'
import type { NodeBooks, StoreParts } from './stores.ts'

const HEARTBEAT_MS = 1000
/** How soon a store that came back is noticed. */
const DRAIN_MS = 250
/** How soon a disk that can't be written is noticed, and one that can be again. */
const DISK_MS = 1000
/** How soon a sibling that died is noticed. */
const RECOVER_MS = 2000

export interface BookParts extends Pick<StoreParts, 'onEnded'> {
  readonly database: Database
  /** Connections that only the ledger and the leases use. */
  readonly forMoney: Database
}

export async function openBooks(basics: Basics, parts: BookParts): Promise<NodeBooks> {
  const { clock, log, metrics } = basics
  const { database, forMoney } = parts
  const { dataDir, role } = basics.settings
  // The database inside the process has no server whose settings an operator could change.
  const isServer = basics.settings.database.kind === 'postgres'
  const { nodeId, folder } = ownFolder(dataDir, basics.identifiers)
  const store = new PostgresLedger(forMoney)
  const upkeep = new PostgresUpkeep(database, store, clock)
  const reconciler = new PostgresReconciler(database, clock)
  const fingerprints = fingerprintsOf(basics.secrets)
  const membershipParts = { role, database, store, upkeep, log, metrics, clock, fingerprints }
  const membership = new Membership(nodeId, membershipParts)
  const connect = (): Promise<void> => membership.renew()
  const events = ledgerEvents(log, metrics, parts.onEnded)
  const { monotonicMs } = clock
  const ledger = new BatchedLedger({
    nodeId,
    store,
    ...folder,
    events,
    connect,
    monotonicMs,
    yieldLoop: yieldLoop,
  })
  const requestTail = new NodeRequestTail(hostname())
  const requests = openRequestLog(basics, new PostgresRequests(database, nodeId), membership, requestTail)
  const recoverDead = async (): Promise<void> => {
    if (ledger.isStoreAway) return
    const recovered = await recover(abandonedFolders(dataDir), store, events)
    for (const dead of recovered) log.warn(dead, 'the records of a dead node were recovered into the ledger')
  }
  // A store that is away comes back. A store that refuses this node is a mistake that a person must see.
  await connect().catch(async (error: unknown) => {
    if (error instanceof NodeEnded) return ledger.noteTrouble(error)
    const problem = problemOf(error, existsSync(join(dataDir, KEY_SNAPSHOT)))
    if (problem === undefined) return
    await folder.spool.close()
    folder.leave(true)
    throw new ConfigError([problem])
  })
  membership.onRefused = parts.onEnded
  await ledger.checkDisk()
  await ledger.drain()
  await recoverDead().catch((error: unknown) => log.warn({ err: error }, 'recovery waits for PostgreSQL'))

  const quiet = (error: unknown): void => {
    if (!ledger.isStoreAway) log.warn({ err: error }, 'PostgreSQL did not answer')
  }
  let ledgerDifferences = 0
  const upkept = upkeepEvents(log, metrics, (differences) => (ledgerDifferences = differences))
  const chores = [
    every(HEARTBEAT_MS, connect, (error) => ledger.noteTrouble(error as Error)),
    every(DRAIN_MS, () => ledger.drain(), quiet),
    every(DISK_MS, () => ledger.checkDisk(), quiet),
    every(RECOVER_MS, recoverDead, quiet),
    startUpkeep({ nodeId, upkeep, reconciler, events: upkept, monotonicMs }),
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
    isEldest: () => upkeep.isEldest(nodeId),
    isStoreAway: () => ledger.isStoreAway,
    ledgerDifferences: () => ledgerDifferences,
    failure: () => ledger.failure,
    describe: (setup) => void (membership.setup = setup),
    forControl: {
      nodes: new PostgresNodes(database),
      reconciler,
      upkeep,
      audit: new PostgresAudit(database, clock),
      server: isServer ? new PostgresServer(forMoney) : undefined,
      nowMs: clock.nowMs,
      figures: () => ({
        isStoreAway: ledger.isStoreAway,
        spoolWaiting: folder.spool.waiting,
        journalOpen: folder.journal.size,
        diskFailure: ledger.failure,
        clockSkewMs: membership.clockSkewMs,
      }),
    },
    async [Symbol.asyncDispose]() {
      await ledger.settled()
      await Promise.all(chores.map((chore) => chore.stop()))
      await ledger.checkDisk()
      await ledger.drain()
      await requests.close()
      const isEmpty = folder.spool.waiting === 0 && folder.journal.size === 0 && !ledger.isStoreAway
      if (isEmpty) await store.endNode(nodeId, []).catch(quiet)
      await folder.spool.close()
      folder.leave(isEmpty)
    },
  }
}

/**
 * What a person must mend before the node can start, in their words. A node that has worked with this database before starts all
 * the same when it is not let in: with the keys that it knows.
 */
function problemOf(error: unknown, hasWorked: boolean): string | undefined {
  const mistake = mistakeIn(error)
  if (mistake !== undefined && !hasWorked)
    return `DATABASE_URL: PostgreSQL says: ${mistake}. Correct the URL, or create what it names`
  if (error instanceof StoreAway) return undefined
  if (error instanceof OtherSecret) return error.message
  return `the database cannot be used: ${(error as Error).message}`
}

interface MembershipParts extends Pick<Basics, 'log' | 'metrics' | 'clock'> {
  readonly role: NodeRole
  readonly fingerprints: SecretFingerprints
  readonly database: Database
  readonly store: LedgerStore
  readonly upkeep: Upkeep
}

/** This node among the nodes of its database. */
class Membership {
  readonly #nodeId: string
  readonly #parts: MembershipParts
  /** Whether the tables are there, and this node is known in them. */
  isKnown = false
  /** Set once the node has started: it must stop when it turns out late that the nodes of the database use another secret. */
  onRefused: (() => void) | undefined
  #isRefused = false
  /** What heartbeats say of this node. Undefined: not known yet. */
  setup: NodeSetup | undefined
  /** As of the last heartbeat. */
  liveNodes = 1
  /** So is this. Undefined: there was none. */
  clockSkewMs: number | undefined

  constructor(nodeId: string, parts: MembershipParts) {
    this.#nodeId = nodeId
    this.#parts = parts
  }

  /** Says that this node lives; the first time it also makes the tables and registers the node. */
  async renew(): Promise<void> {
    if (!this.isKnown) await this.#join().catch((error: unknown) => this.#refusedBy(error))
    const { clock, store } = this.#parts
    const askedMs = clock.nowMs()
    const { liveNodes, storeNowMs } = await store.heartbeat(this.#nodeId, this.setup)
    this.liveNodes = liveNodes
    // The store looked at its clock somewhere between question and answer.
    this.clockSkewMs = (askedMs + clock.nowMs()) / 2 - storeNowMs
  }

  #refusedBy(error: unknown): never {
    if (!(error instanceof OtherSecret) || this.onRefused === undefined) throw error
    if (!this.#isRefused) this.#parts.log.error(error.message)
    this.#isRefused = true
    this.onRefused()
    throw new StoreAway(error.message)
  }

  async #join(): Promise<void> {
    const { database, store, upkeep, log, metrics, fingerprints, role } = this.#parts
    const { applied, unknown } = await reachable(migrate(database))
    if (applied.length > 0) log.info({ applied }, 'the database was brought up to date')
    if (unknown.length > 0)
      log.warn({ unknown }, 'the database schema is newer than this node; the node continues')
    await reachable(checkSecret(database, fingerprints))
    // Before the first row: a row in the default partition stands in the way of its own partition.
    metrics.books.partitions(await upkeep.makePartitions())
    await store.startNode({ id: this.#nodeId, host: hostname(), version, role })
    this.isKnown = true
  }
}

function openRequestLog(
  { log, metrics }: Basics,
  store: RequestLogStore,
  membership: Membership,
  tail: NodeRequestTail,
): RequestLog {
  return new RequestLog(
    {
      // Before that, its table may not be there.
      append: (records) =>
        membership.isKnown ? store.append(records) : Promise.reject(new StoreAway('not connected yet')),
    },
    {
      written: (records) => tail.written(records),
      dropped: (records) => metrics.books.requestLogDropped(records),
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
    written: (batch) => metrics.books.written(batch),
    storeAway: (error) =>
      log.error({ err: error }, 'PostgreSQL is unreachable: usage records go to the spool on disk'),
    storeBack: () => log.info('PostgreSQL is back'),
    refused(entries, error) {
      metrics.books.refused(entries)
      log.error({ entries, err: error }, 'PostgreSQL refused usage records; they are kept aside')
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

function upkeepEvents(log: Log, metrics: Metrics, onCompared: (differences: number) => void): UpkeepEvents {
  return {
    figures: (figures) => metrics.books.figures(figures),
    reconciled(reconciliation) {
      metrics.books.reconciled(reconciliation)
      const { differences, budgetsCorrected } = reconciliation
      onCompared(differences.length)
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
        log.warn({ missing: partitions.missing }, 'partitions could not be created')
    },
    did: (what) => log.info(what, 'upkeep'),
    postponed: () => {},
    failed: (chore, error) => log.error({ chore, err: error }, 'a background job failed'),
  }
}
