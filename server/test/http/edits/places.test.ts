/** Slots for uploads: slow senders of one project do not take them from another. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startGateway } from '#test/support/gateway.ts'

const LOUD = 'key-of-a-loud-project-00001'
const CALM = 'key-of-a-calm-project-00001'
const gateway = await startGateway({
  images: { 'plain-image': { on: 'plain' } },
  projects: {
    loud: { keys: [{ name: 'loud', secret: LOUD }] },
    calm: { keys: [{ name: 'calm', secret: CALM }] },
  },
  limits: { maxImageJobs: 8 },
})
const { hostname, port } = new URL(gateway.url)

test('uploads that stand still leave places to other projects', async () => {
  const sockets = Array.from({ length: 30 }, () => {
    const socket = connect(Number(port), hostname).on('error', () => {})
    socket.write(
      `POST /v1/images/edits HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${LOUD}\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: 1000\r\n\r\n--b`,
    )
    return socket
  })
  await delay(200)
  const ask = async (key: string) =>
    gateway.ask({ model: 'plain-image', prompt: 'a' }, { key, path: '/v1/images/edits' })
  // It was read: the fault says that it has no images.
  const read = await ask(CALM)
  assert.equal(read.status, 400, read.text)
  const refused = await ask(LOUD)
  assert.equal(refused.status, 503)
  assert.equal(refused.body.error.code, 'too_many_image_jobs')
  assert.match(refused.body.error.message, /of which 6 are of project 'loud'/)
  for (const socket of sockets) socket.destroy()
})
