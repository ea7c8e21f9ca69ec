/** What every `WebhookOutbox` promises, whichever engine keeps it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WEBHOOK_HOLD_MS, type WebhookDelivery, type WebhookEvent } from '#ports/webhooks.ts'
import { nextId, type JobsWorld } from './image-jobs-open.ts'

function anEvent(id: string, url = 'https://one.example/hook'): WebhookEvent {
  return { id, project: 'shop', url, type: 'budget.reached', payload: `{ "id" :"${id}"}` }
}

const idsOf = (deliveries: readonly WebhookDelivery[]): string[] => deliveries.map(({ id }) => id).toSorted()

export function webhookOutboxSuite(name: string, open: () => Promise<JobsWorld>): void {
  const node = nextId()

  test(`${name}: an event is kept once, byte for byte, and for each webhook`, async () => {
    const { outbox } = await open()
    const event = anEvent('evt_1')
    const other = anEvent('evt_1', 'https://two.example/hook')
    await Promise.all([outbox.enqueue([event, other]), outbox.enqueue([other, event]), outbox.enqueue([])])
    await outbox.enqueue([{ ...event, payload: 'changed' }])
    const due = await outbox.due(node, 10)
    assert.deepEqual(
      due.toSorted((a, b) => (a.url < b.url ? -1 : 1)),
      [event, other].map((one) => ({ ...one, tries: 1 })),
    )
  })

  test(`${name}: an event is one node's to send, until its time is up`, async () => {
    const { outbox, passes } = await open()
    const ids = Array.from({ length: 20 }, (_, index) => `evt_${index}`)
    await outbox.enqueue(ids.map((id) => anEvent(id)))
    const rounds = await Promise.all(Array.from({ length: 6 }, () => outbox.due(nextId(), 5)))
    assert.ok(rounds.every(({ length }) => length <= 5))
    const rest = await outbox.due(node, 100)
    assert.deepEqual(idsOf([...rounds.flat(), ...rest]), ids.toSorted())
    await passes(WEBHOOK_HOLD_MS - 5000)
    assert.deepEqual(await outbox.due(node, 100), [])
    await passes(5000)
    const again = await outbox.due(node, 100)
    assert.equal(again.length, 20)
    assert.ok(again.every(({ tries }) => tries === 2))
  })

  test(`${name}: what was sent or given up is not sent again, not even when it is reported again`, async () => {
    const { outbox, passes } = await open()
    const events = [anEvent('evt_1'), anEvent('evt_2'), anEvent('evt_3')]
    await outbox.enqueue(events)
    const due = await outbox.due(node, 10)
    const of = (id: string): WebhookDelivery => due.find((one) => one.id === id) as WebhookDelivery
    for (let time = 0; time < 2; time += 1) {
      await outbox.done(of('evt_1'))
      await outbox.failed(of('evt_2'), 'give-up')
      await outbox.failed(of('evt_3'), { retryInMs: 30_000 })
    }
    await outbox.enqueue(events)
    await passes(25_000)
    assert.deepEqual(await outbox.due(node, 10), [])
    await passes(5000)
    assert.deepEqual(idsOf(await outbox.due(node, 10)), ['evt_3'])
    await passes(86_400_000)
    assert.deepEqual(idsOf(await outbox.due(node, 10)), ['evt_3'])
  })

  test(`${name}: who comes too late with a failure changes nothing, with a success he ends it`, async () => {
    const { outbox, passes } = await open()
    await outbox.enqueue([anEvent('evt_1')])
    const [late] = (await outbox.due(node, 1)) as [WebhookDelivery]
    await passes(WEBHOOK_HOLD_MS)
    await outbox.due(nextId(), 1)
    await outbox.failed(late, 'give-up')
    await outbox.failed(late, { retryInMs: 0 })
    assert.deepEqual(await outbox.due(node, 1), [])
    await outbox.done(late)
    await passes(WEBHOOK_HOLD_MS)
    assert.deepEqual(await outbox.due(node, 1), [])
  })

  test(`${name}: first tries come before repeated ones`, async () => {
    const { outbox, passes } = await open()
    const url = 'https://gone.example/hook'
    await outbox.enqueue(['evt_1', 'evt_2'].map((id) => anEvent(id, url)))
    for (const delivery of await outbox.due(node, 10)) await outbox.failed(delivery, { retryInMs: 1000 })
    await passes(2000)
    await outbox.enqueue([anEvent('evt_3')])
    assert.deepEqual(idsOf(await outbox.due(node, 1)), ['evt_3'])
    assert.deepEqual(idsOf(await outbox.due(node, 10)), ['evt_1', 'evt_2'])
  })

  test(`${name}: what has ended is deleted in its time, what waits never`, async () => {
    const { outbox, passes } = await open()
    await outbox.enqueue([anEvent('evt_1'), anEvent('evt_2'), anEvent('evt_3')])
    const due = await outbox.due(node, 10)
    for (const delivery of due) {
      if (delivery.id === 'evt_1') await outbox.done(delivery)
      if (delivery.id === 'evt_2') await outbox.failed(delivery, 'give-up')
    }
    await passes(50_000)
    assert.equal(await outbox.deleteOld(60_000), 0)
    await passes(20_000)
    assert.equal(await outbox.deleteOld(60_000), 2)
    assert.deepEqual(idsOf(await outbox.due(node, 10)), ['evt_3'])
  })
}
