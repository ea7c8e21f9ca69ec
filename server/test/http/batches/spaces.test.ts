/** Batches whose model leaves its vector space while they run. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { ADMIN, control, guarded, spaceOfModel, statesOf, verdicts } from '#test/e2e/spaces/guarded.ts'
import { bitsOf } from '#test/support/arbitraries.ts'
import {
  BatchCaller,
  chunkLines,
  requestLines,
  tryAgain,
  type BatchAnswer,
  type ResultLine,
} from '#test/support/batches.ts'
import { eventually } from '#test/support/process.ts'
import { fromBase64, tokensOf, vectorOf } from '../../../../lab/fake-provider/vectors.ts'

const LINES = 24
/** Some lines are made within a test, and not all of them before its deployment is found out. */
const [SLOWLY, CRAWLING] = ['slow-60', 'slow-400']
const ONE_AT_A_TIME = { price: { usdPerMillionTokens: 1 }, deploymentLimits: { concurrency: 1 } }
const { gateway, database } = await startGatewayOnPostgres({
  models: {
    'drifting-w32': guarded(['first', 'second'], ONE_AT_A_TIME),
    'moving-w32': guarded(['moving'], ONE_AT_A_TIME),
    'tied-w32': guarded(['tied', 'spare'], ONE_AT_A_TIME),
    'unnoticed-w32': guarded(['unnoticed', 'sound'], ONE_AT_A_TIME),
    'large-w32': guarded(['large', 'whole'], ONE_AT_A_TIME),
    'obeys-w16': { on: 'obeys-fields' },
  },
  env: ADMIN,
})
const { provider } = gateway
const caller = new BatchCaller(gateway.url)
const textOf = (line: number): string => `text ${line}`

async function begun(model: string, more?: object): Promise<BatchAnswer> {
  const texts = Array.from({ length: LINES }, (_, line) => textOf(line))
  return caller.create(await caller.upload(chunkLines(model, texts, more)))
}

/** Resolves with the lines that are done. */
async function hasDone(id: string, lines: number): Promise<number> {
  return eventually(async () => {
    const { completed } = (await caller.get(id)).request_counts
    assert.ok(completed >= lines, `${completed}`)
    return completed
  })
}

/** The deployment answers with the vectors of another model, right lines before and wrong ones behind. */
async function leaves(name: string, id: string): Promise<void> {
  const right = await hasDone(id, 2)
  await provider.setMode(name, { traits: SLOWLY, vectors: 'other-model' })
  await hasDone(id, right + 4)
  await provider.setMode(name, { traits: CRAWLING, vectors: 'other-model' })
}

function vectorIn({ response }: ResultLine): number[] {
  return bitsOf(fromBase64(response?.body.data[0]?.embedding ?? ''))
}

async function assertEachOnce(batch: BatchAnswer): Promise<readonly ResultLine[]> {
  assert.equal(batch.status, 'completed')
  assert.deepEqual(batch.request_counts, { total: LINES, completed: LINES, failed: 0 })
  const lines = await caller.lines(batch.output_file_id)
  assert.equal(lines.length, LINES)
  assert.equal(new Set(lines.map(({ custom_id }) => custom_id)).size, LINES)
  return lines
}

/** Every line has the vector of the model as it was at the start. */
async function assertRight(batch: BatchAnswer): Promise<void> {
  for (const line of await assertEachOnce(batch)) {
    const text = textOf(Number(line.custom_id.slice('line '.length)))
    assert.deepEqual(vectorIn(line), bitsOf(vectorOf(text, 32)), line.custom_id)
  }
}

/** What was paid for dropped vectors is in the ledger and in the batch alike. */
async function assertPaid({ usage, torana }: BatchAnswer, model: string): Promise<void> {
  const [charged] = await database.query<{ tokens: bigint }>(
    `SELECT sum(tokens)::bigint AS tokens FROM usage_events WHERE model = $1 AND project <> 'system'`,
    [model],
  )
  const once = Array.from({ length: LINES }, (_, line) => tokensOf(textOf(line))).reduce((sum, n) => sum + n)
  assert.ok(torana.dropped_lines > 0)
  assert.ok(usage.total_tokens > once, `${usage.total_tokens} tokens`)
  assert.ok(Number(charged?.tokens) >= usage.total_tokens, `${charged?.tokens} tokens are charged`)
}

describe('a model that leaves its space while a batch runs', { concurrency: true }, () => {
  test('lines made by a deployment that left the space in the middle are made again: the output is of one space', async () => {
    const model = 'drifting-w32'
    const { space } = await spaceOfModel(gateway, model)
    await provider.setMode('first', { traits: SLOWLY })
    const { id } = await begun(model)
    await leaves('first', id)
    assert.deepEqual(await verdicts(gateway, model), { 'mode-first': 'quarantined', 'mode-second': 'good' })
    const batch = await caller.ended(id)
    await assertRight(batch)
    assert.equal(batch.torana.space, space)
    await assertPaid(batch, model)
  })

  test('a change that nobody has noticed when the last line is done is not in the output: its chunks run again elsewhere', async () => {
    const model = 'unnoticed-w32'
    await provider.setMode('unnoticed', { traits: SLOWLY })
    const { id } = await begun(model)
    await hasDone(id, 4)
    await provider.setMode('unnoticed', { traits: SLOWLY, vectors: 'other-model' })
    const batch = await caller.ended(id)
    await assertRight(batch)
    assert.equal((await statesOf(gateway, model))['mode-unnoticed'], 'quarantined')
    await assertPaid(batch, model)
  })

  test('a deployment that is wrong in large calls only is quarantined by the batch that made them, and nothing of it is in the output', async () => {
    const model = 'large-w32'
    await provider.setMode('large', { vectors: 'other-model', traits: 'drifts-from-64' })
    assert.deepEqual(await verdicts(gateway, model), { 'mode-large': 'good', 'mode-whole': 'good' })
    const { id } = await begun(model)
    const batch = await caller.ended(id)
    await assertRight(batch)
    assert.ok(batch.torana.dropped_lines > 0)
    const { deployments } = await spaceOfModel(gateway, model)
    const large = deployments.find(({ deployment }) => deployment.endsWith('large'))
    assert.equal(large?.state, 'quarantined')
    assert.match(large.reason ?? '', /^in calls of \d+ inputs: another space/)
    // The texts alone are right: it returns only when they are right in such calls.
    assert.equal((await verdicts(gateway, model))['mode-large'], 'quarantined')
    await provider.setMode('large', {})
    assert.equal((await verdicts(gateway, model))['mode-large'], 'good')
  })

  test('when an operator accepts another space in the middle, all lines are in the new one', async () => {
    const model = 'moving-w32'
    const before = (await spaceOfModel(gateway, model)).space
    await provider.setMode('moving', { traits: SLOWLY })
    const { id } = await begun(model)
    await hasDone(id, 4)
    assert.equal((await caller.get(id)).torana.space, before)
    await provider.setMode('moving', { traits: SLOWLY, vectors: 'other-model' })
    const deployment = `${model}/mode-moving`
    const { space } = await control<{ space: string }>(gateway, 'POST', `/spaces/${model}/accept`, {
      deployment,
    })
    const batch = await eventually(async () => {
      await tryAgain(database, id)
      return caller.ended(id, 0)
    })
    assert.notEqual(space, before)
    assert.equal(batch.torana.space, space)
    const lines = await assertEachOnce(batch)
    const texts = lines.map(({ custom_id }) => textOf(Number(custom_id.slice('line '.length))))
    const asked = await gateway.ask({ model, input: texts, encoding_format: 'base64' })
    assert.deepEqual(
      lines.map(vectorIn),
      asked.body.data.map(({ embedding }) => bitsOf(fromBase64(String(embedding)))),
    )
    await assertPaid(batch, model)
  })

  test('lines with a field of unknown effect have no name, and are made again all the same when their deployment has left', async () => {
    const model = 'tied-w32'
    await provider.setMode('tied', { traits: SLOWLY })
    const { id } = await begun(model, { task: 'separation' })
    await leaves('tied', id)
    assert.deepEqual(await verdicts(gateway, model), { 'mode-tied': 'quarantined', 'mode-spare': 'good' })
    const batch = await caller.ended(id)
    await assertRight(batch)
    assert.equal(batch.torana.space, null)
    await assertPaid(batch, model)
  })
})

const PNG = 'data:image/png;base64,iVBORw0KGgo='
const NAMES: readonly (readonly [title: string, lines: readonly object[], isNamed: boolean])[] = [
  ['ordinary lines', [{ input: 'a' }, { input: 'b', user: 'u' }], true],
  ['one line with a field of unknown effect', [{ input: 'a', task: 'separation' }], false],
  ['such a line among ordinary ones', [{ input: 'a' }, { input: 'b', normalized: false }], false],
  ['a line that was refused for a type', [{ input: 'a' }, { input: 'b', output_dtype: 'int8' }], true],
  ['a line that was refused for an image', [{ input: 'a' }, { input: PNG }], true],
]
for (const [title, lines, isNamed] of NAMES)
  test(`a batch names its space only if all of its vectors have the name: ${title}`, async () => {
    const model = 'obeys-w16'
    const space = (await gateway.ask({ model, input: 'a' })).headers.get('x-torana-space')
    const bodies = lines.map((body) => ({ model, ...body }))
    const { id } = await caller.create(await caller.upload(requestLines('/v1/embeddings', bodies)))
    const batch = await caller.ended(id)
    assert.equal(batch.torana.space, isNamed ? space : null)
    const refused = await caller.lines(batch.error_file_id)
    const codes = refused.map(({ response }) => response?.body.error?.code)
    const expected = lines.flatMap((body) => {
      if ('output_dtype' in body) return ['type_unsupported']
      return 'input' in body && body.input === PNG ? ['ambiguous_input'] : []
    })
    assert.deepEqual([batch.status, codes], ['completed', expected])
  })
