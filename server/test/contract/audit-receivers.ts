/** Receivers of the audit in PostgreSQL: in order, at least once, one node at a time, whatever is killed or cut. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HeldReceiver, SentEntry } from '#ports/audit-receivers.ts'
import { PostgresAuditReceivers } from '#stores/postgres/audit-receivers.ts'
import type { LedgerStores } from '#test/support/ledger-stores.ts'

const SIEM = { id: 'https://siem.example/in', holdMs: 30_000 }
const OTHER = { id: 'otlp', holdMs: 30_000 }

export function auditReceiversSuite(name: string, open: () => Promise<LedgerStores>): void {
  const opened = async () => {
    const { database, keys } = await open()
    const receivers = new PostgresAuditReceivers(database)
    let projects = 0
    const write = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index += 1)
        await keys.createProject(
          `p${(projects += 1)}`,
          {},
          { kind: 'member', name: 'test', address: '192.0.2.9' },
        )
    }
    /** Time passes for holds and waits. */
    const passes = (ms: number) =>
      database.query(
        `UPDATE audit_receivers SET held_until = held_until - $1 * interval '1 ms', next_at = next_at - $1 * interval '1 ms'`,
        [ms],
      )
    /** As an owner of the tables could. */
    const tamper = async (statement: string): Promise<void> => {
      await database.query('ALTER TABLE audit DISABLE TRIGGER audit_append_only')
      await database.query(statement)
      await database.query('ALTER TABLE audit ENABLE TRIGGER audit_append_only')
    }
    const take = async (receiver = SIEM): Promise<HeldReceiver | undefined> =>
      (await receivers.due([receiver], 16))[0]
    /** Takes the next entries as a sender would; undefined: nothing was due. */
    const sendAll = async (receiver = SIEM, limit = 10): Promise<readonly SentEntry[] | undefined> => {
      const held = await take(receiver)
      if (held === undefined) return undefined
      const entries = await receivers.unsent(held, limit)
      await receivers.tried(held, { sent: entries.at(-1), failure: undefined })
      return entries
    }
    // The first question makes a receiver known.
    await receivers.due([SIEM, OTHER], 16)
    return { database, receivers, write, passes, tamper, take, sendAll }
  }
  const sequencesOf = (entries: readonly SentEntry[] | undefined) =>
    entries?.map(({ sequence }) => Number(sequence))

  test(`${name}: each receiver gets every entry once and in order, linked to the one before`, async () => {
    const { write, sendAll } = await opened()
    assert.equal(await sendAll(), undefined)
    await write(5)
    const first = await sendAll(SIEM, 3)
    assert.deepEqual(sequencesOf(first), [1, 2, 3])
    const rest = await sendAll(SIEM, 3)
    assert.deepEqual(sequencesOf(rest), [4, 5])
    assert.equal(await sendAll(), undefined)
    const all = [...(first ?? []), ...(rest ?? [])]
    assert.deepEqual(
      all.map(({ previousHash }) => previousHash),
      [undefined, ...all.slice(0, -1).map(({ hash }) => hash)],
    )
    assert.ok(all.every(({ intact, address }) => intact && address === '192.0.2.9'))
    assert.deepEqual(sequencesOf(await sendAll(OTHER)), [1, 2, 3, 4, 5])
  })

  test(`${name}: one node at a time sends to a receiver; what a dead one did not record is sent again`, async () => {
    const { write, take, passes, receivers, sendAll } = await opened()
    await write(2)
    const dead = await take()
    assert.ok(dead)
    assert.equal(await take(), undefined)
    await passes(29_000)
    assert.equal(await take(), undefined)
    await passes(2000)
    const heir = await take()
    assert.ok(heir)
    assert.deepEqual(sequencesOf(await receivers.unsent(heir, 10)), [1, 2])
    const [first, second] = await receivers.unsent(heir, 10)
    await receivers.tried(heir, { sent: second, failure: undefined })
    // The one that was only slow comes too late, and moves nothing back.
    await receivers.tried(dead, { sent: first, failure: { problem: 'late', retryInMs: 60_000 } })
    assert.equal(await sendAll(), undefined)
    await write(1)
    assert.deepEqual(sequencesOf(await sendAll()), [3])
  })

  test(`${name}: a failing receiver waits, keeps its place, and does not hold up another`, async () => {
    const { write, take, passes, receivers, sendAll } = await opened()
    await write(3)
    const fail = async (held: HeldReceiver | undefined, sent?: SentEntry) => {
      assert.ok(held)
      await receivers.tried(held, { sent, failure: { problem: 'status 503', retryInMs: 5000 } })
    }
    await fail(await take())
    assert.equal(await take(), undefined)
    assert.deepEqual(sequencesOf(await sendAll(OTHER)), [1, 2, 3])
    const [state, other] = await receivers.states([SIEM.id, OTHER.id])
    assert.deepEqual(
      [state?.unsent, state?.problem, other?.unsent, other?.unsentSinceMs],
      [3, 'status 503', 0, undefined],
    )
    assert.ok(Math.abs((state?.unsentSinceMs ?? 0) - Date.now()) < 600_000)
    await passes(6000)
    const again = await take()
    assert.equal(again?.failures, 1)
    await fail(again)
    await passes(6000)
    const third = await take()
    assert.equal(third?.failures, 2)
    const [first] = await receivers.unsent(third, 1)
    await fail(third, first)
    await passes(6000)
    const fourth = await take()
    assert.deepEqual([fourth?.failures, fourth?.sentThrough], [1, 1n])
    await receivers.tried(fourth as HeldReceiver, { sent: undefined, failure: undefined })
    assert.deepEqual(sequencesOf(await sendAll()), [2, 3])
    assert.deepEqual(await receivers.states([SIEM.id]), [
      { id: SIEM.id, unsent: 0, unsentSinceMs: undefined, problem: undefined },
    ])
  })

  test(`${name}: an audit that was cut is sent again from the first entry, also when new entries fill the gap`, async () => {
    const { write, take, tamper, receivers, sendAll } = await opened()
    await write(4)
    await sendAll()
    await tamper('DELETE FROM audit WHERE sequence > 2')
    const held = await take()
    assert.deepEqual([held?.isStartedOver, held?.sentThrough], [true, 0n])
    assert.deepEqual(sequencesOf(await receivers.unsent(held as HeldReceiver, 10)), [1, 2])
    await receivers.tried(held as HeldReceiver, { sent: undefined, failure: undefined })
    await sendAll()
    await write(2)
    await sendAll()
    await tamper('DELETE FROM audit WHERE sequence > 2')
    await write(2)
    assert.deepEqual(sequencesOf(await sendAll()), [1, 2, 3, 4])
    await tamper('DELETE FROM audit')
    assert.equal((await take())?.isStartedOver, true)
  })

  test(`${name}: a receiver that the store does not know lacks everything`, async () => {
    const { write, receivers } = await opened()
    await write(2)
    const [state] = await receivers.states(['https://new.example/'])
    assert.equal(state?.unsent, 2)
    assert.deepEqual(await receivers.states([]), [])
    assert.deepEqual(await receivers.due([], 16), [])
  })
}
