/**
 * `node server/test/fuzz/multipart.fuzz.ts [--cases 100000] [--seed 1]`: forms of every kind end as a form or
 * as a caller's fault, soon, and leave nothing behind. A failure prints its seed, which repeats it alone with
 * `--cases 1`.
 */
import { setImmediate as yieldLoop } from 'node:timers/promises'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { parseArgs } from 'node:util'
import sharp from 'sharp'
import { Fault } from '#core/fault/fault.ts'
import { defaultLimits } from '#core/settings.ts'
import { readForm, type Form } from '#http/gateway/uploads/multipart.ts'
import { DiskUploads } from '#stores/uploads/disk.ts'
import { seededRandom } from '#test/support/random.ts'
import { formCase, type FormCase, type SoundPart } from './form-cases.ts'

const LIMITS = {
  ...defaultLimits,
  maxEditPictures: 3,
  editFileBytes: 60_000,
  editsBodyBytes: 150_000,
  imagesBodyBytes: 10_000,
}
/** No body takes a second; on a busy machine it may take some. */
const BOUND_MS = 20_000
const STALL_MS = 20
const AT_ONCE = 16

export interface FuzzOutcome {
  readonly passed: number
  readonly failures: readonly string[]
  readonly forms: number
  readonly faults: Readonly<Record<string, number>>
}

export async function fuzzForms({ cases, seed }: { cases: number; seed: number }): Promise<FuzzOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'torana-fuzz-'))
  const uploads = await DiskUploads.open(folder, { maxBytes: 1e9 })
  const pictures = await somePictures()
  const filesBefore = readdirSync('/proc/self/fd').length
  const failures: string[] = []
  const faults: Record<string, number> = {}
  let forms = 0
  let next = 0

  const worker = async (): Promise<void> => {
    while (next < cases) {
      const caseSeed = seed + next
      next += 1
      const given = formCase(seededRandom(caseSeed), pictures)
      const outcome = await outcomeOf(given, uploads)
      if (outcome.kind === 'failed') failures.push(`seed ${caseSeed}: ${outcome.words}`)
      else if (outcome.kind === 'form') forms += 1
      else faults[outcome.code] = (faults[outcome.code] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  const left = { ...uploads.inUse(), entries: readdirSync(folder).length }
  if (Object.values(left).some((count) => count !== 0)) failures.push(`left behind: ${JSON.stringify(left)}`)
  const filesAfter = readdirSync('/proc/self/fd').length
  if (filesAfter > filesBefore) failures.push(`${filesBefore} open files before, ${filesAfter} after`)
  rmSync(folder, { recursive: true })
  return { passed: cases - failures.length, failures, forms, faults }
}

type Outcome =
  | { readonly kind: 'form' }
  | { readonly kind: 'fault'; readonly code: string }
  | { readonly kind: 'failed'; readonly words: string }

async function outcomeOf(given: FormCase, uploads: DiskUploads): Promise<Outcome> {
  const limits = given.ending === 'stall' ? { ...LIMITS, uploadIdleMs: STALL_MS } : LIMITS
  const request = requestOf(given)
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const bound = setTimeout(() => resolve(undefined), BOUND_MS)
  try {
    const form = await Promise.race([readForm(request, { uploads, limits, yieldOnArrival: yieldLoop }), late])
    if (form === undefined) return { kind: 'failed', words: `no end after ${BOUND_MS} ms` }
    const words = given.expected === undefined ? undefined : await differenceOf(form, given.expected)
    await Promise.all(form.files.map(({ upload }) => upload.discard()))
    return words === undefined ? { kind: 'form' } : { kind: 'failed', words }
  } catch (error) {
    const isCallers = error instanceof Fault && error.entry.status >= 400 && error.entry.status < 500
    if (isCallers && given.expected === undefined) return { kind: 'fault', code: error.code }
    return { kind: 'failed', words: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  } finally {
    clearTimeout(bound)
    request.destroy()
  }
}

/** The fields of a request that are read. */
function requestOf({ contentType, contentLength, chunks, ending }: FormCase): IncomingMessage {
  let index = 0
  const request = new Readable({
    read() {
      const chunk = chunks[index]
      index += 1
      if (chunk !== undefined) this.push(chunk)
      else if (ending === 'end') this.push(null)
      else if (ending === 'close') this.destroy()
      else if (ending === 'error') this.destroy(new Error('aborted'))
    },
  })
  // Node emits the error only to listeners.
  request.on('error', () => {})
  const headers = {
    ...(contentType !== undefined && { 'content-type': contentType }),
    ...(contentLength !== undefined && { 'content-length': contentLength }),
  }
  return Object.assign(request, { headers }) as unknown as IncomingMessage
}

async function differenceOf(form: Form, expected: readonly SoundPart[]): Promise<string | undefined> {
  const fields = expected.filter(({ isFile }) => !isFile).map(({ name, value }) => [name, value.toString()])
  if (JSON.stringify(form.fields) !== JSON.stringify(fields)) return `fields: ${JSON.stringify(form.fields)}`
  const files = expected.filter(({ isFile }) => isFile)
  if (files.length !== form.files.length) return `${form.files.length} files of ${files.length}`
  for (const [index, { upload, field }] of form.files.entries()) {
    const file = files[index] as SoundPart
    if (!file.name.startsWith(field)) return `${field} for ${file.name}`
    const bytes = Buffer.concat(await Array.fromAsync(upload.open()))
    if (!bytes.equals(file.value)) return `${file.name} came with other bytes`
  }
  return undefined
}

async function somePictures(): Promise<Buffer[]> {
  const create = { width: 7, height: 5, channels: 4, background: { r: 9, g: 99, b: 9, alpha: 0.5 } } as const
  const noise = {
    width: 40,
    height: 30,
    channels: 3,
    background: '#777',
    noise: { type: 'gaussian', mean: 99, sigma: 50 },
  } as const
  return Promise.all([
    sharp({ create }).png().toBuffer(),
    sharp({ create }).webp().toBuffer(),
    sharp({ create: noise }).jpeg().toBuffer(),
    sharp({ create: noise }).png().toBuffer(),
  ])
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { cases: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
  })
  const startedMs = performance.now()
  const { passed, failures, forms, faults } = await fuzzForms({
    cases: Number(values.cases),
    seed: Number(values.seed),
  })
  for (const failure of failures.slice(0, 20)) console.log(failure)
  const seconds = (performance.now() - startedMs) / 1000
  console.log(`${forms} forms; faults: ${JSON.stringify(faults)}`)
  console.log(`${Math.round(Number(values.cases) / seconds)} cases a second`)
  console.log(`${passed} passed, ${failures.length} failed`)
  process.exitCode = failures.length > 0 ? 1 : 0
}
