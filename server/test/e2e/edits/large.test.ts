/** Parallel large edits, through a gateway in a separate process. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { largePictures, sendEdit, type LargePicture } from '#test/support/large-edits.ts'
import { eventually, startTorana, temporaryFolder } from '#test/support/process.ts'
import { startFakeProvider } from '../../../../lab/fake-provider/server.ts'

const MEGABYTE = 1024 * 1024
const EDITS = 8
const PICTURE_BYTES = 10 * MEGABYTE
/** Less than the size of all images: they were not in memory. */
const MAX_GROWTH_BYTES = 60 * MEGABYTE
const KEY = `large-edits-${'0123456789abcdef'.repeat(2)}`

const provider = await startFakeProvider()
after(() => provider.close())
const folder = temporaryFolder()
writeFileSync(
  join(folder, 'torana.yaml'),
  JSON.stringify({
    upstreams: { edits: { dialect: 'openai', baseUrl: `${provider.url}/hash-only/v1` } },
    models: {
      edits: {
        kind: 'image',
        price: 'free',
        deployments: [{ upstream: 'edits', capabilities: { edits: { maxInputs: 16 } } }],
      },
    },
  }),
)
const torana = await startTorana({
  folder,
  env: { TORANA_BOOTSTRAP_KEY: KEY, TORANA_DATA_DIR: join(folder, 'data') },
})
const nextPicture = await largePictures(PICTURE_BYTES)

async function edit(prompt: string, pictures: readonly LargePicture[]): Promise<void> {
  const { status, text } = await sendEdit({ url: torana.url, key: KEY, model: 'edits', prompt, pictures })
  assert.equal(status, 200, text.slice(0, 300))
}

/** The images that the upstream got with this prompt. */
function received(prompt: string): (string | null)[] | undefined {
  const promptSha256 = createHash('sha256').update(prompt).digest('hex')
  return provider
    .entries()
    .find((entry) => entry.promptSha256 === promptSha256)
    ?.parts?.map(({ sha256 }) => sha256)
}

async function nothingIsLeft(): Promise<void> {
  const uploads = join(folder, 'data/uploads')
  await eventually(async () => {
    assert.deepEqual(readdirSync(uploads), [])
    const handles = `/proc/${torana.pid}/fd`
    const open = readdirSync(handles).map((name) => readlinkSync(join(handles, name)))
    assert.deepEqual(
      open.filter((target) => target.startsWith(uploads)),
      [],
    )
  })
}

function memoryBytes(field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${torana.pid}/status`, 'utf8')
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024
}

test('edits of 80 MB at once reach the upstream bit by bit, without being in memory, and leave nothing behind', async () => {
  const all = (round: string) =>
    Promise.all(
      Array.from({ length: EDITS }, async (_, index) => {
        const picture = nextPicture()
        const prompt = `${round} ${index}`
        await edit(prompt, [picture])
        assert.deepEqual(received(prompt), [picture.sha256])
      }),
    )
  // The first ones also compile the code, and let the heap find its size.
  await all('first')
  writeFileSync(`/proc/${torana.pid}/clear_refs`, '5')
  const before = memoryBytes('VmRSS')
  await all('second')
  const growth = memoryBytes('VmHWM') - before
  assert.ok(growth < MAX_GROWTH_BYTES, `${growth} bytes more`)
  await nothingIsLeft()
})

test('an edit of four pictures of 10 MB hands them on in their order', async () => {
  const pictures = Array.from({ length: 4 }, nextPicture)
  await edit('four', pictures)
  assert.deepEqual(
    received('four'),
    pictures.map(({ sha256 }) => sha256),
  )
  await nothingIsLeft()
})
