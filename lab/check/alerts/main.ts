/**
 * A thousand incidents on two real nodes and three receivers, all of which are killed on the way: each incident starts and ends at
 * every receiver, in order, at most one event in a hundred comes twice, and a storm of one upstream is one incident. Incidents are
 * made of rows of nodes that fell silent. `--quick` has 40 incidents. Exits with 1 when anything differs.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { freePort } from '../../../server/test/support/servers.ts'
import { keep, until } from '../../processes.ts'
import { print } from '../../report.ts'
import { newTorana, type Torana } from '../../torana.ts'
import { Workplace } from '../../workplace.ts'
import { judge, type Received } from './verdict.ts'

const { values: options } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })

/** The overview lists 500 silent nodes at most. */
const WAVES = options.quick ? [40] : [400, 400, 200]
const RECEIVERS = ['slack-like', 'siem', 'archive'] as const
const STORM_MODELS = 14
/** From one kill to the next. */
const KILL_MS = options.quick ? 25_000 : 12_000
/** Time for which a killed receiver stays down. */
const DOWN_MS = 3000
const PATIENCE_MS = 900_000
const MAX_TWICE_SHARE = 0.01
const KEY = 'key-of-the-lab-for-alerts-0001'

await using place = new Workplace('alerts')
const postgres = await place.postgres()

class Receiver {
  readonly port: number
  readonly file: string
  #child: ChildProcess | undefined

  constructor(name: string, port: number) {
    this.port = port
    this.file = join(place.folder, `${name}.jsonl`)
  }

  start(): void {
    const program = join(import.meta.dirname, 'receiver.ts')
    this.#child = spawn(process.execPath, [program, String(this.port), this.file], { stdio: 'inherit' })
    keep(this.#child, 'receiver')
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  received(): readonly Received[] {
    if (!existsSync(this.file)) return []
    const lines = readFileSync(this.file, 'utf8').split('\n').filter(Boolean)
    return lines.map((line) => JSON.parse(line) as Received)
  }
}

const receivers: Receiver[] = []
for (const name of RECEIVERS) receivers.push(new Receiver(name, await freePort()))
const closedPort = await freePort()
const models = Array.from({ length: STORM_MODELS }, (_, index) => `storm-${index}-w8`)
const channels = RECEIVERS.map((name, index) => {
  const url = `http://127.0.0.1:${receivers[index]?.port ?? 0}/`
  return [name, { kind: 'webhook', url, secret: `secret of ${name} `.repeat(3), private: true }] as const
})
const config = {
  upstreams: { storm: { dialect: 'openai', baseUrl: `http://127.0.0.1:${closedPort}/v1`, apiKey: 'x' } },
  models: Object.fromEntries(
    models.map((model) => [
      model,
      {
        kind: 'embedding',
        embedding: { dimensions: 8 },
        price: 'free',
        spaceGuard: false,
        deployments: [{ upstream: 'storm' }],
      },
    ]),
  ),
  projects: { lab: { keys: [{ name: 'k', secret: KEY }] } },
  alerts: {
    channels: Object.fromEntries(channels),
    rules: {
      silent: { kind: 'node_down', channels: RECEIVERS },
      storm: { kind: 'ejected', condition: { minutes: 0 }, channels: RECEIVERS },
    },
  },
}
const env = { DATABASE_URL: postgres.url, TORANA_SECRET: 'the secret of the lab'.repeat(3) }
const nodes: Torana[] = []
for (const name of ['one', 'two']) nodes.push(await newTorana({ folder: place.folder, name, config, env }))

const database = new Client(postgres.url)
const problems: string[] = []
const countOf = async (condition: string, values: readonly unknown[] = []): Promise<number> => {
  const text = `SELECT count(*)::int AS count FROM alert_incidents WHERE ${condition}`
  const { rows } = await database.query<{ count: number }>(text, [...values])
  return rows[0]?.count ?? 0
}

for (const receiver of receivers) receiver.start()
for (const node of nodes) await node.start()
await database.connect()

/** Nodes and receivers die in turn, one at a time, until the run has ended. */
const kills = { nodes: 0, receivers: 0 }
let isOver = false
async function killOn(): Promise<void> {
  for (let turn = 0; ; turn += 1) {
    for (let waitedMs = 0; waitedMs < KILL_MS; waitedMs += 500) {
      if (isOver) return
      await wait(500)
    }
    const node = nodes[turn % nodes.length]
    const receiver = receivers[turn % receivers.length]
    if (turn % 2 === 0 && node !== undefined) {
      kills.nodes += 1
      await node.kill9()
      await node.start()
    } else if (receiver !== undefined) {
      kills.receivers += 1
      await receiver.kill()
      await wait(DOWN_MS)
      receiver.start()
    }
  }
}
const killing = killOn()

async function callStorm(): Promise<void> {
  const calls = models.flatMap((model) => Array.from({ length: 12 }, () => model))
  for (const model of calls)
    for (const { url } of nodes)
      await fetch(`${url}/v1/embeddings`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, input: 'hello' }),
      })
        .then((answer) => answer.arrayBuffer())
        // A node that was killed meanwhile.
        .catch(() => undefined)
}

const expected: string[] = []
const startMs = performance.now()
const stormy = callStorm()
for (const [wave, count] of WAVES.entries()) {
  const host = `wave-${wave}-`
  await database.query(
    `INSERT INTO nodes (node_id, host, version, seen_at)
     SELECT gen_random_uuid(), $1 || number, 'lab', now() - interval '5 min' FROM generate_series(1, $2::int) AS number`,
    [host, count],
  )
  for (let number = 1; number <= count; number += 1) expected.push(`${host}${number} is down`)
  await until(`wave ${wave} has started`, PATIENCE_MS, async () => {
    return (await countOf('cause LIKE $1', [`${host}%`])) >= count
  })
  await database.query('UPDATE nodes SET ended_at = now() WHERE host LIKE $1', [`${host}%`])
  await until(`wave ${wave} has ended`, PATIENCE_MS, async () => {
    return (await countOf('cause LIKE $1 AND ended_at IS NOT NULL', [`${host}%`])) >= count
  })
}
await stormy
await until('every notice has arrived', PATIENCE_MS, async () => {
  const { rows } = await database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM alert_notices JOIN alert_incidents USING (incident_id)
     WHERE alert_notices.ended_at IS NULL AND kind = 'node_down' AND cause LIKE 'wave-%'`,
  )
  return rows[0]?.count === 0
})
isOver = true
await killing
const tookS = (performance.now() - startMs) / 1000

const rows: string[][] = [['receiver', 'events', 'started', 'ended', 'twice', 'out of order']]
for (const [index, receiver] of receivers.entries()) {
  const received = receiver.received()
  const own = received.filter(({ title }) => title.startsWith('wave-'))
  const { starts, ends, twice, missing, disordered } = judge(own, expected)
  const figures = [own.length, starts, ends, twice, disordered.length].map(String)
  rows.push([RECEIVERS[index] ?? '', ...figures])
  if (missing.length > 0)
    problems.push(`${missing.length} incidents are missing: ${missing.slice(0, 5).join()}`)
  if (disordered.length > 0) problems.push(`out of order: ${disordered.slice(0, 5).join()}`)
  if (twice > own.length * MAX_TWICE_SHARE) problems.push(`${twice} of ${own.length} events came twice`)
  const storms = received.filter(({ title, type }) => title === 'storm ejected' && type === 'alert.started')
  if (new Set(storms.map(({ incident }) => incident)).size !== 1)
    problems.push(`a storm is ${storms.length} notices, expected one`)
}
const { rows: storm } = await database.query<{ grouped: number }>(
  `SELECT grouped FROM alert_incidents WHERE kind = 'ejected'`,
)
if (storm.length !== 1 || storm[0]?.grouped !== STORM_MODELS)
  problems.push(`the storm is ${JSON.stringify(storm)}, expected one incident of ${STORM_MODELS}`)
if ((await countOf(`cause LIKE 'wave-%'`)) !== expected.length) problems.push('an incident started twice')
await database.end()

print(rows)
process.stdout.write(
  `${expected.length} incidents in ${tookS.toFixed(0)} s; ${kills.nodes} nodes and ${kills.receivers} receivers killed; storm of ${STORM_MODELS} deployments in ${storm.length} incident\n`,
)
for (const problem of problems) process.stdout.write(`WRONG ${problem}\n`)
if (problems.length > 0) process.exitCode = 1
