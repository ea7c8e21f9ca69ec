/** Runs in a worker thread: PGlite, spoken to in PostgreSQL's wire protocol. Each port that arrives is a connection. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData, type MessagePort } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'

/** To the thread: a connection, or the request to end. */
export type ToPglite = MessagePort | 'close'
/** From the thread: it is ready for connections, or its housekeeping failed. */
export type FromPglite = 'ready' | Error

/** The default of 128 MB is allocated at once. The folder of one process is small, and the system caches its files. */
const SHARED_BUFFERS = '16MB'
/**
 * Size at which the write-ahead log is cut. A start after a crash reads it again, at some 10 ms per megabyte. PGlite never cuts it,
 * as a server does.
 */
const LOG_BYTES = 64 * 1024 * 1024
/** Interval of measuring the log, which takes half a millisecond. */
const MEASURE_LOG_MS = 2000

const settings = [`shared_buffers=${SHARED_BUFFERS}`, `max_wal_size=${LOG_BYTES / 1024}kB`]
const dataDir = workerData as string
// A folder as `initdb` leaves it: creating one takes ten seconds of CPU, unpacking it a fraction of one.
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

/** One session is behind all connections, so a new connection first clears what the last one left. */
function serve(connection: MessagePort): void {
  run('rollback')
  run('discard all')
  connection.on('message', (request: Uint8Array) => {
    const reply = exchange(request)
    if (reply.length === 0) return
    const isAlive = endsWithReady(reply)
    connection.postMessage(reply, [reply.buffer])
    // After a failed write of its log a server exits, and starts again from the disk. PGlite would go on.
    if (!isAlive) throw new Error('PGlite met an error that it can not go on from')
  })
}

/** The work of a server's background processes: vacuum, analyze, cut the log. */
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

/** Runs a statement of our own in the simple protocol: `Q`, the length, the text, a zero. Returns whether it found a row. */
function run(statement: string): boolean {
  const request = Buffer.from(`Q\0\0\0\0${statement}\0`)
  request.writeUInt32BE(request.length - 1, 1)
  const reply = Buffer.from(exchange(request).buffer).toString('latin1')
  if (reply.startsWith('E')) throw new Error(`PGlite refused to ${statement}: ${reply.replaceAll('\0', ' ')}`)
  return reply.includes('SELECT 1')
}

function exchange(request: Uint8Array): Uint8Array<ArrayBuffer> {
  // Copied, since some replies are a view of a buffer that PGlite goes on using.
  const reply = new Uint8Array(database.execProtocolRawSync(request))
  isIdle = reply.at(-1) === 'I'.charCodeAt(0)
  return reply
}

/** ReadyForQuery: `Z`, the length 5 in four bytes, the state of the transaction. */
function endsWithReady(reply: Uint8Array): boolean {
  return reply.at(-6) === 'Z'.charCodeAt(0) && reply.at(-2) === 5
}
