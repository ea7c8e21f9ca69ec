/**
 * Whether anything of one project ever reaches another. Two projects ask the same models, with calls shared between
 * projects and the cache on, and every text has a unique word; the upstream repeats what it was sent in every possible way.
 * No word of a project may be in anything that the other one receives, and none at all in the log or the metrics. `npm run lab --
 * bench/canaries --minutes 20`. Exits with 1 when a word was found where it must not be.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startProvider } from '../provider.ts'
import { startTorana } from './torana.ts'
import { loadText, print } from '../report.ts'
import { Workplace } from '../workplace.ts'

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    callers: { type: 'string', default: '12' },
  },
})
const OTHER_CORE = 1
const PROJECTS = ['alpha', 'beta'] as const
type Project = (typeof PROJECTS)[number]
/** Between two requests of a caller: the run is about kinds of answers, not about load. */
const PAUSE_MS = 20
const METRICS_MS = 10_000

await using place = new Workplace('canaries')
const { folder } = place
const statuses = new Map<string, number>()
const found: string[] = []
let received = 0
let requests = 0

await run()

async function run(): Promise<void> {
  const { origin } = await startProvider(OTHER_CORE, folder)
  const logFile = join(folder, 'log.jsonl')
  const torana = await startTorana({
    core: 0,
    folder,
    config: config(`${origin}/quoting/v1`),
    env: { LOG_LEVEL: 'debug' },
    logFile,
  })
  const untilMs = Date.now() + Number(options.minutes) * 60_000
  const callers = PROJECTS.flatMap((project) =>
    Array.from({ length: Number(options.callers) }, (_, number) =>
      caller(torana.origin, project, number, untilMs),
    ),
  )
  const metrics = watchMetrics(`http://127.0.0.1:${torana.controlPort}/metrics`, untilMs)
  await Promise.all([...callers, metrics])
  const counted = await fetch(`${origin}/quoting/`)
  const { calls, shared } = (await counted.json()) as { calls: number; shared: number }
  const log = readFileSync(logFile, 'utf8')
  for (const project of PROJECTS) note(log, project, `the log`)
  if (log.length === 0) throw new Error('the log was not written')

  print([
    ['measure', 'figure'],
    ['requests', String(requests)],
    ['calls to the upstream', String(calls)],
    ['… with texts of both projects', String(shared)],
    ['bytes that callers received', String(received)],
    ['bytes of the log', String(log.length)],
    ...[...statuses]
      .toSorted(([left], [right]) => left.localeCompare(right))
      .map(([name, count]) => [name, `${count}`]),
    ['words found where they must not be', String(found.length)],
  ])
  process.stdout.write(`${loadText()}\n`)
  for (const where of found.slice(0, 20)) process.stdout.write(`FOUND ${where}\n`)
  if (found.length > 0 || shared === 0) process.exitCode = 1
}

async function caller(origin: string, project: Project, number: number, untilMs: number): Promise<void> {
  const other = project === 'alpha' ? 'beta' : 'alpha'
  for (let index = 0; Date.now() < untilMs; index += 1) {
    const asked = question(project, `${number}-${index}`, index)
    const answer = await ask(`${origin}${asked.path}`, project, asked.body)
    requests += 1
    received += answer.length
    note(answer, other, `what ${project} received for ${asked.path}: ${answer.slice(0, 400)}`)
    await wait(PAUSE_MS)
  }
}

function question(project: Project, id: string, index: number): { path: string; body: object } {
  const word = `${wordOf(project)}${id}`
  if (index % 10 === 9)
    return { path: '/v1/images/generations', body: { model: 'pictures', prompt: `a house ${word}` } }
  // Both projects repeat every fifth text, so that vectors come from the cache and from calls in progress.
  const input =
    index % 5 === 0
      ? `the same for everybody ${Math.floor(index / 25)}`
      : index % 3 === 0
        ? [`first ${word}`, `second ${word}`]
        : `a text ${word}`
  const model = index % 2 === 0 ? 'shared' : 'shared-cached'
  return { path: '/v1/embeddings', body: { model, input } }
}

/** Everything that came: the status, the headers, the body. */
async function ask(url: string, project: Project, body: object): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${keyOf(project)}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch((error: unknown) => error as Error)
  if (response instanceof Error) {
    count('no answer')
    return String(response)
  }
  const text = await response.text()
  const code = response.status === 200 ? '' : (/"code":"(\w+)"/.exec(text)?.[1] ?? '')
  count(`${response.status} ${code}`.trim())
  const headers = [...response.headers].map(([name, value]) => `${name}: ${decoded(value)}`).join('\n')
  return `${headers}\n${text}`
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

async function watchMetrics(url: string, untilMs: number): Promise<void> {
  while (Date.now() < untilMs) {
    await wait(Math.min(METRICS_MS, Math.max(0, untilMs - Date.now())))
    const text = await (await fetch(url)).text()
    for (const project of PROJECTS) note(text, project, 'the metrics')
  }
}

function note(text: string, project: Project, where: string): void {
  if (text.includes(wordOf(project))) found.push(`a word of ${project} in ${where}`)
}

function count(status: string): void {
  statuses.set(status, (statuses.get(status) ?? 0) + 1)
}

function wordOf(project: Project): string {
  return `CANARY${project.toUpperCase()}`
}

function keyOf(project: Project): string {
  return `${project}-${'0123456789abcdef'.repeat(2)}`
}

function config(baseUrl: string): object {
  const upstream = { dialect: 'openai', baseUrl, apiKey: 'sk-upstream-0123456789' }
  const embedding = {
    kind: 'embedding',
    embedding: { dimensions: 8 },
    price: { usdPerMillionTokens: 1 },
    spaceGuard: false,
    microBatch: { maxWaitMs: 20, acrossProjects: true },
    deployments: [
      { upstream: 'one', model: 'm' },
      { upstream: 'two', model: 'm' },
    ],
  }
  return {
    limits: { attemptTimeoutMs: 2000, requestTimeoutMs: 8000 },
    upstreams: { one: upstream, two: upstream },
    models: {
      shared: embedding,
      'shared-cached': { ...embedding, cache: { ttl: '1h' } },
      pictures: {
        kind: 'image',
        price: { usdPerImage: 0.01 },
        deployments: [{ upstream: 'one', model: 'p' }],
      },
    },
    projects: Object.fromEntries(
      PROJECTS.map((project) => [project, { keys: [{ name: project, secret: keyOf(project) }] }]),
    ),
  }
}
