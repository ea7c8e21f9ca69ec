/** The audit's guarantees against a person with rights on the database. */
import { systemClock } from '#runtime/clock.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditLog, CommittedEntry } from '#ports/audit.ts'
import { auditKeysOf } from '#runtime/secret.ts'
import { AuditChain } from '#stores/audit-chain.ts'
import { PostgresAudit, writeAudit } from '#stores/postgres/audit.ts'
import type { Database, Transaction } from '#stores/postgres/database.ts'
import { PostgresKeys } from '#stores/postgres/directory/keys.ts'
import { someSecret, type DatabaseDirectory } from '#test/support/directory.ts'

export function auditLogSuite(name: string, open: () => Promise<DatabaseDirectory>): void {
  async function withEntries() {
    const { keyStore, audit, database } = await open()
    for (let index = 1; index <= 5; index += 1)
      await keyStore.createProject(`p${index}`, {}, { kind: 'member', name: 'tester' })
    /** As an owner of the table could. */
    const tamper = async (statement: string): Promise<void> => {
      await database.query('ALTER TABLE audit DISABLE TRIGGER audit_append_only')
      await database.query(statement)
      await database.query('ALTER TABLE audit ENABLE TRIGGER audit_append_only')
    }
    const broken = async () =>
      (await audit.list({ limit: 100 })).filter(({ intact }) => !intact).map(({ sequence }) => sequence)
    assert.deepEqual(await broken(), [])
    return { keyStore, audit, database, tamper, broken }
  }

  const changes = {
    actor: `UPDATE audit SET actor = 'somebody else' WHERE sequence = 3`,
    action: `UPDATE audit SET action = 'project.delete' WHERE sequence = 3`,
    target: `UPDATE audit SET target = 'p4' WHERE sequence = 3`,
    detail: `UPDATE audit SET detail = '{"limits": {"requestsPerMinute": 1}, "budget": null}' WHERE sequence = 3`,
    time: `UPDATE audit SET at = at - interval '1 millisecond' WHERE sequence = 3`,
  }
  for (const [what, statement] of Object.entries(changes)) {
    test(`${name}: an entry whose ${what} was changed shows`, async () => {
      const { tamper, broken } = await withEntries()
      await tamper(statement)
      assert.deepEqual(await broken(), [3n])
    })
  }

  test(`${name}: an entry with a recalculated hash shows in the next one`, async () => {
    const { tamper, broken } = await withEntries()
    await tamper(`UPDATE audit SET actor = 'x', hash = sha256('x') WHERE sequence = 3`)
    assert.deepEqual(await broken(), [4n, 3n])
  })

  test(`${name}: an entry that was taken out shows, also when the numbers were closed up`, async () => {
    const { tamper, broken } = await withEntries()
    await tamper('DELETE FROM audit WHERE sequence = 3')
    assert.deepEqual(await broken(), [4n])
    await tamper('UPDATE audit SET sequence = sequence - 1 WHERE sequence > 3')
    assert.deepEqual(await broken(), [4n, 3n])
  })

  test(`${name}: the first entry can't be taken out unseen`, async () => {
    const { tamper, broken } = await withEntries()
    await tamper('DELETE FROM audit WHERE sequence = 1')
    assert.deepEqual(await broken(), [2n])
  })

  /** The same table as nodes see it that have these secrets. */
  function signedBy(database: Database, current: string, previous?: string) {
    const signed = { ...database, auditChain: new AuditChain(auditKeysOf({ current, previous })) }
    return { keyStore: new PostgresKeys(signed), audit: new PostgresAudit(signed, systemClock) }
  }

  const proofs = async (audit: AuditLog) =>
    (await audit.list({ limit: 100 })).map(({ proof, intact }) => `${proof} ${intact}`)

  test(`${name}: an owner of the table can't recalculate the hashes without the key`, async () => {
    const { database, tamper } = await withEntries()
    const { keyStore, audit } = signedBy(database, 'the secret of today')
    for (const project of ['s1', 's2', 's3'])
      await keyStore.createProject(project, {}, { kind: 'member', name: 'tester' })
    const before = await audit.list({ limit: 100 })
    assert.ok(before.every(({ intact }) => intact))

    // With all of our code, but without the secret: all entries from a changed one on, recalculated and unsigned.
    const forged: { sequence: bigint; hash: Uint8Array }[] = []
    for (const entry of before.toReversed()) {
      const changed = entry.sequence === 7n ? { ...entry, actor: 'somebody else' } : entry
      const hash = new AuditChain().hashOf(forged.at(-1)?.hash, changed)
      forged.push({ sequence: entry.sequence, hash })
    }
    await tamper(`UPDATE audit SET actor = 'somebody else' WHERE sequence = 7`)
    assert.deepEqual(
      (await audit.list({ limit: 100 })).filter(({ intact }) => !intact).map(({ sequence }) => sequence),
      [7n],
    )
    for (const { sequence, hash } of forged)
      if (sequence >= 7n)
        await tamper(
          `UPDATE audit SET hash = '\\x${Buffer.from(hash).toString('hex')}' WHERE sequence = ${sequence}`,
        )
    const after = await audit.list({ limit: 100 })
    assert.ok(after.some(({ intact }) => !intact))
    assert.equal(after[0]?.proof, 'unkeyed')
  })

  test(`${name}: entries from before there were keys stay verifiable, and the first signed one covers them`, async () => {
    const { database, tamper, audit: unsigned } = await withEntries()
    const { keyStore, audit } = signedBy(database, 'the secret of today')
    assert.deepEqual(
      await proofs(audit),
      Array.from({ length: 5 }, () => 'unkeyed true'),
    )
    await keyStore.createProject('signed', {}, { kind: 'member', name: 'tester' })
    assert.deepEqual(await proofs(audit), ['keyed true', ...Array.from({ length: 5 }, () => 'unkeyed true')])
    assert.equal((await unsigned.list({ limit: 1 }))[0]?.proof, 'other_key')
    await tamper(`UPDATE audit SET target = 'p4' WHERE sequence = 3`)
    assert.equal((await proofs(audit)).filter((one) => one.endsWith('false')).length, 1)
  })

  test(`${name}: an unsigned entry after a signed one was put there by a stranger`, async () => {
    const { database, keyStore: unsigned } = await withEntries()
    const { keyStore, audit } = signedBy(database, 'the secret of today')
    await keyStore.createProject('signed', {}, { kind: 'member', name: 'tester' })
    await unsigned.createProject('forged', {}, { kind: 'member', name: 'tester' })
    await keyStore.createProject('signed-again', {}, { kind: 'member', name: 'tester' })
    assert.deepEqual((await proofs(audit)).slice(0, 3), ['keyed true', 'unkeyed false', 'keyed true'])
  })

  test(`${name}: after rotations of the secret, old entries are still verified by the newest`, async () => {
    const { database } = await withEntries()
    await signedBy(database, 'one').keyStore.createProject('by-one', {}, { kind: 'member', name: 'tester' })
    await signedBy(database, 'two', 'one').keyStore.createProject(
      'by-two',
      {},
      { kind: 'member', name: 'tester' },
    )
    const { keyStore, audit } = signedBy(database, 'three', 'two')
    await keyStore.createProject('by-three', {}, { kind: 'member', name: 'tester' })
    assert.deepEqual((await proofs(audit)).slice(0, 4), [
      'keyed true',
      'keyed true',
      'other_key true',
      'unkeyed true',
    ])
  })

  test(`${name}: the chain names the first entry that is not what it was, also one that it had verified`, async () => {
    const { audit, tamper, database, keyStore } = await withEntries()
    assert.deepEqual((await audit.chain()).brokenAt, undefined)
    await tamper('DELETE FROM audit WHERE sequence = 5')
    assert.deepEqual((await audit.chain()).brokenAt, 5n, 'the end was cut off')
    await keyStore.createProject('p6', {}, { kind: 'member', name: 'tester' })
    await tamper(`UPDATE audit SET target = 'p4' WHERE sequence = 3`)
    // As a node sees it that has verified nothing yet.
    const reread = await new PostgresAudit(database, systemClock).chain()
    assert.deepEqual([reread.brokenAt, reread.entries], [3n, 5])
  })

  test(`${name}: an entry that a list shows as changed breaks the chain too, though it was verified before`, async () => {
    const { audit, tamper } = await withEntries()
    assert.equal((await audit.chain()).brokenAt, undefined)
    await tamper(`UPDATE audit SET target = 'p4' WHERE sequence = 3`)
    assert.deepEqual(
      (await audit.list({ limit: 2, before: 4n })).map(({ intact }) => intact),
      [false, true],
    )
    assert.equal((await audit.chain()).brokenAt, 3n)
  })

  test(`${name}: many entries are verified piece by piece`, async () => {
    const { audit, database, keyStore } = await withEntries()
    for (let index = 0; index < 450; index += 1)
      await keyStore.setProject(
        'p1',
        { limits: { requestsPerMinute: index + 1 } },
        { kind: 'member', name: 'tester' },
      )
    const chain = await audit.chain()
    assert.deepEqual([chain.entries, chain.verified, chain.brokenAt], [455, 455, undefined])
    assert.deepEqual(await new PostgresAudit(database, systemClock).chain(), chain)
  })

  test(`${name}: an entry is told of once its transaction is committed, with its link to the one before`, async () => {
    const { database, audit } = await withEntries()
    const heard: CommittedEntry[] = []
    const auditChain = new AuditChain(undefined, (entry) => heard.push(entry))
    const actor = { kind: 'member', name: 'tester', address: '192.0.2.7' } as const
    const write = (sql: Transaction, target: string) =>
      writeAudit(sql, auditChain, { actor, action: 'test.done', target, detail: { at: [1, { b: 2 }] } })
    const undone = database.transaction(async (sql) => {
      await write(sql, 'undone')
      throw new Error('undone')
    })
    await assert.rejects(undone, /^Error: undone$/)
    await database.transaction(async (sql) => {
      await write(sql, 'done')
      assert.deepEqual(heard, [])
    })
    const [newest, before] = await audit.list({ limit: 2 })
    assert.deepEqual(heard, [{ ...newest, previousHash: before?.hash }])
    assert.deepEqual([newest?.target, newest?.address], ['done', '192.0.2.7'])
  })

  test(`${name}: entries can't be changed or deleted by a mere statement`, async () => {
    const { database } = await withEntries()
    await assert.rejects(database.query(`UPDATE audit SET actor = 'x'`), /append-only/)
    await assert.rejects(database.query('DELETE FROM audit'), /append-only/)
  })

  test(`${name}: a change whose audit entry can't be written is not made`, async () => {
    const { keyStore, database } = await withEntries()
    const before = await keyStore.directoryVersion()
    const { stored } = someSecret()
    await database.query('ALTER TABLE audit ADD CONSTRAINT full_disk CHECK (sequence < 0) NOT VALID')
    try {
      const made = keyStore.createKey(
        { project: 'p', name: 'k', secret: stored },
        { kind: 'member', name: 'tester' },
      )
      await assert.rejects(made, /full_disk/)
      await assert.rejects(keyStore.deleteProject('p1', { kind: 'member', name: 'tester' }), /full_disk/)
    } finally {
      await database.query('ALTER TABLE audit DROP CONSTRAINT full_disk')
    }
    assert.equal(await keyStore.findKey([stored.digest]), undefined)
    assert.equal(await keyStore.directoryVersion(), before)
    assert.equal((await keyStore.listProjects({ limit: 10 })).length, 5)
  })
}
