import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import OpenAI from 'openai'
import { startGateway } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'

const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`
const KEY = 'webhook-project-key-000001'

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

interface Event {
  readonly id: string
  readonly type: string
  readonly data: { readonly id?: string; readonly percent?: number; readonly budget?: string }
}

const received: Received[] = []
const receiver = createServer((request, response) => {
  void text(request).then((body) => {
    received.push({ headers: request.headers, body })
    response.writeHead(204).end()
  })
}).listen(0, '127.0.0.1')
await once(receiver, 'listening')
after(() => receiver.close())
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/torana`

const gateway = await startGateway({
  images: {
    paid: { on: 'plain', price: { usdPerImage: 0.06 } },
    refused: { on: 'moderation', price: { usdPerImage: 0.06 } },
  },
  projects: {
    shop: {
      keys: [{ name: 'ci', secret: KEY }],
      budget: { usd: 0.1, per: 'day', hard: false },
      webhooks: [{ url, secret: SECRET, private: true }],
    },
  },
})

const client = new OpenAI({ apiKey: 'unused', webhookSecret: SECRET })

async function eventsOf(type: string): Promise<Event[]> {
  const events: Event[] = []
  for (const { body, headers } of received) {
    const event = (await client.webhooks.unwrap(body, headers)) as unknown as Event
    if (event.type === type) events.push(event)
  }
  return events
}

async function ask(model: string): Promise<string> {
  const {
    status,
    headers,
    text: body,
  } = await gateway.ask(
    { model, prompt: 'canary: a gate in the mist' },
    { path: '/v1/images/generations', key: KEY, headers: { prefer: 'respond-async' } },
  )
  assert.equal(status, 202, body)
  return headers.get('x-torana-job') ?? ''
}

test('the end of a job is sent to its project, signed so that OpenAI’s SDK verifies it', async () => {
  const [made, refused] = [await ask('paid'), await ask('refused')]
  await eventually(async () => {
    assert.deepEqual(
      (await eventsOf('image.job.succeeded')).map(({ data }) => data.id),
      [made],
    )
    assert.deepEqual(
      (await eventsOf('image.job.failed')).map(({ data }) => data.id),
      [refused],
    )
  })
  const [{ body, headers } = { body: '', headers: {} }] = received
  await assert.rejects(client.webhooks.unwrap(`${body} `, headers))
  assert.ok(!received.some((one) => one.body.includes('canary')), 'a prompt is nobody else’s business')
})

test('a budget that passes marks reports the highest, each once', async () => {
  const reported = (...expected: readonly string[]): Promise<void> =>
    eventually(async () => {
      const marks = (await eventsOf('budget.reached')).map(({ data }) => `${data.budget} ${data.percent}`)
      assert.deepEqual(marks.toSorted(), expected)
    })
  await reported('project:shop 50')
  await ask('paid')
  await reported('project:shop 100', 'project:shop 50')
})
