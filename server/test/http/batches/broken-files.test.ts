/**
 * Files as people really have them: an accepted file runs completely, a line that cannot run fails with its number, and nothing is a
 * 500.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway } from '#test/support/gateway.ts'
import { BatchCaller, requestLines } from '#test/support/batches.ts'

const EMBEDDINGS = '/v1/embeddings'
const gateway = await startGateway({
  models: { 'plain-w8': { on: 'plain' }, 'other-w8': { on: 'plain' } },
  images: { 'plain-image': { on: 'plain' } },
})
const caller = new BatchCaller(gateway.url)

const line = (id: string, body: object = { model: 'plain-w8', input: id }, url = EMBEDDINGS): string =>
  JSON.stringify({ custom_id: id, method: 'POST', url, body })
const bytes = (...parts: readonly (string | Uint8Array)[]): Buffer<ArrayBuffer> =>
  Buffer.concat(parts.map((part) => Buffer.from(part)))

const [A, B] = [line('a'), line('b')]
const many = Array.from({ length: 2048 }, (_, index) => `text ${index}`)
const long = line('long', { model: 'plain-w8', input: 'word '.repeat(2_000_000) })

/** How many lines succeed and fail, by the contents of the file. */
const TAKEN: readonly [
  what: string,
  file: string | Uint8Array<ArrayBuffer>,
  completed: number,
  codes: readonly string[],
][] = [
  ['a byte order mark', `\ufeff${A}\n${B}\n`, 2, []],
  ['CR LF', `${A}\r\n${B}\r\n`, 2, []],
  ['blank lines', `\n\n${A}\n  \n\t\n${B}\n\n`, 2, []],
  ['no line break at its end', `${A}\n${B}`, 2, []],
  ['two models', `${A}\n${line('b', { model: 'other-w8', input: 'b' })}`, 2, []],
  ['2,048 inputs in one line', line('a', { model: 'plain-w8', input: many }), 1, []],
  [
    '2,049 inputs in one line',
    `${A}\n${line('b', { model: 'plain-w8', input: [...many, 'x'] })}`,
    1,
    ['too_many_inputs'],
  ],
  ['a field that nobody knows', line('a', { model: 'plain-w8', input: 'a', task: 'search' }), 1, []],
  [
    'half a character',
    `${A}\n${line('b', { model: 'plain-w8', input: ['b', 'b\ud83d'] })}`,
    1,
    ['invalid_input'],
  ],
  ['a line without input', `${A}\n${line('b', { model: 'plain-w8' })}`, 1, ['missing_parameter']],
  ['a line of 10 MB', `${A}\n${long}`, 2, []],
]

for (const [what, file, completed, codes] of TAKEN)
  test(`a file with ${what} is run`, async () => {
    const batch = await caller.ended((await caller.create(await caller.upload(file))).id)
    const refused = await caller.lines(batch.error_file_id)
    assert.deepEqual(
      refused.map(({ response }) => response?.body.error?.code),
      codes,
    )
    const { completed: got, failed } = batch.request_counts
    assert.deepEqual([batch.status, got, failed], ['completed', completed, codes.length])
  })

const REFUSED: readonly [
  what: string,
  file: string | Uint8Array<ArrayBuffer>,
  code: string,
  line: number | null,
][] = [
  ['nothing in it', '', 'empty_file', null],
  ['blank lines alone', '\ufeff\r\n \n', 'empty_file', null],
  ['a NUL', `${A}\n\0\n${B}`, 'invalid_json_line', 2],
  ['wrong UTF-8', bytes(`${A}\n`, '{"custom_id":"', Uint8Array.of(0xff), '"}\n', B), 'invalid_json_line', 2],
  ['half a line', `${A}\n\n${B.slice(0, -5)}\n`, 'invalid_json_line', 3],
  [
    'a name that stands twice',
    requestLines(
      EMBEDDINGS,
      many.map((input) => ({ model: 'plain-w8', input })),
    ) + `\n${line('line 0')}`,
    'duplicate_custom_id',
    2049,
  ],
  [
    'two urls',
    `${A}\n${line('b', { model: 'plain-image', prompt: 'b' }, '/v1/images/generations')}`,
    'url_mismatch',
    2,
  ],
  [
    'the url of another endpoint',
    line('a', { model: 'plain-image', prompt: 'a' }, '/v1/images/generations'),
    'url_mismatch',
    1,
  ],
  ['a model that is not there', `${A}\n${line('b', { model: 'gone', input: 'b' })}`, 'model_not_found', 2],
  [
    'a model of another kind',
    `${A}\n${line('b', { model: 'plain-image', input: 'b' })}`,
    'model_not_found',
    2,
  ],
  [
    'a line of 17 MB',
    `${A}\n${line('b', { model: 'plain-w8', input: 'x'.repeat(17_000_000) })}`,
    'invalid_request',
    2,
  ],
]

for (const [what, file, code, number] of REFUSED)
  test(`a file with ${what} is a batch that has failed, with its code and line`, async () => {
    const { status, errors } = await caller.create(await caller.upload(file))
    const [error] = errors?.data ?? []
    assert.deepEqual([status, error?.code, error?.line], ['failed', code, number])
  })
