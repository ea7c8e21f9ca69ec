import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '#test/support/arbitraries.ts'
import { chunkListText, chunksIn } from './chunk-list.ts'
import { isBlank, LineSplitter, MAX_LINE_BYTES } from './lines.ts'
import { readRequestLine } from './request-line.ts'
import { MAX_SCAN_BYTES } from './scan-result.ts'
import { scanText } from './scan-text.ts'
import { FileScanner, type ScannedId, type ScanResult } from './scan.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

function scanned(file: Uint8Array, cuts: readonly number[] = []): ScanResult & { readonly ids: ScannedId[] } {
  const scanner = new FileScanner(textOf)
  const places = [0, ...cuts.map((cut) => cut % (file.length + 1)), file.length].toSorted((a, b) => a - b)
  const ids: ScannedId[] = []
  for (const [index, end] of places.slice(1).entries()) {
    // The given part is overwritten, like a reused buffer.
    const piece = new Uint8Array(file.subarray(places[index], end))
    ids.push(...scanner.push(piece))
    piece.fill(0x7b)
  }
  ids.push(...scanner.end())
  const seen = new Set<string>()
  const repeated = ids.filter(({ customId }) => seen.size === seen.add(customId).size).map(({ line }) => line)
  return { ...scanner.result(repeated), ids }
}

const request = (customId: string, body: object = { model: 'small', input: 'text' }): string =>
  JSON.stringify({ custom_id: customId, method: 'POST', url: '/v1/embeddings', body })

const errorsOf = (text: string): unknown[] =>
  scanned(Buffer.from(text)).scan.errors.map(({ code, param, line }) => [code, param, line])

test('any pieces of the same bytes give the same result', () => {
  const line = fc.oneof(
    { weight: 4, arbitrary: fc.nat(20).map((id) => request(`id-${id}`)) },
    fc.nat(3).map((n) => request(`n-${n}`, { model: 'small', dimensions: n, input: ['ä', '日本', '😀'] })),
    fc.constantFrom('', '  ', '\t', '{', '[]', '"', '{"custom_id":1}', '\0', '\ufeff'),
    fc.string({ unit: 'binary' }),
  )
  const file = fc
    .tuple(fc.constantFrom('', '\ufeff'), fc.array(line), fc.constantFrom('\n', '\r\n'), fc.boolean())
    .map(([mark, lines, end, hasLast]) => Buffer.from(mark + lines.join(end) + (hasLast ? end : '')))
  const anyBytes = fc.uint8Array({ maxLength: 200 })
  fc.assert(
    fc.property(fc.oneof({ weight: 5, arbitrary: file }, anyBytes), fc.array(fc.nat()), (bytes, cuts) => {
      assert.deepEqual(scanned(bytes, cuts), scanned(bytes))
    }),
  )
})

test('chunks hold every request once, in order, with its true number, and read alone they are the same lines', () => {
  const line = fc.oneof(
    fc.tuple(fc.nat(5), fc.nat(600)).map(([option, count]) =>
      JSON.stringify({
        custom_id: 'set below',
        method: 'POST',
        url: '/v1/embeddings',
        body: { model: `m${option}`, input: Array.from({ length: count }, () => 'x') },
      }),
    ),
    fc.constant(''),
  )
  fc.assert(
    fc.property(fc.array(line), fc.constantFrom('', '\ufeff'), (lines, mark) => {
      const text = mark + lines.map((one, index) => one.replace('set below', `id-${index + 1}`)).join('\r\n')
      const file = Buffer.from(text)
      const { chunks, scan } = scanned(file)
      const read: number[] = []
      for (const chunk of chunks) {
        const splitter = new LineSplitter(chunk)
        const bytes = file.subarray(chunk.firstByte, chunk.firstByte + chunk.bytes)
        const requests = [...splitter.push(bytes), ...splitter.end()].filter(
          ({ content }) => content !== undefined && !isBlank(content),
        )
        assert.equal(requests.length, chunk.lines)
        const kinds = new Set<string>()
        for (const one of requests) {
          const found = readRequestLine(one, textOf)
          assert.ok('customId' in found)
          assert.equal(found.customId, `id-${one.number}`)
          // An empty list is no list of texts, so it doesn't share a call with them.
          const { model, input } = found.body
          kinds.add(JSON.stringify([model, Array.isArray(input) && input.length > 0]))
          read.push(one.number)
        }
        // As many inputs as a call carries, for each kind of request, up to four kinds.
        assert.ok(chunk.inputs <= 256 * Math.min(kinds.size, 4) || chunk.lines === 1)
      }
      const expected = lines.flatMap((one, index) => (one === '' ? [] : [index + 1]))
      assert.deepEqual(read, expected)
      assert.equal(scan.lines, expected.length)
      assert.equal(scan.chunks, chunks.length)
      assert.deepEqual(chunksIn(chunkListText(chunks)), chunks)
    }),
    runs(50),
  )
})

test('a byte order mark, returns, blank lines and a missing last line break are taken', () => {
  const { scan, chunks } = scanned(Buffer.from(`\ufeff${request('a')}\r\n\r\n  \n${request('b')}`))
  assert.deepEqual([scan.lines, scan.errorCount, scan.url], [2, 0, '/v1/embeddings'])
  assert.deepEqual(scan.models, [{ model: 'small', firstLine: 1, lines: 2 }])
  assert.deepEqual(
    chunks.map(({ firstLine, lines }) => [firstLine, lines]),
    [[1, 2]],
  )
})

test('a faulty line is reported with OpenAI’s codes, with the true number of the line', () => {
  const cases: [text: string, code: string, param: string | null][] = [
    ['{"custom_id": "a"', 'invalid_json_line', null],
    ['"text"', 'invalid_json_line', null],
    ['\0', 'invalid_json_line', null],
    ['{"method":"POST","url":"/v1/embeddings","body":{}}', 'missing_required_parameter', 'custom_id'],
    ['{"custom_id":7,"method":"POST","url":"/v1/embeddings","body":{}}', 'invalid_request', 'custom_id'],
    ['{"custom_id":"b","url":"/v1/embeddings","body":{}}', 'missing_required_parameter', 'method'],
    ['{"custom_id":"b","method":"GET","url":"/v1/embeddings","body":{}}', 'invalid_request', 'method'],
    ['{"custom_id":"b","method":"POST","body":{}}', 'missing_required_parameter', 'url'],
    ['{"custom_id":"b","method":"POST","url":"/v1/embeddings"}', 'missing_required_parameter', 'body'],
    ['{"custom_id":"b","method":"POST","url":"/v1/embeddings","body":[]}', 'invalid_request', 'body'],
    [request('b', { input: 'x' }), 'missing_required_parameter', 'body.model'],
    [request('b').replace('embeddings', 'images/generations'), 'url_mismatch', 'url'],
    [request('a'), 'duplicate_custom_id', 'custom_id'],
  ]
  for (const [text, code, param] of cases)
    assert.deepEqual(errorsOf(`${request('a')}\n\n${text}\n${request('z')}\n`), [[code, param, 3]], text)
  const wrongUtf8 = Buffer.concat([Buffer.from(`${request('a')}\n"`), Buffer.from([0xff, 0x22, 0x0a])])
  assert.deepEqual(
    scanned(wrongUtf8).scan.errors.map(({ code, line }) => [code, line]),
    [['invalid_json_line', 2]],
  )
})

for (const [what, change, param] of [
  ['a model of 201 characters', { body: { model: 'm'.repeat(201), input: 'x' } }, 'body.model'],
  ['a model with a NUL', { body: { model: 'a\0', input: 'x' } }, 'body.model'],
  ['a model with half a surrogate pair', { body: { model: '\ud800', input: 'x' } }, 'body.model'],
  ['a custom_id of 513 characters', { custom_id: 'c'.repeat(513) }, 'custom_id'],
  ['a custom_id with a NUL', { custom_id: 'a\0' }, 'custom_id'],
  ['a custom_id with half a surrogate pair', { custom_id: '\udfff' }, 'custom_id'],
  ['a url of 201 characters', { url: `/${'u'.repeat(200)}` }, 'url'],
  ['a url with a NUL', { url: '/v1/\0' }, 'url'],
  ['a method of megabytes', { method: 'P'.repeat(3_000_000) }, 'method'],
] as const)
  test(`a line over a bound fails with its number and its field: ${what}`, () => {
    const line = JSON.stringify({ ...JSON.parse(request('b')), ...change })
    assert.deepEqual(errorsOf(`${request('a')}\n${line}\n`), [['invalid_request', param, 2]])
  })

test('texts to embed may have any character, and names of 200 characters pass', () => {
  const odd = { model: 'm'.repeat(200), input: ['a\0', '\ud800'] }
  assert.deepEqual(errorsOf(`${request('a', odd)}\n${request('c'.repeat(512), odd)}`), [])
})

test('what is stored about a file has a bound in bytes, whatever the file holds', () => {
  const long = fc
    .constantFrom('m', '€', '"', '\\', '\x01', '😀', '\ud800')
    .chain((unit) =>
      fc
        .tuple(fc.constantFrom(1, 99, 195, 200, 250, 20_000), fc.nat(99))
        .map(([count, number]) => `${number}${unit.repeat(count)}`),
    )
  const line = fc
    .record({ custom_id: long, url: long.map((text) => `/${text}`), model: long })
    .map(({ model, ...rest }) => JSON.stringify({ method: 'POST', ...rest, body: { model, input: 'x' } }))
  const kinds = (text: (number: number) => string): string =>
    Array.from({ length: 250 }, (_, number) => text(number)).join('\n')
  const worst = [
    // The longest names that a file may have, and the longest messages.
    kinds((number) => request(`${number}`, { model: `${number}${'€'.repeat(196)}`, input: 'x' })),
    kinds((number) => request(`${number}`).replace('/v1/embeddings', `/${String(number).repeat(66)}`)),
    kinds((number) =>
      request(`${number}`, { model: `${number}${'€'.repeat(196)}` }).replace(
        '/v1/embeddings',
        `/${number}${'\\"'.repeat(90)}`,
      ),
    ),
  ]
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 40 }).map((lines) => lines.join('\n')),
      (text) => {
        const { scan } = scanned(Buffer.from(text))
        assert.ok(Buffer.byteLength(scanText(scan)) <= MAX_SCAN_BYTES)
      },
    ),
    { examples: worst.map((text) => [text]) },
  )
})

test('a file without requests is reported as empty, and a file with errors has no chunks', () => {
  for (const text of ['', '\n', '\ufeff', ' \r\n\t\n'])
    assert.deepEqual(errorsOf(text), [['empty_file', null, null]])
  const { scan, chunks } = scanned(Buffer.from(`${request('a')}\n{\n`))
  assert.deepEqual([chunks, scan.chunks, scan.lines], [[], 0, 2])
})

test('of many errors the first hundred by line are kept, and all are counted', () => {
  const lines = Array.from({ length: 300 }, (_, index) => (index % 2 === 0 ? '{' : request('same')))
  const { scan } = scanned(Buffer.from(lines.join('\n')))
  assert.equal(scan.errorCount, 150 + 149)
  assert.deepEqual(
    scan.errors.map(({ line }) => line),
    Array.from({ length: 101 }, (_, index) => index + 1).filter((line) => line !== 2),
  )
})

test('a line that is too long is refused with its number, and the next one is read', () => {
  const long = request('long', { model: 'small', input: 'x'.repeat(MAX_LINE_BYTES) })
  const file = Buffer.from(`${request('a')}\n${long}\n${request('b')}`)
  const expected = [['invalid_request', null, 2]]
  for (const cuts of [[], [100, 5_000_000, 9_000_000]]) {
    const { scan, ids } = scanned(file, cuts)
    assert.deepEqual(
      scan.errors.map(({ code, param, line }) => [code, param, line]),
      expected,
    )
    assert.deepEqual(
      ids.map(({ customId, line }) => [customId, line]),
      [
        ['a', 1],
        ['b', 3],
      ],
    )
  }
})

test('a line that would take a hundred times its size in memory is refused; a million token ids are not', () => {
  const bomb = request('bomb', {
    model: 'small',
    input: 'x',
    extra: Array.from({ length: 50_000 }, () => []),
  })
  assert.deepEqual(errorsOf(`${request('a')}\n${bomb}`), [['invalid_request', null, 2]])
  const deep = request('deep', { model: 'small', extra: [] }).replace('[]', '['.repeat(1e5) + ']'.repeat(1e5))
  assert.deepEqual(errorsOf(deep), [['invalid_request', null, 1]])
  const tokens = request('tokens', { model: 'small', input: Array.from({ length: 1_000_000 }, () => 7) })
  const { scan } = scanned(Buffer.from(tokens))
  assert.deepEqual([scan.errorCount, scan.inputs], [0, 1])
})

test('lines of two models by turns stand together: chunks are cut by size, not wherever the model changes', () => {
  const lines = Array.from({ length: 1024 }, (_, index) =>
    request(`id-${index}`, { model: index % 2 === 0 ? 'small' : 'large', input: 'text', user: `u${index}` }),
  )
  assert.deepEqual(
    scanned(Buffer.from(lines.join('\n'))).chunks.map(({ inputs }) => inputs),
    [512, 512],
  )
})

test('contents are counted one by one in every form, and a chunk has few of them beside texts', () => {
  const image = { image: 'https://example.com/a.png' }
  const forms = [
    { input: image },
    { input: ['a', image] },
    { inputs: [image, image, image] },
    { messages: [{ content: 'x' }] },
  ]
  const file = forms.map((form, index) => request(`f${index}`, { model: 'small', ...form })).join('\n')
  assert.equal(scanned(Buffer.from(file)).scan.inputs, 1 + 2 + 3 + 1)
  const lines = Array.from({ length: 80 }, (_, index) =>
    request(`c${index}`, { model: 'small', input: [image] }),
  )
  const texts = Array.from({ length: 256 }, (_, index) =>
    request(`t${index}`, { model: 'small', input: 'x' }),
  )
  const inputsOf = (of: readonly string[]) =>
    scanned(Buffer.from(of.join('\n'))).chunks.map(({ inputs }) => inputs)
  assert.deepEqual(inputsOf(lines), [32, 32, 16])
  assert.deepEqual(inputsOf([...lines.slice(0, 32), ...texts]), [288])
})

test('requests for pictures stand alone in their chunks', () => {
  const picture = (id: string): string =>
    JSON.stringify({
      custom_id: id,
      method: 'POST',
      url: '/v1/images/generations',
      body: { model: 'painter', prompt: 'a tree', n: 3 },
    })
  const { chunks } = scanned(Buffer.from(`${picture('a')}\n${picture('b')}`))
  assert.deepEqual(
    chunks.map(({ lines, inputs }) => [lines, inputs]),
    [
      [1, 3],
      [1, 3],
    ],
  )
})
