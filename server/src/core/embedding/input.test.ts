import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { z } from 'zod'
import { anyText, MANY_RUNS } from '#test/support/arbitraries.ts'
import { readInput, type Input } from './input.ts'

const MAX_INPUTS = 4

/** The same rules in a schema library: slow, but beyond doubt. */
const text = z
  .string()
  .min(1)
  .refine((one) => one.isWellFormed())
const tokens = z.array(z.int().min(0).max(0x7f_ff_ff_ff)).min(1)
const reference = z.union([
  text.transform((one): Input => ({ kind: 'texts', texts: [one] })),
  z
    .array(text)
    .min(1)
    .max(MAX_INPUTS)
    .transform((texts): Input => ({ kind: 'texts', texts })),
  tokens.transform((one): Input => ({ kind: 'tokens', tokens: [one] })),
  z
    .array(tokens)
    .min(1)
    .max(MAX_INPUTS)
    .transform((tokens): Input => ({ kind: 'tokens', tokens })),
])

function agrees(value: unknown): void {
  const read = readInput(value, MAX_INPUTS)
  const expected = reference.safeParse(value)
  if (expected.success) {
    assert.deepEqual(read, expected.data)
    return
  }
  assert.equal(read.kind, 'problem', JSON.stringify(value))
  if (read.kind !== 'problem') return
  assert.match(read.param, /^input(\[\d+\])?$/)
  assert.match(read.message, /^input/)
}

/** Valid except for one thing, which a hand-written guard would miss. */
const oddEntry = fc.oneof(
  fc.constantFrom<unknown>(
    '',
    'a',
    'a\ud83d',
    '\udc00a',
    0,
    -0,
    -1,
    1.5,
    2 ** 31,
    2 ** 31 - 1,
    1e300,
    null,
    true,
    [],
    [1],
    [[1]],
    ['a'],
    {},
    [null],
  ),
  anyText,
  fc.nat(),
)
const textList = fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: MAX_INPUTS + 1 })
const tokenList = fc.array(fc.nat(0x7f_ff_ff_ff), { minLength: 1, maxLength: 6 })
const nearlyValid = fc
  .tuple(
    fc.oneof<fc.Arbitrary<unknown>[]>(
      anyText,
      textList,
      tokenList,
      fc.array(tokenList, { minLength: 1, maxLength: MAX_INPUTS + 1 }),
      fc.array(oddEntry, { maxLength: 5 }),
    ),
    fc.option(fc.tuple(fc.nat(6), oddEntry), { freq: 2, nil: undefined }),
    fc.boolean(),
  )
  .map(([value, change, inside]) => {
    if (change === undefined || !Array.isArray(value)) return value
    const [at, entry] = change
    const holder =
      inside && Array.isArray(value[0])
        ? [...((value as unknown[][])[0] as unknown[])]
        : [...(value as unknown[])]
    holder.splice(at % (holder.length + 1), 1, entry)
    return inside && Array.isArray(value[0]) ? [holder, ...(value as unknown[]).slice(1)] : holder
  })

test('any JSON value is read as the schema reads it, and nothing throws', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => agrees(value)),
    MANY_RUNS,
  )
})

test('a nearly valid input is read as the schema reads it, and nothing throws', () => {
  fc.assert(
    fc.property(nearlyValid, (value) => agrees(value)),
    MANY_RUNS,
  )
})

test('what is no JSON value does not throw either', () => {
  fc.assert(
    fc.property(
      fc.anything({ withSparseArray: true, withBigInt: true, withDate: true, withNullPrototype: true }),
      (value) => {
        assert.ok(['texts', 'tokens', 'problem'].includes(readInput(value, MAX_INPUTS).kind))
      },
    ),
    MANY_RUNS,
  )
})

for (const [title, value, code, param] of [
  ['a missing input', undefined, 'missing_parameter', 'input'],
  ['null', null, 'missing_parameter', 'input'],
  ['a number', 5, 'invalid_input', 'input'],
  ['an object', {}, 'invalid_input', 'input'],
  ['an empty text', '', 'empty_input', 'input'],
  ['an empty list', [], 'empty_input', 'input'],
  ['an empty text in a list', ['a', ''], 'empty_input', 'input[1]'],
  ['an empty token array', [[1], []], 'empty_input', 'input[1]'],
  ['a token among texts', ['a', 5], 'invalid_input', 'input[1]'],
  ['a text among tokens', [5, 'a'], 'invalid_input', 'input[1]'],
  ['a text among token arrays', [[5], 'a'], 'invalid_input', 'input[1]'],
  ['null among texts', ['a', 'b', null], 'invalid_input', 'input[2]'],
  ['a broken token id', [[1], [2, 0.5]], 'invalid_input', 'input[1]'],
  ['a negative token id', [-1], 'invalid_input', 'input[0]'],
  ['a token id beyond 32 bits', [1, 2 ** 31], 'invalid_input', 'input[1]'],
  ['a list of objects', [{ text: 'a' }], 'invalid_input', 'input[0]'],
  ['too many texts', ['a', 'b', 'c', 'd', 'e'], 'too_many_inputs', 'input'],
  ['too many token arrays', [[1], [1], [1], [1], [1]], 'too_many_inputs', 'input'],
] as const) {
  test(`${title} is refused as ${code} at ${param}`, () => {
    const read = readInput(value, MAX_INPUTS)
    assert.deepEqual(read.kind === 'problem' && [read.code, read.param], [code, param])
  })
}

test('one array of token ids may be longer than the number of inputs allowed', () => {
  assert.deepEqual(readInput([1, 2, 3, 4, 5, 6], MAX_INPUTS), {
    kind: 'tokens',
    tokens: [[1, 2, 3, 4, 5, 6]],
  })
})

test('a refusal says what was sent, and never of an entry that it differs from itself', () => {
  for (const [value, words] of [
    [5, /^input is a number\. Send a string/],
    [['a', 1], /^input\[1\] is a number, where input\[0\] is a string\./],
    [[1.5], /^input\[0\] is a number that is no token id\. Send/],
    [[1, 1.5], /^input\[1\] is a number that is no token id, where input\[0\] is a token id\./],
    [undefined, /^input is missing\. Send/],
  ] as const) {
    const read = readInput(value, MAX_INPUTS)
    assert.match(read.kind === 'problem' ? read.message : '', words)
  }
})

test('a refusal never repeats the input, which may be private', () => {
  for (const value of [
    ['secret words', 5],
    ['secret words', ''],
    { text: 'secret words' },
    [['secret words']],
  ]) {
    const read = readInput(value, MAX_INPUTS)
    assert.ok(read.kind === 'problem' && !read.message.includes('secret'), JSON.stringify(read))
  }
})
