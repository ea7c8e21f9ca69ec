/** `torana batch run` beside an operator who accepts another vector space. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCorpus, type CorpusRun } from 'torana-bulk/run'
import { CommandProblem } from '#cli/client/command-problem.ts'
import { GatewayClient } from '#cli/client/gateway-client.ts'
import { ADMIN, control, guarded, spaceOfModel } from '#test/e2e/spaces/guarded.ts'
import { startGateway } from '#test/support/gateway.ts'
import { eventually, temporaryFolder } from '#test/support/process.ts'

const MODEL = 'moving-w8'
const gateway = await startGateway({
  models: { [MODEL]: guarded(['moving'], { deploymentLimits: { concurrency: 1 } }) },
  env: ADMIN,
})
const SILENT = { stdout: { write: () => {} }, stderr: { write: () => {} } }
const client = new GatewayClient(gateway.url, gateway.key)

test('vectors of two spaces are never in one file: the run says so, and a new run is in the new space', async () => {
  const folder = temporaryFolder()
  const rows = Array.from({ length: 12 }, (_, row) => JSON.stringify({ text: `text ${row}` }))
  writeFileSync(join(folder, 'corpus.jsonl'), rows.join('\n'))
  const run: CorpusRun = {
    corpus: join(folder, 'corpus.jsonl'),
    out: join(folder, 'vectors.npy'),
    ending: '.npy',
    type: 'float32',
    model: MODEL,
    dimensions: undefined,
    columns: { text: undefined, id: undefined },
    windowHours: 24,
    rowsPerBatch: 2,
  }
  const before = (await spaceOfModel(gateway, MODEL)).space
  await gateway.provider.setMode('moving', { traits: 'slow-300' })
  const running = assert.rejects(runCorpus(run, client, SILENT), (error) => {
    assert.ok(error instanceof CommandProblem)
    assert.ok(error.message.includes(before), error.message)
    return true
  })
  const stateFile = join(folder, 'vectors.npy.run', 'state.json')
  await eventually(async () => {
    const { written } = JSON.parse(readFileSync(stateFile, 'utf8')) as { written: { slices: number } }
    assert.ok(written.slices > 0)
  })
  await gateway.provider.setMode('moving', { vectors: 'other-model' })
  const deployment = `${MODEL}/mode-moving`
  const accepted = await control<{ space: string }>(gateway, 'POST', `/spaces/${MODEL}/accept`, {
    deployment,
  })
  await running
  assert.ok(!existsSync(run.out))
  const rerun = await runCorpus({ ...run, out: join(folder, 'anew.npy') }, client, SILENT)
  assert.deepEqual([rerun.vectors, rerun.space], [12, accepted.space])
})
