import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { inputCount, joinInputs } from '../embedding/input.ts'
import { readEmbeddingRequest } from '../embedding/request.ts'
import { dividedLine } from '../files/request-line.ts'
import { LineGroups, linesIn, requestOf, runFrom, type BatchLine, type LineRun } from './line.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const textOf = (bytes: Uint8Array): string => decoder.decode(bytes)

function readIn(bytes: Uint8Array): readonly BatchLine[] {
  return linesIn(bytes).map(({ content, ...place }) => {
    const { customId, body } = dividedLine(content, textOf)
    const request = readEmbeddingRequest(JSON.parse(textOf(body)), 2048)
    return { ...place, customId, request, fault: undefined }
  })
}

function lineOf(customId: string, body: unknown): string {
  return JSON.stringify({ custom_id: customId, method: 'POST', url: '/v1/embeddings', body })
}

const bodies = fc.record({
  model: fc.constantFrom('small', 'large'),
  input: fc.oneof(
    fc.string({ minLength: 1 }),
    fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 5 }),
    fc.array(fc.nat(9), { minLength: 1, maxLength: 3 }),
  ),
  dimensions: fc.option(fc.constantFrom(4, 8), { nil: undefined }),
})

/** All runs of the lines, group by group. */
function runsOf(lines: readonly BatchLine[], maxInputs: number, takesUser = false): readonly LineRun[] {
  const groups = new LineGroups(() => takesUser)
  for (const line of lines) groups.add(line)
  const runs: LineRun[] = []
  for (const group of groups.all)
    for (let first = 0; first < group.lines.length;) {
      const run = runFrom(group, first, maxInputs)
      runs.push(run)
      first += run.length
    }
  return runs
}

test('every line is read once, where it stands, whatever ends it and whatever blank lines lie between', () => {
  const asked = fc.array(fc.tuple(fc.string(), bodies, fc.constantFrom('\n', '\r\n', '\n\n', '\n \r\n')))
  fc.assert(
    fc.property(asked, fc.boolean(), (given, endsOpen) => {
      const text = given.map(([id, body, end]) => lineOf(id, body) + end).join('')
      const bytes = encoder.encode(endsOpen ? text.trimEnd() : text)
      const lines = readIn(bytes)
      assert.deepEqual(
        lines.map(({ customId }) => customId),
        given.map(([id]) => id.toWellFormed()),
      )
      for (const { firstByte, number, customId, fault } of lines) {
        assert.equal(fault, undefined)
        const before = new TextDecoder().decode(bytes.subarray(0, firstByte))
        assert.equal(before.split('\n').length - 1, number)
        assert.equal(readIn(bytes.subarray(firstByte))[0]?.customId, customId)
      }
    }),
  )
})

test('runs hold every line once, each with what makes the same vectors and no more inputs than a call takes', () => {
  const asked = fc.array(bodies, { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(asked, fc.integer({ min: 1, max: 12 }), (given, maxInputs) => {
      const text = given.map((body, index) => lineOf(`r${index}`, body)).join('\n')
      const lines = readIn(encoder.encode(text))
      const runs = runsOf(lines, maxInputs)
      assert.deepEqual(
        runs.flatMap((run) => run.map(({ number }) => number)).toSorted((a, b) => a - b),
        lines.map(({ number }) => number),
      )
      for (const run of runs) {
        const joined = joinInputs(run.map(({ request }) => request.input))
        assert.ok(run.length === 1 || inputCount(joined) <= maxInputs)
        assert.equal(new Set(run.map(({ request: { model } }) => model)).size, 1)
        assert.equal(new Set(run.map(({ request: { dimensions } }) => dimensions)).size, 1)
        assert.ok(run.every(({ request: { input } }) => input.kind === joined.kind))
        assert.deepEqual(
          run.map(({ number }) => number),
          run.map(({ number }) => number).toSorted((a, b) => a - b),
        )
      }
    }),
  )
})

const ADDRESS = { image: 'https://example.com/a.png' }

/** Two alternating bodies, and the number of runs for eight lines of them. */
const MIXED: readonly (readonly [
  what: string,
  one: object,
  other: object,
  takesUser: boolean,
  runs: number,
])[] = [
  ['all alike', {}, {}, true, 1],
  ['a text and a list of one text', { input: 'x' }, { input: ['x'] }, true, 1],
  ['two encodings', { encoding_format: 'float' }, { encoding_format: 'base64' }, true, 1],
  ['two users, which no upstream is told', { user: 'a' }, { user: 'b' }, false, 1],
  ['two users, which an upstream is told', { user: 'a' }, { user: 'b' }, true, 2],
  ['two models', { model: 'small' }, { model: 'large' }, true, 2],
  ['two widths', { dimensions: 4 }, {}, true, 2],
  ['two input types', { input_type: 'query' }, { input_type: 'document' }, true, 2],
  ['texts and tokens', { input: 'x' }, { input: [1, 2] }, true, 2],
  ['texts and contents', { input: 'x' }, { input: [ADDRESS] }, true, 2],
  ['texts and contents that are texts', { input: 'x' }, { input: [{ content: 'y' }] }, true, 1],
]

for (const [what, one, other, takesUser, runs] of MIXED)
  test(`lines by turns, ${what}: eight of them are ${runs} calls`, () => {
    const usual = { model: 'small', input: 'x' }
    const text = Array.from({ length: 8 }, (_, index) =>
      lineOf(`r${index}`, { ...usual, ...(index % 2 === 0 ? one : other) }),
    )
    assert.equal(runsOf(readIn(encoder.encode(text.join('\n'))), 100, takesUser).length, runs)
  })

test('a request for several lines names a user only if it is the user of all, and asks for base64 if encodings differ', () => {
  const of = (...bodies: readonly object[]) => {
    const text = bodies.map((body) => lineOf('r', { model: 'small', input: 'x', ...body })).join('\n')
    const [run] = runsOf(readIn(encoder.encode(text)), 100)
    assert.ok(run)
    const { user, encoding, input } = requestOf(run)
    return [user, encoding, inputCount(input)]
  }
  assert.deepEqual(of({ user: 'a' }, { user: 'a' }), ['a', 'float', 2])
  assert.deepEqual(of({ user: 'a' }, { user: 'b' }), [undefined, 'float', 2])
  assert.deepEqual(of({ encoding_format: 'float' }, { encoding_format: 'base64' }), [undefined, 'base64', 2])
})

test('a line with a field that Torana does not know shares no request', () => {
  const odd = lineOf('odd', { model: 'small', input: 'x', late_chunking: true })
  const plain = lineOf('plain', { model: 'small', input: 'x' })
  const runs = runsOf(readIn(encoder.encode([odd, odd, plain, plain].join('\n'))), 100)
  assert.deepEqual(
    runs.map((run) => run.length),
    [1, 1, 2],
  )
})
