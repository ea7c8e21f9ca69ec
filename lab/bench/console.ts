/**
 * `npm run lab -- bench/console`: a million entries of the ledger, 200,000 requests and 10,000 keys in a PostgreSQL; every GET route
 * that a page asks, median of five, must take less than 300 ms at the server. Then the hot lane with and without a console that
 * asks two questions a second: it keeps at least 0.9 of its throughput. Needs nginx, wrk and two cores.
 * `-- --small` fills little, `-- --no-load` leaves out the hot lane.
 */
import { parseArgs } from 'node:util'
import { openPostgres } from '../../server/src/stores/postgres/database.ts'
import { fillConsoleData, LARGE_INSTALL, samplesIn, SMALL_INSTALL } from './console-data.ts'
import { consoleQuestions, measure, type Question } from './console-questions.ts'
import { startNginx } from './parts.ts'
import { benchKey, loadScript, rateOf, wrk } from '../wrk.ts'
import { GATEWAY_CORE, LOAD_CORE } from './side-by-side.ts'
import { BENCH_SECRET, HOSTED_MODEL, startTorana } from './torana.ts'
import { median, print } from '../report.ts'
import { Workplace } from '../workplace.ts'

const { values: options } = parseArgs({
  options: {
    small: { type: 'boolean', default: false },
    'no-load': { type: 'boolean', default: false },
    'most-ms': { type: 'string', default: '300' },
    windows: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '6' },
  },
})
const MAX_MS = Number(options['most-ms'])
const MIN_THROUGHPUT = 0.9
const ASKED_EVERY_MS = 500
const CONNECTIONS = 32
const TOKEN = 'admin-token-of-the-bench-0123456789'
const KEY = benchKey(1)

await using place = new Workplace('console-bench')
const { folder } = place
/** As PostgreSQL has by itself. */
const postgres = await place.postgres({ memory: '128MB' })
const database = openPostgres(postgres.url)
const nowMs = Date.now()
const size = options.small ? SMALL_INSTALL : LARGE_INSTALL
const startedMs = performance.now()
await fillConsoleData(database, size, nowMs)
const seconds = Math.round((performance.now() - startedMs) / 1000)
console.log(`${size.events} entries, ${size.requests} requests and ${size.keys} keys in ${seconds} s\n`)
const samples = await samplesIn(database, nowMs)
await database.close()
const { origin: upstream } = await startNginx(folder, LOAD_CORE)
const models = {
  [HOSTED_MODEL]: { spaceGuard: false, deployments: [{ upstream: 'openai' }] },
  'gpt-image-2': { deployments: [{ upstream: 'openai' }] },
}
const torana = await startTorana({
  core: GATEWAY_CORE,
  folder,
  config: {
    upstreams: {
      openai: { dialect: 'openai', provider: 'openai', baseUrl: `${upstream}/base64/v1`, apiKey: 'bench' },
    },
    models,
    projects: { bench: { keys: [{ name: 'load', secret: KEY }] } },
  },
  env: {
    TORANA_SECRET: BENCH_SECRET,
    TORANA_ADMIN_TOKEN: TOKEN,
    DATABASE_URL: postgres.url,
  },
})
const questions = consoleQuestions({
  ...samples,
  model: HOSTED_MODEL,
  deployment: `${HOSTED_MODEL}/openai`,
})
const control = `http://127.0.0.1:${torana.controlPort}`
const isQuick = await checkQuestions(control, questions)
const isLight = options['no-load'] || (await checkThroughput(torana.origin, control, questions))
if (!isQuick || !isLight) process.exitCode = 1

async function checkQuestions(control: string, questions: readonly Question[]): Promise<boolean> {
  const measured = await measure(control, TOKEN, questions)
  print([
    ['GET', 'status', 'median ms', 'KB'],
    ...measured.map(({ path, status, medianMs, bytes }) => [
      decodeURIComponent(path.replace('/api/v1', '')).slice(0, 90),
      String(status),
      `${medianMs.toFixed(1)}${medianMs > MAX_MS ? ' !' : ''}`,
      (bytes / 1024).toFixed(1),
    ]),
  ])
  const wrong = measured.filter(({ status, medianMs }) => status !== 200 || medianMs > MAX_MS)
  console.log(`\n${measured.length - wrong.length} of ${measured.length} answered within ${MAX_MS} ms`)
  return wrong.length === 0
}

/** Windows with and without take turns, so that a machine that slows down slows both. */
async function checkThroughput(
  gateway: string,
  control: string,
  questions: readonly Question[],
): Promise<boolean> {
  const script = loadScript(folder, { key: KEY, model: HOSTED_MODEL })
  const load = async (): Promise<number> =>
    rateOf(
      await wrk({
        url: `${gateway}/v1/embeddings`,
        script,
        connections: CONNECTIONS,
        seconds: Number(options.seconds),
        core: LOAD_CORE,
      }),
    )
  await load()
  const ratios: number[] = []
  for (let window = 0; window < Number(options.windows); window += 1) {
    const without = await load()
    const stop = replay(control, questions)
    const beside = await load()
    stop()
    ratios.push(beside / without)
    console.log(`without ${Math.round(without)}/s, beside a console ${Math.round(beside)}/s`)
  }
  const ratio = median(ratios)
  console.log(`throughput beside a console: ${ratio.toFixed(3)} of that without (median)`)
  return ratio >= MIN_THROUGHPUT
}

/** Two questions a second, one after another. */
function replay(control: string, questions: readonly Question[]): () => void {
  let at = 0
  const timer = setInterval(() => {
    const question = questions[at % questions.length] as Question
    at += 1
    void fetch(`${control}${question.path}`, { headers: { authorization: `Bearer ${TOKEN}` } })
      .then((answer) => answer.arrayBuffer())
      .catch(() => {})
  }, ASKED_EVERY_MS)
  return () => clearInterval(timer)
}
