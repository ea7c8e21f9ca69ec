import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bitsOf, MANY_RUNS, soundVector } from '#test/support/arbitraries.ts'
import { assertLinear } from '#test/support/cpu-growth.ts'
import { AnswerScanner } from './answer-scan.ts'
import { BrokenAnswer } from '../fault/broken-answer.ts'
import { orderAnswer, type OrderedAnswer } from './answer.ts'
import { encodeBase64, valuesOf, type VectorForm } from './vector.ts'

interface Reading {
  readonly width: number
  readonly inputs: number
  readonly form?: VectorForm
}

function read(chunks: Iterable<Uint8Array>, { width, inputs, form = 'text' }: Reading): OrderedAnswer {
  const scanner = new AnswerScanner({
    width,
    wantedForm: form,
    decode: (bytes, start, end, encoding) => Buffer.from(bytes.subarray(start, end)).toString(encoding),
  })
  for (const chunk of chunks) scanner.push(chunk)
  return orderAnswer(scanner.end(), inputs)
}

/** The slow way: the whole text parsed at once. */
function reference(text: string): {
  readonly vectors: number[][]
  readonly extraFields: object
  readonly tokens: number
} {
  const {
    data,
    object: _,
    model: __,
    usage,
    ...extraFields
  } = JSON.parse(text) as {
    data: { index?: number; embedding: number[] | string }[]
    object: string
    model: string
    usage: { prompt_tokens: number }
  }
  const vectors: number[][] = []
  for (const [position, { index = position, embedding }] of data.entries()) {
    const values =
      typeof embedding === 'string'
        ? new Float32Array(new Uint8Array(Buffer.from(embedding, 'base64')).buffer)
        : Float32Array.from(embedding)
    vectors[index] = bitsOf(values)
  }
  return { vectors, extraFields, tokens: usage.prompt_tokens }
}

const FORMS = ['text', 'base64', 'base64Bytes', 'float32'] as const

/** Texts that look like what the scanner searches for. */
const TRICKY = [
  'embedding',
  '"embedding":[1,2]',
  '\\"embedding\\":"AAAA"',
  ']}],"data":[',
  'é漢😀',
  '\\',
  '"',
  '/',
  'a\nb',
]

const trickyJson = fc.oneof(
  fc.constantFrom(...TRICKY).map((text) => JSON.stringify(text)),
  fc
    .constantFrom(...TRICKY)
    .map((text) => JSON.stringify({ nested: [text, { object: 'embedding' }], embeddings: [1, 2] })),
  fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value)),
  // A server's own field may look like the answer itself.
  fc
    .constantFrom<object>(
      { data: [{ embedding: [1, 2], index: 0 }, { embedding: 'AAAA' }] },
      [{ embedding: [0.5] }, { data: [{ embedding: [] }] }],
      { embedding: [1, [2, 3]], data: 'data' },
    )
    .map((value) => JSON.stringify(value)),
)

const NUMBER_WRITERS: readonly ((value: number) => string)[] = [
  (value) => (Object.is(value, -0) ? '-0' : String(value)),
  (value) => (Object.is(value, -0) ? '-0.0' : value.toExponential()),
  (value) => (Object.is(value, -0) ? '-0' : Number(value.toPrecision(9)).toString().replace('e', 'E')),
]

interface WrittenVector {
  readonly values: Float32Array
  readonly asBase64: boolean
  readonly escapesSlashes: boolean
  readonly writer: number
  readonly keyOrder: number
  readonly extra: string | undefined
}

const writtenAnswer = fc
  .record({ width: fc.integer({ min: 1, max: 6 }), inputs: fc.integer({ min: 1, max: 5 }) })
  .chain(({ width, inputs }) =>
    fc.record({
      width: fc.constant(width),
      vectors: fc.array(
        fc.record({
          values: soundVector(width),
          asBase64: fc.boolean(),
          escapesSlashes: fc.boolean(),
          writer: fc.nat(NUMBER_WRITERS.length - 1),
          keyOrder: fc.nat(5),
          extra: fc.option(trickyJson, { nil: undefined }),
        }),
        { minLength: inputs, maxLength: inputs },
      ),
      order: fc.shuffledSubarray([...Array.from({ length: inputs }).keys()], { minLength: inputs }),
      saysIndex: fc.boolean(),
      extras: fc.array(trickyJson, { maxLength: 3 }),
      dataFirst: fc.boolean(),
      spaces: fc.array(fc.constantFrom('', '', ' ', '\n', '\t\r\n  '), { minLength: 1, maxLength: 7 }),
      cuts: fc.oneof(
        { weight: 1, arbitrary: fc.constant('every byte' as const) },
        { weight: 15, arbitrary: fc.array(fc.nat(1000), { maxLength: 12 }) },
      ),
      form: fc.constantFrom(...FORMS),
    }),
  )
  .map(({ width, vectors, order, saysIndex, extras, dataFirst, spaces, cuts, form }) => {
    let spot = 0
    const space = (): string => spaces[spot++ % spaces.length] as string
    const object = (fields: readonly (readonly [string, string])[]): string =>
      `{${fields.map(([name, json]) => `${space()}${JSON.stringify(name)}${space()}:${space()}${json}${space()}`).join(',')}}`
    const array = (entries: readonly string[]): string =>
      `[${entries.map((json) => space() + json + space()).join(',')}]`
    const vectorText = ({ values, asBase64, escapesSlashes, writer }: WrittenVector): string => {
      if (!asBase64) return array([...values].map(NUMBER_WRITERS[writer] as (value: number) => string))
      const base64 = encodeBase64(values)
      return `"${escapesSlashes ? base64.replaceAll('/', String.raw`\/`) : base64}"`
    }
    const items = (saysIndex ? order : [...order.keys()]).map((index) => {
      const vector = vectors[index] as WrittenVector
      const fields: [string, string][] = [
        ['object', '"embedding"'],
        ['embedding', vectorText(vector)],
      ]
      if (saysIndex) fields.push(['index', String(index)])
      if (vector.extra !== undefined) fields.push(['extra', vector.extra])
      return object([
        ...fields.slice(vector.keyOrder % fields.length),
        ...fields.slice(0, vector.keyOrder % fields.length),
      ])
    })
    const data: [string, string] = ['data', array(items)]
    const rest: [string, string][] = [
      ['object', '"list"'],
      ['model', '"embedding"'],
      ['usage', '{"prompt_tokens":7,"total_tokens":7}'],
      ...extras.map((json, index): [string, string] => [`extra ${index}`, json]),
    ]
    const text = space() + object(dataFirst ? [data, ...rest] : [...rest, data]) + space()
    return { width, inputs: vectors.length, form, text, chunks: chunksOf(Buffer.from(text), cuts) }
  })

function chunksOf(bytes: Buffer, cuts: 'every byte' | readonly number[]): Uint8Array[] {
  const inside =
    cuts === 'every byte'
      ? [...bytes.keys()].slice(1)
      : [...new Set(cuts)].filter((cut) => cut > 0 && cut < bytes.length)
  const edges = [0, ...inside.toSorted((a, b) => a - b), bytes.length]
  // Copies, so that a scanner that reads beyond its part finds nothing there.
  return edges.slice(1).map((end, index) => Uint8Array.from(bytes.subarray(edges[index], end)))
}

test('any answer, however it is written and cut into chunks, is read as a JSON parser reads it', () => {
  fc.assert(
    fc.property(writtenAnswer, ({ width, inputs, form, text, chunks }) => {
      const expected = reference(text)
      const { vectors, usage, extraFields } = read(chunks, { width, inputs, form })
      const bits = vectors.map((vector) => bitsOf(valuesOf(vector)))
      assert.equal(JSON.stringify(bits), JSON.stringify(expected.vectors))
      assert.equal(JSON.stringify(extraFields), JSON.stringify(expected.extraFields))
      assert.deepEqual(usage, { kind: 'measured', tokens: expected.tokens })
    }),
    MANY_RUNS,
  )
})

test('a vector that goes out in the form it came in is the upstream’s own text', () => {
  const numbers = '[ 1.50,-0.0 , 2E-1 ]'
  const [asText] = read([Buffer.from(`{"data":[{"embedding":${numbers}}]}`)], { width: 3, inputs: 1 }).vectors
  assert.equal(asText?.form === 'text' && Buffer.from(asText.text).toString(), numbers)
  const base64 = encodeBase64(Float32Array.of(1.5, -0, 0.2))
  const answer = read([Buffer.from(`{"data":[{"embedding":"${base64}"}]}`)], {
    width: 3,
    inputs: 1,
    form: 'base64',
  })
  assert.deepEqual(answer.vectors, [{ form: 'base64', base64 }])
})

test('of an answer in chunks only the vectors across two of them are copied', () => {
  const inputs = 40
  const embedding = encodeBase64(Float32Array.from({ length: 96 }, (_, index) => index + 1))
  const data = Array.from({ length: inputs }, (_, index) => ({ object: 'embedding', index, embedding }))
  const answer = Buffer.from(JSON.stringify({ object: 'list', data, usage: { prompt_tokens: 1 } }))
  const cuts = [10, 20, 30].map((index) => answer.indexOf(`"index":${index},`) + 100)
  // Each part in its own buffer, as it comes from a connection.
  const chunks = [0, ...cuts].map((from, index) => new Uint8Array(answer.subarray(from, cuts[index])))
  const { vectors } = read(chunks, { width: 96, inputs, form: 'base64Bytes' })
  const arrived = new Set(chunks.map(({ buffer }) => buffer))
  const copied = vectors.filter(
    (vector) => vector.form !== 'base64Bytes' || !arrived.has(vector.bytes.buffer as ArrayBuffer),
  )
  assert.equal(copied.length, 3)
})

test('every beginning of an answer is refused: a cut answer is never a shorter one', () => {
  const data = [0, 1].map((index) => ({ object: 'embedding', index, embedding: [index + 0.5, -1] }))
  const whole = Buffer.from(JSON.stringify({ object: 'list', data, model: 'm', usage: { prompt_tokens: 2 } }))
  for (let length = 0; length < whole.length; length += 1) {
    assert.throws(
      () => read([whole.subarray(0, length)], { width: 2, inputs: 2 }),
      BrokenAnswer,
      String(length),
    )
  }
})

const good = '{"index":0,"embedding":[0.5,1]},{"index":1,"embedding":[0.5,2]}'
const listOf = (items: string): string => `{"object":"list","data":[${items}],"model":"m"}`
const vectors = (first: string, second = '[0.5,2]'): string =>
  listOf(`{"index":0,"embedding":${first}},{"index":1,"embedding":${second}}`)
const nan = encodeBase64(Float32Array.of(Number.NaN, 1))
const infinite = encodeBase64(Float32Array.of(Number.NEGATIVE_INFINITY, 1))
const zeros = encodeBase64(Float32Array.of(0, -0))

for (const [title, text, words] of [
  ['nothing at all', '', /not JSON/],
  ['a page', '<html><body>"embedding":[1,2]</body></html>', /not JSON/],
  ['two answers in one', listOf(good) + listOf(good), /not JSON/],
  ['a bare array', `[${good}]`, /not a JSON object/],
  ['null', 'null', /not a JSON object/],
  ['an error object under 200', '{"error":{"message":"overloaded"}}', /without a data array/],
  ['data that is no array', '{"data":{"embedding":[0.5,1]}}', /without a data array/],
  ['empty data', listOf(''), /^0 vectors for 2 inputs$/],
  ['one vector too few', listOf('{"index":0,"embedding":[0.5,1]}'), /^1 vectors for 2 inputs$/],
  ['one vector too many', listOf(`${good},{"index":2,"embedding":[0.5,1]}`), /^3 vectors for 2 inputs$/],
  [
    'an index twice',
    listOf('{"index":0,"embedding":[0.5,1]},{"index":0,"embedding":[0.5,2]}'),
    /^index 0 twice$/,
  ],
  [
    'an index out of range',
    listOf('{"index":0,"embedding":[0.5,1]},{"index":2,"embedding":[0.5,2]}'),
    /^index 2 for 2 inputs$/,
  ],
  [
    'a negative index',
    listOf('{"index":0,"embedding":[0.5,1]},{"index":-1,"embedding":[0.5,2]}'),
    /^index -1 for/,
  ],
  [
    'an index that is text',
    listOf('{"index":"0","embedding":[0.5,1]},{"index":1,"embedding":[0.5,2]}'),
    /^index "0" for/,
  ],
  [
    'a broken index',
    listOf('{"index":0.5,"embedding":[0.5,1]},{"index":1,"embedding":[0.5,2]}'),
    /^index 0.5 for/,
  ],
  ['an item that is no object', listOf('[0.5,1],[0.5,2]'), /not an object/],
  ['an item without a vector', listOf('{"index":0,"embedding":[0.5,1]},{"index":1}'), /without a vector/],
  ['a vector that is null', vectors('[0.5,1]', 'null'), /without a vector/],
  ['a vector that is a number', vectors('[0.5,1]', '0'), /without a vector/],
  ['a vector that is an object', vectors('[0.5,1]', '{"0":1}'), /without a vector/],
  ['NaN as a word', vectors('[NaN,1]'), /not a JSON array of numbers/],
  ['NaN in base64', vectors(`"${nan}"`), /not a finite number/],
  ['infinity as 1e999', vectors('[1e999,1]'), /not a finite number/],
  ['infinity beyond float32', vectors('[3.5e38,1]'), /not a finite number/],
  ['infinity in base64', vectors(`"${infinite}"`), /not a finite number/],
  ['a vector of zeros', vectors('[0,-0.0]'), /^a vector of zeros$/],
  ['zeros in base64', vectors(`"${zeros}"`), /^a vector of zeros$/],
  ['a vector too short', vectors('[0.5]'), /^a vector of 1 dimensions instead of 2$/],
  ['an empty vector', vectors('[]'), /^a vector of 0 dimensions instead of 2$/],
  ['an empty text', vectors('""'), /^a vector of 0 dimensions instead of 2$/],
  ['a vector too long', vectors('[0.5,1]', '[0.5,2,3]'), /^a vector of 3 dimensions instead of 2$/],
  ['base64 of another width', vectors('"AACAPw=="'), /^a vector of 1 dimensions/],
  ['base64 with a foreign character', vectors('"!ACAPwAAgD8="'), /not base64/],
  ['base64 of a broken float', vectors('"AACA"'), /not base64/],
  ['nested arrays', vectors('[[0.5,1]]'), /not a JSON array of numbers/],
  ['numbers as texts', vectors('["0.5","1"]'), /not a JSON array of numbers/],
  ['a number JSON does not know', vectors('[.5,1]'), /not a JSON array of numbers/],
  ['a comma too many', vectors('[0.5,1,]'), /not a JSON array of numbers/],
] as const) {
  test(`an answer with ${title} is refused, in whatever form it is wanted`, () => {
    for (const form of FORMS) {
      const isRefused = (error: unknown): boolean =>
        error instanceof BrokenAnswer && words.test(error.message)
      assert.throws(() => read([Buffer.from(text)], { width: 2, inputs: 2, form }), isRefused, form)
    }
  })
}

const CHUNK = '1,'.repeat(32 * 1024)

for (const [title, start, chunk, words] of [
  ['a vector without end', '{"data":[{"embedding":[', CHUNK, /^a value of more than 1 MB$/],
  ['a text without end', '{"data":"', CHUNK, /^a value of more than 1 MB$/],
  [
    'more and more beside its vectors',
    '{"data":[',
    `{"note":"${CHUNK}","embedding":[1]},`,
    /^more than 2 MB beside its vectors$/,
  ],
] as const)
  test(`an answer with ${title} is given up within its bound, not collected`, () => {
    let pushed = 0
    const chunks = function* (): Generator<Uint8Array> {
      yield Buffer.from(start)
      for (; pushed < 64; pushed += 1) yield Buffer.from(chunk)
    }
    const isGivenUp = (error: unknown): boolean => error instanceof BrokenAnswer && words.test(error.message)
    assert.throws(() => read(chunks(), { width: 1, inputs: 1 }), isGivenUp)
    assert.ok(pushed <= 32, `${pushed} chunks of 64 KB`)
  })

for (const [title, usage, expected] of [
  ['prompt_tokens', { prompt_tokens: 3, total_tokens: 9 }, { kind: 'measured', tokens: 3 }],
  ['total_tokens alone (Voyage)', { total_tokens: 9 }, { kind: 'measured', tokens: 9 }],
  ['zero', { prompt_tokens: 0, total_tokens: 0 }, { kind: 'measured', tokens: 0 }],
  ['null', null, { kind: 'unknown' }],
  ['a broken number', { prompt_tokens: 1.5 }, { kind: 'unknown' }],
  ['a negative number', { prompt_tokens: -1 }, { kind: 'unknown' }],
  ['text', { prompt_tokens: '3' }, { kind: 'unknown' }],
] as const) {
  test(`usage given as ${title} is ${expected.kind}`, () => {
    const text = JSON.stringify({ data: [{ embedding: [1] }], usage })
    assert.deepEqual(read([Buffer.from(text)], { width: 1, inputs: 1 }).usage, expected)
  })
}

test('extra fields of the answer are kept, also those with names that JavaScript knows', () => {
  const text = '{"id":"x","__proto__":{"a":1},"constructor":2,"data":[{"embedding":[1]}]}'
  const { extraFields } = read([Buffer.from(text)], { width: 1, inputs: 1 })
  assert.equal(
    JSON.stringify(Object.entries(extraFields)),
    '[["id","x"],["__proto__",{"a":1}],["constructor",2]]',
  )
})

test('a vector outside data is kept as it came, or the answer is refused', () => {
  const text = '{"meta":{"embedding":[9,9]},"data":[{"embedding":[1,2]}]}'
  let extraFields: unknown
  try {
    ;({ extraFields } = read([Buffer.from(text)], { width: 2, inputs: 1 }))
  } catch (error) {
    assert.ok(error instanceof BrokenAnswer)
    return
  }
  assert.equal(JSON.stringify(extraFields), '{"meta":{"embedding":[9,9]}}')
})

test('numbers too small for float32 do not pass as a vector: as float32 it is all zero', () => {
  for (const numbers of ['[1e-50, 2e-60]', `[0, 0.${'0'.repeat(60)}1]`]) {
    const answer = Buffer.from(`{"data":[{"embedding":${numbers}}]}`)
    assert.throws(() => read([answer], { width: 2, inputs: 1, form: 'text' }), /a vector of zeros/, numbers)
  }
})

const LONG = {
  'a vector': '{"data":[{"embedding":[1',
  'a string': '{"data":[{"embedding":"1',
  'spaces behind a key': '{"data":[{"embedding" ',
  'spaces behind a colon': '{"data":[{"embedding": ',
  'text beside the vectors': '{"model":"1',
  quotes: '{"model":"',
} as const
for (const [name, start] of Object.entries(LONG))
  for (const size of [1, 16])
    test(`${name} in chunks of ${size}: the work grows with the length, not with its square`, () => {
      const filler = name.startsWith('spaces') ? ' ' : name === 'quotes' ? '"' : '1'
      const chunk = Buffer.from(filler.repeat(size))
      assertLinear(64 * 1024, (bytes) => () => {
        const scanner = new AnswerScanner({ width: 8, wantedForm: 'text', decode: () => '' })
        scanner.push(Buffer.from(start))
        for (let sent = 0; sent < bytes; sent += size) scanner.push(chunk)
      })
    })
