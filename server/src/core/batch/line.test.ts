import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { inputCount, joinInputs } from '../embedding/input.ts'
import { linesIn, runFrom, type BatchLine } from './line.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const READING = { maxInputs: 2048, textOf: (bytes: Uint8Array): string => decoder.decode(bytes) }

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

/** All runs of the lines, one after another. */
function runsOf(lines: readonly BatchLine[], maxInputs: number) {
  const runs: NonNullable<ReturnType<typeof runFrom>>[] = []
  for (let first = 0; first < lines.length;) {
    const run = runFrom(lines, first, maxInputs)
    if (run === undefined) first += 1
    else {
      runs.push(run)
      first += run.length
    }
  }
  return runs
}

test('every line is read once, where it stands, whatever ends it and whatever blank lines lie between', () => {
  const asked = fc.array(fc.tuple(fc.string(), bodies, fc.constantFrom('\n', '\r\n', '\n\n', '\n \r\n')))
  fc.assert(
    fc.property(asked, fc.boolean(), (given, endsOpen) => {
      const text = given.map(([id, body, end]) => lineOf(id, body) + end).join('')
      const bytes = encoder.encode(endsOpen ? text.trimEnd() : text)
      const lines = linesIn(bytes, READING)
      assert.deepEqual(
        lines.map(({ customId }) => customId),
        given.map(([id]) => id.toWellFormed()),
      )
      for (const { firstByte, number, customId, fault } of lines) {
        assert.equal(fault, undefined)
        const before = new TextDecoder().decode(bytes.subarray(0, firstByte))
        assert.equal(before.split('\n').length - 1, number)
        assert.equal(linesIn(bytes.subarray(firstByte), READING)[0]?.customId, customId)
      }
    }),
  )
})

test('runs hold all lines in order, each with equal options and no more inputs than a call takes, unless a line alone has more', () => {
  const asked = fc.array(bodies, { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(asked, fc.integer({ min: 1, max: 12 }), (given, maxInputs) => {
      const text = given.map((body, index) => lineOf(`r${index}`, body)).join('\n')
      const lines = linesIn(encoder.encode(text), READING)
      const runs = runsOf(lines, maxInputs)
      assert.deepEqual(
        runs.flatMap((run) => run.map(({ customId }) => customId)),
        lines.map(({ customId }) => customId),
      )
      for (const run of runs) {
        const joined = joinInputs(run.map(({ request }) => request.input))
        assert.ok(run.length === 1 || inputCount(joined) <= maxInputs)
        assert.equal(new Set(run.map(({ request: { model } }) => model)).size, 1)
        assert.equal(new Set(run.map(({ request: { dimensions } }) => dimensions)).size, 1)
        assert.ok(run.every(({ request: { input } }) => input.kind === joined.kind))
      }
    }),
  )
})

test('a line with a field that Torana does not know shares no request', () => {
  const odd = lineOf('odd', { model: 'small', input: 'x', late_chunking: true })
  const plain = lineOf('plain', { model: 'small', input: 'x' })
  const runs = runsOf(linesIn(encoder.encode([odd, odd, plain, plain].join('\n')), READING), 100)
  assert.deepEqual(
    runs.map((run) => run.length),
    [1, 1, 2],
  )
})

test('a line whose body asks for nothing that can be run says why, under its own id', () => {
  const [line] = linesIn(encoder.encode(lineOf('bad', { model: 'small', input: '' })), READING)
  assert.deepEqual([line?.customId, line?.fault?.code, line?.fault?.param], ['bad', 'empty_input', 'input'])
})
