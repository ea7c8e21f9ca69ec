import OpenAI from 'openai'
import pg from 'pg'

const torana = new OpenAI({
  baseURL: process.env.TORANA_BASE_URL,
  apiKey: process.env.TORANA_KEY,
})
const db = new pg.Client(process.env.DATABASE_URL)
await db.connect()
const stored = await db.query(`SELECT model, space FROM indexes WHERE name = 'documents'`)
const { model, space } = stored.rows[0]

try {
  const { data } = await torana.embeddings.create(
    { model, input: process.argv[2] },
    { headers: { 'x-torana-space': space } },
  )
  const found = await db.query(
    `SELECT text, 1 - (embedding <=> $1) AS similarity
      FROM documents ORDER BY embedding <=> $1 LIMIT 2`,
    [JSON.stringify(data[0].embedding)],
  )
  for (const { text, similarity } of found.rows) console.log(similarity.toFixed(3), text)
} catch (error) {
  if (error.status !== 412) throw error
  console.log('The index must be made again:', error.message)
  process.exitCode = 1
} finally {
  await db.end()
}
