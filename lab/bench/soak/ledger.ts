/** Compares the gateway's ledger in PostgreSQL with the upstream's records, call by call. */
import { Client } from 'pg'
import { costOf } from './config.ts'
import { coloursOf } from '../../fake-provider/players/soak/oracle.ts'
import type { Tally } from './tally.ts'
import type { RecordedCall, Fault } from '../../fake-provider/players/soak/calls.ts'

export interface Row {
  readonly call_id: string
  /** Request and attempt. */
  readonly share: string
  readonly kind: 'intent' | 'post' | 'void' | 'unknown' | 'adjust'
  readonly model: string
  readonly usage: 'upstream' | 'estimated' | 'unknown'
  readonly tokens: string | null
  readonly images: number
  readonly amount_nano: string | null
}

/** Faults after which the gateway can't know whether the upstream served the call. */
const AMBIGUOUS: ReadonlySet<Fault> = new Set([
  'none',
  'unread',
  'reset',
  'served-reset',
  'cut',
  'garbled',
  'narrow',
])
/** Mean difference of a channel, of 255, that a lossy format may make; for another image it is above 60. */
const MAX_DIFFERENCE = 12

export interface Judgement {
  readonly wrong: readonly string[]
  readonly figures: readonly string[][]
}

export async function judgeLedger(
  databaseUrl: string,
  recorded: readonly RecordedCall[],
  tally: Tally,
): Promise<Judgement> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<Row>(
      `SELECT call_id, request_id || '/' || attempt AS share, kind, model, usage, tokens, images, amount_nano
         FROM usage_events`,
    )
    const calls = Map.groupBy(rows, ({ call_id }) => call_id)
    const wrong = [
      ...judgeCalls(recorded, calls),
      ...judgePurchases(recorded, tally),
      ...(await judgeSums(client)),
    ]
    return { wrong, figures: figuresOf(recorded, rows) }
  } finally {
    await client.end()
  }
}

export function* judgeCalls(
  recorded: readonly RecordedCall[],
  calls: ReadonlyMap<string, readonly Row[]>,
): Generator<string> {
  const known = new Map(recorded.map((entry) => [entry.callId, entry]))
  if (known.size !== recorded.length)
    yield `${recorded.length - known.size} calls came twice or without an id`
  for (const entry of known.values()) {
    const rows = calls.get(entry.callId) ?? []
    if (entry.served && rows.length === 0)
      yield `served and not in the ledger: ${entry.callId}, ${entry.fault}`
  }
  for (const [callId, rows] of calls) {
    const entry = known.get(callId)
    const where = `${callId}, ${rows[0]?.model}, ${entry?.fault ?? 'never came'}`
    const states = [...Map.groupBy(rows, ({ share }) => share).values()].map(stateOf)
    const state = states[0] ?? 'nothing'
    if (states.some((other) => other !== state))
      yield `shares of one call differ (${states.join()}): ${where}`
    else if (state.includes('+')) yield `counted more than once (${state}): ${where}`
    else if (entry?.served) yield* judgeServed(entry, rows, state, where)
    else if (state === 'post' && !rows.every(isFree)) yield `posted and never served: ${where}`
    else if (state === 'unknown' && entry !== undefined && !AMBIGUOUS.has(entry.fault))
      yield `unknown, though the upstream said no: ${where}`
    else if (state === 'intent') yield `left open: ${where}`
  }
}

/** Served from the cache: a row without a call that costs nothing. */
function isFree({ tokens, images, amount_nano: amount }: Row): boolean {
  return Number(tokens) === 0 && images === 0 && Number(amount) === 0
}

/** The final state of a request's share in a call: an intent is not the end. */
function stateOf(rows: readonly Row[]): string {
  const ends = rows.map(({ kind }) => kind).filter((kind) => kind !== 'intent')
  return ends.length === 0 ? 'intent' : ends.toSorted().join('+')
}

function* judgeServed(
  entry: RecordedCall,
  rows: readonly Row[],
  state: string,
  where: string,
): Generator<string> {
  if (state === 'unknown') {
    if (entry.fault === 'none') yield `unknown, though it was answered: ${where}`
    return
  }
  if (state !== 'post') {
    yield `served, and the ledger says ${state}: ${where}`
    return
  }
  const posts = rows.filter(({ kind }) => kind === 'post')
  if (posts.some(({ usage }) => usage !== 'upstream')) yield `usage is not the upstream's: ${where}`
  const tokens = posts.reduce((sum, row) => sum + Number(row.tokens ?? 0), 0)
  const images = posts.reduce((sum, row) => sum + row.images, 0)
  const nano = posts.reduce((sum, row) => sum + BigInt(row.amount_nano ?? 0), 0n)
  const cost = costOf(posts[0]?.model ?? '', entry)
  if (entry.tokens !== undefined && tokens !== entry.tokens)
    yield `${tokens} tokens for ${entry.tokens}: ${where}`
  if (entry.motifs !== undefined && images !== entry.motifs.length)
    yield `${images} pictures for ${entry.motifs.length}: ${where}`
  if (nano !== cost) yield `${nano} nano-dollars for ${cost}: ${where}`
}

/** No image was bought twice, and converted ones show what the upstream drew. */
export function* judgePurchases(
  recorded: readonly RecordedCall[],
  tally: Pick<Tally, 'callsAllowed' | 'converted'>,
): Generator<string> {
  const byPrompt = Map.groupBy(
    recorded.filter(({ served, prompt }) => served && prompt !== undefined),
    ({ prompt = '' }) => prompt,
  )
  for (const [prompt, calls] of byPrompt) {
    const allowed = tally.callsAllowed.get(prompt)
    if (allowed === undefined) yield `bought, and nobody asked: ${prompt}`
    else if (calls.length > allowed) yield `${calls.length} calls bought instead of ${allowed}: ${prompt}`
  }
  for (const { prompt, colours } of tally.converted) {
    const motifs = (byPrompt.get(prompt) ?? []).flatMap((entry) => entry.motifs ?? [])
    const isOne = motifs.some((motif) => differenceOf(coloursOf(motif), colours) <= MAX_DIFFERENCE)
    if (!isOne) yield `another picture after a conversion: ${prompt}`
  }
}

function differenceOf(wanted: Uint8Array, got: Uint8Array): number {
  if (wanted.length !== got.length) return Infinity
  return wanted.reduce((sum, value, index) => sum + Math.abs(value - (got[index] ?? 0)), 0) / wanted.length
}

/** Budgets and rollups are sums of the rows, and nothing is lent out any more. */
async function judgeSums(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ what: string; recorded: string | null; summed: string | null }>(
    `SELECT budget_id AS what, spent_nano AS recorded,
            (SELECT sum(amount_nano) FROM usage_events WHERE 'project:' || project = budget_id) AS summed
       FROM budgets
     UNION ALL SELECT 'leases of ' || budget_id, leased_nano, 0 FROM budgets
     UNION ALL SELECT 'the hours of ' || e.project,
            (SELECT sum(amount_nano) FROM usage_hours h WHERE h.project = e.project), sum(amount_nano)
       FROM usage_events e GROUP BY e.project`,
  )
  const differing = rows.filter(({ recorded, summed }) => BigInt(recorded ?? 0) !== BigInt(summed ?? 0))
  return [
    // Soft budgets are counted without a row.
    ...(rows.some(({ what }) => what === 'project:alpha') ? [] : ['no row of the hard budget']),
    ...differing.map(({ what, recorded, summed }) => `${what}: ${recorded}, and the rows say ${summed}`),
  ]
}

function figuresOf(recorded: readonly RecordedCall[], rows: readonly Row[]): string[][] {
  const count = (kind: Row['kind']): string => String(rows.filter((row) => row.kind === kind).length)
  const nano = rows.reduce((sum, row) => sum + BigInt(row.amount_nano ?? 0), 0n)
  const faults = Map.groupBy(recorded, ({ fault }) => fault)
  return [
    ['calls that came to the upstream', String(recorded.length)],
    ['… that it served', String(recorded.filter(({ served }) => served).length)],
    ...[...faults].map(([fault, entries]) => [`… ${fault}`, String(entries.length)]),
    ['rows posted, unknown, void', `${count('post')}, ${count('unknown')}, ${count('void')}`],
    ['spent, in dollars', (Number(nano) / 1e9).toFixed(6)],
  ]
}
