/**
 * `npm run lab -- bench/gate`: fails when a small embeddings request costs much more CPU time, relative to the bare proxy, than
 * the figure in gate.json. Both run at the same time on one core, so that a busy machine slows both, and CPU time is what
 * counts. If the lane became more expensive for a good reason, commit the new figure with that reason.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BASE64, startEmbeddingsStage } from './embeddings-stage.ts'
import { verdictOf, type Costs } from './gate-verdict.ts'
import { startNginx } from './parts.ts'
import { LOAD_CORE } from './side-by-side.ts'
import { Workplace } from '../workplace.ts'

const CONNECTIONS = 32
/** The first windows warm up; among this many, some have the core to themselves. */
const WINDOWS = 12
/** Neighbours may disturb both for long: this many windows are measured before the lane counts as more expensive. */
const MAX_WINDOWS = 48
const WINDOW_SECONDS = 2
/** On a busy machine answers may take long; they still come. */
const TIMEOUT_SECONDS = 60

const { ratio: committed } = JSON.parse(readFileSync(join(import.meta.dirname, 'gate.json'), 'utf8')) as {
  readonly ratio: number
}
await using place = new Workplace('gate')
const { folder } = place
const { origin } = await startNginx(folder, LOAD_CORE)
const both = await startEmbeddingsStage({
  folder,
  shape: BASE64,
  origin,
  connections: CONNECTIONS,
  timeoutSeconds: TIMEOUT_SECONDS,
})
const windows: Costs[] = []
while (
  windows.length < WINDOWS ||
  (!verdictOf(windows, committed).isPassed && windows.length < MAX_WINDOWS)
) {
  const { bare, torana } = await both.window(WINDOW_SECONDS)
  windows.push({ bareCpu: bare.cpuUs, toranaCpu: torana.cpuUs })
}
const { isPassed, text } = verdictOf(windows, committed)
console.log(`${text}; ${windows.length} windows`)
if (!isPassed) process.exitCode = 1
