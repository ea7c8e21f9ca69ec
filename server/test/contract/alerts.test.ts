/** Incidents and notices in PostgreSQL: once, at least once, in order, and held while it is quiet. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { IncidentStep, NewNotice, OpenIncident } from '#core/alerts/incident.ts'
import type { NoticePhase } from '#core/alerts/notice.ts'
import type { DeliveryResult, DueNotice } from '#ports/alerts.ts'
import { PostgresAlertOutbox } from '#stores/postgres/alerts/outbox.ts'
import { PostgresAlertRules } from '#stores/postgres/alerts/rules.ts'
import { postgresStores } from '#test/support/ledger-stores.ts'
import { SECRETS } from '#test/support/directory.ts'
import { sealingKeysOf } from '#runtime/secret.ts'

const open = postgresStores()
const ACTOR = { kind: 'member', name: 'test' } as const
const ARRIVED: DeliveryResult = { isOk: true, status: 200, ms: 1, problem: undefined }
const LOST: DeliveryResult = { isOk: false, status: 503, ms: 1, problem: 'HTTP 503' }
const HOUR_MS = 3_600_000

async function opened() {
  const { database } = await open()
  await database.query('TRUNCATE alert_incidents, alert_queues, alert_deliveries, alert_mute CASCADE')
  const outbox = new PostgresAlertOutbox(database)
  const sent: string[] = []
  const sendAll = async (): Promise<string[]> => {
    sent.length = 0
    for (;;) {
      const due = await outbox.due(16)
      if (due.length === 0) return sent
      for (const one of due) {
        sent.push(`${one.phase} ${one.channel}`)
        await outbox.tried(one, ARRIVED, { outcome: 'sent', pauseMs: 0 })
      }
    }
  }
  const rules = new PostgresAlertRules(database, sealingKeysOf(SECRETS))
  return { database, outbox, rules, sendAll }
}

function incident(over: Partial<OpenIncident> = {}): OpenIncident {
  return {
    id: randomUUID(),
    kind: 'ejected',
    cause: 'gpu-two',
    project: '',
    rules: ['r'],
    severity: 'critical',
    title: 'gpu-two ejected',
    detail: { lines: [], subjects: [], figures: {}, path: '/deployments' },
    level: 0,
    grouped: 1,
    startedAtMs: Date.now(),
    ...over,
  }
}

const SEQUENCES = { start: 0, worse: 100, end: 2000, past: 0 } as const

function notice(of: OpenIncident, channel: string, phase: NoticePhase, heldUntilMs?: number): NewNotice {
  const { id, kind, severity, title } = of
  return {
    channel,
    phase,
    sequence: SEQUENCES[phase],
    heldUntilMs,
    notice: {
      id: `${id}.${SEQUENCES[phase]}`,
      incident: id,
      phase,
      kind,
      severity,
      title,
      lines: [],
      project: undefined,
      grouped: 1,
      startedAt: new Date().toISOString(),
      endedAt: undefined,
      installation: '',
      link: undefined,
      isTest: false,
    },
  }
}

function step(of: OpenIncident, name: IncidentStep['step'], channels: readonly string[], heldMs?: number) {
  const phase = name === 'change' ? 'start' : name
  const notices = channels.map((channel) => notice(of, channel, phase, heldMs))
  return { step: name, incident: of, endedAtMs: Date.now(), notices } satisfies IncidentStep
}

test('an incident that two nodes report starts once and ends once, with one notice of each for a channel', async () => {
  const { outbox, sendAll } = await opened()
  const [one, two] = [incident(), incident()]
  const started = await Promise.all([
    outbox.record([step(one, 'start', ['x'])]),
    outbox.record([step(two, 'start', ['x'])]),
  ])
  assert.equal(started.flat().length, 1)
  const [kept] = await outbox.openIncidents()
  assert.ok(kept)
  const end = step(kept, 'end', ['x', 'never-heard'])
  const ended = await Promise.all([outbox.record([end]), outbox.record([end])])
  assert.equal(ended.flat().length, 1)
  assert.deepEqual(await sendAll(), ['start x', 'end x'])
  assert.deepEqual(await outbox.openIncidents(), [])
})

test('a channel has one notice in flight, and an end never comes before its start', async () => {
  const { outbox } = await opened()
  const [one, two] = [incident(), incident({ cause: 'gpu-three' })]
  await outbox.record([step(one, 'start', ['x']), step(two, 'start', ['x']), step(one, 'end', ['x'])])
  const [first, ...others] = (await Promise.all([outbox.due(16), outbox.due(16), outbox.due(16)])).flat()
  assert.ok(first && others.length === 0 && first.phase === 'start')
  // It fails: the other incident goes on, the end of this one waits for its start.
  await outbox.tried(first, LOST, { outcome: 'failed', retryInMs: 0 })
  const order: string[] = []
  for (let due = await outbox.due(16); due.length > 0; due = await outbox.due(16)) {
    const [next] = due as [DueNotice]
    order.push(`${next.incident === one.id ? 'one' : 'two'} ${next.phase} ${next.tries}`)
    await outbox.tried(next, ARRIVED, { outcome: 'sent', pauseMs: 0 })
  }
  assert.ok(order.indexOf('one start 2') < order.indexOf('one end 1'), order.join())
  assert.equal(order.length, 3)
})

test('a failing channel waits for its next try, says since when it fails, and is tried at once on request', async () => {
  const { database, outbox } = await opened()
  const one = incident()
  await outbox.record([step(one, 'start', ['x'])])
  const [due] = (await outbox.due(16)) as [DueNotice]
  await outbox.tried(due, LOST, { outcome: 'failed', retryInMs: HOUR_MS })
  assert.deepEqual(await outbox.due(16), [])
  const [queue] = await database.query<{ failures: number; failing_since: Date | null }>(
    'SELECT failures, failing_since FROM alert_queues',
  )
  assert.deepEqual([queue?.failures, queue?.failing_since instanceof Date], [1, true])
  await outbox.retryNow('x')
  const [again] = (await outbox.due(16)) as [DueNotice]
  assert.deepEqual([again.tries, again.failures], [2, 1])
})

test('a notice of a node that died is sent by another', async () => {
  const { database, outbox, sendAll } = await opened()
  await outbox.record([step(incident(), 'start', ['x'])])
  assert.equal((await outbox.due(16)).length, 1)
  assert.deepEqual(await sendAll(), [])
  await database.query(`UPDATE alert_queues SET held_until = now() - interval '1 s'`)
  assert.deepEqual(await sendAll(), ['start x'])
})

test('an incident that starts and ends within quiet hours is one notice, which says so', async () => {
  const { database, outbox, sendAll } = await opened()
  const one = incident()
  const untilMs = Date.now() + HOUR_MS
  await outbox.record([step(one, 'start', ['x'], untilMs)])
  await outbox.record([step(one, 'end', ['x'], untilMs)])
  assert.deepEqual(await sendAll(), [])
  await database.query(`UPDATE alert_notices SET due_at = now()`)
  assert.deepEqual(await sendAll(), ['past x'])
})

test('what starts while all is muted waits; what ends meanwhile is not sent; the rest follows when the mute ends', async () => {
  const { outbox, rules, sendAll } = await opened()
  await rules.mute(Date.now() + HOUR_MS, ACTOR)
  const [one, two] = [incident(), incident({ cause: 'gpu-three' })]
  await outbox.record([step(one, 'start', ['x']), step(two, 'start', ['x'])])
  await outbox.record([step(one, 'end', ['x'])])
  assert.deepEqual(await sendAll(), [])
  await rules.mute(undefined, ACTOR)
  assert.deepEqual(await sendAll(), ['start x'])
})

test('incidents of long ago are deleted with their notices, and open ones stay', async () => {
  const { database, outbox } = await opened()
  const [one, two] = [incident(), incident({ cause: 'gpu-three' })]
  await outbox.record([step(one, 'start', ['x']), step(two, 'start', ['x']), step(one, 'end', ['x'])])
  await database.query(
    `UPDATE alert_incidents SET ended_at = now() - interval '2 days' WHERE ended_at IS NOT NULL`,
  )
  assert.equal(await outbox.deleteOld(86_400_000), 1)
  assert.deepEqual(
    (await outbox.openIncidents()).map(({ id }) => id),
    [two.id],
  )
})
