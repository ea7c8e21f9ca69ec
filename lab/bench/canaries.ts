/**
 * Whether anything of one project ever reaches another. Two projects ask the same models, with calls shared between
 * projects and the cache on, and every text and every image has a unique word; the upstream repeats what it was sent in every
 * possible way. No word of a project may be in anything that the other one receives, and none at all in the log, the metrics,
 * the tables or the files of the node: not as text, in base64 or in hexadecimal, and no hash of an image where the other could
 * read it. `npm run lab -- bench/canaries --minutes 20`. Exits with 1 when a word was found where it must not be.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openPostgres } from '../../server/src/stores/postgres/database.ts'
import { testPostgres } from '../../server/test/support/servers.ts'
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
let withImages = 0
/** Of each project, the SHA-256 of every image. */
const hashes: Record<Project, Set<string>> = { alpha: new Set(), beta: new Set() }
const HASH = /\b[0-9a-f]{64}\b/g
/** The beginning of every image: a PNG of one pixel. A word follows it at a multiple of three bytes. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const START = Buffer.concat([PIXEL, Buffer.alloc(3 - (PIXEL.length % 3))])
/** Bytes behind the word: every eighth image is kept on disk while its call runs. */
const PADDING_BYTES = { usual: 500, onDisk: 300_000 }

await run()

async function run(): Promise<void> {
  const { origin } = await startProvider(OTHER_CORE, folder)
  const { url: databaseUrl } = await testPostgres()
  const logFile = join(folder, 'log.jsonl')
  const torana = await startTorana({
    core: 0,
    folder,
    config: config(`${origin}/quoting/v1`),
    env: { LOG_LEVEL: 'debug', DATABASE_URL: databaseUrl, TORANA_SECRET: 'a secret of the canaries' },
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
  const rows = await searchTables(databaseUrl)
  const files = searchFiles(torana.dataFolder)

  print([
    ['measure', 'figure'],
    ['requests', String(requests)],
    ['… with images', String(withImages)],
    ['calls to the upstream', String(calls)],
    ['… with inputs of both projects', String(shared)],
    ['bytes that callers received', String(received)],
    ['bytes of the log', String(log.length)],
    ['rows of the tables', String(rows)],
    ['files of the node', String(files)],
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
  if (index % 4 < 2) return { path: '/v1/embeddings', body: { model, input } }
  withImages += 1
  const isSame = index % 5 === 0
  const named = isSame ? `the same ${Math.floor(index / 25)}` : word
  const image = imageOf(named, index)
  if (!isSame) hashes[project].add(createHash('sha256').update(image).digest('hex'))
  const url = `data:image/png;base64,${image.toString('base64')}`
  const content = [
    { type: 'text', text: named },
    { type: 'image_url', image_url: { url } },
  ]
  return { path: '/v1/embeddings', body: { model: `seeing-${model}`, input: [{ content }] } }
}

function imageOf(word: string, index: number): Buffer {
  const bytes = index % 8 === 7 ? PADDING_BYTES.onDisk : PADDING_BYTES.usual
  return Buffer.concat([START, Buffer.from(word.padEnd(60, '.')), Buffer.alloc(bytes)])
}

/** All rows of all tables, as PostgreSQL writes them: bytes are in hexadecimal. */
async function searchTables(url: string): Promise<number> {
  await using opened = new AsyncDisposableStack()
  const database = openPostgres(url, { poolSize: 1 })
  opened.defer(() => database.close())
  const tables = await database.query<{ name: string }>(
    `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = current_schema()`,
  )
  let count = 0
  for (const { name } of tables)
    for (const { text } of await database.query<{ text: string }>(
      `SELECT t::text AS text FROM ${name} AS t`,
    )) {
      count += 1
      for (const project of PROJECTS) note(text, project, `a row of ${name}`)
    }
  return count
}

function searchFiles(dataFolder: string): number {
  const files = readdirSync(dataFolder, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  )
  for (const { parentPath, name } of files) {
    const bytes = readFileSync(join(parentPath, name)).toString('latin1')
    for (const project of PROJECTS) note(bytes, project, `the file ${name}`)
  }
  return files.length
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
  for (const [form, word] of Object.entries(formsOf(project)))
    if (text.includes(word)) found.push(`a word of ${project} as ${form} in ${where}`)
  for (const [hash] of text.matchAll(HASH))
    if (hashes[project].has(hash)) found.push(`the hash of an image of ${project} in ${where}`)
}

/** In base64, a word in an image begins at a multiple of three bytes, and nine of them are twelve letters. */
function formsOf(project: Project): Readonly<Record<string, string>> {
  const word = wordOf(project)
  return {
    text: word,
    base64: Buffer.from(word.slice(0, 9)).toString('base64'),
    hexadecimal: Buffer.from(word).toString('hex'),
  }
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
  const contents = { wire: 'openrouter', inputs: ['text', 'image'], fuses: true, maxParts: 2 }
  const seeing = {
    ...embedding,
    embedding: { dimensions: 8, maxInputTokens: 2048 },
    deployments: embedding.deployments.map((one) => ({ ...one, capabilities: { contents } })),
  }
  return {
    limits: { attemptTimeoutMs: 2000, requestTimeoutMs: 8000 },
    upstreams: { one: upstream, two: upstream },
    models: {
      shared: embedding,
      'shared-cached': { ...embedding, cache: { ttl: '1h' } },
      'seeing-shared': seeing,
      'seeing-shared-cached': { ...seeing, cache: { ttl: '1h' } },
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
