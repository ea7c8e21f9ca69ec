/**
 * Three witnesses are compared: what the provider served, what the clients received, and the ledger. They
 * share only ids: nothing here is computed by the code under test.
 */
import { createReadStream, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Client } from 'pg'
import type { LogEntry } from '../fake-provider/log.ts'
import type { RequestRecord } from './load.ts'
import { MODELS, NANO_USD_PER_TOKEN } from './traffic.ts'

const joined = new Set(MODELS.filter(({ isJoined }) => isJoined).map(({ id }) => id))

export interface Violation {
  /** `lost`: not in the ledger. `doubled`: in the ledger for more than the truth. */
  readonly kind: 'lost' | 'doubled' | 'other'
  readonly what: string
  readonly ids: Readonly<Record<string, unknown>>
}

export interface Tally {
  /** What the clients sent, and how it ended for them. */
  readonly requests: number
  readonly answered: number
  readonly refused: number
  readonly failed: number
  readonly left: number
  /** Calls that the provider did and would bill. */
  readonly served: number
  readonly posted: number
  /** Calls shared by several requests. */
  readonly shared: number
  /** Unresolved unknowns. */
  readonly unknown: number
}

export interface Evidence {
  /** Requests from this moment on, Unix time. */
  readonly sinceMs: number
  readonly oracleFile: string
  readonly oracleFromBytes: number
  readonly recordsFile: string
  /** Models of other witnesses. */
  readonly otherModels?: readonly string[]
}

interface EventRow {
  readonly request_id: string
  readonly attempt: number
  readonly kind: string
  readonly call_id: string
  readonly model: string
  readonly tokens: string | null
  readonly amount_nano: string | null
}

/** All rows of one attempt. */
interface Attempt {
  readonly requestId: string
  readonly callId: string
  readonly model: string
  readonly kinds: readonly string[]
  readonly tokens: bigint
  readonly nanoUsd: bigint
}

export async function checkRequests(
  client: Client,
  { sinceMs, oracleFile, oracleFromBytes, recordsFile, otherModels = [] }: Evidence,
): Promise<{ readonly tally: Tally; readonly violations: Violation[] }> {
  const violations: Violation[] = []
  const events = await eventsSince(client, sinceMs)
  const attempts = attemptsOf(
    events.filter(({ model }) => !otherModels.includes(model)),
    violations,
  )
  const byCall = Map.groupBy(attempts, ({ callId }) => callId)
  for (const sharing of byCall.values()) {
    if (new Set(sharing.map(({ requestId }) => requestId)).size < sharing.length)
      violations.push({ kind: 'doubled', what: 'two attempts of a request for one call', ids: { sharing } })
    else if (sharing.length > 1 && !sharing.every(({ model }) => joined.has(model)))
      violations.push({ kind: 'doubled', what: 'two requests for one call', ids: { sharing } })
  }

  const served = await servedCalls(oracleFile, oracleFromBytes, violations)
  for (const entry of served.values())
    checkServed(entry, byCall.get(entry.callId as string) ?? [], violations)
  for (const attempt of attempts) {
    if (attempt.kinds.includes('post') && !served.has(attempt.callId))
      violations.push({ kind: 'doubled', what: 'posted, but the provider never served it', ids: { attempt } })
  }

  const posts = new Map<string, number>()
  for (const { requestId, kinds } of attempts)
    if (kinds.includes('post')) posts.set(requestId, (posts.get(requestId) ?? 0) + 1)
  const records = recordsIn(recordsFile)
  for (const record of records) checkAnswered(record, posts, violations)

  const answered = records.filter(({ status, complete }) => status === 200 && complete).length
  const refused = records.filter(({ status }) => status !== null && status >= 400 && status < 500).length
  const left = records.filter(({ error }) => error === 'UND_ERR_ABORTED' || error === 'AbortError').length
  return {
    violations,
    tally: {
      requests: records.length,
      answered,
      refused,
      left,
      failed: records.length - answered - refused - left,
      served: served.size,
      posted: attempts.filter(({ kinds }) => kinds.includes('post')).length,
      shared: [...byCall.values()].filter(({ length }) => length > 1).length,
      unknown: attempts.filter(({ kinds }) => kinds.includes('unknown') && !kinds.includes('post')).length,
    },
  }
}

/**
 * A served call is in the ledger, for exactly what it cost when its end was known, and for no less when it
 * was not. For a shared call, the entries of all its requests count together.
 */
function checkServed(entry: LogEntry, sharing: readonly Attempt[], violations: Violation[]): void {
  const ids = { entry, sharing }
  const isPosted = ({ kinds }: Attempt): boolean => kinds.includes('post')
  if (sharing.length === 0 || !sharing.every((one) => isPosted(one) || one.kinds.includes('unknown'))) {
    violations.push({ kind: 'lost', what: 'served, and neither posted nor unknown', ids })
    return
  }
  const sum = (attempts: readonly Attempt[], of: (attempt: Attempt) => bigint): bigint =>
    attempts.reduce((total, attempt) => total + of(attempt), 0n)
  const truth = BigInt(entry.tokens) * NANO_USD_PER_TOKEN
  const posted = sharing.filter(isPosted)
  if (sum(posted, ({ nanoUsd }) => nanoUsd) > truth)
    violations.push({ kind: 'doubled', what: 'posted for more than it cost', ids })
  if (sum(sharing, ({ nanoUsd }) => nanoUsd) < truth)
    violations.push({ kind: 'lost', what: 'posted, or reserved while unknown, for less than it cost', ids })
  if (posted.length === sharing.length && sum(posted, ({ tokens }) => tokens) !== BigInt(entry.tokens))
    violations.push({ kind: 'other', what: 'posted with other tokens than were served', ids })
}

/** Also for an answer that was cut: when it began, its record had to be durable. */
function checkAnswered(
  record: RequestRecord,
  posts: ReadonlyMap<string, number>,
  violations: Violation[],
): void {
  if (record.status !== 200) return
  if (record.id === null) {
    violations.push({ kind: 'other', what: 'a 2xx without a request id', ids: { record } })
    return
  }
  const count = posts.get(record.id) ?? 0
  if (count !== record.calls) {
    const kind = count < record.calls ? 'lost' : 'doubled'
    violations.push({ kind, what: `a 2xx of ${record.calls} calls has ${count} posts`, ids: { record } })
  }
}

async function eventsSince(client: Client, sinceMs: number): Promise<readonly EventRow[]> {
  const hex = Math.floor(sinceMs).toString(16).padStart(12, '0')
  const { rows } = await client.query<EventRow>(
    `SELECT request_id, attempt, kind, call_id, model, tokens, amount_nano FROM usage_events
     WHERE request_id >= $1 ORDER BY request_id, attempt`,
    [`${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`],
  )
  return rows
}

function attemptsOf(rows: readonly EventRow[], violations: Violation[]): readonly Attempt[] {
  const byAttempt = Map.groupBy(rows, (row) => `${row.request_id}/${row.attempt}`)
  return Array.from(byAttempt.values(), (group) => {
    const [first] = group as [EventRow]
    const kinds = group.map(({ kind }) => kind)
    if (new Set(kinds).size < kinds.length)
      violations.push({ kind: 'doubled', what: 'one request, attempt and kind twice', ids: { group } })
    if (new Set(group.map(({ call_id }) => call_id)).size > 1)
      violations.push({ kind: 'other', what: 'one attempt for two calls', ids: { group } })
    const sum = (values: readonly (string | null)[]): bigint =>
      values.reduce((total, value) => total + BigInt(value ?? 0), 0n)
    return {
      requestId: first.request_id,
      callId: first.call_id,
      model: first.model,
      kinds,
      tokens: sum(group.map(({ tokens }) => tokens)),
      nanoUsd: sum(group.map(({ amount_nano }) => amount_nano)),
    }
  })
}

async function servedCalls(
  file: string,
  fromBytes: number,
  violations: Violation[],
): Promise<ReadonlyMap<string, LogEntry>> {
  const served = new Map<string, LogEntry>()
  for await (const line of createInterface({ input: createReadStream(file, { start: fromBytes }) })) {
    const entry = JSON.parse(line) as LogEntry
    if (!entry.served) continue
    if (entry.callId === null || served.has(entry.callId))
      violations.push({ kind: 'other', what: 'a call without an id of its own', ids: { entry } })
    else served.set(entry.callId, entry)
  }
  return served
}

export function recordsIn(file: string): readonly RequestRecord[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as RequestRecord)
}
