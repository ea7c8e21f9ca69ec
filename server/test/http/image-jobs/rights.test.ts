/** Queued image jobs while their key, their project or its budget changes: nothing new is bought. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'
import { askImages, purchasesAt } from '#test/support/image-answers.ts'
import { HeldUpstream } from '#test/support/held-upstream.ts'
import { eventually } from '#test/support/process.ts'

const price = { usdPerImage: 0.04 }
const node = await startConsoleNode({
  images: {
    'one-at-a-time': {
      on: 'mode-held',
      price,
      capabilities: { maxImages: 1, maxParallelCalls: 1 },
    },
    'other-image': { on: 'plain', price },
    'third-image': { on: 'plain', price },
  },
})
const upstream = new HeldUpstream(node.provider, 'held')
const purchases = (): number => purchasesAt(node.provider, 'mode-held').length

async function control(method: string, path: string, body?: object) {
  const answer = await node.control(method, path, { token: NODE_TOKEN, ...(body && { body }) })
  assert.ok(answer.status < 300, answer.text)
  return answer.body
}

let projects = 0

/** A job of two calls, one after the other: the first is held at the upstream. */
async function jobUnderWay() {
  await upstream.hold()
  projects += 1
  const project = `pictures-${projects}`
  const { secret } = await control('POST', '/keys', { project, name: 'k' })
  const watch = await control('POST', '/keys', { project, name: 'watch' })
  const before = purchases()
  const answer = await askImages(
    node,
    { model: 'one-at-a-time', n: 2 },
    { key: String(secret), headers: { prefer: 'respond-async' } },
  )
  assert.equal(answer.status, 202, answer.text)
  const { id } = answer.body as unknown as { id: string }
  await upstream.isAsked()
  return { project, id, before, secret: String(secret), watch: String(watch['secret']) }
}

interface Ended {
  readonly status: string
  readonly result?: { readonly data: readonly unknown[] }
}

/** The node knows of a change when it refuses what the key asks for. Then the call in progress may end. */
async function heard({ secret }: { readonly secret: string }): Promise<void> {
  await eventually(async () => {
    const { status } = await askImages(node, { model: 'third-image' }, { key: secret })
    assert.ok([401, 403, 429].includes(status), `${status}`)
  })
  await upstream.release()
}

/** The call in progress is finished, delivered and accounted for; the other is not made. */
async function endsWithOne({ id, before, watch }: Awaited<ReturnType<typeof jobUnderWay>>) {
  const job = await eventually(async () => {
    const { body } = await node.get(`/v1/images/jobs/${id}`, { key: watch })
    const ended = body as unknown as Ended
    assert.notEqual(ended.status, 'running')
    return ended
  })
  assert.deepEqual([job.status, job.result?.data.length], ['succeeded', 1])
  assert.equal(purchases() - before, 1, 'something was bought after the change')
}

test('a revoked key buys no further picture; the one under way is delivered', async () => {
  const job = await jobUnderWay()
  await control('DELETE', `/keys/${job.project}/k`)
  await heard(job)
  await endsWithOne(job)
})

test('a hard budget that is set meanwhile buys no further picture', async () => {
  const job = await jobUnderWay()
  await control('PATCH', `/projects/${job.project}`, { budget: { usd: '0.001', per: 'day', hard: true } })
  await heard(job)
  await endsWithOne(job)
})

test('a key that may no longer use the model buys no further picture', async () => {
  const job = await jobUnderWay()
  await control('PATCH', `/keys/${job.project}/k`, { models: ['other-image'] })
  await heard(job)
  await endsWithOne(job)
})

test('what nothing changes for buys all its pictures', async () => {
  const job = await jobUnderWay()
  await control('POST', `/keys/${job.project}/k/rotate`, { overlap_seconds: 0 })
  await heard(job)
  const ended = await eventually(async () => {
    const { body } = await node.get(`/v1/images/jobs/${job.id}`, { key: job.watch })
    assert.notEqual((body as unknown as Ended).status, 'running')
    return body as unknown as Ended
  })
  assert.deepEqual([ended.status, ended.result?.data.length], ['succeeded', 2])
})

test('a run of the playground buys nothing more when its token is revoked', async () => {
  const name = 'player'
  const made = await control('POST', '/tokens', { name, role: 'admin', expires_in_days: 1 })
  const before = purchases()
  await upstream.hold()
  const playing = fetch(`${node.controlUrl}/api/v1/playground/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${String(made['secret'])}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      project: 'default',
      model: 'one-at-a-time',
      prompt: 'a bicycle',
      size: '96x64',
      n: 2,
    }),
  })
  await upstream.isAsked()
  await control('DELETE', `/tokens/${name}`)
  await eventually(async () => {
    const { status } = await node.control('GET', '/session', { token: String(made['secret']) })
    assert.equal(status, 401)
  })
  await upstream.release()
  const answer = (await (await playing).json()) as { readonly data: readonly unknown[] }
  assert.equal(answer.data.length, 1, JSON.stringify(answer))
  assert.equal(purchases() - before, 1)
})
