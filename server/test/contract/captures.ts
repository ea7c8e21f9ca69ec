/** Captured inputs in a database: sealed, kept for a day, within their room, and in no backup. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CAPTURED_MS, type CapturedRequest } from '#ports/captures.ts'
import { captureKeysOf } from '#runtime/secret.ts'
import { tablesIn } from '#stores/postgres/backup/tables.ts'
import { PostgresCaptures } from '#stores/postgres/ledger/captures.ts'
import type { LedgerStores } from '#test/support/ledger-stores.ts'
import { SECRETS } from '#test/support/directory.ts'

const always = (): boolean => true

export function capturesSuite(engine: string, open: () => Promise<LedgerStores>): void {
  const opened = async () => {
    const stores = await open()
    const captures = new PostgresCaptures(stores.database, captureKeysOf(SECRETS), stores.clock)
    const request = (more: Partial<CapturedRequest> = {}, text = 'a canary text'): CapturedRequest => ({
      requestId: stores.identifiers.next(),
      project: 'search',
      hasFailed: false,
      capturedAtMs: stores.clock.nowMs(),
      input: {
        route: 'embeddings',
        path: undefined,
        headers: { 'x-torana-tags': 'a=b' },
        body: Buffer.from(text),
      },
      ...more,
    })
    return { ...stores, captures, request }
  }

  test(`${engine}: what was captured is read as it was sent, and the database can not read it`, async () => {
    const { captures, request, database } = await opened()
    const path = { model: 'small', pathWins: true }
    const one = request({ input: { ...request().input, path, body: Buffer.from('{"a":\n1}') } })
    await captures.append([one, request()])
    await captures.append([one])
    const read = await captures.open(one.requestId)
    assert.deepEqual(read && { ...read, body: Buffer.from(read.body) }, one.input)
    assert.equal((await captures.find(one.requestId))?.capturedAtMs, one.capturedAtMs)
    const [row] = await database.query<{ sealed: Uint8Array }>('SELECT sealed FROM captured_requests LIMIT 1')
    assert.ok(!Buffer.from(row?.sealed ?? []).includes('canary'))
    const [sums] = await database.query<{ same: boolean }>(
      'SELECT (SELECT sum(bytes) FROM captured_bytes) = (SELECT sum(bytes) FROM captured_requests) AS same',
    )
    assert.equal(sums?.same, true)
  })

  test(`${engine}: a row under the id of another request, or of another secret, does not open`, async () => {
    const { captures, request, database, clock } = await opened()
    const one = request()
    await captures.append([one])
    const others = new PostgresCaptures(database, captureKeysOf({ current: 'x', previous: undefined }), clock)
    assert.equal(await others.open(one.requestId), undefined)
    const next = new PostgresCaptures(
      database,
      captureKeysOf({ current: 'x', previous: SECRETS.current }),
      clock,
    )
    assert.ok(await next.open(one.requestId))
    const moved = request().requestId
    await database.query('UPDATE captured_requests SET request_id = $1', [moved])
    assert.equal(await captures.open(moved), undefined)
  })

  test(`${engine}: after a day it is gone, deleted or not, and so is that of a project that stopped`, async () => {
    const { captures, request, database, clock } = await opened()
    const [old, stopped] = [request(), request({ project: 'ads' })]
    await captures.append([old, stopped])
    clock.ms += CAPTURED_MS
    const fresh = [request(), request({ project: 'ads' })] as const
    await captures.append(fresh)
    assert.equal(await captures.find(old.requestId), undefined)
    assert.equal(await captures.deleteOld((project) => project === 'search'), 3)
    assert.deepEqual(await database.query('SELECT request_id FROM captured_requests'), [
      { request_id: fresh[0].requestId },
    ])
    assert.equal((await database.query('SELECT FROM captured_bytes')).length, 1)
  })

  test(`${engine}: a project that has no room loses its oldest, those of failed requests last`, async () => {
    const { captures, request, database } = await opened()
    const failed = request({ hasFailed: true })
    const first = request()
    const others = request({ project: 'ads' })
    await captures.append([failed, first, others])
    // Rows as large as the whole room of a project, without their bytes.
    await database.query('UPDATE captured_requests SET bytes = 200000000 WHERE project = $1', ['search'])
    assert.equal(await captures.deleteOld(always), 1)
    for (const [id, isThere] of [
      [failed.requestId, true],
      [first.requestId, false],
      [others.requestId, true],
    ] as const)
      assert.equal((await captures.find(id)) !== undefined, isThere)
    await captures.append([request()])
    await database.query('UPDATE captured_bytes SET bytes = 400000000 WHERE project = $1', ['search'])
    const last = request()
    await captures.append([last])
    assert.equal(await captures.find(failed.requestId), undefined)
  })

  test(`${engine}: no backup has captured inputs`, async () => {
    const { database } = await opened()
    const names = (await tablesIn(database)).map(({ name }) => name)
    assert.ok(names.includes('requests') && !names.some((name) => name.startsWith('captured_')))
  })
}
