/** Stores in memory, for `DATABASE_URL=memory:`: tests and benches. */
import { auditKeysOf } from '#runtime/secret.ts'
import { AuditChain } from '#stores/audit-chain.ts'
import { MemoryAudit } from '#stores/memory/audit.ts'
import { MemoryBatches } from '#stores/memory/batches.ts'
import { MemoryBooks } from '#stores/memory/books.ts'
import { MemoryCredentials } from '#stores/memory/credentials.ts'
import { MemoryDrains } from '#stores/memory/drains.ts'
import { MemoryFileUploads } from '#stores/memory/file-uploads.ts'
import { MemoryFiles } from '#stores/memory/files.ts'
import { MemoryImageJobs } from '#stores/memory/image-jobs.ts'
import { MemoryKeyStore } from '#stores/memory/key-store.ts'
import { MemoryLedger } from '#stores/memory/ledger.ts'
import { MemoryNodeNews } from '#stores/memory/node-news.ts'
import { MemorySpaces } from '#stores/memory/spaces.ts'
import { MemoryWebhooks } from '#stores/memory/webhooks.ts'
import type { Basics } from './basics.ts'
import type { StoreParts, Stores } from './stores.ts'

/** Of the books, the newest. With ten times as many the collector cost more than the requests did. */
const ENTRIES_KEPT = 10_000

export async function openMemoryStores(
  { clock, identifiers, log, secrets }: Basics,
  { webhooksFor, hasLeftSpace }: Omit<StoreParts, 'onEnded'>,
): Promise<Stores> {
  log.warn('DATABASE_URL is memory: everything is lost when this process ends')
  const nodeId = identifiers.next()
  const books = new MemoryBooks(clock, ENTRIES_KEPT)
  await books.startNode({ id: nodeId })
  const audit = new MemoryAudit(clock, new AuditChain(auditKeysOf(secrets)))
  const keys = new MemoryKeyStore(clock, audit)
  const webhooks = new MemoryWebhooks(clock)
  const files = new MemoryFiles(clock)
  return {
    nodeId,
    ledger: new MemoryLedger(books, nodeId),
    appendLate: (entries) => books.appendLate(nodeId, entries),
    openCalls: () => 0,
    settled: async () => {},
    logRequest: () => {},
    requestTail: undefined,
    liveNodes: () => 1,
    isEldest: async () => true,
    isStoreAway: () => false,
    ledgerDifferences: () => 0,
    failure: () => undefined,
    describe: () => {},
    connections: 0,
    forControl: undefined,
    budgets: books,
    keys,
    keyFile: undefined,
    credentials: new MemoryCredentials(clock, audit, () => keys.directoryChanged()),
    audit,
    batches: new MemoryBatches(clock, { outbox: webhooks, webhooksFor }, files, hasLeftSpace, (id) =>
      books.usedBy(id),
    ),
    imageJobs: new MemoryImageJobs(clock, { outbox: webhooks, webhooksFor }),
    files,
    fileUploads: new MemoryFileUploads(),
    webhooks,
    spaces: new MemorySpaces(audit),
    drains: new MemoryDrains(clock, audit, () => keys.directoryChanged()),
    news: new MemoryNodeNews(clock),
    history: undefined,
    attention: undefined,
    modelFigures: undefined,
    prices: undefined,
    backup: undefined,
    reports: undefined,
    people: undefined,
    storage: undefined,
    upstreams: undefined,
    [Symbol.asyncDispose]: async () => {},
  }
}
