/** All nodes of a batch die at the same moment and start again: how soon it goes on. */
import assert from 'node:assert/strict'
import { BatchCaller, embeddingLines } from '#test/support/batches.ts'
import { startNodeProcess, type NodeProcess } from '#test/support/cluster.ts'
import type { GatewayOptions } from '#test/support/gateway.ts'
import { eventually, temporaryFolder } from '#test/support/process.ts'
import { testPostgres } from '#test/support/servers.ts'
import { startFakeProvider } from '../../../../tools/fake-provider/server.ts'
import type { KillPlan } from './kills.ts'

export interface RestartReport {
  readonly lines: number
  readonly doneBefore: number
  /** From when the first node was ready again until more lines were done. */
  readonly goesOnAfterSeconds: number
  readonly completed: number
  readonly lost: number
}

const MODEL = 'restarted-w8'

export async function restartAll(plan: KillPlan): Promise<RestartReport> {
  const provider = await startFakeProvider()
  const { url } = await testPostgres()
  const env = { DATABASE_URL: url, ASSETS_URL: `file://${temporaryFolder()}` }
  const options: GatewayOptions = { models: { [MODEL]: { on: `slow-${plan.callMs}` } } }
  const start = (folder?: string): Promise<NodeProcess> =>
    startNodeProcess(options, provider.url, { env, ...(folder !== undefined && { folder }) })
  let nodes: readonly NodeProcess[] = []
  try {
    nodes = await Promise.all(Array.from({ length: plan.nodes }, () => start()))
    const [first] = nodes as [NodeProcess]
    const texts = Array.from({ length: plan.lines }, (_, index) => `text ${index}`)
    const before = new BatchCaller(first.url)
    const { id } = await before.create(await before.upload(embeddingLines(MODEL, texts)))
    const doneBefore = await eventually(async () => {
      const { completed } = (await before.get(id)).request_counts
      assert.ok(completed > 0)
      return completed
    }, 60_000)
    plan.say(`${doneBefore} of ${plan.lines} lines are done, ${plan.nodes} nodes are killed at once`)
    for (const { child } of nodes) child.kill('SIGKILL')
    await Promise.all(nodes.map(({ exit }) => exit))
    nodes = await Promise.all(nodes.map(({ folder }) => start(folder)))
    const readyMs = performance.now()
    const after = new BatchCaller((nodes[0] as NodeProcess).url)
    const standing = (await after.get(id)).request_counts.completed
    await eventually(async () => {
      assert.ok((await after.get(id)).request_counts.completed > standing)
    }, 60_000)
    const goesOnAfterSeconds = (performance.now() - readyMs) / 1000
    const batch = await after.ended(id, 600_000)
    const seen = new Set((await after.lines(batch.output_file_id)).map(({ custom_id }) => custom_id))
    const { completed } = batch.request_counts
    return { lines: plan.lines, doneBefore, goesOnAfterSeconds, completed, lost: plan.lines - seen.size }
  } finally {
    for (const { child } of nodes) child.kill('SIGKILL')
    await Promise.all(nodes.map(({ exit }) => exit))
    await provider.close()
  }
}
