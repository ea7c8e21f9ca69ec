import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bitsOf } from '#test/support/arbitraries.ts'
import { startGateway, vectorsIn, type Asked } from '#test/support/gateway.ts'
import { askPatiently } from '#test/support/patience.ts'
import { tokensOf, vectorOf } from '../../../../lab/fake-provider/vectors.ts'

// Long enough for 64 requests to arrive on a busy machine.
const microBatch = { maxWaitMs: 200, maxItems: 64 }
const gateway = await startGateway({
  models: {
    'batched-w16': { on: 'plain', microBatch },
    'failing-w16': { on: ['status-500', 'plain'], microBatch },
  },
})

const words = (name: string, count = 64): string[] =>
  Array.from({ length: count }, (_, index) => `${name} ${index}`)

/** Sends all texts at once, and counts the calls. */
async function askAll(model: string, texts: readonly string[]): Promise<{ answers: Asked[]; made: number }> {
  const before = gateway.provider.counters().calls
  const answers = await Promise.all(texts.map((input) => askPatiently(gateway, { model, input })))
  return { answers, made: gateway.provider.counters().calls - before }
}

function assertVector(answer: Asked | undefined, text: string): void {
  assert.ok(answer)
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(vectorsIn(answer).map(bitsOf), [bitsOf(vectorOf(text, 16))])
}

test('64 callers with one text each: far fewer calls, and to each its own vector and tokens', async () => {
  const texts = words('together')
  const { answers, made } = await askAll('batched-w16', texts)
  for (const [index, text] of texts.entries()) assertVector(answers[index], text)
  assert.ok(made <= 16, `${made} calls`)
  assert.equal(
    answers.reduce((sum, { body }) => sum + body.usage.prompt_tokens, 0),
    texts.reduce((sum, text) => sum + tokensOf(text), 0),
  )
})

test('one bad text among 64: its sender alone is refused', async () => {
  const texts = words('isolated')
  texts[17] = 'a @@refuse@@ text'
  const { answers, made } = await askAll('batched-w16', texts)
  for (const [index, text] of texts.entries()) {
    if (index !== 17) assertVector(answers[index], text)
    else {
      assert.equal(answers[index]?.status, 400)
      assert.match(answers[index]?.body.error.code ?? '', /^upstream_/)
    }
  }
  assert.ok(made <= 32, `${made} calls`)
})

test('a deployment that fails does so for the batch, and the next one serves it', async () => {
  const texts = words('after a failure', 16)
  const { answers, made } = await askAll('failing-w16', texts)
  for (const [index, text] of texts.entries()) assertVector(answers[index], text)
  assert.ok(made <= 16, `${made} calls`)
})

test('the same text from many callers at once is sent once', async () => {
  const before = gateway.provider.entries().length
  const { answers } = await askAll(
    'batched-w16',
    Array.from({ length: 16 }, () => 'the very same'),
  )
  for (const answer of answers) assertVector(answer, 'the very same')
  const own = gateway.provider.entries().slice(before)
  const sent = own.reduce((sum, { inputs }) => sum + inputs, 0)
  assert.ok(sent < 16, `${sent} inputs`)
  assert.ok(answers.some(({ headers }) => headers.get('x-torana-cache') === 'hits=1, misses=0'))
})
