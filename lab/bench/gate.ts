/**
 * `npm run lab -- bench/gate`: fails when a small embeddings request costs much more CPU time, relative to the bare proxy, than
 * the figure in gate.json. Both run at the same time on one core, so that a busy machine slows both, and CPU time is what
 * counts. If the lane became more expensive for a good reason, commit the new figure with that reason.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BASE64, LOAD_CORE, startStage, type Window } from './embeddings-stage.ts'
import { verdictOf } from './gate-verdict.ts'
import { startNginx } from './parts.ts'
import { stopAll } from '../processes.ts'

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
const folder = mkdtempSync(join(tmpdir(), 'torana-gate-'))
try {
  const { origin } = await startNginx(folder, LOAD_CORE)
  const stage = await startStage({
    folder,
    shape: BASE64,
    origin,
    connections: CONNECTIONS,
    timeoutSeconds: TIMEOUT_SECONDS,
  })
  const windows: Window[] = []
  while (
    windows.length < WINDOWS ||
    (!verdictOf(windows, committed).isPassed && windows.length < MAX_WINDOWS)
  )
    windows.push(await stage.window(WINDOW_SECONDS))
  const { isPassed, text } = verdictOf(windows, committed)
  console.log(`${text}; ${windows.length} windows`)
  if (!isPassed) process.exitCode = 1
} finally {
  await stopAll()
  rmSync(folder, { recursive: true, force: true })
}
