import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { readFileSync } from 'node:fs'
import { SCHEMA_FILE } from '#package/files.ts'
import { missingObjects, objectsIn, schemaText } from '#stores/postgres/schema.ts'
import { testDatabase } from '#test/support/pglite.ts'
import { migrate } from '#stores/postgres/migrate.ts'

const database = await testDatabase()
await migrate(database)
after(() => database.close())

test('the file of the schema is what the migrations make of this PostgreSQL', async () => {
  assert.equal(readFileSync(SCHEMA_FILE, 'utf8'), schemaText(await objectsIn(database)))
  assert.deepEqual(await missingObjects(database), [])
})

for (const [statement, missing] of [
  ['DROP INDEX requests_by_user', /^index CREATE INDEX requests_by_user ON requests /],
  ['ALTER TABLE keys DROP COLUMN last_used_at', /^column keys\.last_used_at timestamp with time zone$/],
  ['ALTER TABLE leases DROP CONSTRAINT leases_pkey', /^index CREATE UNIQUE INDEX leases_pkey /],
  ['ALTER TABLE batches DROP CONSTRAINT batches_state_check', /^constraint batches_state_check ON batches$/],
  ['DROP TABLE declared_key_uses', /declared_key_uses/],
  ['ALTER TABLE audit ALTER hash DROP NOT NULL', /^column audit\.hash bytea NOT NULL$/],
  [`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'audit_by_time'::regclass`, /audit_by_time/],
] as const)
  test(`after "${statement}" the schema lacks it`, async () => {
    await database
      .transaction(async (sql) => {
        await sql.query(statement)
        const found = (await missingObjects(sql)) ?? []
        assert.ok(found.length > 0)
        for (const object of found) assert.match(object, missing)
        throw new Error('undo')
      })
      .catch((error: Error) => assert.equal(error.message, 'undo'))
  })

test('a database that a newer version has migrated is not compared', async () => {
  await database
    .transaction(async (sql) => {
      await sql.query(
        `INSERT INTO torana_migrations (version, name, sha256) VALUES (9999, '9999-later.sql', '')`,
      )
      await sql.query('DROP INDEX requests_by_user')
      assert.equal(await missingObjects(sql), undefined)
      throw new Error('undo')
    })
    .catch((error: Error) => assert.equal(error.message, 'undo'))
})
