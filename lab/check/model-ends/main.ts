/**
 * A model's end over months: two real nodes on one PostgreSQL, with clocks that are moved, killed and restarted on the way.
 * The date that an upstream lists is followed without a restart, the earlier one wins, and every notice goes out exactly once: in
 * the log, at the API and by webhook. `--quick` stops at fewer days. Exits with 1 when anything differs.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { movableClock } from '../../../server/test/support/moved-database.ts'
import { startFakeProvider } from '../../fake-provider/server.ts'
import { until } from '../../processes.ts'
import { print } from '../../report.ts'
import { newTorana, type Torana } from '../../torana.ts'
import { Workplace } from '../../workplace.ts'
import { ExpectedNotices, noticesInLogs, startReceiver, type Notice } from './notices.ts'

const { values: options } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })

const DAY_MS = 86_400_000
/** Longer than the pause between two checks of a node, and the check itself on a busy machine. */
const CHECKED_MS = 13_000
/** A new leader, the wait of a node before its first list, and a busy machine. */
const PATIENCE_MS = 180_000
const ADMIN = 'admin-token-of-the-lab-0001'
const PROJECTS = ['ads', 'search'] as const

/** Follows the upstream's list; the other one is in torana.yaml. */
const LISTED = 'house-embed-w64'
const DECLARED = 'late-w64'
/** Days from the start on which they end: first by the list of the upstream, then by an earlier list. */
const FIRST_END = 130
const LISTED_END = 120
const DECLARED_END = 150

await using place = new Workplace('model-ends')
const clockFile = join(place.folder, 'clock')
const startMs = Math.floor(Date.now() / DAY_MS) * DAY_MS
const dayText = (day: number): string => new Date(startMs + day * DAY_MS).toISOString().slice(0, 10)
let today = 0

/** Noon of that day. */
async function moveTo(day: number): Promise<void> {
  today = day
  const aheadMs = startMs + (day + 0.5) * DAY_MS - Date.now()
  await moveDatabase(aheadMs)
  writeFileSync(clockFile, String(aheadMs))
}

const postgres = await place.postgres()
const moveDatabase = await movableClock(postgres.url)
await moveTo(0)
const provider = await startFakeProvider()
const receiver = await startReceiver()
const deployment = { upstream: 'lab', priority: 0 }
const embedding = { kind: 'embedding', embedding: { dimensions: 64 }, price: 'free', spaceGuard: false }
const config = {
  upstreams: { lab: { dialect: 'openai', baseUrl: `${provider.url}/mode-lab/v1`, apiKey: 'sk-lab' } },
  models: {
    [LISTED]: { ...embedding, deployments: [deployment] },
    [DECLARED]: { ...embedding, deployments: [{ ...deployment, endsOn: dayText(DECLARED_END) }] },
  },
  projects: Object.fromEntries(
    [...PROJECTS, 'quiet'].map((name) => [
      name,
      {
        keys: [{ name: 'k', secret: keyOf(name) }],
        webhooks: [{ url: receiver.url(name), secret: `secret-of-${name}-`.repeat(3), private: true }],
      },
    ]),
  ),
}
const env = {
  DATABASE_URL: postgres.url,
  TORANA_SECRET: 'the secret of the lab'.repeat(3),
  TORANA_ADMIN_TOKEN: ADMIN,
  LAB_CLOCK_FILE: clockFile,
}
const flags = ['--import', join(import.meta.dirname, 'moved-clock.ts')]
const nodes = await Promise.all(
  ['one', 'two'].map((name) => newTorana({ folder: place.folder, name, config, env, flags })),
)
const [one, two] = nodes as [Torana, Torana]

function keyOf(project: string): string {
  return `key-of-${project}-in-the-lab-0001`
}

/** Says what two parts of the house differ in. */
const problems: string[] = []
function expectSame(what: string, found: unknown, expected: unknown): void {
  const [left, right] = [JSON.stringify(found), JSON.stringify(expected)]
  if (left !== right) problems.push(`${what}: ${left}, expected ${right}`)
}

const running = (): readonly Torana[] => nodes.filter((node) => node.pid !== 0 && !node.hasEnded)

/** Each project uses both models, at each node that runs. */
async function use(): Promise<void> {
  for (const { url } of running())
    for (const project of PROJECTS)
      for (const model of [LISTED, DECLARED]) {
        const answer = await fetch(`${url}/v1/embeddings`, {
          method: 'POST',
          headers: { authorization: `Bearer ${keyOf(project)}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model, input: `on day ${today}` }),
        })
        if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`)
        await answer.arrayBuffer()
      }
}

async function shutdownDateAt({ url }: Torana): Promise<string | null> {
  const answer = await fetch(`${url}/v1/models/${LISTED}`, {
    headers: { authorization: `Bearer ${keyOf('ads')}` },
  })
  return ((await answer.json()) as { shutdown_date: string | null }).shutdown_date
}

/** All nodes show the day without a restart. */
async function followed(day: number): Promise<void> {
  for (const node of running())
    await until(`${node.name} shows ${dayText(day)}`, PATIENCE_MS, async () => {
      return (await shutdownDateAt(node)) === dayText(day)
    })
}

interface Ending {
  readonly model: string
  readonly ends_on: string
  readonly source: string
  readonly used_by: readonly { readonly key: string }[]
  readonly notices: readonly { readonly days: number; readonly sent_at: string | null }[]
}

async function endings(): Promise<readonly Ending[]> {
  const [node] = running() as [Torana]
  const answer = await fetch(`${node.controlUrl}/api/v1/model-endings?days=365`, {
    headers: { authorization: `Bearer ${ADMIN}` },
  })
  return ((await answer.json()) as { data: readonly Ending[] }).data
}

async function sentByApi(): Promise<Notice[]> {
  return (await endings()).flatMap(({ model, notices }) =>
    notices.filter(({ sent_at: sent }) => sent !== null).map(({ days }) => `${model} ${days}`),
  )
}

const expected = new ExpectedNotices(
  new Map([
    [LISTED, LISTED_END],
    [DECLARED, DECLARED_END],
  ]),
)
const rows: string[][] = [['day', LISTED, DECLARED, 'what happened', 'notices so far']]

/** One stop: the nodes live through a day. */
async function live(day: number, event = '', happen: () => Promise<void> = async () => {}): Promise<void> {
  await moveTo(day)
  await wait(500)
  await happen()
  await use()
  expected.passed(day)
  const wanted = [...expected.sent].toSorted()
  const isComplete = async () => (await sentByApi()).length >= wanted.length
  await Promise.all([
    until(`the notices of day ${day}: ${wanted.join(', ')}`, PATIENCE_MS, isComplete),
    wait(CHECKED_MS),
  ])
  expectSame(`notices at the API on day ${day}`, (await sentByApi()).toSorted(), wanted)
  rows.push([
    dayText(day),
    `${LISTED_END - day} d`,
    `${DECLARED_END - day} d`,
    event,
    String(expected.sent.size),
  ])
}

// The list of the upstream: seconds at first, then an earlier ISO date, then words.
await provider.setMode('lab', { traits: `shutdown-${(startMs + FIRST_END * DAY_MS) / 1000}` })
await Promise.all(nodes.map((node) => node.start()))
expectSame('the day before the first list', await shutdownDateAt(one), null)
await followed(FIRST_END)
await provider.setMode('lab', { traits: `shutdown-${dayText(LISTED_END).replaceAll('-', '')}` })
await moveTo(2)
await followed(LISTED_END)
await provider.setMode('lab', { traits: 'shutdown-0' })
await moveTo(4)
await until('the words are in a log', PATIENCE_MS, () =>
  nodes.some((node) => node.log().includes('neither Unix seconds nor an ISO date')),
)
expectSame('the day after words', await shutdownDateAt(two), dayText(LISTED_END))
await provider.setMode('lab', { traits: `shutdown-${dayText(LISTED_END).replaceAll('-', '')}` })

const killLeader = async (): Promise<void> => {
  // The leader is the node that started first.
  const [leader] = running() as [Torana]
  await leader.kill9()
  nodes.push(...nodes.splice(nodes.indexOf(leader), 1))
}
const startKilled = async (): Promise<void> => {
  for (const node of nodes) if (node.hasEnded) await node.start()
}
const restartAll = async (): Promise<void> => {
  await Promise.all(running().map((node) => node.stop()))
  for (const node of nodes) await node.start()
}

const EVENTS = new Map<number, readonly [string, () => Promise<void>]>([
  [60, ['both nodes restart', restartAll]],
  [90, ['the leader is killed', killLeader]],
  [93, ['it starts again', startKilled]],
  [113, ['the leader is killed', killLeader]],
  [114, ['it starts again', startKilled]],
])
/** Days of notices and of what happens. The long form also stops on every second day. */
const QUICK = [29, 30, 60, 90, 93, 106, 113, 114, 119, 121]
const EVERY_SECOND = Array.from({ length: 58 }, (_, index) => 2 * index + 6)
const days = options.quick ? QUICK : [...new Set([...QUICK, ...EVERY_SECOND])].toSorted((a, b) => a - b)
for (const day of days) {
  const [event, happen] = EVENTS.get(day) ?? []
  await live(day, event, happen)
}
await live(112, 'the clock is set back')
await live(122, 'the clock is right again')
// Both are off on the days of two notices: only the nearest one comes, late.
await Promise.all(nodes.map((node) => node.stop()))
await live(145, 'both nodes were off for 23 days', restartAll)

const wanted = [...expected.sent].toSorted()
expectSame('notices in the logs', noticesInLogs(nodes.map((node) => node.log())).toSorted(), wanted)
await until('all webhooks', PATIENCE_MS, () => receiver.deliveries.size >= wanted.length * PROJECTS.length)
expectSame(
  'deliveries',
  [...receiver.deliveries].map(([name, times]) => `${name}: ${times}`).toSorted(),
  PROJECTS.flatMap((project) => wanted.map((notice) => `${project} ${notice}: 1`)).toSorted(),
)
const byModel = new Map((await endings()).map((one) => [one.model, one]))
expectSame(
  'sources',
  [LISTED, DECLARED].map((model) => [byModel.get(model)?.source, byModel.get(model)?.ends_on]),
  [
    ['upstream', dayText(LISTED_END)],
    ['configuration', dayText(DECLARED_END)],
  ],
)
expectSame(
  'users',
  byModel
    .get(LISTED)
    ?.used_by.map(({ key }) => key)
    .toSorted(),
  PROJECTS.map((project) => `${project}/k`),
)
const lists = provider.entries().filter(({ path }) => path.endsWith('/v1/models')).length

print(rows)
process.stdout.write(
  `${wanted.length} notices, each once in the logs, at the API and for each of ${PROJECTS.length} projects; ${lists} lists read\n`,
)
for (const problem of problems) process.stdout.write(`WRONG ${problem}\n`)
receiver.close()
await provider.close()
if (problems.length > 0) process.exitCode = 1
