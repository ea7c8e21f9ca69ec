import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import type { ClientRequest } from 'node:http'
import { request } from 'node:http'
import { createInterface } from 'node:readline'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { LogEntry } from '../log.ts'
import { edit, editByForm, formBody, pictureOf } from './edit-client.ts'

/** The server as a process of its own, so that its memory can be told from the test's. */
let child: ChildProcess
let url: string
before(async () => {
  const main = new URL('../main.ts', import.meta.url).pathname
  child = spawn(process.execPath, [main, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout ?? assert.fail() })
  const [line] = (await once(lines, 'line')) as [string]
  lines.resume()
  url = /http:\S+/.exec(line)?.[0] ?? assert.fail(line)
})
after(async () => {
  const exited = once(child, 'exit')
  child.kill()
  await exited
})

async function entries(): Promise<LogEntry[]> {
  return (await (await fetch(`${url}/_log`)).json()) as LogEntry[]
}

async function inFlight(): Promise<number> {
  return ((await (await fetch(`${url}/_health`)).json()) as { inFlight: number }).inFlight
}

/** A form with files of so many bytes, sent piece by piece with a pause for the other side. */
async function sentForm(
  traits: string,
  fileBytes: readonly number[],
  { knownLength }: { knownLength: boolean },
): Promise<{ status: number | undefined; sha256s: string[] }> {
  const { contentType } = formBody([])
  const block = Buffer.alloc(256 * 1024, 'pixels, or what looks like them')
  const marker = Buffer.alloc(0)
  const { body } = formBody([
    ...Object.entries(edit),
    ...fileBytes.map(() => ({ name: 'image[]', bytes: marker })),
  ])
  // The empty files are where each head ends and a boundary follows at once.
  const pieces = body.toString('latin1').split(/(?<=image\/png\r\n\r\n)/)
  const total = body.length + fileBytes.reduce((sum, bytes) => sum + bytes, 0)
  const call = request(`${url}/${traits}/v1/images/edits`, {
    method: 'POST',
    headers: { 'content-type': contentType, ...(knownLength ? { 'content-length': total } : {}) },
  })
  const answered = once(call, 'response') as Promise<[{ statusCode?: number; resume: () => void }]>
  const sha256s: string[] = []
  for (const [position, piece] of pieces.entries()) {
    await written(call, Buffer.from(piece, 'latin1'))
    const bytes = fileBytes[position]
    if (bytes === undefined) continue
    const hash = createHash('sha256')
    for (let left = bytes; left > 0; left -= block.length) {
      const part = block.subarray(0, Math.min(left, block.length))
      hash.update(part)
      await written(call, part)
    }
    sha256s.push(hash.digest('hex'))
  }
  call.end()
  const [answer] = await answered
  answer.resume()
  return { status: answer.statusCode, sha256s }
}

async function written(call: ClientRequest, bytes: Buffer): Promise<void> {
  if (!call.write(bytes)) await once(call, 'drain')
}

/** In bytes; `peak` since it was forgotten last. */
function memoryOf(pid: number | undefined, what: 'VmRSS' | 'VmHWM'): number {
  const line = new RegExp(`^${what}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1]) * 1024
}

const megabyte = 1_000_000

describe('large forms', { skip: process.platform === 'linux' ? false : 'reads /proc' }, () => {
  it('three files of 30 MB are summed while they come, and hardly kept', async () => {
    const warm = await editByForm(`${url}/plain`, [{ name: 'image', bytes: await pictureOf(64, 64) }])
    assert.equal(warm.status, 200)
    // One of the same kind before, for what the process keeps once and for all.
    await sentForm('plain', [70 * megabyte], { knownLength: true })
    const before = memoryOf(child.pid, 'VmRSS')
    writeFileSync(`/proc/${child.pid}/clear_refs`, '5')
    const sizes = [30 * megabyte, 30 * megabyte, 30 * megabyte + 1]
    const { status, sha256s } = await sentForm('plain', sizes, { knownLength: true })
    const grownBytes = memoryOf(child.pid, 'VmHWM') - before
    assert.equal(status, 200)
    const entry = (await entries()).at(-1)
    assert.deepEqual(
      entry?.parts?.map(({ sha256, bytes }) => [sha256, bytes]),
      sha256s.map((sha256, position) => [sha256, sizes[position]]),
    )
    assert.deepEqual([entry?.painted, entry?.served], [false, true])
    assert.ok(grownBytes < 40 * megabyte, `grew by ${grownBytes} bytes`)
  })

  it('a length that nobody announced changes nothing but how many bytes are kept for a moment', async () => {
    const sizes = [40 * megabyte, 40 * megabyte]
    const { status, sha256s } = await sentForm('plain', sizes, { knownLength: false })
    const entry = (await entries()).at(-1)
    assert.deepEqual(
      [status, entry?.painted, entry?.parts?.map(({ sha256 }) => sha256)],
      [200, false, sha256s],
    )
  })

  it('several at once share the room', async () => {
    const before = memoryOf(child.pid, 'VmRSS')
    writeFileSync(`/proc/${child.pid}/clear_refs`, '5')
    const calls = Array.from({ length: 8 }, () =>
      sentForm('hash-only', [40 * megabyte], { knownLength: false }),
    )
    for (const { status } of await Promise.all(calls)) assert.equal(status, 200)
    const grownBytes = memoryOf(child.pid, 'VmHWM') - before
    assert.ok(grownBytes < 80 * megabyte, `grew by ${grownBytes} bytes`)
  })
})

describe('an upload that does not arrive', () => {
  /** Sends the beginning of a form and leaves, or is thrown out. */
  async function begun(traits: string, bytes: number): Promise<ClientRequest> {
    const { body, contentType } = formBody([
      ...Object.entries(edit),
      { name: 'image', bytes: Buffer.alloc(bytes) },
    ])
    const call = request(`${url}/${traits}/v1/images/edits`, {
      method: 'POST',
      headers: { 'content-type': contentType, 'content-length': body.length },
    })
    call.on('error', () => {})
    await new Promise<void>((resolve) => call.write(body.subarray(0, body.length - 100), () => resolve()))
    return call
  }

  it('is not in the books when the client leaves in the middle', async () => {
    const { length } = await entries()
    const call = await begun('plain', 1_000_000)
    assert.equal(await inFlight(), 1)
    call.destroy()
    for (let tries = 0; tries < 500 && (await inFlight()) > 0; tries++) await delay(20)
    assert.equal(await inFlight(), 0)
    assert.deepEqual((await entries()).slice(length), [])
  })

  it('cuts-upload-100000: the connection is reset after so many bytes, and nothing is served', async () => {
    const call = await begun('cuts-upload-100000', 5_000_000)
    if (!call.closed) await new Promise((resolve) => call.once('close', resolve))
    const entry = (await entries()).at(-1)
    assert.deepEqual(
      [entry?.served, entry?.status, entry?.operation, entry?.wire],
      [false, null, 'edit', 'openai'],
    )
    const bytes = entry?.requestBytes ?? 0
    assert.ok(bytes >= 100_000 && bytes < 5_000_000, String(bytes))
  })

  it('cuts-upload-100000: a smaller one is served', async () => {
    const answer = await editByForm(`${url}/cuts-upload-100000`, [
      { name: 'image', bytes: await pictureOf(16, 16) },
    ])
    assert.equal(answer.status, 200)
  })
})
