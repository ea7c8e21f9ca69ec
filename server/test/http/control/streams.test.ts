/** Exports and backups: their slots are given back however they end, and they last no longer than the rights of their caller. */
import assert from 'node:assert/strict'
import type { ReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { test } from 'node:test'
import type { Settings } from '#core/settings.ts'
import type { AuditEntry, AuditLog } from '#ports/audit.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { ADMIN_TOKEN, startControl } from '#test/support/control.ts'
import { memoryDirectory } from '#test/support/directory.ts'
import { assertFault } from '#test/support/errors.ts'
import { eventually } from '#test/support/process.ts'
import { temporaryFolder } from '#test/support/servers.ts'
import { absent } from '#test/support/stores/absent.ts'

/** How the stores behave: `endless` always has another page, after a moment. */
let stores: 'quick' | 'away' | 'endless' = 'quick'
let isInForce = true
let questions = 0
let files = 0

async function pages<Row>(row: Row, limit: number): Promise<readonly Row[]> {
  questions += 1
  if (stores === 'away') throw new StoreUnreachable('PostgreSQL: Query read timeout')
  if (stores === 'quick') return [row]
  await setTimeout(20)
  return Array.from({ length: limit }, () => row)
}

const ENTRY = { request_id: '01900000-0000-7000-8000-000000000000', attempt: 1, tags: null }
const AUDITED = { sequence: 1n, atMs: 0, actor: 'a', action: 'b', target: 'c', detail: {}, hash: '' }

async function* fileBytes(): AsyncGenerator<Uint8Array> {
  files += 1
  try {
    for (;;) {
      yield Buffer.alloc(1024)
      await setTimeout(5)
      if (stores !== 'endless') return
    }
  } finally {
    files -= 1
  }
}

const control = await startControl(memoryDirectory(), {
  callerOf: (token) =>
    token === ADMIN_TOKEN
      ? {
          kind: 'node',
          actor: 'admin',
          role: 'admin',
          projects: null,
          isReadOnly: false,
          isInForce: async () => isInForce,
        }
      : undefined,
  node: {
    clock: systemClock,
    settings: { dataDir: temporaryFolder('streams') } as Settings,
    identifiers: uuidv7Identifiers(systemClock),
    audit: {
      list: ({ limit }: { limit: number }) => pages(AUDITED as unknown as AuditEntry, limit),
      appendNews: async () => {},
    } as unknown as AuditLog,
    reports: absent('database', { query: (_, values) => pages(ENTRY, Number(values?.[9])) as never }),
    lake: absent('lake', { cold: absent('cold entries', { keptFromMs: async () => undefined }) }),
    async writeBackup(file) {
      await pages(undefined, 1)
      // A file as slow as the stores.
      file.createReadStream = () => {
        void file.close()
        return Readable.from(fileBytes(), { objectMode: false }) as ReadStream
      }
      return { tables: [], pictures: 0, sha256: '' }
    },
  },
})

const ROUTES = [
  { method: 'GET', path: '/usage/export?rows=ledger&format=ndjson', atOnce: 2, type: 'application/x-ndjson' },
  { method: 'GET', path: '/audit/export', atOnce: 2, type: 'application/x-ndjson; charset=utf-8' },
  { method: 'POST', path: '/backup', atOnce: 1, type: 'application/gzip' },
] as const

function asked(route: (typeof ROUTES)[number], signal: AbortSignal, method: string = route.method) {
  return fetch(`${control.url}/api/v1${route.path}`, {
    method,
    headers: {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      ...(method === 'POST' && { 'content-type': 'application/json' }),
    },
    ...(method === 'POST' && { body: '{}' }),
    signal,
  })
}

/** All slots of the route can be taken. */
function isFree(route: (typeof ROUTES)[number]): Promise<void> {
  return eventually(async () => {
    const answers = await Promise.all(Array.from({ length: route.atOnce }, () => asked(route, soon())))
    await Promise.all(answers.map((answer) => answer.arrayBuffer()))
    assert.ok(answers.every(({ status }) => status === 200))
  })
}

const soon = (): AbortSignal => AbortSignal.timeout(10_000)

for (const route of ROUTES) {
  const { path, method, atOnce, type } = route

  test(`${method} ${path}: ${atOnce} at once, and slots of clients that left are free again`, async () => {
    stores = 'endless'
    const leaving = new AbortController()
    const open = []
    for (let number = 0; number < atOnce; number += 1) open.push(await asked(route, leaving.signal))
    assert.deepEqual(
      open.map(({ status, headers }) => [status, headers.get('content-type')]),
      open.map(() => [200, type]),
    )
    const body = method === 'POST' ? {} : undefined
    assertFault(await control.ask(method, path, body), 'too_many_exports')
    leaving.abort()
    stores = 'quick'
    await isFree(route)
    assert.equal(files, 0)
  })

  test(`${method} ${path}: a store that fails before the headers takes no slot, and is answered as a fault`, async () => {
    stores = 'away'
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const failed = await control.ask(method, path, method === 'POST' ? {} : undefined)
      assert.equal(failed.status, 503, failed.text)
      assertFault(failed, 'store_unreachable')
      assert.equal(failed.headers.get('content-disposition'), null)
    }
    stores = 'quick'
    await isFree(route)
  })

  test(`${method} ${path}: clients that leave at any moment leave no slot behind`, async () => {
    stores = 'endless'
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const leaving = new AbortController()
      const answer = asked(route, leaving.signal).catch(() => {})
      await setTimeout(attempt * 2)
      leaving.abort()
      await answer
    }
    stores = 'quick'
    await isFree(route)
  })

  test(`${method} ${path}: an answer is cut off within two seconds of a change of its caller’s rights`, async () => {
    await isFree(route)
    stores = 'endless'
    try {
      const answer = await asked(route, soon())
      assert.equal(answer.status, 200)
      const startedMs = performance.now()
      isInForce = false
      await assert.rejects(answer.arrayBuffer())
      assert.ok(performance.now() - startedMs < 2000)
    } finally {
      isInForce = true
      stores = 'quick'
    }
    await isFree(route)
  })

  test(`${method} ${path}: rights that were lost while it was opened are refused`, async () => {
    isInForce = false
    try {
      assertFault(await control.ask(method, path, method === 'POST' ? {} : undefined), 'forbidden')
    } finally {
      isInForce = true
    }
  })
}

for (const route of ROUTES.filter(({ method }) => method === 'GET'))
  test(`HEAD ${route.path} answers with headers alone, asks no store and takes no slot`, async () => {
    const before = questions
    stores = 'endless'
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const answer = await asked(route, soon(), 'HEAD')
      assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, route.type])
    }
    assert.equal(questions, before)
    stores = 'quick'
    await isFree(route)
  })
