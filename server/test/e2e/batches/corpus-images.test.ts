/** `torana batch run --image`: a corpus of images becomes a file of vectors. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { bitsOf } from '#test/support/arbitraries.ts'
import { startGateway } from '#test/support/gateway.ts'
import { pngOf } from '#test/support/media.ts'
import { eventually, runTorana, temporaryFolder } from '#test/support/process.ts'
import { contentVector } from '../../../../lab/fake-provider/contents.ts'
import { vectorOf } from '../../../../lab/fake-provider/vectors.ts'

const WIDTH = 8
const contents = { wire: 'openrouter', inputs: ['text', 'image'], fuses: true, maxParts: 2, fetches: true }
const taking = (on: string, more: object = {}) => ({
  on,
  upstream: { base: 'openrouter/api/v1' },
  capabilities: { contents: { ...contents, ...more } },
})
const gateway = await startGateway({
  models: {
    'photos-w8': taking('plain'),
    'single-w8': taking('plain', { fuses: false, maxParts: 1 }),
    'slow-w8': { ...taking('slow-300'), deploymentLimits: { concurrency: 1 } },
    'texts-w8': { on: 'plain' },
  },
})
const env = { TORANA_BASE_URL: `${gateway.url}/v1`, TORANA_KEY: gateway.key }
const PHOTOS = await Promise.all(Array.from({ length: 6 }, (_, index) => pngOf(10 + index, 10)))
const ADDRESS = 'https://example.com/heron.png'

/** A folder with photos, and a corpus beside them. */
function photoFolder(): string {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'photos'))
  for (const [index, bytes] of PHOTOS.entries()) writeFileSync(join(folder, 'photos', `${index}.png`), bytes)
  writeFileSync(join(folder, 'photos', 'words.png'), 'these are words')
  return folder
}

const ROWS = [
  { sku: 'a', photo: 'photos/0.png', words: 'a red chair' },
  { sku: 'b', photo: 'photos/1.png', words: '' },
  { sku: 'c', photo: '', words: 'only words' },
  { sku: 'd', photo: '', words: '' },
  { sku: 'e', photo: 'photos/missing.png', words: 'x' },
  { sku: 'f', photo: 'photos/words.png', words: 'x' },
  { sku: 'g', photo: ADDRESS, words: '' },
]
const EXPECTED = [
  contentVector(['a red chair', PHOTOS[0] as Buffer], WIDTH),
  contentVector([PHOTOS[1] as Buffer], WIDTH),
  vectorOf('only words', WIDTH),
  undefined,
  undefined,
  undefined,
  vectorOf(`\0${ADDRESS}\0`, WIDTH),
]

const CORPORA: Readonly<Record<string, (file: string) => void>> = {
  'corpus.jsonl': (file) => writeFileSync(file, ROWS.map((row) => JSON.stringify(row)).join('\n')),
  'corpus.csv': (file) =>
    writeFileSync(
      file,
      `sku,photo,words\n${ROWS.map(({ sku, photo, words }) => `${sku},${photo},${words}`).join('\n')}`,
    ),
}

for (const [corpus, write] of Object.entries(CORPORA))
  test(`images and texts of ${corpus} become one vector for each row, and a bad image fails its row alone`, async () => {
    const folder = photoFolder()
    write(join(folder, corpus))
    const args = ['batch', 'run', join(folder, corpus), '--model', 'photos-w8', '--image', 'photo']
    // From another folder: paths begin at the corpus.
    const ran = runTorana({
      folder: temporaryFolder(),
      env,
      args: [...args, '--text', 'words', '--id', 'sku', '--out', join(folder, 'v.jsonl')],
    })
    assert.equal(await ran.exit, 3, ran.stderr())
    const lines = (file: string) =>
      readFileSync(join(folder, file), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { id: string; vector: number[]; code: string; message: string })
    assert.deepEqual(
      new Map(lines('v.jsonl').map(({ id, vector }) => [id, bitsOf(Float32Array.from(vector))])),
      new Map(ROWS.flatMap(({ sku }, row) => (EXPECTED[row] ? [[sku, bitsOf(EXPECTED[row])]] : []))),
    )
    const errors = lines('v.jsonl.errors.jsonl')
    assert.deepEqual(
      errors.map(({ id, code }) => [id, code]),
      [
        ['d', 'no_image'],
        ['e', 'media_unreachable'],
        ['f', 'invalid_media'],
      ],
    )
    assert.match(errors[1]?.message ?? '', /^Row 5: there is no file .*missing\.png/)
    assert.match(errors[2]?.message ?? '', /^Row 6: .*words\.png is not a PNG, JPEG, WebP or GIF file/)
  })

const WRONG: readonly (readonly [what: string, args: readonly string[], said: RegExp])[] = [
  ['a column that is not there', ['--image', 'picture'], /There is no column "picture"/],
  ['a model of texts', ['--image', 'photo', '--model', 'texts-w8'], /photos-w8/],
  ['a model that fuses nothing', ['--image', 'photo', '--text', 'words', '--model', 'single-w8'], /one part/],
  ['a column that holds no paths', ['--image', 'words'], /No row can be sent. The first: Row 1: there is no/],
]
for (const [what, more, said] of WRONG)
  test(`a run ends before it sends a row: ${what}`, async () => {
    const folder = photoFolder()
    CORPORA['corpus.csv']?.(join(folder, 'corpus.csv'))
    const before = gateway.provider.counters().calls
    const args = ['batch', 'run', 'corpus.csv', '--model', 'photos-w8', '--out', 'v.npy', ...more]
    const { exit, stderr } = runTorana({ folder, env, args })
    assert.equal(await exit, 1, stderr())
    assert.match(stderr(), said)
    assert.equal(gateway.provider.counters().calls, before)
  })

test('a run of images that is killed with -9 goes on with the same command: every row once, nothing bought twice', async () => {
  const folder = photoFolder()
  const rows = Array.from({ length: 240 }, (_, row) => ({
    photo: `photos/${row % 6}.png`,
    words: `row ${row}`,
  }))
  writeFileSync(join(folder, 'c.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'))
  const args = ['batch', 'run', 'c.jsonl', '--model', 'slow-w8', '--image', 'photo', '--text', 'words']
  const all = [...args, '--out', 'v.npy', '--rows-per-batch', '20']
  const first = runTorana({ folder, env, args: all })
  const served = (): number =>
    gateway.provider
      .entries()
      .filter((entry) => entry.served && entry.model === 'slow-w8')
      .reduce((sum, { inputs }) => sum + inputs, 0)
  await eventually(async () => assert.ok(served() > 20))
  first.child.kill('SIGKILL')
  await first.exit
  const second = runTorana({ folder, env, args: all })
  assert.equal(await second.exit, 0, second.stderr())
  const numbers = new Float32Array(new Uint8Array(readFileSync(join(folder, 'v.npy'))).slice(128).buffer)
  for (const [row, { words }] of rows.entries())
    assert.deepEqual(
      bitsOf(numbers.slice(row * WIDTH, (row + 1) * WIDTH)),
      bitsOf(contentVector([words, PHOTOS[row % 6] as Buffer], WIDTH)),
    )
  assert.equal(served(), 240)
})
