/** One run: traffic and batches, a change of the upstream and kills at random moments, then the list against the oracle. */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from '../../../server/src/stores/postgres/database.ts'
import { embeddingLines, type BatchAnswer } from '../../../server/test/support/batches.ts'
import type { FakeProvider } from '../../fake-provider/server.ts'
import { judge, type SeenAnswer } from './oracle.ts'
import { textOf, vectorIn, type OutputLine } from './output-line.ts'
import { beginTraffic, isNew, SUBJECTS, type Nodes, type Remembered, type Subject } from './stage.ts'

export interface RunReport {
  readonly run: number
  readonly kills: number
  readonly windows: number
  readonly answers: number
  readonly suspectRequests: number
  readonly suspectLines: number
  readonly newVectors: number
  readonly edge: number
  /** Listed requests whose caller got no whole answer, because its node was killed. */
  readonly unanswered: number
  readonly missing: number
  readonly wrong: number
}

interface Window {
  readonly id: string
  readonly from: string
  readonly until: string | null
}

interface Vectors {
  readonly request_id: string
  readonly inputs: number
  readonly batch: string | null
  readonly lines: readonly (readonly [number, number])[] | null
}

export interface World {
  readonly nodes: Nodes
  readonly provider: FakeProvider
  readonly database: Database
}

/** Longer than the difference of clocks that the guard allows for. */
const BETWEEN_MS = 7000
const CALLERS = 4
const BATCHES = 3
const CALL = { traits: 'slow-30' }
/** Of a probe of the guard. Callers send fewer. */
const PROBE_INPUTS = 8
/** From the begin of a probe to its answer at the upstream, on a busy machine. */
const PROBE_MS = 2000
/** From the kill of a node to the last answer that its log lost. */
const LOST_LOG_MS = 2000

export async function runOnce(run: number, { nodes, provider, database }: World): Promise<RunReport> {
  // Nothing of the run before is in a window of this one.
  await wait(BETWEEN_MS)
  const begunMs = Date.now()
  const killsBefore = nodes.kills.length
  const subject = SUBJECTS[run % 2] as Subject
  const { model, turning } = subject
  await provider.setMode(turning, CALL)
  await probe(nodes, subject, 'good')
  const traffic = beginTraffic(nodes, model, CALLERS, `run ${run}`)
  const batches: Promise<BatchAnswer>[] = []
  const batchTexts = Array.from({ length: BATCHES }, (_, batch) =>
    Array.from({ length: randomInt(20, 200) }, (_line, line) => `run ${run} batch ${batch} line ${line}`),
  )
  const kill = (): void => void (randomInt(2) === 0 && nodes.kill())
  for (const texts of batchTexts) {
    await wait(randomInt(2500))
    batches.push(created(nodes, model, texts))
  }
  kill()
  await wait(randomInt(2000))
  await provider.setMode(turning, { ...CALL, vectors: 'other-model' })
  const changedMs = Date.now()
  await wait(randomInt(500, 3000))
  kill()
  await wait(randomInt(3000))
  await probe(nodes, subject, 'quarantined')
  kill()
  await wait(randomInt(500, 2500))
  await provider.setMode(turning, CALL)
  await probe(nodes, subject, 'good')
  await traffic.stop()
  await nodes.up()
  const ids = (await Promise.all(batches)).map(({ id }) => id)
  const ended = await Promise.all(ids.map((id) => nodes.again(() => nodes.batches().ended(id))))

  const windows = await listedWindows(nodes, database, begunMs)
  assert.ok(windows.length > 0, 'there is no window')
  for (const { from } of windows)
    checkBegin(Date.parse(from), changedMs, turning, { provider, nodes, database })
  const { data, lineOf } = await listedVectors(nodes, windows)
  const calls = await callsByRequest(turning, begunMs, { database, provider })
  const answers = [
    ...requestsSeen(traffic.all, calls),
    ...(await batchesSeen(nodes, ended, batchTexts, calls)),
  ]
  const spans = windows.map(({ from, until }) => ({
    fromMs: Date.parse(from),
    untilMs: Date.parse(until ?? ''),
  }))
  const { suspect, edge } = judge(answers, spans)
  const listed = new Map(data.map((one) => [one.request_id, one]))
  const missing = [...suspect.values()].filter((answer) => !isListed(answer, listed, lineOf))
  const known = new Map(answers.map((answer) => [answer.requestId, answer]))
  const extra = data.filter(({ request_id: id }) => !suspect.has(id) && !edge.has(id))
  const isLost = ({ request_id: id, batch }: Vectors): boolean =>
    !known.has(id) &&
    batch === null &&
    nodes.kills.some((atMs) => atMs > momentOf(id) && atMs - momentOf(id) < LOST_LOG_MS)
  const wrong = extra.filter((one) => !isLost(one))
  for (const one of [...missing, ...wrong]) console.error('run', run, one, 'windows', windows)

  return {
    run,
    kills: nodes.kills.length - killsBefore,
    windows: windows.length,
    answers: traffic.all.filter(({ status }) => status === 200).length,
    suspectRequests: [...suspect.values()].filter(({ lines }) => lines.length === 0).length,
    suspectLines: [...suspect.values()].reduce((sum, { lines }) => sum + lines.length, 0),
    newVectors: answers.filter(({ hasNew }) => hasNew).reduce((sum, { vectors }) => sum + vectors, 0),
    edge: edge.size,
    unanswered: extra.length - wrong.length,
    missing: missing.length,
    wrong: wrong.length,
  }
}

/** Once, however often a kill interrupts it. */
async function created(nodes: Nodes, model: string, texts: readonly string[]): Promise<BatchAnswer> {
  const file = await nodes.again(() => nodes.batches().upload(embeddingLines(model, texts)))
  return nodes.again(async () => {
    const answer = await nodes.batches().ask(file, {}, { 'idempotency-key': file })
    assert.equal(answer.status, 200)
    return (await answer.json()) as BatchAnswer
  })
}

async function probe(nodes: Nodes, { model, turning }: Subject, wanted: string): Promise<void> {
  await nodes.again(async () => {
    const path = `/spaces/${model}/probe`
    const { data } = await nodes.control<{ data: { deployment: string; verdict: string }[] }>('POST', path)
    const verdict = data.find(({ deployment }) => deployment.endsWith(turning))?.verdict
    assert.equal(verdict, wanted)
  })
}

/** Ended, and read from the ledger since. */
async function listedWindows(nodes: Nodes, database: Database, begunMs: number): Promise<readonly Window[]> {
  return nodes.again(async () => {
    const [row] = await database.query<{ waiting: bigint }>(
      `SELECT count(*) AS waiting FROM suspect_windows WHERE until_at IS NULL OR listings = 0`,
    )
    assert.equal(Number(row?.waiting), 0)
    const { data } = await nodes.control<{ data: (Window & { found_at: string })[] }>(
      'GET',
      '/spaces/suspects',
    )
    return data.filter(({ found_at: at }) => Date.parse(at) >= begunMs)
  })
}

/** A window begins at a check that the upstream answered in the old space: the last one before the change that no kill has lost. */
function checkBegin(fromMs: number, changedMs: number, turning: string, { provider, nodes }: World): void {
  const isLost = (atMs: number): boolean =>
    nodes.kills.some((kill) => kill > atMs - 500 && kill < atMs + LOST_LOG_MS)
  const last = provider
    .entries()
    .filter(
      ({ inputs, scenario, vectors }) =>
        inputs === PROBE_INPUTS && scenario.includes(turning) && vectors === undefined,
    )
    .map(({ at }) => Date.parse(at))
    .findLast((atMs) => atMs <= changedMs && !isLost(atMs))
  assert.ok(fromMs <= changedMs, `a window begins ${fromMs - changedMs} ms after the change`)
  const earlyMs = (last ?? fromMs) - fromMs
  assert.ok(earlyMs <= PROBE_MS, `a window begins ${earlyMs} ms before the last good check`)
}

async function listedVectors(nodes: Nodes, windows: readonly Window[]) {
  const data: Vectors[] = []
  for (const { id } of windows)
    for (let cursor = ''; ;) {
      const path = `/spaces/suspects/${id}/vectors?limit=1000${cursor}`
      const page = await nodes.control<{ data: Vectors[]; next: string | null }>('GET', path)
      data.push(...page.data)
      if (page.next === null) break
      cursor = `&cursor=${page.next}`
    }
  const lineOf = ({ lines }: Vectors): readonly string[] =>
    (lines ?? []).flatMap(([first, last]) =>
      Array.from({ length: last - first + 1 }, (_, at) => `line ${first + at - 1}`),
    )
  return { data, lineOf }
}

function isListed(
  { requestId, lines, vectors, isMixed }: SeenAnswer,
  listed: ReadonlyMap<string, Vectors>,
  lineOf: (one: Vectors) => readonly string[],
): boolean {
  const found = listed.get(requestId)
  if (found === undefined || (found.inputs !== vectors && !isMixed)) return false
  return JSON.stringify(lineOf(found).toSorted()) === JSON.stringify(lines.toSorted())
}

/** One call of a request, as the upstream saw it. */
interface MadeCall {
  readonly atMs: number
  readonly isSuspect: boolean
}

/** The calls of each request. The ledger says only which calls a request has. */
async function callsByRequest(
  turning: string,
  begunMs: number,
  { database, provider }: Pick<World, 'database' | 'provider'>,
): Promise<Calls> {
  const served = new Map(
    provider
      .entries()
      .flatMap(({ callId, at, scenario }) =>
        callId === null
          ? []
          : [[callId, { atMs: Date.parse(at), isSuspect: scenario.includes(turning) }] as const],
      ),
  )
  const rows = await database.query<{ request_id: string; call_id: string }>(
    `SELECT request_id, call_id FROM usage_events WHERE kind = 'post' AND written_at >= $1`,
    [new Date(begunMs)],
  )
  const calls = new Map<string, MadeCall[]>()
  for (const { request_id, call_id } of rows) {
    const call = served.get(call_id)
    if (call !== undefined) calls.set(request_id, [...(calls.get(request_id) ?? []), call])
  }
  return calls
}

type Calls = ReadonlyMap<string, readonly MadeCall[]>

/** A hit was made by the latest answer with the same text before it, of the same process. */
function requestsSeen(all: readonly Remembered[], calls: Calls): readonly SeenAnswer[] {
  return all.flatMap(({ requestId, status, texts, hasNew, isHit, node, endedMs }) => {
    if (requestId === undefined || status !== 200) return []
    const makers = all.filter((one) => one.node === node && one.texts[0] === texts[0] && !one.isHit)
    const made = makers
      .flatMap((one) => calls.get(one.requestId ?? '') ?? [])
      .filter(({ atMs }) => atMs <= endedMs)
      .toSorted((one, other) => one.atMs - other.atMs)
      .slice(-1)
    const times = timesOf(isHit ? made : calls.get(requestId))
    const seen = { requestId, lines: [], vectors: texts.length, hasNew, ...times }
    return [isHit ? seen : { ...seen, arrivedAtMs: endedMs }]
  })
}

function timesOf(calls: readonly MadeCall[] = []): Pick<SeenAnswer, 'madeAtMs' | 'isMixed'> {
  const suspect = calls.filter(({ isSuspect }) => isSuspect)
  return { madeAtMs: suspect.map(({ atMs }) => atMs), isMixed: suspect.length < calls.length }
}

async function batchesSeen(
  nodes: Nodes,
  ended: readonly BatchAnswer[],
  batchTexts: readonly (readonly string[])[],
  calls: Calls,
): Promise<readonly SeenAnswer[]> {
  const seen: SeenAnswer[] = []
  for (const [batch, { output_file_id: file, status }] of ended.entries()) {
    assert.equal(status, 'completed')
    const lines = (await nodes.again(() => nodes.batches().lines(file))) as unknown as readonly OutputLine[]
    assert.equal(lines.length, batchTexts[batch]?.length)
    for (const [requestId, own] of Map.groupBy(lines, ({ response }) => response.request_id)) {
      const hasNew = own.some((line) => isNew(textOf(line, batchTexts[batch]), vectorIn(line)))
      const times = timesOf(calls.get(requestId))
      seen.push({
        requestId,
        lines: own.map(({ custom_id: id }) => id),
        vectors: own.length,
        hasNew,
        ...times,
      })
    }
  }
  return seen
}

/** The moment of a UUIDv7. */
function momentOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}
