/** Images and image jobs at the control API: what each caller sees. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import sharp from 'sharp'
import { assetIdOf, deliveryName, deliveryText, pictureName } from '#core/image/delivery.ts'
import { systemClock } from '#runtime/clock.ts'
import { hashing } from '#runtime/hashing.ts'
import { WorkerImageCodec } from '#runtime/image-codec.ts'
import { jobKeysOf } from '#runtime/secret.ts'
import { MemoryBlobs } from '#stores/blobs/memory.ts'
import type { Player } from '#core/access/actor.ts'
import { PostgresImageJobs } from '#stores/postgres/jobs/image-jobs.ts'
import { defaultLimits } from '#core/settings.ts'
import { postgresStores } from '#test/support/ledger-stores.ts'
import { SECRETS } from '#test/support/directory.ts'
import { assertFault } from '#test/support/errors.ts'
import { unusedLake } from '#test/support/lake.ts'
import { startScopedControl } from '#test/support/scoped-control.ts'
import { absent } from '#test/support/stores/absent.ts'

const open = postgresStores()
const codec = new WorkerImageCodec()
after(() => codec.close())

/** Noise, which compresses worst. */
const noise = (width: number, height: number): Promise<Buffer> =>
  sharp({
    create: {
      width,
      height,
      channels: 3,
      background: 'white',
      noise: { type: 'gaussian', mean: 128, sigma: 60 },
    },
  })
    .png()
    .toBuffer()

async function withPicture(project: string) {
  const { entry, identifiers } = await open()
  const blobs = new MemoryBlobs(systemClock)
  const jobId = identifiers.next()
  const bytes = new Uint8Array(await noise(800, 500))
  const sha256 = await hashing.sha256OfBytes(bytes)
  const picture = { sha256, bytes: bytes.length, format: 'png', width: 800, height: 500 }
  await blobs.put(pictureName(sha256), bytes)
  const delivery = {
    project,
    post: entry({ requestId: jobId, project, images: 1 }),
    pictures: [picture],
    tokens: {} as never,
    echoes: {},
    extraFields: {},
    emulated: [],
  }
  await blobs.put(deliveryName(jobId, 0), new TextEncoder().encode(deliveryText(delivery)))
  const control = await startScopedControl({ node: absent('node', { imageBlobs: blobs, thumbnails: codec }) })
  return { ...control, blobs, bytes, sha256, assetId: assetIdOf(jobId, { attempt: 0, index: 0 }) }
}

test('a picture is sent as it is kept, to those who may see its project and to no others', async () => {
  const { fetchAs, askAs, bytes, assetId } = await withPicture('search')
  for (const caller of ['search', 'admin']) {
    const answer = await fetchAs(caller, `/assets/${assetId}/content`)
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'image/png'])
    assert.deepEqual(new Uint8Array(await answer.arrayBuffer()), bytes)
  }
  assertFault(await askAs('ads', `/assets/${assetId}/content`), 'not_found')
  assertFault(await askAs('ads', `/assets/${assetId}/content?width=104`), 'not_found')
  assertFault(await askAs('admin', `/assets/${assetId.slice(0, -1)}9/content`), 'not_found')
  assertFault(await askAs('admin', '/assets/nothing/content'), 'not_found')
  assertFault(await askAs('admin', `/assets/${assetId}/content?width=5000`), 'invalid_parameter')
})

test('a small copy is a WebP of at most 40 KB, is made once, and may be kept by a browser for ever', async () => {
  const { fetchAs, blobs, sha256, assetId } = await withPicture('search')
  for (const width of [104, 208, 416]) {
    const answer = await fetchAs('search', `/assets/${assetId}/content?width=${width}`)
    const small = Buffer.from(await answer.arrayBuffer())
    assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'image/webp'])
    assert.match(answer.headers.get('cache-control') ?? '', /immutable/)
    assert.ok(small.length <= 40 * 1024, `${small.length} bytes`)
    const { width: made, format } = await sharp(small).metadata()
    assert.deepEqual([made, format], [width, 'webp'])
  }
  await blobs.delete(pictureName(sha256))
  assert.equal((await fetchAs('search', `/assets/${assetId}/content?width=104`)).status, 200)
})

interface Jobs {
  readonly data: readonly { id: string; status: string; project: string; holders: { node: string }[] }[]
  readonly next: string | null
}

test('image jobs are listed newest first, each caller its own projects, and never with a prompt', async () => {
  const { database, identifiers, nodeId } = await open()
  const keys = jobKeysOf(SECRETS)
  const jobs = new PostgresImageJobs(database, keys)
  const begin = async (project: string, keyId: string, player?: Player): Promise<string> => {
    const id = identifiers.next()
    await jobs.begin({
      id,
      project,
      keyId,
      player,
      model: 'gpt-image-2',
      digest: id,
      idempotencyKey: undefined,
      isRetry: false,
      request: '{"prompt":"a secret harbour"}',
      nodeId,
    })
    return id
  }
  const own = [await begin('search', 'search/app'), await begin('search', 'search/app')]
    .toSorted()
    .toReversed()
  const other = await begin('ads', 'ads/website')
  const { askAs } = await startScopedControl({
    node: absent('node', {
      reports: database,
      jobKeys: keys,
      limits: defaultLimits,
      lake: unusedLake(database),
    }),
  })
  const ids = ({ data }: Jobs): string[] => data.map(({ id }) => id)
  const all = await askAs<Jobs>('admin', '/image-jobs')
  assert.deepEqual(ids(all.body).toSorted(), [...own, other].toSorted())
  assert.ok(!all.text.includes('harbour'))
  const { body } = await askAs<Jobs>('search', '/image-jobs?limit=1')
  assert.deepEqual(
    [ids(body), body.data[0]?.status, body.data[0]?.holders[0]?.node],
    [own.slice(0, 1), 'queued', 'here'],
  )
  assert.deepEqual(ids((await askAs<Jobs>('search', `/image-jobs?after=${body.next}`)).body), own.slice(1))
  assertFault(await askAs('search', '/image-jobs?project=ads'), 'forbidden')
  assert.deepEqual(ids((await askAs<Jobs>('admin', '/image-jobs?status=succeeded')).body), [])
  const played = await begin('ads', 'ads/playground:admin', { kind: 'node', name: 'admin' })
  // Neither a key of that name nor an actor of another kind is the caller.
  await begin('ads', 'ads/console.admin')
  await begin('ads', 'ads/playground:admin', { kind: 'member', name: 'admin' })
  assert.deepEqual(ids((await askAs<Jobs>('admin', '/image-jobs?mine=true')).body), [played])
})
