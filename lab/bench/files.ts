/**
 * `npm run lab -- bench/files`: a large file through one node. It arrives in parts, some of which break off and are sent again,
 * and is downloaded in ranges that break off too, while a caller embeds. Another file comes in one form over a slow line.
 * `-- --mb 8192 --slow-mb 200` for the largest possible ones. Prints each figure beside its goal.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startWatched } from './gateway-watch.ts'
import { latencyMs, OTHER_CORE } from './load-stage.ts'
import { scriptOn, type Script } from '../processes.ts'
import { startProvider } from '../provider.ts'
import { Report, loadText } from '../report.ts'
import { SENDER, type Paced, type SentRequest } from '../sender.ts'
import { BENCH_SECRET } from './torana.ts'
import { Workplace } from '../workplace.ts'

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
/** Longest time that embeddings are sent beside a download: its end is theirs. */
const MAX_SECONDS = 3600
const AIM_GROWTH_MB = 64

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

const KEY = `files-${'0123456789abcdef'.repeat(2)}`
await using place = new Workplace('files')
const { folder } = place
const provider = await startProvider(OTHER_CORE, folder)
const { watch, ...torana } = await startWatched({
  folder,
  config: {
    upstreams: {
      plain: { dialect: 'openai', baseUrl: `${provider.origin}/plain/v1`, apiKey: 'sk-upstream-0123456789' },
    },
    models: {
      [MODEL]: {
        kind: 'embedding',
        embedding: { dimensions: 8 },
        price: 'free',
        spaceGuard: false,
        deployments: [{ upstream: 'plain', model: MODEL }],
      },
    },
  },
  env: {
    DATABASE_URL: (await place.postgres()).url,
    ASSETS_URL: `file://${join(folder, 'assets')}`,
    TORANA_BOOTSTRAP_KEY: KEY,
    TORANA_SECRET: BENCH_SECRET,
  },
})
const headers = { authorization: `Bearer ${KEY}` }
const at = (path: string): string => `${torana.origin}/v1${path}`

/** Most memory beyond that at rest, in megabytes. */
async function growthOf(work: () => Promise<void>): Promise<number> {
  const restBytes = watch.residentBytes()
  watch.resetPeak()
  await work()
  return Math.max(0, watch.peakBytes() - restBytes) / MB
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

/** Until it is ended. */
function embedBeside(): Script<readonly (readonly SentRequest[])[]> {
  const paced: Paced = {
    port: torana.port,
    seconds: MAX_SECONDS,
    patienceMs: 10_000,
    streams: [{ key: KEY, model: MODEL, perSecond: 50 }],
  }
  return scriptOn(OTHER_CORE, SENDER, paced)
}

async function p99Ms(beside: Script<readonly (readonly SentRequest[])[]>): Promise<number> {
  beside.end()
  return latencyMs((await beside.answer).flat(), 0.99)
}

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
const report = new Report()
const isSmall = (megabytes: number): boolean => megabytes <= AIM_GROWTH_MB
const startedMs = performance.now()
let fileId = ''
const uploadMb = await growthOf(async () => {
  fileId = await uploaded(parts, Number(values.failing))
})
report.aim(
  `${values.mb} MB in ${parts} parts, ${brokenOff} broken off, md5 checked: memory`,
  `+${uploadMb.toFixed(0)} MB, ${((performance.now() - startedMs) / 1000).toFixed(1)} s`,
  `≤ +${AIM_GROWTH_MB} MB`,
  isSmall(uploadMb),
)
let slow = { isEqual: false, seconds: 0 }
const slowMb = await growthOf(async () => {
  slow = await uploadedSlowly(Number(values['slow-mb']))
})
report.aim(
  `${values['slow-mb']} MB in one form at 1 MB/s: memory`,
  `+${slowMb.toFixed(0)} MB, ${slow.seconds.toFixed(0)} s, ${slow.isEqual ? 'byte-equal' : 'DIFFERENT'}`,
  `≤ +${AIM_GROWTH_MB} MB, byte-equal`,
  isSmall(slowMb) && slow.isEqual,
)
for (let number = 0; number < parts; number += 1) sent.update(partOf(number, PART_BYTES))
const alone = embedBeside()
await wait(ALONE_MS)
const aloneMs = await p99Ms(alone)
const beside = embedBeside()
const tags = new Set<string | null>()
const downloaded = createHash('sha256')
let breaks = 0
const downloadMb = await growthOf(download)
const isWhole = downloaded.digest('hex') === sent.digest('hex')
report.aim(
  `${breaks} ranges, each broken off`,
  `${isWhole ? 'byte-equal' : 'DIFFERENT'}, ${tags.size} ETag, +${downloadMb.toFixed(0)} MB`,
  'byte-equal, 1 ETag',
  isWhole && tags.size === 1,
)
const besideMs = await p99Ms(beside)
report.figure('p99 of others beside it', `${besideMs.toFixed(1)} ms, ${aloneMs.toFixed(1)} ms without`)
report.print(`files (${loadText()})`)
if (!report.isKept) process.exitCode = 1

async function download(): Promise<void> {
  const total = parts * PART_BYTES
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
}
