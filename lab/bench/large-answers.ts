/**
 * The largest answer the contract allows, 2,048 inputs of 1,536 dimensions, in all four conversions: how long the gateway's event
 * loop was held at most, and how much its memory grew. The upstream and the client are processes of their own; the client
 * checks every bit against the oracle. `npm run lab -- bench/large-answers`
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stopAll } from '../processes.ts'
import { startProvider } from '../provider.ts'
import { readEnvironment } from '../../server/src/config/environment.ts'
import { readText } from '../../server/src/config/file/variable.ts'
import { bindListeners } from '../../server/src/node/listeners.ts'
import { startNode } from '../../server/src/main.ts'
import { openMemoryStores } from '../../server/test/support/stores/open.ts'
import { watchLoop } from '../../server/test/support/loop-watch.ts'

const folder = mkdtempSync(join(tmpdir(), 'torana-large-'))
const key = `large-${'0123456789abcdef'.repeat(2)}`
const MEGABYTE = 1024 * 1024
const OTHER_CORE = 1
const PAIRS: readonly (readonly ['base64' | 'float', 'base64' | 'float'])[] = [
  ['base64', 'base64'],
  ['base64', 'float'],
  ['float', 'float'],
  ['float', 'base64'],
]

try {
  const provider = await startProvider(OTHER_CORE, folder)

  const config = join(folder, 'torana.yaml')
  // A probe in the middle of a measurement would be part of it.
  const model = (encoding: string): string =>
    `  from-${encoding}: { kind: embedding, embedding: { dimensions: 1536 }, price: free, spaceGuard: false, deployments: [{ upstream: ${encoding}, model: large, capabilities: { encodings: [${encoding}] } }] }`
  const upstream = (scenario: string, encoding: string): string =>
    `  ${encoding}: { dialect: openai, baseUrl: '${provider.origin}/${scenario}/v1' }`
  writeFileSync(
    config,
    `upstreams:\n${upstream('base64-only', 'base64')}\n${upstream('wide-floats', 'float')}\nmodels:\n${model('base64')}\n${model('float')}\n`,
  )
  const environment = {
    PORT: '0',
    CONTROL_PORT: '0',
    TORANA_CONFIG: config,
    TORANA_DATA_DIR: join(folder, 'data'),
    TORANA_BOOTSTRAP_KEY: key,
    LOG_LEVEL: 'warn',
  }
  const settings = readEnvironment(environment, folder, readText)
  const node = await startNode(settings, environment, await bindListeners(settings), openMemoryStores)

  // Once unmeasured: the first large answer also compiles the code.
  for (const [from, to] of PAIRS) await ask(node.url, from, to)
  process.stdout.write(
    'answer            longest hold ms  of it CPU ms memory growth MB  answer MB  seconds  bits\n',
  )
  let worstMs = 0
  let worstGrowth = 0
  for (const [from, to] of PAIRS) {
    globalThis.gc?.()
    const before = process.memoryUsage().rss
    let peak = before
    const sampling = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5)
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    const { bytes, seconds, equal } = await ask(node.url, from, to)
    delay.disable()
    clearInterval(sampling)
    // Again for the CPU time alone: watching it keeps the core busy, which would disturb the first figure.
    const watch = watchLoop()
    await ask(node.url, from, to)
    const roundMs = watch.longestMs()
    watch.end()
    // The monitor's own timer fires every millisecond: the rest is the hold.
    const holdMs = delay.max / 1e6 - 1
    const growth = (peak - before) / MEGABYTE
    worstMs = Math.max(worstMs, holdMs)
    worstGrowth = Math.max(worstGrowth, growth)
    const cells = [
      `${from} → ${to}`.padEnd(18),
      holdMs.toFixed(1).padEnd(17),
      roundMs.toFixed(1).padEnd(13),
      growth.toFixed(0).padEnd(18),
    ]
    process.stdout.write(
      `${cells.join('')}${(bytes / MEGABYTE).toFixed(1).padEnd(11)}${seconds.toFixed(1).padEnd(9)}${equal ? 'equal' : 'DIFFERENT'}\n`,
    )
    if (!equal) process.exitCode = 1
  }
  process.stdout.write(`longest hold ${worstMs.toFixed(1)} ms, largest growth ${worstGrowth.toFixed(0)} MB\n`)
  await node.stop()
} finally {
  await stopAll()
  rmSync(folder, { recursive: true, force: true })
}

interface Answer {
  readonly bytes: number
  readonly seconds: number
  readonly equal: boolean
}

async function ask(url: string, from: string, to: string): Promise<Answer> {
  const args = [
    '-c',
    String(OTHER_CORE),
    process.execPath,
    join(import.meta.dirname, 'large-client.ts'),
    url,
    key,
    `from-${from}`,
    to,
  ]
  const child = spawn('taskset', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await once(child, 'close')
  return JSON.parse(text) as Answer
}
