/** An index in PostgreSQL keeps its vector space: what it is searched with is of the same space, or the search fails. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { demoGateway, Recipe } from './page.ts'
import { pgvectorDatabase } from './pgvector-server.ts'

test('the pgvector recipe indexes, searches, and refuses vectors of another space', async () => {
  const [gateway, DATABASE_URL] = await Promise.all([demoGateway(), pgvectorDatabase()])
  const recipe = new Recipe({ scripts: 'pgvector', env: { ...gateway, DATABASE_URL } })
  await recipe.follow('pgvector', (heading) => heading !== 'Load a large corpus')

  const client = new pg.Client(DATABASE_URL)
  await client.connect()
  await client.query(`UPDATE indexes SET space = 'demo-embed@512:00000000'`)
  await client.end()
  for (const script of ['index.mjs', 'search.mjs']) {
    const { output, code } = await recipe.run(`node ${script} "young pets"`)
    assert.equal(code, 1, output)
    assert.match(output, /pins the vector space 'demo-embed@512:00000000'/)
  }
})
