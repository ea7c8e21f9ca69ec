/** Asks for 2,048 vectors and compares each with the oracle, bit by bit. */
import { vectorOf } from '../fake-provider/vectors.ts'

const { url, key, model, encoding } = JSON.parse(process.argv[2] ?? '') as Record<string, string>
const texts = Array.from({ length: 2048 }, (_, index) => `text number ${index} of a large request`)
const started = performance.now()
const response = await fetch(`${url}/v1/embeddings`, {
  method: 'POST',
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  body: JSON.stringify({ model, input: texts, encoding_format: encoding }),
})
const body = await response.text()
const seconds = (performance.now() - started) / 1000
if (!response.ok) throw new Error(body.slice(0, 500))
const { data } = JSON.parse(body) as { data: { embedding: string | number[] }[] }
const equal = texts.every((text, index) => {
  const embedding = data[index]?.embedding
  const values =
    typeof embedding === 'string'
      ? new Float32Array(Uint8Array.fromBase64(embedding).buffer)
      : Float32Array.from(embedding ?? [])
  const expected = vectorOf(text, 1536)
  return values.length === 1536 && values.every((value, position) => value === expected[position])
})
process.stdout.write(
  JSON.stringify({ bytes: body.length, seconds, equal: equal && data.length === texts.length }),
)
