/** PostgreSQL without a server: PGlite in a thread of this process, for one process and one folder. */
import { once } from 'node:events'
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads'
import { PREPARED, workerModule } from '#package/files.ts'
import { holderOf, lockFile, tryChmod } from '../file-lock.ts'
import { onlyOnce, openPool, QUERY_TIMEOUT_MS, type Database, type DatabaseOptions } from './database.ts'
import { unpackFolder } from './packed-folder.ts'
import type { ToPglite } from './pglite-worker.ts'

/** Limit for the last checkpoint of a shutdown. Without it nothing is lost, but the next start takes longer. */
const CLOSE_MS = 5000

/** Two processes on one folder would overwrite each other's data. */
export class FolderInUse extends Error {
  constructor(folder: string, holder: string) {
    super(
      `${folder} is in use by ${holder}. Stop it, choose another folder, or set DATABASE_URL to share a database.`,
    )
  }
}

/** The lite image does not include PGlite. */
export class NoDatabaseInside extends Error {
  constructor() {
    super(
      'DATABASE_URL: is not set, and this image has no database inside. Set it to a PostgreSQL, or use the full image.',
    )
  }
}

/**
 * The folder is created if need be. `poolSize` is ignored: PGlite has one session, statements wait for one another. Committed rows
 * survive the death of the process, not that of the machine: PGlite leaves writes to the operating system.
 */
export async function openPglite(folder: string, options: DatabaseOptions = {}): Promise<Database> {
  const lockPath = `${folder}.lock`
  const lock = lockFile(lockPath)
  if (!lock) throw new FolderInUse(folder, holderOf(lockPath))
  const engine = new Engine(folder, options.onError)
  try {
    await engine.start()
  } catch (error) {
    lock.release()
    throw error
  }
  const { queryTimeoutMs = QUERY_TIMEOUT_MS } = options
  // Complete; otherwise pg would read the rest from the environment.
  const config = {
    max: 1,
    // There is one session: a connection waits for the statements before it, not for a network.
    connectionTimeoutMillis: queryTimeoutMs,
    idleTimeoutMillis: 0,
    host: 'pglite',
    user: 'postgres',
    database: 'postgres',
    ssl: false,
  }
  // PGlite takes the rows of a COPY from a file only.
  const { copy: _copy, ...database } = openPool(config, () => new Link(engine, queryTimeoutMs), options)
  return {
    ...database,
    close: onlyOnce(async () => {
      try {
        await database.close()
        await engine.close()
      } finally {
        lock.release()
      }
    }),
  }
}

/**
 * The thread, restarted for the next connection after it ended. It is not of the common kind (`thread/thread.ts`): statements come as
 * streams on ports of their own, one that hangs ends the thread, and the next may start only when that one is gone.
 */
class Engine {
  readonly #folder: string
  readonly #onError: ((error: Error) => void) | undefined
  #running: Promise<Worker> | undefined
  #ended: Promise<unknown> = Promise.resolve()

  constructor(folder: string, onError: ((error: Error) => void) | undefined) {
    this.#folder = folder
    this.#onError = onError
  }

  start(): Promise<Worker> {
    if (this.#running) return this.#running
    const running = this.#ended.then(() => this.#open())
    // Only if no other was started meanwhile: two threads on one folder would be as bad as two processes.
    const forget = (): void => void (this.#running === running && (this.#running = undefined))
    running.then((worker) => worker.once('exit', forget), forget)
    this.#running = running
    return running
  }

  async connect(): Promise<MessagePort> {
    const worker = await this.start()
    const { port1, port2 } = new MessageChannel()
    worker.postMessage(port2 satisfies ToPglite, [port2])
    return port1
  }

  /** The only way to stop a statement: timeouts of PostgreSQL need signals, which a thread does not have. */
  abort(): void {
    const running = this.#running
    this.#running = undefined
    this.#ended = Promise.resolve(running).then((worker) => worker?.terminate())
  }

  async close(): Promise<void> {
    const worker = await this.#running
    if (worker) await close(worker)
  }

  async #open(): Promise<Worker> {
    if (!existsSync(join(this.#folder, 'PG_VERSION'))) await initialise(this.#folder)
    // PGlite creates its files readable for all, so the folder itself is closed to other users.
    tryChmod(this.#folder, 0o700)
    const worker = await startThread(this.#folder)
    for (const event of ['error', 'message']) worker.on(event, (error: Error) => this.#onError?.(error))
    return worker
  }
}

/** What an interrupted first start leaves behind: a folder with anything else in it is not deleted. */
const MADE_BY_POSTGRES =
  /^(?:PG_VERSION|base|global|pg_[a-z_]+(?:\.conf)?|postgresql(?:\.auto)?\.conf|postmaster\.(?:pid|opts))$/

/** The folder appears when it is complete: an interrupted first start is repeated. */
async function initialise(folder: string): Promise<void> {
  const unfinished = `${folder}.new`
  const left = existsSync(unfinished) ? readdirSync(unfinished) : []
  const foreign = left.find((name) => !MADE_BY_POSTGRES.test(name))
  if (foreign !== undefined)
    throw new Error(`${unfinished} has a file that is not Torana’s: ${foreign}. Move that folder elsewhere.`)
  rmSync(unfinished, { recursive: true, force: true })
  if (PREPARED !== undefined) await unpackFolder(PREPARED.postgres, unfinished)
  // In a thread of its own, since its memory is freed only when the thread ends.
  else await close(await startThread(unfinished))
  renameSync(unfinished, folder)
}

async function startThread(folder: string): Promise<Worker> {
  const worker = new Worker(workerModule('stores/postgres/pglite-worker'), { workerData: folder })
  const exit = once(worker, 'exit').then(([code]) => {
    throw new Error(`PGlite ended with code ${code} while it opened ${folder}`)
  })
  try {
    await Promise.race([once(worker, 'message'), exit])
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND' ? new NoDatabaseInside() : error
  }
  return worker
}

async function close(worker: Worker): Promise<void> {
  const exit = once(worker, 'exit')
  const timer = setTimeout(() => void worker.terminate(), CLOSE_MS)
  worker.postMessage('close' satisfies ToPglite)
  await exit
  clearTimeout(timer)
}

/** A connection to the thread, in the shape of the socket that pg expects. */
class Link extends Duplex {
  readonly #engine: Engine
  readonly #idleInTransactionMs: number
  #port: MessagePort | undefined
  #isAwaited = false
  #idleTimer: NodeJS.Timeout | undefined

  constructor(engine: Engine, idleInTransactionMs: number) {
    super()
    this.#engine = engine
    this.#idleInTransactionMs = idleInTransactionMs
  }

  connect(): this {
    this.#engine.connect().then(
      (port) => this.#attach(port),
      (error: Error) => this.destroy(away(error.message)),
    )
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  ref(): this {
    this.#port?.ref()
    return this
  }

  unref(): this {
    this.#port?.unref()
    return this
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#send([chunk])
    done()
  }

  /** pg corks the messages of one statement: they are sent as one. */
  override _writev(parts: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this.#send(parts.map(({ chunk }) => chunk))
    done()
  }

  override _final(done: () => void): void {
    this.push(null)
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#idleTimer)
    this.#port?.close()
    if (this.#isAwaited) this.#engine.abort()
    done(error)
  }

  #attach(port: MessagePort): void {
    if (this.destroyed) return port.close()
    this.#port = port
    port.on('message', (reply: Uint8Array<ArrayBuffer>) => this.#receive(reply))
    port.on('close', () => {
      this.#isAwaited = false
      this.destroy(this.writableEnded ? undefined : away('PGlite ended'))
    })
    this.emit('connect')
  }

  #send(parts: readonly Buffer[]): void {
    clearTimeout(this.#idleTimer)
    const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const part of parts) {
      bytes.set(part, at)
      at += part.length
    }
    this.#isAwaited = bytes[0] !== TERMINATE
    this.#port?.postMessage(bytes, [bytes.buffer])
  }

  #receive(reply: Uint8Array<ArrayBuffer>): void {
    this.#isAwaited = false
    // A server does this by `idle_in_transaction_session_timeout`: every other statement waits for this transaction.
    if (reply.at(-1) !== IDLE) {
      const end = (): void => void this.destroy(away('a transaction was left idle'))
      this.#idleTimer = setTimeout(end, this.#idleInTransactionMs)
    }
    this.push(Buffer.from(reply.buffer))
  }
}

/** The message that ends a connection, which has no reply. */
const TERMINATE = 'X'.charCodeAt(0)
/** The state, at the end of each reply, in which no transaction is open. */
const IDLE = 'I'.charCodeAt(0)

function away(message: string): Error {
  return Object.assign(new Error(message), { code: 'ECONNRESET' })
}
