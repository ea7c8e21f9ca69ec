import assert from 'node:assert/strict'
import { request, type ClientRequest } from 'node:http'
import { after, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startFakeProvider } from '../server.ts'
import { edit, editByForm, formBody, pictureOf } from './edit-client.ts'

const provider = await startFakeProvider()
after(() => provider.close())

async function untilInFlight(calls: number): Promise<void> {
  for (let tries = 0; tries < 500 && provider.counters().inFlight !== calls; tries++) await delay(20)
  assert.equal(provider.counters().inFlight, calls)
}

describe('an upload that does not arrive', () => {
  /** Sends the beginning of a form and leaves, or is thrown out. */
  async function begun(traits: string, bytes: number): Promise<ClientRequest> {
    const { body, contentType } = formBody([
      ...Object.entries(edit),
      { name: 'image', bytes: Buffer.alloc(bytes) },
    ])
    const call = request(`${provider.url}/${traits}/v1/images/edits`, {
      method: 'POST',
      headers: { 'content-type': contentType, 'content-length': body.length },
    })
    call.on('error', () => {})
    await new Promise<void>((resolve) => call.write(body.subarray(0, body.length - 100), () => resolve()))
    return call
  }

  it('is not in the log when the client leaves in the middle', async () => {
    const { length } = provider.entries()
    const call = await begun('plain', 1_000_000)
    await untilInFlight(1)
    call.destroy()
    await untilInFlight(0)
    assert.deepEqual(provider.entries().slice(length), [])
  })

  it('cuts-upload-100000: the connection is reset after so many bytes, and nothing is served', async () => {
    const call = await begun('cuts-upload-100000', 5_000_000)
    if (!call.closed) await new Promise((resolve) => call.once('close', resolve))
    const entry = provider.entries().at(-1)
    assert.deepEqual(
      [entry?.served, entry?.status, entry?.operation, entry?.wire],
      [false, null, 'edit', 'openai'],
    )
    const bytes = entry?.requestBytes ?? 0
    assert.ok(bytes >= 100_000 && bytes < 5_000_000, String(bytes))
  })

  it('cuts-upload-100000: a smaller one is served', async () => {
    const answer = await editByForm(`${provider.url}/cuts-upload-100000`, [
      { name: 'image', bytes: await pictureOf(16, 16) },
    ])
    assert.equal(answer.status, 200)
  })
})
