import assert from 'node:assert/strict'
import { test } from 'node:test'
import { budgetReachedEvents, jobEndEvents, type ReachedBudget } from './webhook-events.ts'

const url = 'https://one.example/hook'
const reached: ReachedBudget = {
  project: 'shop',
  budgetId: 'project:shop',
  windowStartMs: Date.UTC(2026, 10, 1),
  percent: 80,
  spentNanoUsd: 8_100_000_000n,
  limitNanoUsd: 10_000_000_000n,
}

test('the event of a budget that reached a mark names what was spent and its limit', () => {
  const [event] = budgetReachedEvents(reached, Date.UTC(2026, 10, 20), () => [{ url }])
  assert.match(event?.id ?? '', /^evt_[\da-f]{32}$/)
  assert.deepEqual(JSON.parse(event?.payload ?? ''), {
    id: event?.id,
    object: 'event',
    created_at: Date.UTC(2026, 10, 20) / 1000,
    type: 'budget.reached',
    data: { budget: 'project:shop', percent: 80, spent_usd: 8.1, limit_usd: 10 },
  })
})

test('nodes that notice the same make the same event, and other marks make others', () => {
  const idOf = (change: Partial<ReachedBudget>, atMs = 0): string | undefined =>
    budgetReachedEvents({ ...reached, ...change }, atMs, () => [{ url }])[0]?.id
  assert.equal(idOf({ spentNanoUsd: 8_200_000_000n }, 5), idOf({}))
  for (const change of [
    { percent: 100 },
    { windowStartMs: 0 },
    { budgetId: 'key:shop/ci' },
    { project: 'x' },
  ])
    assert.notEqual(idOf(change), idOf({}))
})

test('webhooks are asked for by project and type, and a URL named twice gets one event', () => {
  const job = { id: 'job', project: 'shop', model: 'painter', createdAtMs: 0 }
  const asked: string[] = []
  for (const state of ['settled', 'failed', 'unknown'] as const) {
    const events = jobEndEvents(job, state, 1000, (project, type) => {
      asked.push(`${project} ${type}`)
      return state === 'failed' ? [] : [{ url }, { url }]
    })
    assert.equal(events.length, state === 'failed' ? 0 : 1)
  }
  assert.deepEqual(asked, ['shop image.job.succeeded', 'shop image.job.failed', 'shop image.job.unknown'])
})
