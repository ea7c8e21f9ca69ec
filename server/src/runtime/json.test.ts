import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { boundsOf } from '#core/text/json-bounds.ts'
import { JsonRefused } from '#ports/json.ts'
import { runs } from '#test/support/arbitraries.ts'
import { longestRoundMs } from '#test/support/loop-watch.ts'
import { WorkerJson } from './json.ts'

const RUNS = runs(500).numRuns
/** Less than half of what parsing it would take; it is some milliseconds unless garbage happens to be collected. */
const MAX_ROUND_MS = 40

const ASKER = { project: 'p', timeoutMs: 600_000 }
const json = new WorkerJson()
after(() => json.close())

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
const lift = (value: unknown): ReturnType<WorkerJson['parseWithFiles']> =>
  json.parseWithFiles(bytesOf(JSON.stringify(value)), ASKER)
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const textOf = (bytes: Uint8Array | undefined): string | undefined =>
  bytes && Buffer.from(bytes).toString('utf8')

test('pictures become null, and are listed with their places and bytes', async () => {
  const { value, files } = await lift({
    prompt: 'a cat',
    images: [
      { image_url: `data:image/png;base64,${base64('first')}` },
      { image_url: 'https://example.com/second.png' },
      { image_url: `data:image/webp;base64,${base64('third')}` },
    ],
    mask: { image_url: `data:image/png;base64,${base64('mask')}` },
    n: 2,
  })
  assert.deepEqual(value, {
    prompt: 'a cat',
    images: [{ image_url: null }, { image_url: 'https://example.com/second.png' }, { image_url: null }],
    mask: { image_url: null },
    n: 2,
  })
  assert.deepEqual(
    files.map(({ place, bytes }) => [place, textOf(bytes)]),
    [
      ['images/0/image_url', 'first'],
      ['images/2/image_url', 'third'],
      ['mask/image_url', 'mask'],
    ],
  )
})

/** `undefined` when it stays a text. `not base64` when it is listed without bytes. */
const URLS: readonly (readonly [url: string, bytes: string | undefined])[] = [
  ['data:image/png;base64,SGk=', 'Hi'],
  ['data:image/png;base64,SGk', 'Hi'],
  ['data:image/png;base64,SGkh', 'Hi!'],
  ['data:image/png;base64,SA==', 'H'],
  ['data:image/png;base64,SA', 'H'],
  ['data:image/png;base64,', ''],
  ['data:;base64,SGk=', 'Hi'],
  ['DATA:image/PNG;BASE64,SGk=', 'Hi'],
  ['data:image/png;charset=utf-8;base64,SGk=', 'Hi'],
  ['data:image/png; charset=utf-8; base64,SGk=', 'Hi'],
  ['data:image/png;name=a.png;Base64,SGk=', 'Hi'],
  ['data:image/png;base64,SGk=SGk=', 'not base64'],
  ['data:image/png;base64,SGk==', 'not base64'],
  ['data:image/png;base64,SA=', 'not base64'],
  ['data:image/png;base64,SGkhS', 'not base64'],
  ['data:image/png;base64,=', 'not base64'],
  ['data:image/png;base64,SG k=', 'not base64'],
  ['data:image/png;base64,SGk=\n', 'Hi'],
  ['data:image/png;base64, SGkh', 'not base64'],
  ['data:image/png;base64,SGkh\r\nSGkh', 'Hi!Hi!'],
  ['data:image/png;base64,\nSGkh\nSG\n', 'Hi!H'],
  ['data:image/png;base64,SGkh\nSGkhS', 'not base64'],
  ['data:image/png;base64,SGk%3D', 'not base64'],
  ['data:image/png;base64,-_-_', 'not base64'],
  ['data:image/png;base64,SGké', 'not base64'],
  ['data:image/png;base64,data:image/png;base64,SGk=', 'not base64'],
  ['data:image/png,SGk=', undefined],
  ['data:text/plain,what is ;base64,SGk=', undefined],
  ['data:image/png;base64', undefined],
  ['data:image/png;base64x,SGk=', undefined],
  ['data:base64,SGk=', undefined],
  [`data:image/png;name=${'a'.repeat(1000)};base64,SGk=`, undefined],
  [' data:image/png;base64,SGk=', undefined],
  ['see data:image/png;base64,SGk=', undefined],
  ['data:', undefined],
  ['', undefined],
]

for (const [url, expected] of URLS) {
  const what = expected === undefined ? 'stays a text' : expected === 'not base64' ? expected : 'a file'
  test(`${JSON.stringify(url.slice(0, 60))}: ${what}`, async () => {
    const { value, files } = await lift({ url })
    assert.deepEqual(value, { url: expected === undefined ? url : null })
    assert.deepEqual(
      files.map(({ place, bytes }) => [place, textOf(bytes)]),
      expected === undefined ? [] : [['url', expected === 'not base64' ? undefined : expected]],
    )
  })
}

test('slashes may be escaped, as PHP does, and letters too', async () => {
  const body = String.raw`{"url": "d\u0061ta:image\/png;base64,\/\/\/\u002f"}`
  const { value, files } = await json.parseWithFiles(bytesOf(body), ASKER)
  assert.deepEqual(value, { url: null })
  assert.deepEqual([...(files[0]?.bytes ?? [])], [255, 255, 255])
})

test('two places never have the same name, and no name is special', async () => {
  const url = 'data:;base64,SGk='
  const body = `{"a/b":"${url}","a":{"b":"${url}","~1":"${url}"},"__proto__":{"x":"${url}"},"":"${url}"}`
  const { value, files } = await json.parseWithFiles(bytesOf(body), ASKER)
  assert.deepEqual(
    files.map(({ place }) => place),
    ['a~1b', 'a/b', 'a/~01', '__proto__/x', ''],
  )
  assert.deepEqual(JSON.stringify(value), body.replaceAll(`"${url}"`, 'null'))
  assert.equal(Object.getPrototypeOf(value), Object.prototype)
})

test('where a name comes twice the last one counts, as in every other body', async () => {
  const { value, files } = await json.parseWithFiles(bytesOf('{"a":"data:;base64,SGk=","a":1}'), ASKER)
  assert.deepEqual([value, files], [{ a: 1 }, []])
})

interface Planted {
  readonly value: unknown
  readonly nulled: unknown
  readonly files: readonly { readonly path: readonly string[]; readonly bytes: Uint8Array }[]
}

/** A value, its expected result, and the files that must be listed. */
const planted = fc.letrec<{ node: Planted }>((tie) => {
  const leaf = fc
    .oneof(fc.string({ unit: 'binary' }), fc.double({ noNaN: true }), fc.boolean(), fc.constant(null))
    .map((value): Planted => ({ value: value === 0 ? 0 : value, nulled: value === 0 ? 0 : value, files: [] }))
  const file = fc
    .record({
      bytes: fc.uint8Array({ maxLength: 300 }),
      start: fc.constantFrom('data:image/png;base64,', 'Data:;a=b;BASE64,'),
      omitPadding: fc.boolean(),
    })
    .map(({ bytes, start, omitPadding }): Planted => ({
      value: start + bytes.toBase64({ omitPadding }),
      nulled: null,
      files: [{ path: [], bytes }],
    }))
  const list = fc.array(tie('node'), { maxLength: 4 }).map((nodes): Planted => ({
    value: nodes.map(({ value }) => value),
    nulled: nodes.map(({ nulled }) => nulled),
    files: nodes.flatMap((node, index) => below(String(index), node)),
  }))
  // No names like numbers: an object puts those first.
  const name = fc.string({ unit: 'binary', maxLength: 8 }).filter((text) => !/^\d+$/.test(text))
  const object = fc
    .uniqueArray(fc.tuple(name, tie('node')), { maxLength: 4, selector: ([key]) => key })
    .map((entries): Planted => ({
      value: Object.fromEntries(entries.map(([key, { value }]) => [key, value])),
      nulled: Object.fromEntries(entries.map(([key, { nulled }]) => [key, nulled])),
      files: entries.flatMap(([key, node]) => below(key, node)),
    }))
  return { node: fc.oneof({ maxDepth: 4, withCrossShrink: true }, leaf, file, list, object) }
}).node

function below(key: string, { files }: Planted): Planted['files'] {
  const name = key.replaceAll('~', '~0').replaceAll('/', '~1')
  return files.map(({ path, bytes }) => ({ path: [name, ...path], bytes }))
}

test('whatever the body and wherever its files, all of them come out and all the rest stays', async () => {
  let seen = 0
  await fc.assert(
    fc.asyncProperty(planted, async ({ value, nulled, files }) => {
      fc.pre(files.length <= 64)
      seen += files.length
      const result = await lift(value)
      // Through text, since texts of half a character become whole ones on their way.
      assert.deepEqual(result.value, JSON.parse(Buffer.from(JSON.stringify(nulled)).toString('utf8')))
      assert.deepEqual(
        result.files.map(({ place, bytes }) => [place, bytes && [...bytes]]),
        files.map(({ path, bytes }) => [path.join('/'), [...bytes]]),
      )
    }),
    { numRuns: RUNS },
  )
  assert.ok(seen > RUNS / 2, `only ${seen} files`)
})

test('what is not JSON is refused with the place where it stops to be', async () => {
  const cases: readonly (readonly [text: string, message: RegExp])[] = [
    ['{"a": "data:;base64,SGk=}', /^not JSON at position 25$/],
    ['{"a": secret}', /^not JSON at position unknown$/],
    ['', /^not JSON at position unknown$/],
  ]
  for (const [text, message] of cases)
    await assert.rejects(json.parseWithFiles(bytesOf(text), ASKER), { name: 'SyntaxError', message })
})

const MAX_TEXT = 1024 * 1024
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

test('32 levels, 64 files, 10,000 values and a megabyte of text are taken, and one more is refused in words', async () => {
  const files = (count: number): string => JSON.stringify(Array(count).fill('data:;base64,SGk='))
  const values = (count: number): string => JSON.stringify(Array(count - 1).fill(0))
  const text = (length: number): string => JSON.stringify({ name: 'x'.repeat(length) })
  await json.parseWithFiles(bytesOf(text(MAX_TEXT - 4)), ASKER)
  await json.parseWithFiles(bytesOf(nested(32)), ASKER)
  await json.parseWithFiles(bytesOf(JSON.stringify({ text: '[{,'.repeat(20_000) + '"\\' })), ASKER)
  await json.parseWithFiles(bytesOf(values(10_000)), ASKER)
  assert.equal((await json.parseWithFiles(bytesOf(files(64)), ASKER)).files.length, 64)
  const refused: readonly (readonly [string, RegExp])[] = [
    [nested(33), /deeper than 32/],
    [`{"a":`.repeat(33) + '1' + '}'.repeat(33), /deeper than 32/],
    [nested(1_000_000), /deeper than 32/],
    ['['.repeat(1_000_000), /deeper than 32/],
    [values(10_001), /more than 10000 values/],
    [`[${'{},'.repeat(500_000)}1]`, /more than 10000 values/],
    [files(65), /more than 64 files/],
    [text(MAX_TEXT - 3), /more than 1048576 characters beside its images/],
    [`{"${'x'.repeat(MAX_TEXT + 1)}":1}`, /more than 1048576 characters/],
  ]
  for (const [text, message] of refused) {
    await assert.rejects(json.parseWithFiles(bytesOf(text), ASKER), { name: 'JsonRefused', message })
    await assert.rejects(json.parseWithFiles(bytesOf(text), ASKER), (error) => error instanceof SyntaxError)
  }
  assert.ok(new JsonRefused('') instanceof SyntaxError)
})

test('the bytes are handed over and not copied, unless they are part of something larger', async () => {
  const own = bytesOf('{"a":"data:;base64,SGk="}')
  await json.parseWithFiles(own, ASKER)
  assert.equal(own.length, 0)
  const larger = bytesOf('???{"a":1}???')
  assert.deepEqual((await json.parseWithFiles(larger.subarray(3, 10), ASKER)).value, { a: 1 })
  assert.equal(larger.length, 13)
  const pooled = Buffer.from('{"a":2}')
  assert.deepEqual((await json.parseWithFiles(pooled, ASKER)).value, { a: 2 })
})

test('32 MB of pictures are lifted while the event loop goes on', async () => {
  const [pictures, letters] = [16, 2_000_000]
  // Written in place, so that no garbage of this test is collected while it measures.
  const body = (): Uint8Array<ArrayBuffer> => {
    const [start, end] = ['{"image_url":"data:image/png;base64,', '"},']
    const step = start.length + letters + end.length
    const bytes = Buffer.alloc(11 + pictures * step + 3)
    bytes.write('{"images":[')
    for (let at = 11; at < pictures * step; at += step) {
      bytes.write(start, at)
      bytes.fill('QUJD', at + start.length, at + start.length + letters)
      bytes.write(end, at + start.length + letters)
    }
    bytes.write('0]}', bytes.length - 3)
    return bytes
  }
  await json.parseWithFiles(bytesOf('{}'), ASKER)
  let results: Awaited<ReturnType<typeof lift>>[] = []
  const longestMs = await longestRoundMs(
    MAX_ROUND_MS,
    async (bodies) => {
      results = await Promise.all(bodies.map((bytes) => json.parseWithFiles(bytes, ASKER)))
    },
    () => [body(), body(), body()],
  )
  assert.ok(longestMs < MAX_ROUND_MS, `a turn of ${longestMs} ms`)
  const expected = Buffer.alloc((letters * 3) / 4, 'ABC')
  for (const { files } of results) {
    assert.equal(files.length, pictures)
    for (const { bytes } of files) assert.equal(Buffer.compare(bytes ?? new Uint8Array(), expected), 0)
  }
})

test('the most values that are taken are handed over in a round that nobody notices', async () => {
  const bodies = {
    names: {
      inner: Object.fromEntries(Array.from({ length: 9990 }, (_, index) => [`name${index}`, 'x'.repeat(90)])),
    },
    text: { prompt: '☃'.repeat(1_000_000) },
  }
  for (const [what, value] of Object.entries(bodies)) {
    const text = JSON.stringify(value)
    const longestMs = await longestRoundMs(
      MAX_ROUND_MS,
      (body) => json.parseWithFiles(body, ASKER),
      () => bytesOf(text),
    )
    assert.ok(longestMs < MAX_ROUND_MS, `${text.length} letters of ${what}: a turn of ${longestMs} ms`)
  }
})

test('token ids of a large embeddings body still come packed', async () => {
  const body = JSON.stringify({ input: [[1, 2], [3]], url: 'data:;base64,SGk=' })
  const { value } = await json.parse(bytesOf(body), boundsOf(2048), ASKER)
  assert.deepEqual(value, {
    input: [Uint32Array.of(1, 2), Uint32Array.of(3)],
    url: 'data:;base64,SGk=',
  })
})

/** Each took seconds of a thread, of the event loop or of both, and hundreds of megabytes; the first one ended the thread. */
const TANGLED: readonly (readonly [what: string, body: string, RegExp])[] = [
  ['20,000 levels', `{"input":${'['.repeat(20_000)}${' '.repeat(1_100_000)}`, /deeper than 32/],
  ['8 MB of objects', `{"input":[${'{},'.repeat(2_700_000)}1]}`, /more than 10000 values/],
  ['8 MB of lists', `{"input":[${'[],'.repeat(2_700_000)}1]}`, /more than 10000 values/],
  ['8 MB of empty texts', `{"input":[${'"",'.repeat(2_700_000)}""]}`, /more than 10000 values/],
  [
    '400,000 fields',
    `{${Array.from({ length: 400_000 }, (_, n) => `"f${n}":1`).join()}}`,
    /more than 64 fields/,
  ],
  ['2,000,000 fractions', `{"input":[${'1.5,'.repeat(2_000_000)}1]}`, /10000 numbers that are not all token/],
  ['negative numbers in lists', `{"input":[[[${'-1,'.repeat(20_000)}1]]]}`, /10000 numbers that are not all/],
]

test('a body of more values than a request may hold is refused, and the next one is read by the same thread', async () => {
  for (const [what, body, message] of TANGLED) {
    await assert.rejects(
      json.parse(bytesOf(body), boundsOf(2048), ASKER),
      { name: 'JsonRefused', message },
      what,
    )
    const { value } = await json.parse(bytesOf('{"input":"a"}'), boundsOf(2048), ASKER)
    assert.deepEqual(value, { input: 'a' })
  }
})

test('numbers that JavaScript would change arrive as they were written, from both kinds of body', async () => {
  const body = '{"input":[1,2],"seed":12345678901234567890,"n":1.0,"plain":7}'
  const { value, exact } = await json.parse(bytesOf(body), boundsOf(2048), ASKER)
  assert.equal(JSON.stringify(exact), '{"seed":12345678901234567890,"n":1.0}')
  assert.equal((value as { n: unknown }).n, 1)
  const edit = '{"images":[{"image_url":"data:;base64,MTIzNDU2Nzg5MDEyMzQ1Ng=="}],"seed":9007199254740993}'
  const { exact: ofEdit, files } = await json.parseWithFiles(bytesOf(edit), ASKER)
  assert.equal(JSON.stringify(ofEdit), '{"seed":9007199254740993}')
  assert.equal(textOf(files[0]?.bytes), '1234567890123456')
  assert.equal(
    (await json.parse(bytesOf('{"input":[1.5],"seed":7}'), boundsOf(2048), ASKER)).exact,
    undefined,
  )
})

test('what is parsed once more on the event loop has a bound', async () => {
  const large = (seed: string): Uint8Array<ArrayBuffer> =>
    bytesOf(`{"input":"a","x":{"text":"${'1.5 '.repeat(300_000)}","seed":${seed}}}`)
  await assert.rejects(json.parse(large('12345678901234567890'), boundsOf(2048), ASKER), {
    name: 'JsonRefused',
    message: /more than 1048576 characters/,
  })
  assert.equal((await json.parse(large('2.5'), boundsOf(2048), ASKER)).exact, undefined)
})

test('bytes that are no UTF-8 are refused with their place, and a byte order mark is skipped', async () => {
  const broken = new Uint8Array([...bytesOf('{"prompt":"caf'), 0xe9, ...bytesOf('"}')])
  const refusal = { name: 'JsonRefused', message: /bytes from position 14 on/ }
  await assert.rejects(json.parse(new Uint8Array(broken), boundsOf(2048), ASKER), refusal)
  await assert.rejects(json.parseWithFiles(new Uint8Array(broken), ASKER), refusal)
  const marked = (): Uint8Array<ArrayBuffer> => new Uint8Array([0xef, 0xbb, 0xbf, ...bytesOf('{"a":1}')])
  assert.deepEqual((await json.parse(marked(), boundsOf(2048), ASKER)).value, { a: 1 })
  assert.deepEqual((await json.parseWithFiles(marked(), ASKER)).value, { a: 1 })
})

test('a project that sends many large bodies waits for itself, not the others for it', async () => {
  const ended: string[] = []
  const asked = (project: string): Promise<unknown> =>
    json
      .parse(bytesOf(`{"input":[${'1,'.repeat(200_000)}1]}`), boundsOf(2048), { ...ASKER, project })
      .then(() => ended.push(project))
  await Promise.all([...Array(6).keys()].map(() => asked('many')).concat(asked('one')))
  // One of them was in the thread already, and one had its turn before.
  assert.ok(ended.indexOf('one') <= 2, ended.join())
})
