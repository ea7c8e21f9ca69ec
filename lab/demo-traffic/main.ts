/** `npm run lab -- demo-traffic`: mixed load for a demo, so that every page of the console has something to show. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startFakeProvider } from '../fake-provider/server.ts'
import { startTorana } from '../torana.ts'
import { sendBatches } from './batches.ts'
import { drive } from './drive.ts'
import { fillHistory } from './history.ts'
import { configFor } from './install.ts'
import { Moods } from './moods.ts'

const HELP = `npm run lab -- demo-traffic [options]

Drives a node on this machine with mixed load: several projects and keys, vectors, pictures, edits and batches, cache hits, failures,
rate limits, unknowns, and an upstream that leaves its space. All upstreams are a fake provider; nothing is paid.

  --minutes 10      how long (default 10)
  --rate 8          requests a second, about (default 8, at most 200)
  --seed 7          the same seed sends the same requests
  --port 8080       of the node that is started (default 8080); --control-port 8081
  --folder DIR      where that node keeps its data (default: a temporary folder)
  --history         first writes 30 days of invented history straight into the database of DATABASE_URL. Only for demos:
                    the rows are not in the ledger, and torana doctor over all hours says so

  --url URL         drives a node that runs already, with the keys of this demo, instead of starting one

The environment goes on to the node: DATABASE_URL, REDIS_URL, TORANA_SECRET. Without them it keeps all in its folder.
`

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    rate: { type: 'string', default: '8' },
    seed: { type: 'string', default: '7' },
    port: { type: 'string', default: '8080' },
    'control-port': { type: 'string', default: '8081' },
    folder: { type: 'string' },
    history: { type: 'boolean', default: false },
    url: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

/** The token of this demo. Only users of this machine can reach the node. */
const ADMIN_TOKEN = process.env['TORANA_ADMIN_TOKEN'] ?? 'demo-admin-token-0000000000000001'

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())

if (values.help) console.log(HELP)
else if (values.url !== undefined) await driveAt(values.url)
else await driveOwn()

function numbers() {
  return {
    requestsPerSecond: Number(values.rate),
    minutes: Number(values.minutes),
    seed: Number(values.seed),
  }
}

async function driveAt(url: string): Promise<void> {
  const { signal } = stopping
  const onSecond = async (second: number): Promise<void> => batchesAt(url, second)
  const answers = await drive({ url, ...numbers(), signal, onSecond })
  tell(answers)
}

async function driveOwn(): Promise<void> {
  const provider = await startFakeProvider()
  const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'torana-demo-'))
  // DATABASE_URL, REDIS_URL, TORANA_SECRET … of the caller are for the node.
  const node = await startTorana({
    folder,
    name: 'torana',
    config: configFor(provider.url),
    inheritsEnvironment: true,
    port: Number(values.port) || undefined,
    controlPort: Number(values['control-port']) || undefined,
    env: { TORANA_DATA_DIR: join(folder, 'data'), TORANA_ADMIN_TOKEN: ADMIN_TOKEN },
  })
  try {
    console.log(`gateway ${node.url}\ncontrol ${node.controlUrl}\nadmin token ${ADMIN_TOKEN}`)
    // The link to the console that a first start prints.
    const [welcome] = /https?:\/\/\S+\/welcome#token=\S+/.exec(node.log()) ?? []
    if (welcome !== undefined) console.log(`first run ${welcome}`)
    if (values.history) await fillHistory(databaseUrl(), Date.now())
    const moods = new Moods(provider)
    const onSecond = async (second: number): Promise<void> => {
      await moods.at(second)
      batchesAt(node.url, second)
      // The guard looks every quarter of an hour; a demo can't wait for it.
      if (second === 125) await lookAtSpaces(node.controlUrl)
    }
    tell(await drive({ url: node.url, ...numbers(), signal: stopping.signal, onSecond }))
  } finally {
    await node.stop()
    await provider.close()
  }
}

/** The traffic does not wait for them. */
function batchesAt(url: string, second: number): void {
  void sendBatches(url, second).catch((error: unknown) => console.error('a batch was not sent:', error))
}

async function lookAtSpaces(controlUrl: string): Promise<void> {
  await fetch(`${controlUrl}/api/v1/spaces/text-embedding-3-large/probe`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  }).then((answer) => answer.arrayBuffer())
}

function databaseUrl(): string {
  const url = process.env['DATABASE_URL']
  if (url === undefined) throw new Error('--history needs DATABASE_URL: it writes to PostgreSQL')
  return url
}

function tell(answers: ReadonlyMap<number, number>): void {
  const sorted = [...answers].sort(([a], [b]) => a - b)
  console.log(sorted.map(([status, count]) => `${count} × ${status || 'no answer'}`).join(' · '))
}
