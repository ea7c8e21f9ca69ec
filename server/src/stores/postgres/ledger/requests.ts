import { DatabaseError } from 'pg'
import { deploymentsOf, ownTime } from '#core/request/request-trace.ts'
import type { RequestRecord } from '#ports/observer.ts'
import { copyRow } from '../copy-in.ts'
import type { Database } from '../database.ts'
import { reachable } from '../unreachable.ts'
import { hundredths, traceText } from './trace-text.ts'

type Value = string | number | bigint | undefined

/** A request, and what several columns take from it. */
interface Row {
  readonly record: RequestRecord
  readonly deployments: string | undefined
  readonly own: ReturnType<typeof ownTime> | undefined
  readonly nodeId: string | undefined
}

type Column = readonly [name: string, type: string, value: (row: Row) => Value]

const COLUMNS: readonly Column[] = [
  ['request_id', 'uuid', ({ record }) => record.requestId],
  ['route', 'text', ({ record }) => record.route],
  ['status', 'smallint', ({ record }) => record.status],
  ['fault', 'text', ({ record }) => filled(record.fault)],
  ['project', 'text', ({ record }) => filled(record.project)],
  ['key_id', 'text', ({ record }) => filled(record.keyId)],
  ['model', 'text', ({ record }) => filled(record.model)],
  ['deployments', 'text', ({ deployments }) => filled(deployments)],
  ['attempts', 'smallint', ({ record }) => record.attempts ?? record.trace?.calls.length],
  ['inputs', 'integer', ({ record }) => record.inputs],
  ['tokens', 'bigint', ({ record }) => record.promptTokens],
  ['amount_nano', 'bigint', ({ record }) => record.amountNanoUsd],
  ['client_request_id', 'text', ({ record }) => filled(record.clientRequestId)],
  ['client_address', 'text', ({ record }) => filled(record.clientAddress)],
  ['duration_ms', 'real', ({ record }) => hundredths(record.durationMs)],
  ['own_ms', 'real', ({ own }) => own && hundredths(own.ownMs)],
  ['waited_ms', 'real', ({ own }) => own && hundredths(own.waitedMs)],
  ['hits', 'integer', ({ record }) => record.cache?.hits],
  ['images', 'integer', ({ record }) => record.trace?.images],
  ['trace', 'text', keptTrace],
  ['pinned_space', 'text', ({ record: { trace } }) => (trace?.isPinned ? filled(trace.space) : undefined)],
  ['node_id', 'uuid', ({ nodeId }) => nodeId],
  ['end_user', 'text', ({ record }) => filled(record.user)],
  ['tags', 'jsonb', ({ record }) => record.tags && JSON.stringify(record.tags)],
]
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

/** The outcome of each request, never its content. Rejects with `StoreUnreachable`; a record sent twice counts once. */
export class PostgresRequests {
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

  #valuesOf(record: RequestRecord): readonly Value[] {
    const { trace, durationMs } = record
    const own = trace && ownTime(trace, durationMs)
    const row = { record, deployments: namesOf(record), own, nodeId: this.#nodeId }
    return COLUMNS.map(([, , value]) => value(row))
  }
}

function keptTrace({ record, deployments }: Row): string | undefined {
  const { trace, model, inputs } = record
  return trace && traceText(trace, { model, inputs, deployments: deployments?.split(',') ?? [] }, record)
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
