/**
 * The largest answers. V: 2,048 inputs of 1,536 dimensions, the most that the contract allows, in all four conversions. I: a
 * hundred callers at once, each with an image of 4 MB, as base64 and as events. For each: the longest hold of the gateway's
 * event loop (CPU time of a round, by a probe inside it, and the wall time), and its memory. The upstream and the gateway are
 * separate processes, and so is the caller of V; every bit is compared with the upstream's. `npm run lab -- bench/large-answers
 * --parts VI`. Exits with 1 when an answer was wrong.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { startWatched } from './gateway-watch.ts'
import { scriptOn } from '../processes.ts'
import { startProvider } from '../provider.ts'
import { loadText, Report } from '../report.ts'
import { publishTexts } from '../book/publish.ts'
import { Workplace } from '../workplace.ts'

const { values: options } = parseArgs({
  options: { parts: { type: 'string', default: 'VI' }, write: { type: 'boolean', default: false } },
})
const CALLERS = 100
const IMAGE_BYTES = 4_000_000
const KEY = `large-${'0123456789abcdef'.repeat(2)}`
/** On one core alone its collector's threads would compete with it. */
const GATEWAY_CORES = '0,1'
const OTHER_CORE = 1
const MEGABYTE = 1024 * 1024
const ENCODINGS = ['base64', 'float'] as const
type Encoding = (typeof ENCODINGS)[number]

await using place = new Workplace('large')
const { folder } = place
const provider = await startProvider(OTHER_CORE, folder)
const upstream = (scenario: string): object => {
  return { dialect: 'openai', baseUrl: `${provider.origin}/${scenario}/v1`, apiKey: 'sk-upstream-0123456789' }
}
const vectors = (encoding: Encoding): object => ({
  kind: 'embedding',
  embedding: { dimensions: 1536 },
  price: 'free',
  // A probe in the middle of a measurement would be part of it.
  spaceGuard: false,
  deployments: [{ upstream: encoding, model: 'large', capabilities: { encodings: [encoding] } }],
})
const { watch, ...torana } = await startWatched({
  core: GATEWAY_CORES,
  folder,
  config: {
    // On a busy machine the upstream takes long to send a hundred images.
    limits: { queueWaitMs: 120_000 },
    upstreams: {
      base64: upstream('base64-only'),
      float: upstream('wide-floats'),
      images: upstream(`bytes-${IMAGE_BYTES}`),
    },
    models: {
      'from-base64': vectors('base64'),
      'from-float': vectors('float'),
      images: {
        kind: 'image',
        price: 'free',
        deployments: [{ upstream: 'images', capabilities: { stream: true, maxPartialImages: 3 } }],
      },
    },
  },
  env: { TORANA_BOOTSTRAP_KEY: KEY },
})
const report = new Report()
if (options.parts.includes('V'))
  for (const from of ENCODINGS)
    for (const to of ENCODINGS) {
      await measure(`${from} → ${to}`, 1, () => wrongVectors(from, to))
    }
if (options.parts.includes('I')) {
  const [base64, streams] = [await measureImages(false), await measureImages(true)]
  if (options.write)
    publishTexts('bench/large-answers', { 'memory.images.base64': base64, 'memory.images.streams': streams })
}
if (!report.isKept) process.exitCode = 1

/** The peak of memory. */
function measureImages(isStream: boolean): Promise<string> {
  return measure(isStream ? 'images as events' : 'images as base64', CALLERS, (count) =>
    wrongImages(isStream, count),
  )
}

/** The peak of memory. `work` resolves with the answers that are not right. */
async function measure(
  title: string,
  answers: number,
  work: (count: number) => Promise<readonly string[]>,
): Promise<string> {
  // Once unmeasured: the first large answer also compiles the code.
  await work(1)
  await watch.probe()
  await longestLagMs()
  const restBytes = watch.residentBytes()
  watch.resetPeak()
  const startedMs = performance.now()
  const wrong = await work(answers)
  const seconds = (performance.now() - startedMs) / 1000
  report.aim('right answers', String(answers - wrong.length), String(answers), wrong.length === 0)
  for (const answer of new Set(wrong)) report.figure('… instead', answer.slice(0, 200))
  report.figure('longest round, CPU ms', (await watch.probe()).longestRoundMs.toFixed(1))
  report.figure('… on the clock, ms', (await longestLagMs()).toFixed(1))
  report.figure('memory at rest, MB', (restBytes / MEGABYTE).toFixed(0))
  report.figure('growth at most, MB', ((watch.peakBytes() - restBytes) / MEGABYTE).toFixed(0))
  report.figure('seconds', seconds.toFixed(1))
  report.print(`${title} (${loadText()})`)
  return `${Math.round(watch.peakBytes() / MEGABYTE).toLocaleString('en-US')} MB`
}

async function wrongVectors(from: Encoding, to: Encoding): Promise<readonly string[]> {
  const question = { url: torana.origin, key: KEY, model: `from-${from}`, encoding: to }
  const client = join(import.meta.dirname, 'large-client.ts')
  const { bytes, equal } = await scriptOn<{ readonly bytes: number; readonly equal: boolean }>(
    OTHER_CORE,
    client,
    question,
  ).answer
  return equal ? [] : [`${bytes} bytes with other vectors`]
}

async function wrongImages(isStream: boolean, count: number): Promise<readonly string[]> {
  const received = await Promise.all(Array.from({ length: count }, () => imageOf(isStream)))
  const served = readFileSync(provider.log, 'utf8')
  return received.filter((digest) => !served.includes(digest))
}

/** The digest of the received image, or the answer without one. */
async function imageOf(isStream: boolean): Promise<string> {
  const call = request({
    port: torana.port,
    path: '/v1/images/generations',
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
  }).end(
    JSON.stringify({
      model: 'images',
      prompt: 'A large gate',
      ...(isStream && { stream: true, partial_images: 1 }),
    }),
  )
  const [answer] = (await once(call, 'response')) as [IncomingMessage]
  const all = await text(answer)
  const last = isStream ? all.slice(all.lastIndexOf('"b64_json":"')) : all
  const base64 = /"b64_json":"([^"]*)"/.exec(last)?.[1]
  if (base64 === undefined) return `${answer.statusCode} ${all}`
  return createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex')
}

async function longestLagMs(): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${torana.controlPort}/metrics`)).text()
  return Number(/^torana_nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics)?.[1]) * 1000
}
