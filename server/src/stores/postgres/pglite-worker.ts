/** Runs in a worker thread: PGlite, spoken to in PostgreSQL's wire protocol. Each port that arrives is a connection. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'

/** To the thread: a connection, or the wish that it ends. */
export type ToPglite = MessagePort | 'close'
/** From the thread: it is ready for connections, or some of its own housekeeping failed. */
export type FromPglite = 'ready' | Error

/** The default of 128 MB is allocated at once. A folder for one process is small, and the system caches its files. */
const SHARED_BUFFERS = '16MB'
/** The log is read again by a start after a crash, some 10 ms a megabyte. PGlite never cuts it, as a server does. */
const LOG_BYTES = 64 * 1024 * 1024
/** How often the log is measured, which takes half a millisecond. */
const MEASURE_LOG_MS = 2000

const settings = [`shared_buffers=${SHARED_BUFFERS}`, `max_wal_size=${LOG_BYTES / 1024}kB`]
const dataDir = workerData as string
// A folder as `initdb` leaves it: making one takes ten seconds of a processor, unpacking it a fraction of one.
const loadDataDir = existsSync(join(dataDir, 'PG_VERSION'))
  ? undefined
  : await (await import('@electric-sql/pglite-prepopulatedfs')).dataDir()
const database = await PGlite.create({
  dataDir,
  ...(loadDataDir && { loadDataDir }),
  startParams: [...PGlite.defaultStartParams, ...settings.flatMap((setting) => ['-c', setting])],
})
/** Whether no transaction is open. */
let isIdle = true

parentPort?.on('message', (message: ToPglite) => {
  if (message === 'close') void close()
  else serve(message)
})
const tidyTimer = setInterval(tidy, MEASURE_LOG_MS)
parentPort?.postMessage('ready' satisfies FromPglite)

/** There is one session behind all connections, so that a new one first clears what the one before it left. */
function serve(connection: MessagePort): void {
  run('rollback')
  run('discard all')
  connection.on('message', (request: Uint8Array) => {
    const reply = exchange(request)
    if (reply.length === 0) return
    const isAlive = endsWithReady(reply)
    connection.postMessage(reply, [reply.buffer])
    // After a failed write of its log a server ends, and starts again from what is on disk. PGlite would go on.
    if (!isAlive) throw new Error('PGlite met an error that it can not go on from')
  })
}

/** What the background processes of a server do: forget deleted rows, learn how tables are filled, cut the log. */
function tidy(): void {
  const logBytes = 'pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)'
  try {
    if (!isIdle || !run(`select 1 from pg_control_checkpoint() where ${logBytes} > ${LOG_BYTES / 2}`)) return
    run('vacuum (analyze)')
    run('checkpoint')
  } catch (error) {
    parentPort?.postMessage(error)
  }
}

async function close(): Promise<void> {
  clearInterval(tidyTimer)
  await database.close()
  parentPort?.close()
}

/** Runs a statement of our own in the simple protocol: `Q`, the length, the text, a zero. Whether it found a row. */
function run(statement: string): boolean {
  const request = Buffer.from(`Q\0\0\0\0${statement}\0`)
  request.writeUInt32BE(request.length - 1, 1)
  const reply = Buffer.from(exchange(request).buffer).toString('latin1')
  if (reply.startsWith('E')) throw new Error(`PGlite refused to ${statement}: ${reply.replaceAll('\0', ' ')}`)
  return reply.includes('SELECT 1')
}

function exchange(request: Uint8Array): Uint8Array<ArrayBuffer> {
  // Copied, since some replies are a window into a buffer that PGlite goes on using.
  const reply = new Uint8Array(database.execProtocolRawSync(request))
  isIdle = reply.at(-1) === 'I'.charCodeAt(0)
  return reply
}

/** ReadyForQuery: `Z`, the length 5 in four bytes, the state of the transaction. */
function endsWithReady(reply: Uint8Array): boolean {
  return reply.at(-6) === 'Z'.charCodeAt(0) && reply.at(-2) === 5
}
