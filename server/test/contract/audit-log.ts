/** What the audit promises where somebody with rights on the database could lay hands on it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '#stores/postgres/database.ts'
import { someSecret, type Directory } from '#test/support/directory.ts'

export function auditLogSuite(name: string, open: () => Promise<Directory>): void {
  async function withEntries() {
    const directory = await open()
    const { keyStore, audit } = directory
    const database = directory.database as Database
    for (let index = 1; index <= 5; index += 1) await keyStore.createProject(`p${index}`, {}, 'tester')
    /** As somebody would who owns the table. */
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

  test(`${name}: an entry whose hash was made anew shows in the next one`, async () => {
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
      const made = keyStore.createKey({ project: 'p', name: 'k', secret: stored }, 'tester')
      await assert.rejects(made, /full_disk/)
      await assert.rejects(keyStore.deleteProject('p1', 'tester'), /full_disk/)
    } finally {
      await database.query('ALTER TABLE audit DROP CONSTRAINT full_disk')
    }
    assert.equal(await keyStore.findKey([stored.digest]), undefined)
    assert.equal(await keyStore.directoryVersion(), before)
    assert.equal((await keyStore.listProjects({ limit: 10 })).length, 5)
  })
}
