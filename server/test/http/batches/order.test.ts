/** The order of batches: projects take turns, and so do the batches of a project. It is counted in calls of the upstream. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { BatchCaller, chunkTexts, requestLines } from '#test/support/batches.ts'
import { HeldUpstream } from '#test/support/held-upstream.ts'
import { eventually } from '#test/support/process.ts'

const SMALL_KEY = 'gateway-test-key-small-001'
const { gateway, database } = await startGatewayOnPostgres({
  models: { 'held-w8': { on: 'mode-held', deploymentLimits: { concurrency: 1 } } },
  projects: { small: { keys: [{ name: 'k', secret: SMALL_KEY }] } },
})
const upstream = new HeldUpstream(gateway.provider, 'held')
/** Calls of others that may be served before a batch has its first one: beside another project, and behind batches of its own. */
const MAX_BESIDE = 8
const MAX_BEHIND = 24
/** Maximum of chunks on one node, and more than that. */
const CHUNKS = 48
const MANY = 60
const large = new BatchCaller(gateway.url)
const small = new BatchCaller(gateway.url, SMALL_KEY)

interface Begun {
  readonly caller: BatchCaller
  readonly id: string
  /** Of each of its calls, and of no other's. */
  readonly inputs: number
}

let marks = 0

/** A batch of which each line is a chunk, and has a call of its own. */
async function begun(caller: BatchCaller, lines: number, window: string): Promise<Begun> {
  marks += 1
  const bodies = Array.from({ length: lines }, (_, line) => ({
    model: 'held-w8',
    input: [
      ...chunkTexts(`line ${line} of ${marks}`),
      ...Array.from({ length: marks }, (__, mark) => `mark ${mark}`),
    ],
  }))
  const file = await caller.upload(requestLines('/v1/embeddings', bodies))
  const { id } = await caller.create(file, { completion_window: window })
  return { caller, id, inputs: bodies[0]?.input.length ?? 0 }
}

/** The node has begun chunks of the batch, whose calls wait for the one that is held at the upstream. */
async function takenUp({ id }: Begun, chunks: number): Promise<void> {
  await eventually(async () => {
    const [held] = await database.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM batch_chunks WHERE batch_id = $1 AND state = 'held'`,
      [id],
    )
    assert.ok((held?.count ?? 0) >= chunks, `${held?.count} chunks`)
  })
}

/** Lets the upstream serve call by call, until the batch has its first one. */
async function assertBegunSoon({ inputs }: Begun, maxOthers: number): Promise<void> {
  const order = () => gateway.provider.entries().flatMap((entry) => (entry.served ? [entry.inputs] : []))
  const before = order().length
  while (
    !order()
      .slice(0, before + maxOthers + 1)
      .includes(inputs)
  ) {
    assert.ok(order().length <= before + maxOthers, `${order().join()}: none with ${inputs} inputs`)
    await upstream.serve()
  }
}

test('beside a project whose chunks fill the node a small one begins soon; of its own batches the one whose window ends first ends first, and a small one behind them begins soon', async () => {
  await upstream.hold()
  const day = await begun(large, MANY, '24h')
  await takenUp(day, CHUNKS)
  const later = [await begun(large, MANY, '2h'), await begun(large, 3, '1h')]
  const last = await begun(large, 3, '168h')
  const one = await begun(small, 3, '24h')
  for (const batch of [...later, last, one]) await takenUp(batch, 1)
  await assertBegunSoon(one, MAX_BESIDE)
  await assertBegunSoon(last, MAX_BEHIND)
  await upstream.release()
  for (const { caller, id } of [...later, day, last, one])
    assert.equal((await caller.ended(id)).status, 'completed')
  const ended = await database.query<{ batch_id: string }>(
    'SELECT batch_id FROM batches WHERE batch_id = ANY ($1::text[]) ORDER BY ended_at',
    [[...later, day].map(({ id }) => id)],
  )
  assert.equal(ended[0]?.batch_id, later[1]?.id)
})
