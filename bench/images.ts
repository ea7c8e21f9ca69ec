/**
 * A hundred callers at once, each with a picture of 4 MB, as base64 and as events: how long the gateway's event loop was held at
 * most (CPU time of a turn, by a probe inside it, and the time on the clock), and how much memory it took. The upstream, the
 * gateway and the callers are processes of their own. `npm run bench:images`
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { freePort, httpReady, spawnOn, stopAll } from './processes.ts'

const CALLERS = 100
const PICTURE_BYTES = 4_000_000
const KEY = `images-${'0123456789abcdef'.repeat(2)}`
/** On one core alone its collector's threads would compete with it. */
const GATEWAY_CORES = '0,1'
const OTHER_CORE = 1
const MEGABYTE = 1024 * 1024

const folder = mkdtempSync(join(tmpdir(), 'torana-images-'))
const socketPath = join(folder, 'turns')
try {
  const [upstreamPort, port, controlPort] = [await freePort(), await freePort(), await freePort()]
  const root = join(import.meta.dirname, '..')
  const provider = join(root, 'tools/fake-provider/main.ts')
  const log = join(folder, 'served.jsonl')
  spawnOn(OTHER_CORE, process.execPath, [provider, '--port', String(upstreamPort), '--log', log], {})
  await httpReady(`http://127.0.0.1:${upstreamPort}/_health`)
  const baseUrl = `http://127.0.0.1:${upstreamPort}/bytes-${PICTURE_BYTES}/v1`
  writeFileSync(
    join(folder, 'torana.yaml'),
    JSON.stringify({
      upstreams: { large: { dialect: 'openai', baseUrl, apiKey: 'sk-upstream-0123456789' } },
      models: {
        large: {
          kind: 'image',
          price: 'free',
          deployments: [{ upstream: 'large', capabilities: { stream: true, maxPartialImages: 3 } }],
        },
      },
    }),
  )
  const { pid } = spawnOn(
    GATEWAY_CORES,
    process.execPath,
    [
      '--max-semi-space-size=32',
      '--import',
      join(root, 'server/test/support/turn-probe.ts'),
      join(root, 'server/bin/torana.js'),
      'start',
    ],
    {
      PORT: String(port),
      CONTROL_PORT: String(controlPort),
      TORANA_CONFIG: join(folder, 'torana.yaml'),
      TORANA_DATA_DIR: join(folder, 'data'),
      TORANA_BOOTSTRAP_KEY: KEY,
      DATABASE_URL: 'memory:',
      LOG_LEVEL: 'silent',
      TURN_PROBE_SOCKET: socketPath,
    },
  )
  await httpReady(`http://127.0.0.1:${port}/readyz`)

  // Once unmeasured: the first pictures also compile the code.
  for (const stream of [false, true]) await ask(port, stream)
  process.stdout.write(
    'answer  callers  right  longest turn CPU ms  on the clock ms  memory at rest MB  most MB  seconds\n',
  )
  for (const stream of [false, true]) {
    await longestTurnMs()
    await longestLagMs(controlPort)
    const restMegabytes = residentMegabytes(pid)
    let mostMegabytes = restMegabytes
    const watch = setInterval(() => (mostMegabytes = Math.max(mostMegabytes, residentMegabytes(pid))), 20)
    const startedMs = performance.now()
    const digests = await Promise.all(Array.from({ length: CALLERS }, () => ask(port, stream)))
    const seconds = (performance.now() - startedMs) / 1000
    clearInterval(watch)
    const served = readFileSync(log, 'utf8')
    const right = digests.filter((digest) => served.includes(digest)).length
    const cells = [
      stream ? 'events' : 'base64',
      CALLERS,
      right,
      (await longestTurnMs()).toFixed(1),
      (await longestLagMs(controlPort)).toFixed(1),
      restMegabytes.toFixed(0),
      mostMegabytes.toFixed(0),
      seconds.toFixed(1),
    ]
    const widths = [7, 8, 6, 20, 17, 18, 8, 8]
    process.stdout.write(
      `${cells.map((cell, index) => String(cell).padStart(widths[index] ?? 8)).join(' ')}\n`,
    )
    if (right !== CALLERS) process.exitCode = 1
  }
} finally {
  await stopAll()
  rmSync(folder, { recursive: true, force: true })
}

/** The digest of the picture that came. */
async function ask(port: number, stream: boolean): Promise<string> {
  const body = JSON.stringify({
    model: 'large',
    prompt: 'A large gate',
    ...(stream ? { stream: true, partial_images: 1 } : {}),
  })
  const call = request({
    port,
    path: '/v1/images/generations',
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
  }).end(body)
  const [answer] = (await once(call, 'response')) as [IncomingMessage]
  const all = await text(answer)
  const last = stream ? all.slice(all.lastIndexOf('"b64_json":"')) : all
  const base64 = /"b64_json":"([^"]*)"/.exec(last)?.[1] ?? ''
  return createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex')
}

/** CPU time of the longest turn since it was last asked. */
async function longestTurnMs(): Promise<number> {
  const question = request({ socketPath, agent: false }).end()
  const [answer] = (await once(question, 'response')) as [IncomingMessage]
  return Number(await text(answer))
}

async function longestLagMs(controlPort: number): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${controlPort}/metrics`)).text()
  return Number(/^torana_nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics)?.[1]) * 1000
}

function residentMegabytes(pid: number): number {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1])
  return (pages * 4096) / MEGABYTE
}
