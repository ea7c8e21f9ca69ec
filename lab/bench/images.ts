/**
 * A hundred parallel callers, each with an image of 4 MB, as base64 and as events: the longest hold of the gateway's event
 * loop (CPU time of a round, by a probe inside it, and the wall time), and its memory. The upstream, the gateway and the
 * callers are separate processes. `npm run lab -- bench/images`
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { GatewayWatch } from './gateway-watch.ts'
import { stopAll } from '../processes.ts'
import { startTorana } from './torana.ts'
import { startProvider } from '../provider.ts'

const CALLERS = 100
const PICTURE_BYTES = 4_000_000
const KEY = `images-${'0123456789abcdef'.repeat(2)}`
/** On one core alone its collector's threads would compete with it. */
const GATEWAY_CORES = '0,1'
const OTHER_CORE = 1
const MEGABYTE = 1024 * 1024

const folder = mkdtempSync(join(tmpdir(), 'torana-images-'))
const probeSocket = join(folder, 'probe')
try {
  const upstream = await startProvider(OTHER_CORE, folder)
  const baseUrl = `${upstream.origin}/bytes-${PICTURE_BYTES}/v1`
  const { pid, port, controlPort, dataFolder } = await startTorana({
    core: GATEWAY_CORES,
    folder,
    config: {
      upstreams: { large: { dialect: 'openai', baseUrl, apiKey: 'sk-upstream-0123456789' } },
      models: {
        large: {
          kind: 'image',
          price: 'free',
          deployments: [{ upstream: 'large', capabilities: { stream: true, maxPartialImages: 3 } }],
        },
      },
    },
    flags: ['--import', join(import.meta.dirname, 'gateway-probe.ts')],
    env: { TORANA_BOOTSTRAP_KEY: KEY, LOG_LEVEL: 'silent', GATEWAY_PROBE_SOCKET: probeSocket },
  })
  const watch = new GatewayWatch(pid, probeSocket, join(dataFolder, 'uploads'))

  // Once unmeasured: the first images also compile the code.
  for (const stream of [false, true]) await ask(port, stream)
  process.stdout.write(
    'answer  callers  right  longest round CPU ms  on the clock ms  memory at rest MB  most MB  seconds\n',
  )
  for (const stream of [false, true]) {
    await watch.probe()
    await longestLagMs(controlPort)
    const restBytes = watch.residentBytes()
    let mostBytes = restBytes
    const looking = setInterval(() => (mostBytes = Math.max(mostBytes, watch.residentBytes())), 20)
    const startedMs = performance.now()
    const digests = await Promise.all(Array.from({ length: CALLERS }, () => ask(port, stream)))
    const seconds = (performance.now() - startedMs) / 1000
    clearInterval(looking)
    const served = readFileSync(upstream.log, 'utf8')
    const right = digests.filter((digest) => served.includes(digest)).length
    const cells = [
      stream ? 'events' : 'base64',
      CALLERS,
      right,
      (await watch.probe()).longestRoundMs.toFixed(1),
      (await longestLagMs(controlPort)).toFixed(1),
      (restBytes / MEGABYTE).toFixed(0),
      (mostBytes / MEGABYTE).toFixed(0),
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

/** The digest of the received image. */
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

async function longestLagMs(controlPort: number): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${controlPort}/metrics`)).text()
  return Number(/^torana_nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics)?.[1]) * 1000
}
