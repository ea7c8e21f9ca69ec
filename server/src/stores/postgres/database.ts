/** Connections to PostgreSQL, all with timeouts: a link that hangs fails, and never holds a request. */
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import {
  Client,
  DatabaseError,
  Pool,
  type types,
  type ClientConfig,
  type PoolClient,
  type PoolConfig,
  type QueryResult,
} from 'pg'
import { AuditChain } from '../audit-chain.ts'
import { Connecting } from './connecting.ts'
import { copyIn } from './copy-in.ts'
import { findParser } from './value-parsers.ts'

/** Runs one statement. With `name` it is prepared: parsed once per connection. */
export interface Sql {
  query<Row>(text: string, values?: readonly unknown[], name?: string): Promise<readonly Row[]>
}

export interface Transaction extends Sql {
  /** `work` runs once the transaction is committed, never if it is rolled back or the answer to COMMIT is lost. It must not throw. */
  onCommit(work: () => void): void
}

export interface Database extends Sql {
  /** The chain that signs entries of its audit. */
  readonly auditChain: AuditChain
  /** Runs `work` in one transaction (READ COMMITTED), rolled back when `work` throws. Its statements run one after another. */
  transaction<Result>(work: (sql: Transaction) => Promise<Result>): Promise<Result>
  /**
   * Runs `work` on a connection of its own, for what lives as long as a connection: advisory locks, `SET`. The connection is closed
   * afterwards. `queryTimeoutMs` replaces the timeout of its statements.
   */
  session<Result>(work: (sql: Sql) => Promise<Result>, queryTimeoutMs?: number): Promise<Result>
  /** Runs a COPY with rows of `copyRow`. Undefined: the database has none. */
  readonly copy?: (statement: string, rows: string) => Promise<void>
  /** Waits for the statements in progress, which their timeouts end. */
  close(): Promise<void>
}

export interface DatabaseOptions {
  /** Limit for one statement, including the wait for a connection. Default: `QUERY_TIMEOUT_MS`. */
  readonly queryTimeoutMs?: number
  /** Called when an idle connection breaks; one in use fails its statement instead. */
  readonly onError?: (error: Error) => void
  readonly poolSize?: number
  /** Left out: entries of the audit are not signed, and not logged. */
  readonly auditChain?: AuditChain
}

/** Long enough for a page of the console, short enough that its reader still waits. */
export const QUERY_TIMEOUT_MS = 10_000
/** A lost first packet is sent again after 1 s: one such loss is survived, a dead host is noticed. */
const CONNECT_TIMEOUT_MS = 3000
/** The server gives up before we do: its connection stays usable, ours would have to be closed. */
const STATEMENT_TIMEOUT_SHARE = 0.9
/** Our locks are held for one statement. A statement that waits this long waits for a stuck one, and fails. */
const LOCK_TIMEOUT_SHARE = 0.5
/** Below the 60 s after which the strictest firewalls forget a silent connection. */
const KEEP_ALIVE_DELAY_MS = 30_000
/** Ten nodes fit into the 100 connections that PostgreSQL allows by default, and eight keep its cores busy. */
export const POOL_SIZE = 8
/** Connections of a burst go back to the server. */
const IDLE_CONNECTION_MS = 60_000
/** After a failover, all connections follow the name to the new address within this time. */
const CONNECTION_LIFETIME_S = 30 * 60
/** Limit for the orderly end of a connection. A dead link never answers. */
const GOODBYE_MS = 1000
/** The SQLSTATE of a write to a standby: after a failover this connection leads to the wrong server. */
const READ_ONLY = '25006'

/** `urlNow` is called for each new connection: passwords rotate. */
export function openPostgres(urlNow: string | (() => string), options: DatabaseOptions = {}): Database {
  class CurrentClient extends Client {
    constructor(config?: ClientConfig) {
      super({ ...config, connectionString: typeof urlNow === 'string' ? urlNow : urlNow() })
    }
  }
  return openPool(
    {
      Client: CurrentClient,
      max: options.poolSize ?? POOL_SIZE,
      idleTimeoutMillis: IDLE_CONNECTION_MS,
      maxLifetimeSeconds: CONNECTION_LIFETIME_S,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
      // No statement of ours runs long enough to be worth compiling: with JIT, reports over many rows took half as long again.
      options: '-c jit=off',
    },
    () => new Socket(),
    options,
  )
}

/** The message of the pool when a wait for one of its connections, all in use, has ended. */
const POOL_FULL = /^timeout exceeded when trying/

/** No connection became free in time, though the server answers. */
export class PoolFull extends Error {}

/** A pool whose connections run over the streams that `connect` opens. */
export function openPool(config: PoolConfig, connect: () => Duplex, options: DatabaseOptions): Database {
  const { queryTimeoutMs = QUERY_TIMEOUT_MS, onError } = options
  const streams = new Set<Duplex>()
  const waitMs = config.connectionTimeoutMillis ?? Math.min(CONNECT_TIMEOUT_MS, queryTimeoutMs)
  const pool = new Pool({
    ...config,
    connectionTimeoutMillis: waitMs,
    application_name: 'torana',
    query_timeout: queryTimeoutMs,
    statement_timeout: statementTimeoutMs(queryTimeoutMs),
    lock_timeout: Math.ceil(queryTimeoutMs * LOCK_TIMEOUT_SHARE),
    // A node that froze in a transaction holds rows that others need.
    idle_in_transaction_session_timeout: queryTimeoutMs,
    types: { getTypeParser: findParser as typeof types.getTypeParser },
    stream: () => {
      const stream = connect()
      streams.add(stream)
      stream.once('close', () => streams.delete(stream))
      return stream
    },
  })
  pool.on('error', (error) => onError?.(error))
  // A connection in use fails its statement, or the next one. Without a listener its error would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))

  const connecting = new Connecting(pool, waitMs)
  let answeredMs = -Infinity
  const acquire = async (): Promise<Connection> => {
    const sinceMs = performance.now()
    try {
      return new Connection(await connecting.client(), () => (answeredMs = performance.now()))
    } catch (error) {
      // Others got answers while this one waited: the server is there.
      if (POOL_FULL.test((error as Error).message) && answeredMs >= sinceMs)
        throw new PoolFull('all connections are in use', { cause: error })
      throw error
    }
  }

  return {
    auditChain: options.auditChain ?? new AuditChain(),
    async query<Row>(text: string, values?: readonly unknown[], name?: string) {
      const startMs = performance.now()
      const connection = await acquire()
      try {
        const leftMs = Math.max(1, queryTimeoutMs - (performance.now() - startMs))
        return rowsOf<Row>(await connection.query(text, values, name, leftMs))
      } finally {
        connection.release()
      }
    },
    async transaction(work) {
      const connection = await acquire()
      const afterCommit: (() => void)[] = []
      const sql = { ...sqlOn(connection), onCommit: (later: () => void) => void afterCommit.push(later) }
      try {
        await connection.query('begin isolation level read committed')
        const result = await Promise.race([work(sql), connection.lost])
        const { command } = await connection.query('commit')
        // A transaction with a failed statement answers COMMIT without an error, and rolls back.
        if (command !== 'COMMIT') throw new Error('rolled back: a statement of the transaction had failed')
        for (const later of afterCommit) later()
        return result
      } catch (error) {
        await connection.rollBack()
        throw error
      } finally {
        connection.release()
      }
    },
    async session(work, sessionTimeoutMs = queryTimeoutMs) {
      const connection = await acquire()
      try {
        const text = `select set_config('statement_timeout', $1, false)`
        await connection.query(text, [String(statementTimeoutMs(sessionTimeoutMs))])
        return await Promise.race([work(sqlOn(connection, sessionTimeoutMs)), connection.lost])
      } finally {
        connection.release(true)
      }
    },
    async copy(statement, rows) {
      const connection = await acquire()
      try {
        await connection.copy(statement, rows, queryTimeoutMs)
      } finally {
        connection.release()
      }
    },
    close: onlyOnce(() => closePool(pool, streams, () => connecting.hasConnection, waitMs)),
  }
}

/** Ends the pool. An attempt to connect may have half a minute left: where there is no connection, all streams are such attempts. */
async function closePool(
  pool: Pool,
  streams: ReadonlySet<Duplex>,
  hasConnection: () => boolean,
  waitMs: number,
) {
  const ended = pool.end()
  const late = setTimeout(() => {
    if (!hasConnection()) streams.forEach((stream) => stream.destroy())
  }, waitMs)
  await ended
  clearTimeout(late)
  // A server that stops meanwhile resets them: that is an end too, which `once` would take for a failure.
  const closed = Array.from(
    streams,
    (stream) => new Promise<void>((resolve) => stream.once('close', () => resolve())),
  )
  const timer = setTimeout(() => streams.forEach((stream) => stream.destroy()), GOODBYE_MS)
  await Promise.all(closed)
  clearTimeout(timer)
}

/** The second and later calls get the result of the first. */
export function onlyOnce(work: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined
  return () => (result ??= work())
}

/** A connection taken out of the pool. It goes back only if its next user will find it as good as new. */
class Connection {
  /** Rejects when the connection ends by itself, so that no work goes on without one and keeps its place in the pool. */
  readonly lost: Promise<never>
  readonly #client: PoolClient
  readonly #lose: (error: Error) => void
  readonly #answered: () => void
  #broken = false

  /** `answered` is called for each answer of the server, errors included. */
  constructor(client: PoolClient, answered: () => void) {
    this.#answered = answered
    const { promise, reject } = Promise.withResolvers<never>()
    promise.catch(() => (this.#broken = true))
    this.lost = promise
    this.#client = client
    this.#lose = reject
    client.once('error', reject)
  }

  query(text: string, values: readonly unknown[] = [], name?: string, timeoutMs?: number) {
    const statement = { text, values: [...values], name, query_timeout: timeoutMs }
    return this.#watched(this.#client.query(statement))
  }

  copy(statement: string, rows: string, timeoutMs: number): Promise<void> {
    return this.#watched(copyIn(this.#client, statement, rows, timeoutMs))
  }

  async #watched<Result>(work: Promise<Result>): Promise<Result> {
    try {
      const result = await work
      this.#answered()
      return result
    } catch (error) {
      if (error instanceof DatabaseError) this.#answered()
      this.#broken ||= !leavesConnectionUsable(error)
      throw isOfAnotherSession(error) ? new Error(OTHER_SESSION, { cause: error }) : error
    }
  }

  /** Where this fails, the server rolls back when the connection closes. */
  async rollBack(): Promise<void> {
    if (this.#broken || this.#client.getTransactionStatus() === 'I') return
    await this.query('rollback').catch(() => (this.#broken = true))
  }

  release(destroy = false): void {
    this.#client.off('error', this.#lose)
    this.#client.release(destroy || this.#broken || this.#client.getTransactionStatus() !== 'I')
  }
}

function sqlOn(connection: Connection, timeoutMs?: number): Sql {
  return {
    async query<Row>(text: string, values?: readonly unknown[], name?: string) {
      return rowsOf<Row>(await connection.query(text, values, name, timeoutMs))
    },
  }
}

/** Several statements in one text have several results: the last one counts. */
function rowsOf<Row>(result: QueryResult | readonly QueryResult[]): readonly Row[] {
  return [result].flat().at(-1)?.rows ?? []
}

function statementTimeoutMs(queryTimeoutMs: number): number {
  return Math.ceil(queryTimeoutMs * STATEMENT_TIMEOUT_SHARE)
}

/** SQLSTATE: there is no such prepared statement, or there is one already: another session answered than the one that prepared it. */
const OTHER_SESSION_STATES = /^(26000|42P05)$/
const OTHER_SESSION =
  'the pooler of DATABASE_URL gave this connection another session of PostgreSQL: set `pool_mode = session`'
/** SQLSTATE: no connection (08), no right to connect (28), no such database, out of resources (53), cancelled or ended. */
const AWAY_STATES = /^(08|28|53|57|58)|^(3D000|25006|25P03|55P03|26000|42P05)$/
const AWAY_CODES = /^(ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/
const AWAY_CALLS = /^(connect|getaddrinfo)$/
/** Messages of pg for errors without a code. */
const AWAY_MESSAGES =
  /^(Query read timeout|timeout expired|timeout exceeded when trying|Connection terminated|Cannot use a pool after)|is not queryable$/

/**
 * Whether the store cannot work now: unreachable, starting, stopping, too slow or full. The same statement may succeed later, and may
 * even have succeeded if its answer was lost. Otherwise the statement itself is at fault.
 */
export function isStoreUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (isStoreUnreachable(error.cause)) return true
  if (error instanceof DatabaseError) return AWAY_STATES.test(error.code ?? '')
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException
  return AWAY_CODES.test(code) || AWAY_CALLS.test(syscall) || AWAY_MESSAGES.test(error.message)
}

function isOfAnotherSession(error: unknown): boolean {
  return error instanceof DatabaseError && OTHER_SESSION_STATES.test(error.code ?? '')
}

/** An error that the server sent for one statement, with the connection left open. */
function leavesConnectionUsable(error: unknown): boolean {
  return (
    error instanceof DatabaseError &&
    error.severity === 'ERROR' &&
    error.code !== READ_ONLY &&
    !isOfAnotherSession(error)
  )
}
