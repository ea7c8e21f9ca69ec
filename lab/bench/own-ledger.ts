/** A ledger as a node has it, on a dedicated PostgreSQL with fsync on: the batcher, its journal and the rollups. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Identifiers } from '../../server/src/ports/clock.ts'
import { systemClock } from '../../server/src/runtime/clock.ts'
import { yieldLoop } from '../../server/src/runtime/event-loop.ts'
import { uuidv7Identifiers } from '../../server/src/runtime/identifiers.ts'
import { PostgresLedger } from '../../server/src/stores/postgres/ledger/ledger.ts'
import { openPostgres } from '../../server/src/stores/postgres/database.ts'
import { migrate } from '../../server/src/stores/postgres/migrate.ts'
import { makeNodeFolder } from '../../server/src/stores/spool/node-folder.ts'
import { BatchedLedger, type LedgerEvents } from '../../server/src/worker/ledger/batched-ledger.ts'
import { startPostgresServer } from '../../server/test/support/servers.ts'

interface OwnLedger {
  readonly queryTimeoutMs: number
  readonly written?: LedgerEvents['written']
  /** Records were refused, or could not be kept. */
  readonly onFailure: (error: Error) => void
}

export async function openOwnLedger({ queryTimeoutMs, written = () => {}, onFailure }: OwnLedger) {
  const folder = mkdtempSync(join(tmpdir(), 'torana-bench-'))
  const postgres = await startPostgresServer()
  const database = openPostgres(postgres.url, { queryTimeoutMs, poolSize: 4 })
  const identifiers: Identifiers = uuidv7Identifiers(systemClock)
  const nodeId = identifiers.next()
  const nodeFolder = makeNodeFolder(folder, nodeId)
  if (nodeFolder === undefined) throw new Error('the folder is taken')
  await migrate(database)
  const store = new PostgresLedger(database)
  await store.startNode({ id: nodeId, host: 'bench', version: '0' })
  const ledger = new BatchedLedger({
    nodeId,
    store,
    ...nodeFolder,
    connect: async () => void (await store.heartbeat(nodeId)),
    monotonicMs: systemClock.monotonicMs,
    yieldLoop,
    events: {
      written,
      storeUnreachable: (error) => console.error(error.message),
      storeBack: () => {},
      refused: (_, error) => onFailure(error),
      spoolFailed: onFailure,
      journalFailed: onFailure,
      diskBack: () => {},
      nodeEnded: () => onFailure(new Error('the node was ended')),
    },
  })
  await ledger.drain()
  const close = async (): Promise<void> => {
    nodeFolder.leave(true)
    await database.close()
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return { ledger, store, database, url: postgres.url, identifiers, nodeId, close }
}
