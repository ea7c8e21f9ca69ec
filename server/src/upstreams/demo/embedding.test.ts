import assert from 'node:assert/strict'
import { after, test } from 'node:test'
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
  assert.equal(served.status, 'fulfilled')
})
