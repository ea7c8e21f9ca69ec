/**
 * The largest answer the contract allows, 2,048 inputs of 1,536 dimensions, in all four conversions: how long the gateway's event
 * loop was held at most, and how much its memory grew. The upstream and the client are processes of their own; the client
 * checks every bit against the oracle. `npm run lab -- bench/large-answers`
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { scriptOn, stopAll } from '../processes.ts'
import { startProvider } from '../provider.ts'
import { print } from '../report.ts'
import { startMemoryNode } from './memory-node.ts'
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
  const node = await startMemoryNode(environment, folder)

  // Once unmeasured: the first large answer also compiles the code.
  for (const [from, to] of PAIRS) await ask(node.url, from, to)
  const rows = [
    ['answer', 'longest hold ms', 'of it CPU ms', 'memory growth MB', 'answer MB', 'seconds', 'bits'],
  ]
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
    rows.push([
      `${from} → ${to}`,
      holdMs.toFixed(1),
      roundMs.toFixed(1),
      growth.toFixed(0),
      (bytes / MEGABYTE).toFixed(1),
      seconds.toFixed(1),
      equal ? 'equal' : 'DIFFERENT',
    ])
    if (!equal) process.exitCode = 1
  }
  print(rows)
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

function ask(url: string, from: string, to: string): Promise<Answer> {
  const question = { url, key, model: `from-${from}`, encoding: to }
  return scriptOn<Answer>(OTHER_CORE, join(import.meta.dirname, 'large-client.ts'), question).answer
}
