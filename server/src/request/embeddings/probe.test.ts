/** The probe of a deployment with texts and images: its calls and its ledger entries. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Media } from '#core/content/content.ts'
import { PROBE_IMAGES } from '#core/embedding/probe-images.ts'
import { inputCount } from '#core/embedding/input.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { embedDependencies, MemoryUpstream, type MemoryUpstreamOptions } from '#test/support/embedding.ts'
import { aModel } from '#test/support/models.ts'
import { memoryMoney } from '#test/support/money.ts'
import { probeSpace } from './probe.ts'

const IMAGES = PROBE_IMAGES.map((image): Media => ({ ...image, async *open() {} }))
const TEXTS = ['one', 'two', 'three']

async function probed(options: MemoryUpstreamOptions = {}) {
  const deployment = aDeployment({
    price: { kind: 'perToken', nanoUsdPerMillionTokens: 1_000_000n },
    capabilities: {
      maxInputs: 2,
      contents: {
        wire: 'openrouter',
        inputs: ['text', 'image'],
        fuses: true,
        maxParts: 2,
        maxImages: 1,
        formats: ['png', 'jpeg'],
        fetches: false,
      },
    },
  })
  const model = aModel({ deployments: [deployment] })
  const upstream = new MemoryUpstream(options)
  const money = memoryMoney()
  const outside = embedDependencies(model, upstream, { money })
  let id = 0
  const identifiers = { next: () => `id-${(id += 1)}` }
  const answer = await probeSpace(
    model,
    deployment,
    { texts: TEXTS, images: IMAGES },
    { ...outside, identifiers },
    { samples: 1, repeats: 0 },
  )
  const calls = upstream.calls.map(({ inputs }) => `${inputCount(inputs)} ${inputs.kind}`)
  return { answer, calls, upstream, entries: money.memory.entries() }
}

test('texts and images are one request of project system, in calls that the deployment takes', async () => {
  const { answer, calls, upstream, entries } = await probed()
  assert.deepEqual(calls, ['2 texts', '1 texts', '1 contents', '1 contents', '1 contents'])
  assert.deepEqual(upstream.violations, [])
  assert.deepEqual([answer.texts.length, answer.images?.length], [TEXTS.length, IMAGES.length])
  const posted = entries.filter(({ kind }) => kind === 'post')
  assert.equal(posted.length, calls.length)
  assert.deepEqual(new Set(posted.map(({ project }) => project)), new Set(['system']))
  assert.equal(new Set(posted.map(({ requestId }) => requestId)).size, 1)
  const used = upstream.served.reduce(
    (sum, { usage }) => sum + (usage.kind === 'measured' ? usage.tokens : 0),
    0,
  )
  assert.equal(
    posted.reduce((sum, { tokens = 0 }) => sum + tokens, 0),
    used,
  )
})

test('images that fail leave the vectors of the texts, and what was served is in the ledger', async () => {
  const plan = (_: unknown, number: number) => (number === 3 ? 'failed' : undefined)
  const { answer, calls, entries } = await probed({ plan })
  assert.equal(calls.length, 4)
  assert.equal(answer.texts.length, TEXTS.length)
  assert.equal(answer.images, undefined)
  assert.match(String(answer.imageFailure), /planned: failed/)
  assert.equal(entries.filter(({ kind }) => kind === 'post').length, 3)
})

test('texts that fail are the end of the probe: no image is paid for', async () => {
  await assert.rejects(probed({ plan: () => 'failed' }), /planned: failed/)
})
