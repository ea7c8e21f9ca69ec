/** All nodes of a batch die at the same moment and start again: how soon the batch continues. */
import assert from 'node:assert/strict'
import { embeddingLines } from '../../../server/test/support/batches.ts'
import { eventually } from '../../../server/test/support/process.ts'
import { startStage, type KillPlan } from './stage.ts'

export interface RestartReport {
  readonly lines: number
  readonly doneBefore: number
  /** From the first node's readiness until more lines were done. */
  readonly goesOnAfterSeconds: number
  readonly completed: number
  readonly lost: number
}

const MODEL = 'restarted-w8'

export async function restartAll(plan: KillPlan): Promise<RestartReport> {
  await using stage = await startStage(plan, { models: { [MODEL]: { on: `slow-${plan.callMs}` } } })
  const texts = Array.from({ length: plan.lines }, (_, index) => `text ${index}`)
  const before = stage.caller()
  const { id } = await before.create(await before.upload(embeddingLines(MODEL, texts)))
  const doneBefore = await eventually(async () => {
    const { completed } = (await before.get(id)).request_counts
    assert.ok(completed > 0)
    return completed
  }, 60_000)
  plan.say(`${doneBefore} of ${plan.lines} lines are done, ${plan.nodes} nodes are killed at once`)
  await stage.restartAll()
  const readyMs = performance.now()
  const after = stage.caller()
  const standing = (await after.get(id)).request_counts.completed
  await eventually(async () => {
    assert.ok((await after.get(id)).request_counts.completed > standing)
  }, 60_000)
  const goesOnAfterSeconds = (performance.now() - readyMs) / 1000
  const batch = await after.ended(id, 600_000)
  const seen = new Set((await after.lines(batch.output_file_id)).map(({ custom_id }) => custom_id))
  const { completed } = batch.request_counts
  return { lines: plan.lines, doneBefore, goesOnAfterSeconds, completed, lost: plan.lines - seen.size }
}
