import { DatabaseError } from 'pg'
import { deploymentsOf, ownTime } from '#core/request/request-trace.ts'
import type { RequestRecord } from '#ports/observer.ts'
import type { RequestLogStore } from '#ports/request-log.ts'
import { copyRow } from '../copy-in.ts'
import type { Database } from '../database.ts'
import { reachable } from '../unreachable.ts'
import { hundredths, traceText } from './trace-text.ts'

type Value = string | number | bigint | undefined

const COLUMNS = [
  ['request_id', 'uuid'],
  ['route', 'text'],
  ['status', 'smallint'],
  ['fault', 'text'],
  ['project', 'text'],
  ['key_id', 'text'],
  ['model', 'text'],
  ['deployments', 'text'],
  ['attempts', 'smallint'],
  ['inputs', 'integer'],
  ['tokens', 'bigint'],
  ['amount_nano', 'bigint'],
  ['client_request_id', 'text'],
  ['client_address', 'text'],
  ['duration_ms', 'real'],
  ['own_ms', 'real'],
  ['waited_ms', 'real'],
  ['hits', 'integer'],
  ['images', 'integer'],
  ['trace', 'text'],
  ['pinned_space', 'text'],
  ['node_id', 'uuid'],
  ['end_user', 'text'],
  ['tags', 'jsonb'],
] as const
const NAMES = COLUMNS.map(([name]) => name).join(', ')

/** Not the ledger: a crash of the server may lose the last rows, and no row waits for a disk. */
const COPY = `SET LOCAL synchronous_commit = off; COPY requests (${NAMES}) FROM STDIN`

/** For a page of which some rows are there already, and for a database without COPY. */
const APPEND = `
INSERT INTO requests (${NAMES})
SELECT ${COLUMNS.map(([name, type]) => `${name}::${type}`).join(', ')}
FROM unnest(${COLUMNS.map((_, index) => `$${index + 1}::text[]`).join(', ')}) AS given (${NAMES})
ON CONFLICT DO NOTHING`

const UNIQUE_VIOLATION = '23505'

export class PostgresRequests implements RequestLogStore {
  readonly #database: Database
  readonly #nodeId: string | undefined

  /** `nodeId`: the node that served these requests. */
  constructor(database: Database, nodeId?: string) {
    this.#database = database
    this.#nodeId = nodeId
  }

  append(records: readonly RequestRecord[]): Promise<void> {
    return reachable(this.#append(records.map((record) => this.#valuesOf(record))))
  }

  async #append(rows: readonly (readonly Value[])[]): Promise<void> {
    const { copy } = this.#database
    if (copy !== undefined)
      try {
        return await copy(COPY, rows.map(copyRow).join(''))
      } catch (error) {
        // The answer to an earlier attempt was lost.
        if (!(error instanceof DatabaseError) || error.code !== UNIQUE_VIOLATION) throw error
      }
    const columns = COLUMNS.map((_, index) => rows.map((row) => textOf(row[index])))
    await this.#database.query(APPEND, columns, 'requests-append')
  }

  /** In the order of the columns. */
  #valuesOf(record: RequestRecord): readonly Value[] {
    const { trace, model, inputs, durationMs, tags } = record
    const deployments = namesOf(record)
    const time = trace === undefined ? undefined : ownTime(trace, durationMs)
    return [
      record.requestId,
      record.route,
      record.status,
      filled(record.fault),
      filled(record.project),
      filled(record.keyId),
      filled(model),
      filled(deployments),
      record.attempts ?? trace?.calls.length,
      inputs,
      record.promptTokens,
      record.amountNanoUsd,
      filled(record.clientRequestId),
      filled(record.clientAddress),
      hundredths(durationMs),
      time && hundredths(time.ownMs),
      time && hundredths(time.waitedMs),
      record.cache?.hits,
      trace?.images,
      trace && traceText(trace, { model, inputs, deployments: deployments?.split(',') ?? [] }, record),
      trace?.isPinned ? filled(trace.space) : undefined,
      this.#nodeId,
      filled(record.user),
      tags && JSON.stringify(tags),
    ]
  }
}

/** Most requests have one call, and its deployment is the one that served them. */
function namesOf({ deployment, trace }: RequestRecord): string | undefined {
  const { calls = [] } = trace ?? {}
  const [only] = calls
  if (calls.length === 1 && only?.deployment === deployment) return deployment
  return deploymentsOf(deployment, calls).join()
}

function filled(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}

/** PostgreSQL texts cannot contain NUL. */
function textOf(value: Value): string | null {
  return value === undefined ? null : `${value}`.replaceAll('\0', '')
}
