import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { UpstreamFailure } from '#core/fault/failure.ts'
import type { EmbeddingCall } from '#ports/upstream.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { DemoEmbedding } from './embedding.ts'

const demo = new DemoEmbedding()
after(() => demo.close())

function aCall(project: string, texts: readonly string[], timeoutMs = 120_000): EmbeddingCall {
  return {
    callId: 'c',
    project,
    deployment: aDeployment({}),
    inputs: { kind: 'texts', texts },
    dimensions: undefined,
    width: 512,
    inputType: undefined,
    inputTypeField: undefined,
    user: undefined,
    extraFields: {},
    wantedForm: 'float32',
    timeoutMs,
  }
}

test('projects take turns at the demo model, and a call of many texts is several turns', async () => {
  const ended: string[] = []
  const many = Array.from({ length: 100 }, (_, index) => `text ${index}`)
  const ask = async (project: string, texts: readonly string[]) => {
    const answer = await demo.embed(aCall(project, texts))
    ended.push(project)
    return answer
  }
  const [first] = await Promise.all([ask('flood', many), ask('flood', many), ask('neighbour', ['a'])])
  assert.deepEqual(ended, ['neighbour', 'flood', 'flood'])
  assert.equal(first.vectors.length, many.length)
  const alone = await demo.embed(aCall('flood', [many[99] ?? '']))
  const values = (answer: typeof alone, index: number): string =>
    JSON.stringify(
      answer.vectors[index]?.form === 'float32' &&
        [...answer.vectors[index].values].slice(0, 3).map((value) => value.toFixed(4)),
    )
  assert.equal(values(first, 99), values(alone, 0))
})

test('a call that is not done in its time fails alone', async () => {
  const many = Array.from({ length: 100 }, (_, index) => `text ${index}`)
  const [late, served] = await Promise.allSettled([
    demo.embed(aCall('flood', many, 1)),
    demo.embed(aCall('neighbour', ['a'])),
  ])
  assert.match(String(late.status === 'rejected' && late.reason), /took longer than 1 ms/)
  assert.equal((late as PromiseRejectedResult).reason.mayBeCharged, false, 'nobody is paid for it')
  assert.equal(served.status, 'fulfilled')
})

test('a text that is too long is refused at once, and the next one is answered', async () => {
  const refused = (words: RegExp) => (error: UpstreamFailure) => {
    assert.equal(error.kind, 'refused')
    assert.match(error.message, words)
    assert.equal(error.detail.tooLongInput, 1)
    return true
  }
  for (const [text, words] of [
    [
      'x'.repeat(500_000),
      /has 500000 characters; the demo model reads at most 2048 tokens and 8192 characters/,
    ],
    // One character that the tokenizer writes as 18.
    ['\ufdfa'.repeat(8000), /has 144000 characters/],
    ['ab '.repeat(2700), /has \d+ tokens/],
  ] as const)
    await assert.rejects(demo.embed(aCall('p', ['a', text])), refused(words))
  const { vectors } = await demo.embed(aCall('p', ['cat']))
  assert.equal(vectors.length, 1)
})

test('long texts take a turn each: a neighbour waits for one of them, not for all', async () => {
  const ended: string[] = []
  const long = Array.from({ length: 6 }, (_, index) => `number ${index} ${'and so on '.repeat(400)}`)
  const ask = async (project: string, texts: readonly string[]): Promise<void> => {
    await demo.embed(aCall(project, texts))
    ended.push(project)
  }
  await Promise.all([ask('flood', long), ask('neighbour', ['cat'])])
  assert.deepEqual(ended, ['neighbour', 'flood'])
})

test('work of a caller whose time is up leaves the line: the next call waits for one turn at most', async () => {
  const long = Array.from({ length: 32 }, (_, index) => `number ${index} ${'and so on '.repeat(400)}`)
  const late = Array.from({ length: 8 }, () => demo.embed(aCall('flood', long, 50)))
  const outcomes = Promise.allSettled(late)
  const { vectors } = await demo.embed(aCall('flood', ['cat']))
  assert.equal(vectors.length, 1)
  for (const outcome of await outcomes) assert.equal(outcome.status, 'rejected')
})

test('of two calls of a project the first is done first: together they would both be late', async () => {
  const ended: string[] = []
  const ask = async (name: string, count: number): Promise<void> => {
    await demo.embed(
      aCall(
        'p',
        Array.from({ length: count }, (_, index) => `${name} ${index}`),
      ),
    )
    ended.push(name)
  }
  await Promise.all([ask('first', 40), ask('second', 9)])
  assert.deepEqual(ended, ['first', 'second'])
})
