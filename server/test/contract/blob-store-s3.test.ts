import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { AddressInfo } from 'node:net'
import { StoreUnreachable } from '#ports/store.ts'
import { S3Blobs, type S3Settings } from '#stores/blobs/s3.ts'
import { S3_OWNER, S3_STRANGER, s3Program, startS3Server, testPlace } from '#test/support/s3.ts'
import { temporaryFolder, type TestServer } from '#test/support/servers.ts'
import { blobStoreSuite, bytesOf } from './blob-store.ts'

const program = s3Program()

if (program === undefined && !process.env['CI']) {
  test('S3', (t) => t.skip('there is no SeaweedFS on this machine: bash .ci/run installs it'))
} else {
  let server: TestServer
  before(async () => {
    assert.ok(program, 'SeaweedFS is missing, and CI must not pass without it')
    server = await startS3Server(program)
  })
  after(() => server.stop())

  const stores: S3Blobs[] = []
  after(() => stores.forEach((store) => store.close()))
  const openStore = (settings: S3Settings): S3Blobs => {
    const store = new S3Blobs(settings)
    stores.push(store)
    return store
  }

  blobStoreSuite({
    name: 'S3',
    open: async () => openStore(testPlace(server.url)),
    isTree: true,
    histories: 5,
  })

  test('S3: stores with other prefixes share a bucket and see nothing of one another', async () => {
    const settings = testPlace(server.url)
    const [whole, one, other] = ['', '/one', '/other'].map((folder) =>
      openStore({ ...settings, prefix: settings.prefix + folder }),
    )
    await one?.put('a', Buffer.from('of one'))
    await other?.put('a', Buffer.from('of the other'))
    assert.equal((await bytesOf(await one?.open('a'))).toString(), 'of one')
    assert.deepEqual(
      (await whole?.list({ prefix: '', limit: 9 }))?.map((blob) => blob.name),
      ['one/a', 'other/a'],
    )
    assert.deepEqual(
      (await other?.list({ prefix: '', limit: 9 }))?.map((blob) => blob.name),
      ['a'],
    )
  })

  test('S3: a missing permission is reported with the bucket and without the credentials', async () => {
    const settings = testPlace(server.url)
    const stranger = openStore({ ...settings, credentials: S3_STRANGER })
    const wrong = openStore({
      ...settings,
      credentials: { ...S3_STRANGER, secretAccessKey: 'hush-hush-hush' },
    })
    for (const store of [stranger, wrong]) {
      for (const question of [
        () => store.put('a', Buffer.from('x')),
        () => store.open('a'),
        () => store.list({ prefix: '', limit: 1 }),
      ])
        await assert.rejects(question, (error: Error) => {
          assert.ok(!(error instanceof StoreUnreachable))
          assert.match(error.message, new RegExp(settings.bucket))
          assert.doesNotMatch(JSON.stringify([error.message, error.stack, error.cause]), /stranger|hush/)
          return true
        })
    }
  })

  test('S3: without a key, the credentials are those that the machine has', async () => {
    const { accessKeyId, secretAccessKey } = S3_OWNER
    const file = join(temporaryFolder('aws'), 'credentials')
    writeFileSync(
      file,
      `[default]\naws_access_key_id=${accessKeyId}\naws_secret_access_key=${secretAccessKey}\n`,
    )
    process.env['AWS_SHARED_CREDENTIALS_FILE'] = file
    const store = openStore({ ...testPlace(server.url), credentials: undefined })
    await store.put('a', Buffer.from('by the machine'))
    assert.equal((await bytesOf(await store.open('a'))).toString(), 'by the machine')
  })

  test('S3: a bucket that does not exist is no missing blob', async () => {
    const store = openStore({ ...testPlace(server.url), bucket: 'torana-no-such-bucket' })
    await assert.rejects(store.open('a'), { name: 'Error', message: /torana-no-such-bucket/ })
  })

  test('S3: a server that is away is away, and what it had is there when it is back', async () => {
    const own = await startS3Server(program as string)
    const store = openStore(testPlace(own.url))
    await store.put('kept', Buffer.from('before'))
    await own.kill9()
    await assert.rejects(store.put('b', Buffer.from('x')), StoreUnreachable)
    await assert.rejects(store.open('kept'), StoreUnreachable)
    await assert.rejects(store.delete('kept'), StoreUnreachable)
    await assert.rejects(store.list({ prefix: '', limit: 1 }), StoreUnreachable)
    await own.restart()
    assert.equal((await bytesOf(await store.open('kept'))).toString(), 'before')
    await own.stop()
  })

  test('S3: a server that breaks off, or answers with an error of its own, is away', async () => {
    for (const answer of [
      'HTTP/1.1 503 Slow Down\r\ncontent-length: 0\r\n\r\n',
      'HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n',
      'HTTP/1.1 200 OK\r\ncontent-le',
      'nonsense\r\n\r\n',
    ]) {
      const broken = await answering(answer)
      const store = openStore(settingsOf(broken))
      await assert.rejects(store.put('a', Buffer.from('x')), StoreUnreachable, answer)
      await assert.rejects(store.open('a'), StoreUnreachable, answer)
      broken.close()
    }
  })

  test('S3: a body that ends too early is an error for its reader, never a short blob', async () => {
    const broken = await answering('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nonly this')
    const blob = await openStore(settingsOf(broken)).open('a')
    assert.equal(blob?.size, 1000)
    await assert.rejects(bytesOf(blob), StoreUnreachable)
    broken.close()
  })

  test('S3: a put carries the digest of its bytes, so that a server takes no others, and is one request', async () => {
    const digests: unknown[] = []
    const server = createHttpServer((request, response) => {
      digests.push(request.headers['x-amz-content-sha256'])
      request.resume().on('end', () => response.end())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    await openStore(settingsOf(server)).put('a', Buffer.from('more than nothing'))
    assert.deepEqual(digests, [createHash('sha256').update('more than nothing').digest('hex')])
    server.close()
  })
}

/** Gives every connection the same answer after its request, and hangs up. */
async function answering(answer: string): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(answer))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function settingsOf(server: Server): S3Settings {
  const { port } = server.address() as AddressInfo
  const endpoint = `http://127.0.0.1:${port}`
  return { endpoint, region: 'us-east-1', bucket: 'pictures', prefix: '', credentials: S3_STRANGER }
}
