/**
 * The savings of sharing. A: callers of single texts, directly at a model and through a gateway that joins them. B:
 * repeated texts, with the cache. C: the CPU time of a cache hit beside that of a proxied call. Exits with 1 when a goal is
 * missed. `npm run lab -- bench/sharing --parts AB --windows 3 --seconds 8`
 */
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { sampleTexts } from '../model-server/ceiling.ts'
import type { Ceiling } from '../model-server/server.ts'
import { startNginx } from './parts.ts'
import { stopAll, type Started } from '../processes.ts'
import { startModelServer } from '../provider.ts'
import { costOf, cpusOf, LOAD_CORE, ratiosOf, type Seen } from './side-by-side.ts'
import { rateOf, wrk, type Load } from '../wrk.ts'
import { Report, loadText, median, print, spreadText } from '../report.ts'
import { askingScript, KEY, rested, startGateway, zipfDraws } from './sharing-stage.ts'
import { HOSTED_MODEL, profileFlags } from './torana.ts'
import { Workplace } from '../workplace.ts'

const { values: options } = parseArgs({
  options: {
    parts: { type: 'string', default: 'ABC' },
    seconds: { type: 'string', default: '8' },
    windows: { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
    words: { type: 'string', default: '2' },
    /** Two runs of a single text: callers that were answered together come back within it, and are together again. */
    'max-wait-ms': { type: 'string', default: '50' },
    /** Half the callers, so that one half is gathered while the other is worked on. A larger run saves no more. */
    'max-items': { type: 'string', default: '32' },
    /** Requests of B before anything is measured. */
    'warm-up': { type: 'string', default: '20000' },
    /** Writes a profile of each gateway into `results`. */
    inspect: { type: 'boolean', default: false },
  },
})
const seconds = Number(options.seconds)
const windows = Number(options.windows)
const connections = Number(options.connections)
const words = Number(options.words)
const warmUpRequests = Number(options['warm-up'])
const microBatch = { maxWaitMs: Number(options['max-wait-ms']), maxItems: Number(options['max-items']) }
const cache = { ttl: '30d' }
const flags = profileFlags(options.inspect)

const MODEL = 'demo-embed'
const AIM_JOINED = 2.5
const AIM_ZIPF = 10
const AIM_HIT = 1.5
const CORPUS = 10_000
/** As many texts as the model's queue takes beside others. */
const WARM_UP_BATCH = 1000
/** All fit into the memory of the gateway. */
const HIT_TEXTS = 1000
/** Until the code is compiled, on a busy machine too. */
const WARM_UP_REQUESTS_OF_HITS = 30_000
const WARM_UP_SECONDS = 4
/** Enough for a core; more would only queue for the upstream, and some be refused. */
const CALLERS_OF_HITS = 16
/** A caller at the end of the model's line waits for seconds on a busy machine. */
const CALLER_TIMEOUT_SECONDS = 30

await using place = new Workplace('sharing')
const { folder } = place
const report = new Report()
const isWanted = (part: string): boolean => options.parts.includes(part)
if (isWanted('A') || isWanted('B')) {
  // The slow part of A and B has the other core to itself.
  const model = await startModelServer(LOAD_CORE)
  if (isWanted('A')) await measureJoined(model)
  if (isWanted('B')) await measureZipf(model)
  await stopAll(model.pid)
}
if (isWanted('C')) await measureHits()
if (!report.isKept) process.exitCode = 1

/** A. */
async function measureJoined(model: Started): Promise<void> {
  await printCeiling(model)
  const gateway = await startGateway(folder, {
    upstream: `${model.origin}/v1`,
    flags,
    model: MODEL,
    entry: { microBatch },
  })
  const texts = sampleTexts(CORPUS, words)
  const script = askingScript(folder, { name: 'joined', model: MODEL, texts, order: [...texts.keys()] })
  const both = await measureBoth(model, gateway, () => script)
  reportBoth(both, AIM_JOINED)
  report.print(
    `A. ${connections} callers of single texts of ${words} words, joined after ${microBatch.maxWaitMs} ms or at ${microBatch.maxItems} (${loadText()})`,
  )
  await stopAll(gateway.pid)
}

async function printCeiling({ origin }: Started): Promise<void> {
  const { ceiling } = (await (await fetch(`${origin}/ceiling?words=${words}`)).json()) as Ceiling
  const single = ceiling[0]?.textsPerCpuSecond ?? Number.NaN
  process.stdout.write(`The model alone, texts of ${words} words (${loadText()})\n`)
  print([
    ['texts in a run', 'run ms', 'texts/s', 'texts/s of its CPU', 'ratio to single'],
    ...ceiling.map(({ batch, runMs, textsPerSecond, textsPerCpuSecond }) =>
      [batch, runMs, textsPerSecond, textsPerCpuSecond, (textsPerCpuSecond / single).toFixed(2)].map(String),
    ),
  ])
}

/** B. */
async function measureZipf(model: Started): Promise<void> {
  const gateway = await startGateway(folder, {
    upstream: `${model.origin}/v1`,
    flags,
    model: MODEL,
    entry: { microBatch, cache },
  })
  const texts = sampleTexts(CORPUS, words, 1_000_000)
  const asked = zipfDraws(warmUpRequests, CORPUS, 1).map((rank) => texts[rank] as string)
  for (let start = 0; start < asked.length; start += WARM_UP_BATCH)
    await askFor(gateway, asked.slice(start, start + WARM_UP_BATCH))
  const scriptOf = (window: number): string =>
    askingScript(folder, {
      name: `zipf-${window}`,
      model: MODEL,
      texts,
      order: zipfDraws(200_000, CORPUS, 2 + window),
    })
  const both = await measureBoth(model, gateway, scriptOf)
  reportBoth(both, AIM_ZIPF)
  report.print(
    `B. The same callers, texts by Zipf (s = 1) of ${CORPUS}, cached, after ${warmUpRequests} requests (${loadText()})`,
  )
  await stopAll(gateway.pid)
}

/** Again while the node says that it has no time: others may have its core. */
async function askFor(gateway: Started, input: readonly string[], tries = 100): Promise<void> {
  const answer = await fetch(`${gateway.origin}/v1/embeddings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ model: MODEL, input, encoding_format: 'base64' }),
  })
  const text = await answer.text()
  if (answer.ok) return
  if (answer.status !== 503 || tries === 0) throw new Error(text.slice(0, 500))
  await wait(200)
  return askFor(gateway, input, tries - 1)
}

interface Both {
  readonly direct: Load
  readonly gateway: Load
  readonly ratio: number
  /** Of the gateway's window. */
  readonly textsInModel: number
  readonly runs: number
  /** Answered texts per second of the model's CPU, relative to direct calls: the ratio when the model has its core to itself. */
  readonly cpuRatio: number
}

/** One after the other, again and again: the machine's noise meets both. By ratio, the smallest first. */
async function measureBoth(
  model: Started,
  gateway: Started,
  scriptOf: (window: number) => string,
): Promise<readonly Both[]> {
  const measured: Both[] = []
  for (let window = 0; window < windows; window += 1) {
    const script = scriptOf(window)
    const start = await rested(model)
    const direct = await ask(model.origin, script, seconds)
    const before = await rested(model)
    const through = await ask(gateway.origin, script, seconds)
    const after = await rested(model)
    measured.push({
      direct,
      gateway: through,
      ratio: rateOf(through) / rateOf(direct),
      textsInModel: after.texts - before.texts,
      runs: after.runs - before.runs,
      cpuRatio:
        // With those that were waiting at the end: the model has worked for them, too.
        (through.requests + connections) /
        (after.cpuMs - before.cpuMs) /
        ((before.texts - start.texts) / (before.cpuMs - start.cpuMs)),
    })
  }
  return measured.toSorted((left, right) => left.ratio - right.ratio)
}

function reportBoth(measured: readonly Both[], aim: number): void {
  const { direct, gateway, ratio, textsInModel, runs } = middleOf(measured)
  report.figure('direct, texts/s', rateOf(direct).toFixed(1))
  report.figure('direct, p50 / p99 ms', latencyText(direct))
  report.figure('Torana, texts/s', rateOf(gateway).toFixed(1))
  report.figure('Torana, p50 / p99 ms', latencyText(gateway))
  report.figure('… in the model: texts a run', (textsInModel / runs).toFixed(1))
  report.figure(
    '… in the model: share of the texts',
    (textsInModel / (gateway.requests + connections)).toFixed(3),
  )
  const byCpu = median(measured.map(({ cpuRatio }) => cpuRatio))
  report.figure('Torana to direct, for the same CPU of the model', byCpu.toFixed(2))
  const failed = measured.flatMap((both) => [both.direct, both.gateway]).map(({ errors }) => errors)
  reportFailed(failed)
  const spread = spreadText(measured.map((both) => both.ratio))
  report.aim('Torana to direct', spread, `≥ ${aim}`, ratio >= aim)
}

/** C. */
async function measureHits(): Promise<void> {
  const redis = await place.redis({ core: LOAD_CORE })
  const upstream = `${(await startNginx(folder, LOAD_CORE)).origin}/base64/v1`
  const start = (entry: object, limits = {}, env = {}): Promise<Started> =>
    startGateway(folder, {
      upstream,
      flags,
      model: HOSTED_MODEL,
      entry,
      limits,
      env,
    })
  const all = [
    { name: 'proxied', ...(await start({})) },
    { name: 'hit in memory', ...(await start({ cache })) },
    // Too small for any vector.
    {
      name: 'hit in Redis',
      ...(await start({ cache }, { cacheBytes: 1 }, { CACHE_URL: redis.url })),
    },
  ]
  const texts = sampleTexts(HIT_TEXTS, words)
  const script = askingScript(folder, { name: 'hits', model: HOSTED_MODEL, texts, order: [...texts.keys()] })
  for (const { origin } of all) {
    let asked = 0
    while (asked < WARM_UP_REQUESTS_OF_HITS)
      asked += (await ask(origin, script, WARM_UP_SECONDS, CALLERS_OF_HITS)).requests
  }
  const measured: Seen[][] = []
  for (let window = 0; window < windows; window += 1) {
    const row: Seen[] = []
    for (const { origin, pid } of all)
      row.push(await costOf(pid, () => ask(origin, script, seconds, CALLERS_OF_HITS)))
    measured.push(row)
  }
  for (const [index, { name }] of all.entries()) {
    const cpuUs = median(cpusOf(measured, index))
    const { load } = measured.map((row) => row[index] as Seen).find((seen) => seen.cpuUs === cpuUs) as Seen
    report.figure(
      `${name}: requests/s, p50 / p99 ms, CPU µs`,
      `${rateOf(load).toFixed(0)}, ${latencyText(load)}, ${cpuUs.toFixed(1)}`,
    )
    if (index === 0) continue
    const ratios = ratiosOf(measured, 0, index)
    const isAim = index === 1
    report.aim(
      `${name}: requests for the CPU of a proxied one`,
      spreadText(ratios),
      isAim ? `≥ ${AIM_HIT}` : '',
      isAim ? median(ratios) >= AIM_HIT : undefined,
    )
  }
  reportFailed(measured.flatMap((row) => row.map(({ load }) => load.errors)))
  report.print(`C. Hits of 1,536 dimensions as base64, one core, one window each in turn (${loadText()})`)
}

/** An error is faster than a vector: with many of them no other figure means anything. */
function reportFailed(failed: readonly number[]): void {
  const sum = failed.reduce((left, right) => left + right, 0)
  report.aim('failed requests', `${sum} (${failed.join(' ')})`, '0', sum === 0)
}

function ask(origin: string, script: string, forSeconds: number, callers = connections): Promise<Load> {
  return wrk({
    url: `${origin}/v1/embeddings`,
    script,
    connections: callers,
    seconds: forSeconds,
    core: LOAD_CORE,
    timeoutSeconds: CALLER_TIMEOUT_SECONDS,
  })
}

function middleOf<Value>(values: readonly Value[]): Value {
  return values[Math.floor(values.length / 2)] as Value
}

function latencyText({ p50Ms, p99Ms }: Load): string {
  return `${p50Ms.toFixed(p50Ms < 10 ? 2 : 0)} / ${p99Ms.toFixed(p99Ms < 10 ? 2 : 0)}`
}
