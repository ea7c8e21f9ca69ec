/**
 * What interactive callers notice of a batch, in simulated minutes. `npm run lab -- simulation/beside-batch` tries every load, and
 * `npm run lab -- bench/batches` measures the same on a real node.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IS_LONG } from '#test/support/long.ts'
import { peopleBeside, type Beside } from './beside-batch.ts'

const UPSTREAM = { slots: 32, concurrency: 32, callMs: 100, inputMs: 1, forMs: 34_000 }
/** Nine tenths of the upstream's capacity for three seconds, then a tenth. */
const bursts = (nowMs: number): number => (Math.floor(nowMs / 3333) % 2 === 1 ? 0.1 : 0.9)

interface Aim {
  readonly name: string
  readonly load: Pick<Beside, 'share' | 'isSteady' | 'spread'>
  /** Largest ratio of the slowest hundredth with the batch to the one without. */
  readonly times: number
  readonly used: number
  /** Tried on every change: a steady load, a random one, and one that changes. */
  readonly isForChanges?: boolean
}

/** No two calls take the same time. */
const spread = 0.3

const AIMS: readonly Aim[] = [
  { name: 'a tenth, steadily', load: { share: () => 0.1, isSteady: true }, times: 1.05, used: 0.88 },
  { name: 'half, steadily', load: { share: () => 0.5, isSteady: true }, times: 1.05, used: 0.9 },
  {
    name: 'nine tenths, steadily',
    load: { share: () => 0.9, isSteady: true },
    times: 1.05,
    used: 0.85,
    isForChanges: true,
  },
  { name: 'a tenth, by chance', load: { share: () => 0.1 }, times: 1.2, used: 0.88 },
  { name: 'half, by chance', load: { share: () => 0.5 }, times: 1.25, used: 0.9, isForChanges: true },
  { name: 'a tenth, of calls that differ', load: { share: () => 0.1, spread }, times: 1.2, used: 0.88 },
  { name: 'half, of calls that differ', load: { share: () => 0.5, spread }, times: 1.2, used: 0.9 },
  {
    name: 'nine tenths, steadily, of calls that differ',
    load: { share: () => 0.9, isSteady: true, spread },
    times: 1.2,
    used: 0.75,
  },
  // Random arrivals sometimes need more than a batch that has begun its calls can leave.
  { name: 'nine tenths, by chance', load: { share: () => 0.9 }, times: 1.8, used: 0.85 },
  // A burst finds calls in progress that were begun in the quiet before it, and waits for them to end.
  { name: 'bursts', load: { share: bursts, isSteady: true }, times: 1.7, used: 0.88, isForChanges: true },
]

for (const { name, load, times, used } of AIMS.filter(({ isForChanges }) => IS_LONG || isForChanges === true))
  test(`of people who ask for ${name}, 99 % wait at most ${times} times as long beside a batch that takes what they leave`, async (context) => {
    // Without randomness, one run is as good as three.
    const isRandom = load.isSteady !== true || load.spread !== undefined
    for (const seed of IS_LONG && isRandom ? [1, 2, 3] : [1]) {
      const alone = await peopleBeside({ ...UPSTREAM, ...load, seed, hasBatch: false })
      const beside = await peopleBeside({ ...UPSTREAM, ...load, seed, hasBatch: true })
      const ratio = beside.p99Ms / alone.p99Ms
      const summary = `p99 ${alone.p99Ms.toFixed(0)} → ${beside.p99Ms.toFixed(0)} ms, ${ratio.toFixed(2)} times; the batch used ${(beside.usedByBatch * 100).toFixed(0)} % of what was left`
      context.diagnostic(summary)
      assert.ok(ratio <= times, summary)
      assert.ok(beside.usedByBatch >= used, summary)
      assert.equal(beside.refused, 0)
    }
  })
