/**
 * A separate process that sends requests at a given rate, whatever happens to them, and records how each one
 * ended. `node load.ts '<LoadOptions as JSON>'` sends until its input is closed, waits for the last answers,
 * and prints a `LoadSummary`.
 */
import { createWriteStream } from 'node:fs'
import { once } from 'node:events'
import { Pool } from 'undici'
import { inputClosed, openLoop } from '../load.ts'
import { seededRandom } from '../../server/test/support/random.ts'
import { MODELS, questionOf, type KeyOfLoad, type Question } from './traffic.ts'

export interface LoadOptions {
  readonly url: string
  readonly requestsPerSecond: number
  readonly seed: number
  readonly keys: readonly KeyOfLoad[]
  /** Undefined for all. */
  readonly models?: readonly string[]
  /** Share of clients that leave before the answer, from 0 to 1. */
  readonly leavingShare: number
  readonly recordsFile: string
}

/** One line of the records file. */
export interface RequestRecord {
  /** `x-request-id`; null when no answer began. */
  readonly id: string | null
  readonly status: number | null
  /** Whether the whole answer arrived and is what was asked for. */
  readonly complete: boolean
  /** Posts that a 2xx needs. */
  readonly calls: number
  readonly key: string
  readonly model: string
  /** Unix time. */
  readonly atMs: number
  readonly tookMs: number
  /** The error code of the answer, or of the connection. */
  readonly error?: string
}

export interface LoadSummary {
  readonly sent: number
  readonly seconds: number
}

/** Most clients that wait for an answer. More than a second of the usual rate means that the cluster hangs. */
const UNDER_WAY_MAX = 600
/** Longer than any gateway may take. */
const ANSWER_MS = 20_000
/** A client that leaves does so within the time that most answers take. */
const LEAVING_MS = 40

const options = JSON.parse(process.argv[2] ?? '{}') as LoadOptions
const random = seededRandom(options.seed)
const models = MODELS.filter(({ id }) => options.models?.includes(id) ?? true)
const pool = new Pool(options.url, {
  connections: UNDER_WAY_MAX,
  headersTimeout: ANSWER_MS,
  bodyTimeout: ANSWER_MS,
})
const records = createWriteStream(options.recordsFile)
const underWay = new Set<Promise<void>>()
let sent = 0

const startedMs = performance.now()
await openLoop({ perSecond: options.requestsPerSecond, signal: inputClosed() }, sendOne)
const seconds = (performance.now() - startedMs) / 1000
await Promise.all(underWay)
await once(records.end(), 'finish')
await pool.destroy()
const summary: LoadSummary = { sent, seconds }
process.stdout.write(JSON.stringify(summary))

/** Not sent when too many are in progress. */
function sendOne(): void {
  if (underWay.size >= UNDER_WAY_MAX) return
  const request = send().finally(() => underWay.delete(request))
  underWay.add(request)
}

async function send(): Promise<void> {
  const key = random.pick(options.keys)
  const question = questionOf(random, models)
  const encoding = random.next() < 0.5 ? { encoding_format: 'base64' } : {}
  const leavesAfterMs = random.next() < options.leavingShare ? random.below(LEAVING_MS) : undefined
  sent += 1
  const atMs = Date.now()
  const beganMs = performance.now()
  const ending = await exchange(question, encoding, key, leavesAfterMs)
  const record: RequestRecord = {
    ...ending,
    calls: question.calls,
    key: key.name,
    model: question.model,
    atMs,
    tookMs: Math.round(performance.now() - beganMs),
  }
  records.write(`${JSON.stringify(record)}\n`)
}

type Ending = Pick<RequestRecord, 'id' | 'status' | 'complete' | 'error'>

async function exchange(
  { model, input, inputs }: Question,
  encoding: object,
  key: KeyOfLoad,
  leavesAfterMs: number | undefined,
): Promise<Ending> {
  const leaving = leavesAfterMs === undefined ? undefined : new AbortController()
  const timer = leaving && setTimeout(() => leaving.abort(), leavesAfterMs)
  let id: string | null = null
  let status: number | null = null
  try {
    const answer = await pool.request({
      path: '/v1/embeddings',
      method: 'POST',
      headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, input, ...encoding }),
      ...(leaving && { signal: leaving.signal }),
    })
    status = answer.statusCode
    const header = answer.headers['x-request-id']
    id = typeof header === 'string' ? header : null
    const text = await answer.body.text()
    if (status !== 200) return { id, status, complete: true, error: errorCodeIn(text) }
    const { data } = JSON.parse(text) as { data: readonly unknown[] }
    return { id, status, complete: data.length === inputs }
  } catch (error) {
    const { code, name } = error as { code?: unknown; name: string }
    return { id, status, complete: false, error: typeof code === 'string' ? code : name }
  } finally {
    clearTimeout(timer)
  }
}

function errorCodeIn(text: string): string {
  try {
    return (JSON.parse(text) as { error: { code: string } }).error.code
  } catch {
    // HAProxy's own pages are not JSON.
    return text.slice(0, 40)
  }
}
