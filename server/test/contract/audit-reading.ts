/** What every `AuditLog` promises its readers, whichever engine it is kept in. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SYSTEM } from '#ports/audit.ts'
import type { Directory } from '#test/support/directory.ts'

export function auditReadingSuite(name: string, open: () => Promise<Directory>): void {
  async function withEntries() {
    const directory = await open()
    const { keyStore } = directory
    await keyStore.createProject('one', {}, { kind: 'member', name: 'ada', address: '192.0.2.1' })
    await keyStore.createProject('two', {}, { kind: 'member', name: 'bob' })
    await keyStore.setProject('one', { limits: { requestsPerMinute: 1 } }, { kind: 'member', name: 'bob' })
    return directory
  }

  test(`${name}: the audit is filtered by actor, action, target and time, and every entry is still checked`, async () => {
    const { audit } = await withEntries()
    const found = async (filter: object) =>
      (await audit.list({ limit: 10, ...filter })).map(({ sequence, intact }) => `${sequence} ${intact}`)
    const all = ['3 true', '2 true', '1 true']
    assert.deepEqual(await found({}), all)
    assert.deepEqual(await found({ actor: 'bob' }), ['3 true', '2 true'])
    assert.deepEqual(await found({ action: 'project.create' }), ['2 true', '1 true'])
    assert.deepEqual(await found({ target: 'one' }), ['3 true', '1 true'])
    assert.deepEqual(await found({ target: 'one', actor: 'ada' }), ['1 true'])
    assert.deepEqual(await found({ before: 3n, actor: 'bob' }), ['2 true'])
    assert.deepEqual(await found({ actor: 'nobody' }), [])
    const nowMs = Date.now()
    assert.deepEqual(await found({ fromMs: nowMs - 60_000, toMs: nowMs + 60_000 }), all)
    assert.deepEqual(await found({ fromMs: nowMs + 60_000 }), [])
    assert.deepEqual(await found({ toMs: nowMs - 60_000 }), [])
  })

  test(`${name}: the chain says how many entries there are, and follows what is added`, async () => {
    const { audit, keyStore } = await open()
    assert.deepEqual(await audit.chain(), { entries: 0, verified: 0, brokenAt: undefined, lastHash: '' })
    await keyStore.createProject('one', {}, { kind: 'member', name: 'ada' })
    for (const expected of [1, 2, 3]) {
      const [newest] = await audit.list({ limit: 1 })
      assert.deepEqual(await audit.chain(), {
        entries: expected,
        verified: expected,
        brokenAt: undefined,
        lastHash: newest?.hash,
      })
      await keyStore.setProject('one', {}, { kind: 'member', name: 'ada' })
    }
  })

  test(`${name}: news that several nodes tell stand in it once, until there are others`, async () => {
    const { audit } = await open()
    const tell = (digest: string) =>
      audit.appendNews({ actor: SYSTEM, action: 'config.load', target: 'torana.yaml', detail: { digest } })
    await Promise.all([tell('a'), tell('a'), tell('a')])
    await tell('b')
    await tell('b')
    await tell('a')
    const entries = await audit.list({ limit: 10 })
    assert.deepEqual(
      entries.map(({ actor, detail }) => [actor, detail['digest']]),
      [
        ['system', 'a'],
        ['system', 'b'],
        ['system', 'a'],
      ],
    )
  })
}
