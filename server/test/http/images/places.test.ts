/** Slots for image jobs: the jobs of one project do not take them from another. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway } from '#test/support/gateway.ts'
import { askImages, assertImageFault, picturesIn, purchasesAt } from '#test/support/image-answers.ts'
import { eventually } from '#test/support/process.ts'

const LOUD = 'key-of-a-loud-project-00001'
const CALM = 'key-of-a-calm-project-00001'
const gateway = await startGateway({
  images: { 'slow-image': { on: 'slow-3000' }, 'quick-image': { on: 'plain' } },
  projects: {
    loud: { keys: [{ name: 'loud', secret: LOUD }] },
    calm: { keys: [{ name: 'calm', secret: CALM }] },
  },
  limits: { maxImageJobs: 8, queueWaitMs: 200 },
})
const { provider } = gateway

test('jobs of one project leave a place to others, and its own wait or are refused', async () => {
  const underWay = Array.from({ length: 12 }, () =>
    askImages(gateway, { model: 'slow-image' }, { key: LOUD }),
  )
  await eventually(async () => assert.equal(provider.counters().inFlight, 7))
  await picturesIn(await askImages(gateway, { model: 'quick-image' }, { key: CALM }))
  const answers = await Promise.all(underWay)
  const refused = answers.filter(({ status }) => status !== 200)
  assert.equal(refused.length, 5)
  for (const answer of refused) assertImageFault(answer, 'too_many_image_jobs', { words: /already has 7/ })
  assert.equal(purchasesAt(provider, 'slow-3000').length, 7)
})
