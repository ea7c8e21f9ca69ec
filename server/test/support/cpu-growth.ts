import assert from 'node:assert/strict'

/** Less than this is noise: of the garbage collector, the compiler, and kernels that count CPU time in steps of 4 ms. */
const NOISE_MS = 100
/** Rounds: the best one was disturbed least. */
const ROUNDS = 3

/** Linear work costs eight times as much for eight times the size, quadratic work sixty-four times; the limit is half way between. */
const GROWTH = 8
const MAX_COST_GROWTH = 3 * GROWTH

/** Eight times the size costs this thread far less than quadratic work would. */
export function assertLinear(size: number, work: (size: number) => () => unknown): void {
  const small = bestMs(work(size))
  const large = bestMs(work(GROWTH * size))
  assert.ok(
    large <= MAX_COST_GROWTH * small + NOISE_MS,
    `${small.toFixed(1)} ms, and ${large.toFixed(1)} ms for ${GROWTH} times as much`,
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
