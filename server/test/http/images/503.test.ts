/** The gateway, or the way to the upstream, is at its limit: nothing is bought, and a retry is invited. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { startGateway } from '#test/support/gateway.ts'
import { askImages, assertImageFault, picturesIn, purchasesAt } from '#test/support/image-answers.ts'
import { eventually } from '#test/support/process.ts'

/** Accepts connections and sends nothing, so that no TLS handshake completes. */
const sockets = new Set<Socket>()
const mute = createServer((socket) => void sockets.add(socket.on('error', () => {}))).listen(0, '127.0.0.1')
await once(mute, 'listening')
after(() => {
  mute.close()
  for (const socket of sockets) socket.destroy()
})
const muteUrl = `https://127.0.0.1:${(mute.address() as AddressInfo).port}/v1`

const gateway = await startGateway({
  images: {
    'slow-image': { on: 'slow-1500' },
    'quick-image': { on: 'plain' },
    'unpaid-image': { on: 'status-401' },
    'mute-image': { on: 'plain+key-mute', upstream: { baseUrl: muteUrl } },
  },
  limits: { maxImageJobs: 1, connectTimeoutMs: 500, queueWaitMs: 200 },
})
const { provider } = gateway

test('a node that works on as many jobs as it may says so, and buys nothing', async () => {
  const underWay = askImages(gateway, { model: 'slow-image' })
  await eventually(async () => assert.equal(provider.counters().inFlight, 1))
  const refused = await askImages(gateway, { model: 'quick-image' })
  assertImageFault(refused, 'too_many_image_jobs')
  assert.equal(refused.headers.get('x-should-retry'), 'true')
  assert.deepEqual(purchasesAt(provider, 'plain'), [])
  await picturesIn(await underWay)
  await picturesIn(await askImages(gateway, { model: 'quick-image' }))
})

test('a refusal of our own credential is never the caller’s', async () => {
  assertImageFault(await askImages(gateway, { model: 'unpaid-image' }), 'upstream_rejected_us', {
    words: /Your key is fine/,
  })
})

test('no connection in time: 504, worth a retry, since nothing was sent', async () => {
  const answer = await askImages(gateway, { model: 'mute-image' })
  assertImageFault(answer, 'upstream_timeout', { words: /did not answer in time/ })
  assert.equal(answer.headers.get('x-should-retry'), 'true')
})
