/** Stores in memory, gone with the process: for tests and benchmarks of a node without a ledger in a database. */
import type { Basics } from '#node/basics.ts'
import type { LedgerForControl, StoreParts, Stores } from '#node/stores.ts'
import { afterInBackground } from '#runtime/clock.ts'
import { auditKeysOf } from '#runtime/secret.ts'
import { someKeyFile } from '#test/support/key-file.ts'
import { AuditChain } from '#stores/audit-chain.ts'
import type { Database } from '#stores/postgres/database.ts'
import { NodeRequestTail } from '#worker/ledger/request-tail.ts'
import { Pulse } from '#worker/pulse.ts'
import { absent } from './absent.ts'
import { MemoryAudit } from './audit.ts'
import { MemoryBatches } from './batches.ts'
import { MemoryLedgerStore } from './ledger-store.ts'
import { MemoryConfiguration } from './configuration.ts'
import { MemoryCredentials } from './credentials.ts'
import { MemoryDrains } from './drains.ts'
import { MemoryFileUploads } from './file-uploads.ts'
import { MemoryFiles } from './files.ts'
import { MemoryImageJobs } from './image-jobs.ts'
import { MemoryKeyStore } from './key-store.ts'
import { MemoryLedger } from './ledger.ts'
import { MemoryNodeNews } from './node-news.ts'
import { MemorySpaces } from './spaces.ts'
import { MemoryWebhooks } from './webhooks.ts'

/** Ledger entries that are kept, the newest. With ten times as many, garbage collection costs more than the requests. */
const ENTRIES_KEPT = 10_000
/** Interval at which workers ask by themselves: these stores have no heartbeat. */
const LOOK_MS = 1000

export async function openMemoryStores(
  { clock, identifiers, secrets }: Basics,
  { webhooksFor, judgeMade }: Omit<StoreParts, 'onEnded'>,
): Promise<Stores> {
  const nodeId = identifiers.next()
  const memory = new MemoryLedgerStore(clock, ENTRIES_KEPT)
  await memory.startNode({ id: nodeId })
  const audit = new MemoryAudit(clock, new AuditChain(auditKeysOf(secrets)))
  const keys = new MemoryKeyStore(clock, audit)
  const webhooks = new MemoryWebhooks(clock)
  const files = new MemoryFiles(clock)
  return {
    nodeId,
    ledger: new MemoryLedger(memory, nodeId),
    appendLate: (entries) => memory.appendLate(nodeId, entries),
    openCalls: () => 0,
    settled: async () => {},
    logRequest: () => {},
    requestTail: new NodeRequestTail(),
    liveNodes: () => 1,
    pulse: new Pulse({
      monotonicMs: clock.monotonicMs,
      after: (_, ring) => afterInBackground(LOOK_MS, ring),
    }),
    isEldest: async () => true,
    storeClock: { storeMs: async () => clock.nowMs(), monotonicMs: clock.monotonicMs },
    isClockSteady: () => true,
    isStoreUnreachable: () => false,
    ledgerDifferences: () => 0,
    failure: () => undefined,
    describe: () => {},
    // A node asks by itself for the link of a first admin, and gets none.
    reports: emptyReports,
    ledgerStore: absent('ledger for people'),
    connections: 0,
    forControl: ledgerForControl(),
    budgets: memory,
    keyStore: keys,
    keyFile: someKeyFile(),
    credentials: new MemoryCredentials(clock, audit, () => keys.directoryChanged()),
    audit,
    batches: new MemoryBatches(clock, { outbox: webhooks, webhooksFor }, files, judgeMade, (id) =>
      memory.usedBy(id),
    ),
    imageJobs: new MemoryImageJobs(clock, { outbox: webhooks, webhooksFor }),
    files,
    fileUploads: new MemoryFileUploads(),
    webhooks,
    spaces: new MemorySpaces(audit, clock),
    drains: new MemoryDrains(clock, audit, () => keys.directoryChanged()),
    news: new MemoryNodeNews(clock),
    ...partsOfDatabases(),
    [Symbol.asyncDispose]: async () => {},
  }
}

function ledgerForControl(): LedgerForControl {
  return {
    reconciler: absent('sums'),
    makePartitions: absent('partitions'),
    isPoolerUnfit: async () => undefined,
    figures: () => ({
      isStoreUnreachable: false,
      spoolWaiting: 0,
      journalOpen: 0,
      diskFailure: undefined,
      clockSkewMs: undefined,
    }),
  }
}

/** A node asks some of them by itself, and gets what a new database would answer. */
function partsOfDatabases(): Pick<
  Stores,
  'alerts' | 'alertOutbox' | 'configuration' | 'prices' | 'history' | 'suspects' | 'lake' | 'dump'
> {
  return {
    alerts: absent('alerts', { read: async () => ({ rules: [], channels: [], mutedUntilMs: undefined }) }),
    alertOutbox: absent('incidents', {
      openIncidents: async () => [],
      due: async () => [],
      deleteOld: async () => 0,
    }),
    configuration: new MemoryConfiguration(),
    prices: absent('prices', { read: async () => [], note: async () => {} }),
    history: absent('history', { write: async () => {}, dropOld: async () => {} }),
    suspects: absent('suspect windows', {
      endGone: async () => {},
      due: async () => [],
      deleteOld: async () => {},
    }),
    lake: absent('lake', { keptFrom: async () => undefined }),
    dump: absent('backup'),
  }
}

/** Connections to a database with no rows. */
export const emptyReports: Database = absent('reports', { query: async () => [] })
