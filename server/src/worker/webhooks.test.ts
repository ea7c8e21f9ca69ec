import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import type { WebhookEvent } from '#ports/webhooks.ts'
import { MemoryWebhooks } from '#test/support/stores/webhooks.ts'
import { eventually } from '#test/support/process.ts'
import { Link, behind, type Loss } from '#test/support/losing-store.ts'
import { WebhookHttp } from '#upstreams/connect/webhook.ts'
import { WebhookSender } from './webhooks.ts'

/** A receiver with scripted answers, an outbox whose clock is moved by hand, and a sender between them. */
async function world() {
  const answers: number[] = []
  const received: string[] = []
  const server = createServer((request, response) => {
    received.push(String(request.headers['webhook-id']))
    request.resume()
    response.writeHead(answers.shift() ?? 200).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  let nowMs = Date.UTC(2026, 10, 20)
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const link = new Link()
  const outbox = behind(link, new MemoryWebhooks(clock))
  const transport = new WebhookHttp({ clock, allowPrivate: true })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const reports: string[] = []
  /** What happens to each record that an event was sent, one after another. */
  const notes: Loss[] = []
  const secrets = new Map([[`shop ${url}`, 'a secret of some length!']])
  const sender = new WebhookSender({
    nodeId: 'node',
    outbox,
    transport,
    secretOf: (project, of) => secrets.get(`${project} ${of}`),
    pollMs: 10,
    events: {
      sent: ({ id }) => {
        reports.push(`sent ${id}`)
        // The sender records it next, before anything else can ask the outbox.
        link.planned.push(...notes.splice(0, 1))
      },
      notSent: ({ id }, reason, retryInMs) => reports.push(`${id}: ${reason}, ${retryInMs ?? 'given up'}`),
      trouble: (error) => reports.push((error as Error).name),
    },
  })
  after(async () => {
    await transport.close()
    server.closeAllConnections()
    server.close()
  })
  const event = (id: string, project = 'shop'): WebhookEvent => ({
    id,
    project,
    url,
    type: 'budget.reached',
    payload: '{}',
  })
  return {
    answers,
    received,
    link,
    notes,
    outbox,
    sender,
    reports,
    event,
    passes: (ms: number) => (nowMs += ms),
  }
}

test('an event is sent until it arrives, with longer and longer waits', async () => {
  const { answers, received, outbox, sender, reports, event, passes } = await world()
  answers.push(500, 302, 429)
  await outbox.enqueue([event('evt_1')])
  await sender.sendDue()
  for (const waitMs of [5000, 30_000, 120_000]) {
    passes(waitMs - 1)
    await sender.sendDue()
    passes(1)
    await sender.sendDue()
  }
  await sender.sendDue()
  assert.equal(received.length, 4)
  assert.deepEqual(reports, [
    'evt_1: status 500, 5000',
    'evt_1: status 302, 30000',
    'evt_1: status 429, 120000',
    'sent evt_1',
  ])
})

test('an event that never arrives is given up after seven tries, and it is told', async () => {
  const { answers, received, outbox, sender, reports, event, passes } = await world()
  answers.push(...Array.from({ length: 20 }, () => 503))
  await outbox.enqueue([event('evt_1')])
  for (let time = 0; time < 20; time += 1) {
    await sender.sendDue()
    passes(6 * 3_600_000)
  }
  assert.equal(received.length, 7)
  assert.deepEqual(
    reports.map((line) => line.split(', ').at(-1)),
    ['5000', '30000', '120000', '600000', '3600000', '21600000', 'given up'],
  )
})

test('a webhook that is gone, or configured no more, gets nothing more', async () => {
  const { answers, received, outbox, sender, reports, event, passes } = await world()
  answers.push(410)
  await outbox.enqueue([event('evt_1'), event('evt_2', 'other')])
  await sender.sendDue()
  passes(86_400_000)
  await sender.sendDue()
  assert.deepEqual(received, ['evt_1'])
  assert.deepEqual(reports.toSorted(), [
    'evt_1: status 410, given up',
    'evt_2: the webhook is configured no more, given up',
  ])
})

test('more events than are sent side by side are all sent, each once', async () => {
  const { received, outbox, sender, event } = await world()
  const ids = Array.from({ length: 50 }, (_, index) => `evt_${index}`)
  await outbox.enqueue(ids.map((id) => event(id)))
  await sender.sendDue()
  assert.deepEqual(received.toSorted(), ids.toSorted())
})

test('an event whose sending could not be noted is sent again', async () => {
  const { received, notes, outbox, sender, reports, event, passes } = await world()
  await outbox.enqueue([event('evt_1')])
  notes.push('before')
  await sender.sendDue()
  passes(60_000)
  await sender.sendDue()
  assert.deepEqual(received, ['evt_1', 'evt_1'])
  assert.deepEqual(reports, ['sent evt_1', 'StoreUnreachable', 'sent evt_1'])
})

test('it looks for events until it is stopped, also after trouble', async () => {
  const { received, link, outbox, sender, reports, event } = await world()
  link.planned.push('before')
  const sending = sender.start()
  await eventually(async () => assert.deepEqual(reports, ['StoreUnreachable']))
  await outbox.enqueue([event('evt_1')])
  await eventually(async () => assert.deepEqual(received, ['evt_1']))
  await sending.stop()
  await outbox.enqueue([event('evt_2')])
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.deepEqual(received, ['evt_1'])
})

test('a receiver that hangs holds up its own event, and no other', async () => {
  const clock = { nowMs: () => 0, monotonicMs: () => 0 }
  const outbox = new MemoryWebhooks(clock)
  const hanging = Promise.withResolvers<{ readonly status: number }>()
  const posted: string[] = []
  const sender = new WebhookSender({
    nodeId: 'node',
    outbox,
    transport: {
      post({ id }) {
        posted.push(id)
        return id === 'hangs' ? hanging.promise : Promise.resolve({ status: 200 })
      },
    },
    secretOf: () => 'a secret of some length!',
    pollMs: 5,
    events: { sent: () => {}, notSent: () => {}, trouble: () => {} },
  })
  const event = (id: string): WebhookEvent => ({
    id,
    project: 'shop',
    url: 'http://x/',
    type: 'budget.reached',
    payload: '{}',
  })
  await outbox.enqueue([event('hangs'), event('second')])
  const sending = sender.start()
  await eventually(async () => assert.deepEqual(posted, ['hangs', 'second']))
  await outbox.enqueue([event('third')])
  await eventually(async () => assert.deepEqual(posted, ['hangs', 'second', 'third']))
  hanging.resolve({ status: 200 })
  await sending.stop()
})
