/**
 * `npm run lab -- bench/files`: a large file through one node. It arrives in parts, some of which break off and are sent again,
 * and is downloaded in ranges that break off too, while a caller embeds. Another file comes in one form over a slow line.
 * `-- --mb 8192 --slow-mb 200` for the largest possible ones. Prints each figure beside its goal.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { GATEWAY_KEY } from '../../server/test/support/gateway.ts'
import { startNodeProcess } from '../../server/test/support/cluster.ts'
import { temporaryFolder } from '../../server/test/support/process.ts'
import { testPostgres } from '../../server/test/support/servers.ts'
import { startFakeProvider } from '../fake-provider/server.ts'

const { values } = parseArgs({
  options: {
    mb: { type: 'string', default: '256' },
    failing: { type: 'string', default: '0.05' },
    /** Arrives at a megabyte per second. */
    'slow-mb': { type: 'string', default: '10' },
  },
})
const MB = 1024 * 1024
const PART_BYTES = 16 * MB
/** Bytes after which a download breaks off; it continues from there. */
const STRIDE_BYTES = 48 * MB
const MODEL = 'plain-w8'
/** A few hundred requests, of which some are the slowest percent. */
const ALONE_MS = 10_000

/** A line of a megabyte, as valid as any; its number makes it its own. */
function lineOf(number: number): Buffer {
  const head = `{"custom_id":"${String(number).padStart(8, '0')}","method":"POST","url":"/v1/embeddings","body":{"model":"${MODEL}","input":"`
  return Buffer.from(
    `${head}${'word '.repeat(Math.floor((MB - head.length - 5) / 5)).padEnd(MB - head.length - 4)}"}}\n`,
  )
}

/** Part by part, the same each time. */
function partOf(number: number, bytes: number): Buffer {
  const lines = bytes / MB
  return Buffer.concat(
    Array.from({ length: lines }, (_, index) => lineOf(number * (PART_BYTES / MB) + index)),
  )
}

const provider = await startFakeProvider()
const { url: DATABASE_URL } = await testPostgres()
const node = await startNodeProcess({ models: { [MODEL]: { on: 'plain' } } }, provider.url, {
  env: { DATABASE_URL, ASSETS_URL: `file://${temporaryFolder()}` },
})
const headers = { authorization: `Bearer ${GATEWAY_KEY}` }
const at = (path: string): string => `${node.url}/v1${path}`

function memoryMb(field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${node.child.pid}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024
}

/** Resets the peak, so that it covers only what follows. */
function forgetPeak(): number {
  writeFileSync(`/proc/${node.child.pid}/clear_refs`, '5')
  return memoryMb('VmRSS')
}

async function postJson<Answer>(path: string, body: object): Promise<Answer> {
  const type = { 'content-type': 'application/json' }
  const answer = await fetch(at(path), {
    method: 'POST',
    headers: { ...headers, ...type },
    body: JSON.stringify(body),
  })
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Answer
}

async function sendPart(uploadId: string, part: Buffer, breaksOff: boolean): Promise<string | undefined> {
  const form = new FormData()
  form.set('data', new File([new Uint8Array(part)], 'part'))
  const left = new AbortController()
  if (breaksOff) setTimeout(() => left.abort(), 20)
  try {
    const answer = await fetch(at(`/uploads/${uploadId}/parts`), {
      method: 'POST',
      headers,
      body: form,
      signal: left.signal,
    })
    return ((await answer.json()) as { id?: string }).id
  } catch (error) {
    if (!breaksOff) throw error
    return undefined
  }
}

/** Requests one after another until `stop`, in a separate thread: this one's work must not count. */
function embedBeside(): { stop(): Promise<number[]> } {
  const question = {
    url: at('/embeddings'),
    headers,
    body: JSON.stringify({ model: MODEL, input: 'somebody waits' }),
  }
  const thread = new Worker(new URL('./files-beside.ts', import.meta.url), { workerData: question })
  return {
    async stop() {
      thread.postMessage('stop')
      const [times] = (await once(thread, 'message')) as [number[]]
      return times.sort((a, b) => a - b)
    },
  }
}
const p99 = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN

const parts = Math.max(1, Math.round((Number(values.mb) * MB) / PART_BYTES))
const sent = createHash('sha256')
let brokenOff = 0

/** A file uploaded in `count` parts. */
async function uploaded(count: number, failing: number): Promise<string> {
  const md5 = createHash('md5')
  const { id } = await postJson<{ id: string }>('/uploads', {
    filename: 'corpus.jsonl',
    purpose: 'batch',
    bytes: count * PART_BYTES,
    mime_type: 'application/jsonl',
  })
  const ids: string[] = []
  for (let number = 0; number < count; number += 1) {
    const part = partOf(number, PART_BYTES)
    md5.update(part)
    if (Math.random() < failing && (await sendPart(id, part, true)) === undefined) brokenOff += 1
    const partId = await sendPart(id, part, false)
    if (partId === undefined) throw new Error('a part was refused')
    ids.push(partId)
  }
  const done = { part_ids: ids, md5: md5.digest('hex') }
  return (await postJson<{ file: { id: string } }>(`/uploads/${id}/complete`, done)).file.id
}

/** One form whose file arrives at a megabyte line per second. The kept bytes are read back. */
async function uploadedSlowly(
  lines: number,
): Promise<{ readonly isEqual: boolean; readonly seconds: number }> {
  const startedMs = performance.now()
  const digest = createHash('sha256')
  const boundary = 'bench-files'
  const part = (name: string, rest: string): string =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${rest}\r\n\r\n`
  async function* form(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${part('purpose', '')}batch\r\n${part('file', '; filename="slow.jsonl"')}`)
    for (let number = 0; number < lines; number += 1) {
      const line = lineOf(number)
      digest.update(line)
      yield line
      await wait(1000)
    }
    yield Buffer.from(`\r\n--${boundary}--\r\n`)
  }
  const answer = await fetch(at('/files'), {
    method: 'POST',
    headers: { ...headers, 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Readable.toWeb(Readable.from(form())) as ReadableStream,
    duplex: 'half',
  })
  if (answer.status !== 200) throw new Error(`/files: ${answer.status} ${await answer.text()}`)
  const { id } = (await answer.json()) as { id: string }
  const seconds = (performance.now() - startedMs) / 1000
  const kept = createHash('sha256')
  const content = await fetch(at(`/files/${id}/content`), { headers })
  for await (const piece of content.body as unknown as AsyncIterable<Uint8Array>) kept.update(piece)
  return { isEqual: kept.digest('hex') === digest.digest('hex'), seconds }
}

// A node that has just started grows by what any work needs.
await uploaded(1, 0)
const before = forgetPeak()
const uploadedMs = performance.now()
const fileId = await uploaded(parts, Number(values.failing))
const uploadSeconds = (performance.now() - uploadedMs) / 1000
const uploadMb = memoryMb('VmHWM') - before

const beforeSlow = forgetPeak()
const slow = await uploadedSlowly(Number(values['slow-mb']))
const slowMb = memoryMb('VmHWM') - beforeSlow

for (let number = 0; number < parts; number += 1) sent.update(partOf(number, PART_BYTES))

const alone = embedBeside()
await wait(ALONE_MS)
const aloneTimes = await alone.stop()

const beside = embedBeside()
const beforeDownload = forgetPeak()
const total = parts * PART_BYTES
const downloaded = createHash('sha256')
const tags = new Set<string | null>()
let breaks = 0
for (let got = 0; got < total;) {
  const left = new AbortController()
  const answer = await fetch(at(`/files/${fileId}/content`), {
    headers: { ...headers, range: `bytes=${got}-` },
    signal: left.signal,
  })
  tags.add(answer.headers.get('etag'))
  const untilByte = Math.min(total, got + STRIDE_BYTES)
  for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) {
    const wanted = piece.subarray(0, untilByte - got)
    downloaded.update(wanted)
    got += wanted.length
    if (got >= untilByte) break
  }
  left.abort()
  breaks += 1
}
const besideTimes = await beside.stop()
const downloadMb = memoryMb('VmHWM') - beforeDownload

console.table({
  [`B13: ${values.mb} MB in ${parts} parts, ${brokenOff} broken off, md5 checked`]: {
    figure: `+${uploadMb.toFixed(0)} MB at most, ${uploadSeconds.toFixed(1)} s`,
    goal: '+64 MB',
  },
  [`B13: ${values['slow-mb']} MB in one form at 1 MB/s`]: {
    figure: `+${slowMb.toFixed(0)} MB at most, ${slow.seconds.toFixed(0)} s, ${slow.isEqual ? 'byte-equal' : 'DIFFERENT'}`,
    goal: '+64 MB, byte-equal',
  },
  [`B14: ${breaks} ranges, each broken off`]: {
    figure: `${downloaded.digest('hex') === sent.digest('hex') ? 'byte-equal' : 'DIFFERENT'}, ${tags.size} ETag, +${downloadMb.toFixed(0)} MB`,
    goal: 'byte-equal, 1 ETag',
  },
  'B14: p99 of others beside it': {
    figure: `${p99(besideTimes).toFixed(1)} ms, ${p99(aloneTimes).toFixed(1)} ms without`,
    goal: 'unchanged',
  },
})
node.child.kill('SIGKILL')
await node.exit
await provider.close()
process.exit(0)
