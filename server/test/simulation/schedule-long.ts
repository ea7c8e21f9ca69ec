/**
 * The same simulation for any length: `node server/test/simulation/schedule-long.ts [seeds] [first seed]`.
 * `--plot [seed]` draws one run instead, to docs/pictures/schedule.png.
 */
import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import { plot } from './schedule-plot.ts'
import { judgeAll, tell } from './schedule-report.ts'

const DRAWN_SEED = 82

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { plot: { type: 'boolean', default: false } },
})
if (values.plot) await plot(Number(positionals[0] ?? DRAWN_SEED))
else {
  const startedMs = performance.now()
  const summary = judgeAll(Number(positionals[1] ?? 1), Number(positionals[0] ?? 2000))
  console.log(tell(summary))
  console.log(`${((performance.now() - startedMs) / 1000).toFixed(0)} s`)
  assert.ok(summary.gap < 0.01, 'more than 1 % behind the oracle')
}
