import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '#test/support/arbitraries.ts'
import { BodyUnread } from '../connect/sent-body.ts'
import { chunkedBytes, streamed } from '#test/support/streamed.ts'
import { multipartForm } from './multipart-body.ts'

const names = fc.oneof(
  fc.constantFrom('prompt', 'image[]', 'size'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
  fc.string({
    unit: fc.constantFrom('"', '\r', '\n', '%22', ';', 'é', ' ', '\\'),
    minLength: 1,
    maxLength: 8,
  }),
)
const texts = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.string({ unit: fc.constantFrom('\r\n', '\n', '--', 'torana-', '"', ' ', '\0'), maxLength: 30 }),
)

/**
 * How a parser reads the three characters that are written as `%22`, `%0D` and `%0A`, and the caller's own
 * such sequences.
 */
const parsedName = (name: string): string =>
  name.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n')

test('a form is read by others as it was meant, and is as long as it says', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(names, texts), { maxLength: 6 }),
      fc.array(
        fc.record({ field: names, type: fc.constantFrom('image/png', 'image/webp'), chunks: chunkedBytes }),
        { maxLength: 4 },
      ),
      async (fields, given) => {
        const files = given.map(({ field, type, chunks }, index) => {
          return { field, filename: `image-${index + 1}.png`, contentType: type, ...streamed(chunks) }
        })
        const { contentType, body } = multipartForm(fields, files)
        const bytes = Buffer.concat(await Array.fromAsync(body.open()))
        assert.equal(bytes.length, body.size)
        const form = await new Response(bytes, { headers: { 'content-type': contentType } }).formData()
        const entries = [...form.entries()]
        assert.deepEqual(
          entries.map(([name]) => name),
          [...fields.map(([name]) => name), ...given.map(({ field }) => field)].map(parsedName),
        )
        for (const [index, [, value]] of fields.entries()) assert.equal(entries[index]?.[1], value)
        for (const [index, { type, chunks }] of given.entries()) {
          const file = entries[fields.length + index]?.[1]
          assert.ok(file instanceof File)
          assert.deepEqual([file.name, file.type], [`image-${index + 1}.png`, type])
          assert.ok(Buffer.from(await file.arrayBuffer()).equals(Buffer.concat(chunks)))
        }
      },
    ),
    runs(300),
  )
})

test('no two forms have the same boundary', () => {
  const types = Array.from({ length: 100 }, () => multipartForm([], []).contentType)
  assert.equal(new Set(types).size, 100)
})

test('files that are not as long as they say do not move into each other', async () => {
  const file = (field: string, size: number) => ({
    field,
    filename: 'x.png',
    contentType: 'image/png',
    ...streamed([Buffer.alloc(1_000)]),
    size,
  })
  const { body } = multipartForm([], [file('image', 999), file('mask', 1_001)])
  await assert.rejects(Array.fromAsync(body.open()), BodyUnread)
})

test('a form can be sent again: it is read from the beginning each time', async () => {
  const file = {
    field: 'image',
    filename: 'x.png',
    contentType: 'image/png',
    ...streamed([Buffer.from('abc')]),
  }
  const { body } = multipartForm([['prompt', 'a gate']], [file])
  const [first, second] = await Promise.all([Array.fromAsync(body.open()), Array.fromAsync(body.open())])
  assert.deepEqual(Buffer.concat(first), Buffer.concat(second))
})
