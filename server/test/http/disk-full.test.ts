/** Disks with too little space: files, edits and new work are refused before the ledger runs out of room. */
import assert from 'node:assert/strict'
import { readdirSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { BatchCaller, chunkLines } from '#test/support/batches.ts'
import { fillDisk, smallDisk, testFolder } from '#test/support/disk.ts'
import { aPicture, EDITS } from '#test/support/edits.ts'
import { startGateway, type Gateway } from '#test/support/gateway.ts'
import { eventually } from '#test/support/process.ts'

const MEGABYTE = 1024 * 1024

const gatewayOn = (assets: string, diskReserveBytes: number): Promise<Gateway> =>
  startGateway({
    models: { 'plain-w8': { on: 'plain' } },
    images: { 'plain-image': { on: 'plain', capabilities: { edits: EDITS } } },
    limits: { diskReserveBytes },
    env: { ASSETS_URL: `file://${assets}` },
  })

async function refusal(answer: Response): Promise<readonly unknown[]> {
  const { error } = (await answer.json()) as { readonly error: { readonly code: string } }
  return [answer.status, error.code, answer.headers.has('retry-after')]
}

function fileForm(bytes: number): FormData {
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('file', new File([Buffer.alloc(bytes, ' ')], 'a.jsonl'))
  return form
}

test('below the reserve nothing is kept and nothing is bought, and embeddings are still answered', async () => {
  const assets = testFolder()
  const gateway = await gatewayOn(assets, 2 ** 50)
  const caller = new BatchCaller(gateway.url)
  const json = { 'content-type': 'application/json' }
  const edit = new FormData()
  edit.set('model', 'plain-image')
  edit.set('prompt', 'a cat')
  edit.set('image', new File([new Uint8Array(await aPicture(40, 30))], 'a.png', { type: 'image/png' }))
  const upload = { filename: 'a.jsonl', purpose: 'batch', bytes: 10, mime_type: 'application/jsonl' }
  const asked: readonly [string, string | FormData, Record<string, string>][] = [
    ['/files', fileForm(10), {}],
    ['/uploads', JSON.stringify(upload), json],
    ['/images/edits', edit, {}],
    ['/images/generations', JSON.stringify({ model: 'plain-image', prompt: 'a cat' }), json],
  ]
  for (const [path, body, headers] of asked) {
    const answer = await caller.fetch(path, { method: 'POST', body, headers })
    assert.deepEqual(await refusal(answer), [503, 'disk_full', true], path)
  }
  const { status } = await gateway.ask({ model: 'plain-w8', input: 'text' })
  assert.equal(status, 200)
  const kept = readdirSync(assets, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  assert.deepEqual(
    kept.map(({ name }) => name).filter((name) => !name.startsWith('torana-place')),
    [],
  )
})

test('files fill a disk down to the reserve and no further, and a batch waits there for space', async (context) => {
  const disk = smallDisk(64 * 1024)
  if (disk === undefined) return context.skip('this user may not mount a disk')
  const reserve = 16 * MEGABYTE
  const gateway = await gatewayOn(join(disk, 'assets'), reserve)
  const caller = new BatchCaller(gateway.url)
  const lines = await caller.upload(chunkLines('plain-w8', ['one', 'two']))
  const sent: number[] = []
  for (let file = 0; file < 12; file += 1) {
    const answer = await caller.fetch('/files', { method: 'POST', body: fileForm(8 * MEGABYTE) })
    if (answer.status === 503) assert.deepEqual(await refusal(answer), [503, 'disk_full', true])
    else await answer.body?.cancel()
    sent.push(answer.status)
  }
  assert.ok(sent.includes(200) && sent.includes(503), String(sent))
  const freeBytes = (): number => statfsSync(disk).bavail * statfsSync(disk).bsize
  assert.ok(freeBytes() >= reserve, `${freeBytes()} bytes are free`)
  const free = fillDisk(disk, reserve - MEGABYTE)
  const { id } = await caller.create(lines)
  await eventually(async () => {
    const { status, torana } = await caller.get(id)
    assert.deepEqual([status, torana.pause?.code], ['in_progress', 'disk_full'])
  })
  free()
  assert.equal((await caller.ended(id)).status, 'completed')
})
