import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BrokenAnswer } from '#core/fault/broken-answer.ts'
import { PictureScanner } from './picture-scan.ts'

/** The skeleton, and the scanner to take its pictures from. */
function scanned(text: string, cuts: readonly number[] = []): { skeleton: string; scanner: PictureScanner } {
  const kept: Uint8Array[] = []
  const scanner = new PictureScanner((bytes) => kept.push(Uint8Array.from(bytes)))
  const bytes = Buffer.from(text)
  const at = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  let from = 0
  for (const to of [...at, bytes.length]) {
    scanner.push(bytes.subarray(from, to))
    from = to
  }
  return { skeleton: Buffer.concat(kept).toString(), scanner }
}

async function taken(scanner: PictureScanner, ordinal: unknown): Promise<Buffer> {
  return Buffer.from(scanner.take(ordinal).whole())
}

/** Spellings of base64 by writers of JSON. */
const SPELLINGS: Record<string, (base64: string) => string> = {
  plain: (base64) => base64,
  'with escaped slashes': (base64) => base64.replaceAll('/', String.raw`\/`),
  'with escaped signs': (base64) =>
    base64.replaceAll('+', String.raw`\u002B`).replaceAll('=', String.raw`\u003d`),
  'without padding': (base64) => base64.replaceAll('=', ''),
  'in lines': (base64) => base64.replaceAll(/.{8}/g, String.raw`$&\n`),
}

const bytes = fc.uint8Array({ minLength: 1, maxLength: 60 })
const cuts = fc.array(fc.nat({ max: 2000 }), { maxLength: 12 })

for (const [title, spell] of Object.entries(SPELLINGS)) {
  test(`pictures come out bit by bit as they went in, wherever the bytes are cut: base64 ${title}`, async () => {
    const field = fc.constantFrom<[string, string]>(
      ['b64_json', ''],
      ['b64_json', 'data:image/png;base64,'],
      ['url', 'data:image/webp;base64,'],
    )
    const item = fc.record({ bytes, field, prompt: fc.string({ unit: 'grapheme' }), isPretty: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 4 }), cuts, async (items, at) => {
        const entries = items.map(({ bytes, field: [name, head], prompt, isPretty }) => {
          const value = `"${head}${spell(Buffer.from(bytes).toString('base64'))}"`
          const colon = isPretty ? ' :\n  ' : ':'
          return `{"revised_prompt":${JSON.stringify(prompt)},"${name}"${colon}${value}}`
        })
        const { skeleton, scanner } = scanned(`{"data":[${entries.join(',')}],"created":1}`, at)
        const { data } = JSON.parse(skeleton) as { data: Record<string, unknown>[] }
        for (const [index, { bytes, field, prompt }] of items.entries()) {
          assert.equal(data[index]?.['revised_prompt'], prompt)
          assert.deepEqual(await taken(scanner, data[index]?.[field[0]]), Buffer.from(bytes))
        }
      }),
    )
  })
}

test('JSON without pictures is its own skeleton, whatever it holds and wherever it is cut', () => {
  const key = fc.oneof(fc.constantFrom('url', 'b64', 'data', '"url"', 'b64_json '), fc.string())
  const value = fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' })
  fc.assert(
    fc.property(fc.dictionary(key, value), fc.boolean(), cuts, (fields, isPretty, at) => {
      const text = JSON.stringify(fields, undefined, isPretty ? 2 : undefined)
      assert.equal(scanned(text, at).skeleton, text)
    }),
  )
})

test('addresses, empty strings, and names that are values stay where they are', () => {
  for (const text of [
    String.raw`{"url":"https:\/\/a.example\/x?data:=\"1\"","b64_json":null}`,
    '{"b64_json":"","url":""}',
    '["b64_json","url","data:image/png;base64,AAAA"]',
    '{"prompt":"b64_json","x":"AAAA"}',
    String.raw`{"a":"\\","b":"\"b64_json\":\"AAAA\""}`,
    `{"url":"https://a.example/${'x'.repeat(5000)}"}`,
  ]) {
    for (let cut = 0; cut < Math.min(text.length, 80); cut += 1) {
      assert.equal(scanned(text, [cut]).skeleton, text)
    }
  }
})

for (const [title, value] of [
  ['signs of another alphabet', 'AA_-'],
  ['a lonely character', 'AAAAA'],
  ['padding in the middle', 'AA==AAAA'],
  ['too little padding', 'AA='],
  ['too much padding', 'AAAA===='],
  ['words', 'no picture, sorry'],
  ['an escape that is none', String.raw`AA\xAA`],
  ['a data URI of text', 'data:text/plain,hello'],
  ['a data URI without end', `data:${'x'.repeat(300)}`],
] as const) {
  test(`what is not base64 is refused, wherever it is cut: ${title}`, () => {
    const text = `{"b64_json":"${value}"}`
    for (let cut = 0; cut < text.length; cut += 1) {
      assert.throws(() => scanned(text, [cut]), BrokenAnswer, `cut at ${cut}`)
    }
  })
}

test('a lonely quote in a comment of an event stream hides no picture', async () => {
  const text = ': it"s alive\n\ndata: {"b64_json":"cGljdHVyZQ=="}\n\n'
  const { skeleton, scanner } = scanned(text)
  assert.equal(skeleton, ': it"s alive\n\ndata: {"b64_json":0}\n\n')
  assert.equal(String(await taken(scanner, 0)), 'picture')
})

test('a picture is given out once, and none that was never there', () => {
  const { scanner } = scanned('{"b64_json":"AAAA"}')
  scanner.take(0)
  for (const ordinal of [0, 1, -1, '0', null, undefined, {}])
    assert.throws(() => scanner.take(ordinal), BrokenAnswer)
})
