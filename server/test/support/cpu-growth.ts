import assert from 'node:assert/strict'

/** Less than this is noise of the garbage collector and the compiler. */
const NOISE_MS = 10
/** The best of so many is the one that was disturbed least. */
const ROUNDS = 5

/** Twice the size costs this thread at most three times the processor time: linear work twice, quadratic work four times. */
export function assertLinear(size: number, work: (size: number) => () => unknown): void {
  const once = bestMs(work(size))
  const twice = bestMs(work(2 * size))
  assert.ok(
    twice <= 3 * once + NOISE_MS,
    `${once.toFixed(1)} ms, and ${twice.toFixed(1)} ms for twice as much`,
  )
}

function bestMs(work: () => unknown): number {
  let bestMs = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = process.threadCpuUsage()
    work()
    const { user, system } = process.threadCpuUsage(before)
    bestMs = Math.min(bestMs, (user + system) / 1000)
  }
  return bestMs
}
