/** Answers without an image, images at forbidden addresses, and what is paid for although it cannot be used. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { startGateway } from '#test/support/gateway.ts'
import {
  askImages,
  assertImageFault,
  eventsIn,
  IMAGES_PATH,
  purchasesAt,
  servedBy,
} from '#test/support/image-answers.ts'

/** Counts the visitors. */
let visits = 0
const forbidden = createServer((socket) => {
  visits += 1
  socket.destroy()
}).listen(0, '127.0.0.1')
await once(forbidden, 'listening')
const forbiddenPort = (forbidden.address() as AddressInfo).port

/** An upstream whose images lie at the address in the model's name. */
const addresses: Record<string, string> = {
  loopback: `http://127.0.0.1:${forbiddenPort}/secret.png`,
  name: `http://localhost:${forbiddenPort}/secret.png`,
  tls: `https://127.0.0.1:${forbiddenPort}/secret.png`,
  mapped: `http://[::ffff:127.0.0.1]:${forbiddenPort}/secret.png`,
  metadata: 'http://169.254.169.254/latest/meta-data/',
  file: 'file:///etc/passwd',
}
let sold = 0
const seller = createHttpServer((request, response) => {
  request.resume().once('end', () => {
    // Not the node's own look at whether the upstream is there.
    if (request.method === 'POST') sold += 1
    const [, name = ''] = (request.url ?? '').split('/')
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ created: 1, data: [{ url: addresses[name] }] }))
  })
}).listen(0, '127.0.0.1')
await once(seller, 'listening')
const sellerUrl = `http://127.0.0.1:${(seller.address() as AddressInfo).port}`
after(() => {
  forbidden.close()
  seller.close()
})

const price = { usdPerImage: 0.04 }
const at = (name: string) => ({ upstream: { base: name, baseUrl: `${sellerUrl}/${name}/v1` } })
const gateway = await startGateway({
  images: {
    ...Object.fromEntries(
      Object.keys(addresses).map((name) => [
        `${name}-image`,
        { on: 'plain', ...at(name), capabilities: { forms: ['url'] }, price },
      ]),
    ),
    'foreign-image': { on: 'url-only+foreign-files', capabilities: { forms: ['url'] } },
    'missing-image': { on: 'url-only+file-status-404', capabilities: { forms: ['url'] } },
    'torn-image': { on: 'url-only+file-half', capabilities: { forms: ['url'] } },
    'text-image': { on: 'not-a-picture', price },
    'broken-image': { on: 'garbage' },
    'failing-image': { on: 'status-500' },
    'gone-image': { on: 'status-404' },
  },
})
const { provider } = gateway

for (const [name, address] of Object.entries(addresses)) {
  test(`a picture said to be at ${address.replace(String(forbiddenPort), '<port>')} is not fetched`, async () => {
    const soldBefore = sold
    const answer = await askImages(gateway, { model: `${name}-image` })
    assertImageFault(answer, 'outcome_unknown')
    assert.deepEqual([sold, visits], [soldBefore + 1, 0])
  })
}

test('an address of another host than the upstream’s is not connected to when it lies inside', async () => {
  assertImageFault(await askImages(gateway, { model: 'foreign-image' }), 'outcome_unknown', {
    words: /an address that is not connected to/,
  })
  assert.deepEqual(
    provider.entries().filter(({ operation }) => operation === 'download'),
    [],
  )
})

for (const [model, scenario] of [
  ['missing-image', 'url-only+file-status-404'],
  ['torn-image', 'url-only+file-half'],
]) {
  test(`${model}: a picture that can not be fetched is asked for again, and never bought again`, async () => {
    const answer = await askImages(gateway, { model })
    assertImageFault(answer, 'outcome_unknown', { words: /could not be fetched/ })
    // Without the node's own look, as above.
    const entries = provider
      .entries()
      .filter((entry) => entry.scenario === scenario && entry.operation !== undefined)
    assert.deepEqual(
      entries.map(({ operation }) => operation),
      ['generate', 'download', 'download', 'download'],
    )
  })
}

test('what can not be converted is paid, and the same Idempotency-Key does not buy it again', async () => {
  const headers = { 'idempotency-key': 'a-text-as-a-picture' }
  for (let time = 1; time <= 2; time += 1) {
    const answer = await askImages(gateway, { model: 'text-image', output_format: 'webp' }, { headers })
    assertImageFault(answer, 'upstream_broken_answer', { words: /converted to webp/ })
    assert.equal(servedBy(provider, 'not-a-picture').length, 1)
  }
})

test('the retry that an SDK makes by itself does not buy it again either', async () => {
  const fields = { model: 'text-image', output_format: 'jpeg' }
  const servedBefore = servedBy(provider, 'not-a-picture').length
  for (const retry of ['0', '1', '2']) {
    const headers = { 'x-stainless-retry-count': retry }
    assertImageFault(await askImages(gateway, fields, { headers }), 'upstream_broken_answer')
  }
  assert.equal(servedBy(provider, 'not-a-picture').length, servedBefore + 1)
})

test('failures of an upstream are reported with its name and status, and nothing was bought', async () => {
  const failed = await askImages(gateway, { model: 'failing-image' })
  assertImageFault(failed, 'upstream_failed', { words: /with 500/ })
  assert.equal(failed.body.error.upstream?.status, 500)
  assertImageFault(await askImages(gateway, { model: 'gone-image' }), 'upstream_model_missing')
  assert.deepEqual([servedBy(provider, 'status-500'), servedBy(provider, 'status-404')], [[], []])
})

test('an unknown outcome is not retried by a request with the same key', async () => {
  const headers = { 'idempotency-key': 'an-unknown-outcome' }
  for (let time = 1; time <= 2; time += 1)
    assertImageFault(await askImages(gateway, { model: 'broken-image' }, { headers }), 'outcome_unknown')
  assert.equal(purchasesAt(provider, 'garbage').length, 1)
})

test('a failure before the first event of a stream is an answer of its own', async () => {
  const answer = await gateway.ask(
    { model: 'failing-image', prompt: 'a', stream: true },
    { path: IMAGES_PATH },
  )
  assert.throws(() => eventsIn(answer))
  assert.deepEqual([answer.status, answer.body.error.code], [502, 'upstream_failed'])
})
