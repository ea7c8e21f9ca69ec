import OpenAI from 'openai'
import pg from 'pg'

const documents = [
  'Open the bonnet and check the oil level every month.',
  'A kitten needs four small meals per day.',
  'Water the tomatoes in the morning, never at noon.',
  'Replace the brake pads after 50,000 kilometres.',
  'Puppies sleep up to eighteen hours per day.',
  'Cut the roses back before spring.',
]

const torana = new OpenAI({
  baseURL: process.env.TORANA_BASE_URL,
  apiKey: process.env.TORANA_KEY,
})
const db = new pg.Client(process.env.DATABASE_URL)
await db.connect()
await db.query(`
  CREATE EXTENSION IF NOT EXISTS vector;
  CREATE TABLE IF NOT EXISTS indexes (
    name text PRIMARY KEY, model text NOT NULL, space text NOT NULL
  )`)
const stored = await db.query(`SELECT model, space FROM indexes WHERE name = 'documents'`)
const { model = 'demo-embed', space: pinned } = stored.rows[0] ?? {}

// The first run learns the space. Every later run pins it.
const { data: answer, response } = await torana.embeddings
  .create({ model, input: documents }, { headers: pinned === undefined ? {} : { 'x-torana-space': pinned } })
  .withResponse()
const space = response.headers.get('x-torana-space')
if (space === null) throw new Error('the answer names no space')

await db.query('BEGIN')
if (pinned === undefined) {
  const width = answer.data[0].embedding.length
  await db.query(`
    CREATE TABLE documents (text text PRIMARY KEY, embedding vector(${width}));
    CREATE INDEX ON documents USING hnsw (embedding vector_cosine_ops)`)
  await db.query(`INSERT INTO indexes VALUES ('documents', $1, $2)`, [model, space])
}
for (const { index, embedding } of answer.data)
  await db.query(
    `INSERT INTO documents VALUES ($1, $2)
      ON CONFLICT (text) DO UPDATE SET embedding = excluded.embedding`,
    [documents[index], JSON.stringify(embedding)],
  )
await db.query('COMMIT')
await db.end()
console.log(`${documents.length} documents in ${space}`)
