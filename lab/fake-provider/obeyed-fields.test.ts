import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { vectorFields } from './obeyed-fields.ts'
import { startFakeProvider } from './server.ts'

const provider = await startFakeProvider()
after(() => provider.close())

const texts = ['a text that is long enough to be cut somewhere', 'and another one, just as long as the first']

async function embeddings(scenario: string, fields: object): Promise<unknown> {
  const answer = await fetch(`${provider.url}/${scenario}/v1/embeddings`, {
    method: 'POST',
    body: JSON.stringify({ model: 'any-w16', input: texts, encoding_format: 'base64', ...fields }),
  })
  const { data } = (await answer.json()) as { data: { embedding: unknown }[] }
  return data.map(({ embedding }) => embedding)
}

const plain = await embeddings('plain', {})

for (const { server, fields } of vectorFields)
  test(`obeys-fields: ${JSON.stringify(fields)} changes every vector, as at ${server}`, async () => {
    assert.deepEqual(await embeddings('plain', fields), plain, 'without the trait nothing changes')
    const changed = (await embeddings('obeys-fields', fields)) as unknown[]
    for (const [index, vector] of changed.entries())
      assert.notDeepEqual(vector, (plain as unknown[])[index], `text ${index}`)
  })

for (const fields of [
  {},
  { user: 'u' },
  { priority: 3, request_id: 'r' },
  { truncate: false },
  { normalize: true },
])
  test(`obeys-fields: ${JSON.stringify(fields)} changes nothing`, async () => {
    assert.deepEqual(await embeddings('obeys-fields', fields), plain)
  })
