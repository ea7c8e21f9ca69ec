import OpenAI from 'openai'
import pg from 'pg'

const torana = new OpenAI({
  baseURL: process.env.TORANA_BASE_URL,
  apiKey: process.env.TORANA_KEY,
})
const db = new pg.Client(process.env.DATABASE_URL)
await db.connect()

async function embed(input) {
  const { data } = await torana.embeddings.create({
    model: 'demo-embed',
    input,
    embedding_types: ['ubinary', 'float16'],
    encoding_format: 'float',
  })
  return data.map(({ embeddings: { ubinary, float16 } }) => ({
    bits: ubinary.map((byte) => byte.toString(2).padStart(8, '0')).join(''),
    half: JSON.stringify(float16),
  }))
}

await db.query(`
  CREATE TABLE small_documents (text text PRIMARY KEY, bits bit(512), half halfvec(512));
  CREATE INDEX ON small_documents USING hnsw (bits bit_hamming_ops)`)
const texts = (await db.query('SELECT text FROM documents')).rows.map(({ text }) => text)
for (const [index, { bits, half }] of (await embed(texts)).entries())
  await db.query('INSERT INTO small_documents VALUES ($1, $2, $3)', [texts[index], bits, half])

// Bits find four candidates, float16 orders them.
const [question] = await embed(['young pets'])
const found = await db.query(
  `SELECT text FROM (
      SELECT text, half FROM small_documents ORDER BY bits <~> $1::bit(512) LIMIT 4
    ) AS candidates ORDER BY half <=> $2::halfvec LIMIT 2`,
  [question.bits, question.half],
)
for (const { text } of found.rows) console.log(text)
await db.end()
