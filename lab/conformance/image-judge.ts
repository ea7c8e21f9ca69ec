/** Says whether the pictures that a client got are those in the upstream's log, and whether they were bought once. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import sharp from 'sharp'
import type { LogEntry } from '../fake-provider/log.ts'
import { mustBePainted, mustHaveArrived } from './edit-judge.ts'
import type { ImageClient } from './image-clients.ts'
import type { ExpectedPictures, ImageCase } from './image-rows.ts'
import type { ClientAnswer } from './run-client.ts'
import { must, Unfit } from './unfit.ts'
import { judgeError, wordsOf, type Verdict } from './verdict.ts'

/** A picture as a client program saved it. */
export interface SavedPicture {
  readonly file: string
  readonly sha256: string
  readonly url?: string
}

/** What the programs print of pictures. Go leaves out lists that are empty. */
export interface Pictures {
  readonly pictures?: readonly SavedPicture[]
  readonly previews?: readonly SavedPicture[]
}

/** What the fake provider knows. */
export interface UpstreamLog {
  readonly entries: readonly LogEntry[]
  readonly picture: (sha256: string) => Buffer | undefined
}

type Note = NonNullable<LogEntry['pictures']>[number]

/** Mean difference of a channel, of 255: jpeg at a low quality stays below 4, another picture is above 20. */
const maxDifference = 8

export async function judgePictures(
  client: ImageClient,
  asked: ImageCase,
  answer: ClientAnswer<Pictures>,
  log: UpstreamLog,
  gatewayUrl: string,
): Promise<Verdict> {
  try {
    return await judged(client, asked, answer, log, gatewayUrl)
  } catch (error) {
    if (!(error instanceof Unfit)) throw error
    return { result: 'wrong', expected: error.expected, got: error.message }
  }
}

async function judged(
  client: ImageClient,
  asked: ImageCase,
  answer: ClientAnswer<Pictures>,
  log: UpstreamLog,
  gatewayUrl: string,
): Promise<Verdict> {
  const { expected } = asked
  const bought = purchasesOf(asked, log)
  const got = answer.ok ? `${answer.pictures?.length ?? 0} pictures` : wordsOf(answer.error)
  if (expected.kind === 'pictures') {
    if (!answer.ok) throw new Unfit(`${expected.count} pictures`, got)
    await mustBeRight(expected, answer, bought, log, gatewayUrl)
  } else if (expected.kind === 'error') {
    const verdict = judgeError(client, expected, answer.ok ? got : answer.error)
    if (verdict.result === 'wrong') return verdict
    const { shouldRetry } = expected
    const sent = answer.ok ? undefined : answer.error.shouldRetry
    must(shouldRetry === undefined || sent === shouldRetry, `x-should-retry: ${shouldRetry}`, String(sent))
  } else {
    const wanted = `${client.streamErrorClass}: … ${expected.says} …`
    if (answer.ok) throw new Unfit(wanted, got)
    const { class: className, message } = answer.error
    must(className === client.streamErrorClass && message.includes(expected.says), wanted, got)
  }
  must(bought.length === asked.purchases, `${asked.purchases} purchases`, `${bought.length}, and ${got}`)
  return { result: 'right' }
}

function purchasesOf({ prompt }: ImageCase, { entries }: UpstreamLog): LogEntry[] {
  const promptSha256 = createHash('sha256').update(prompt).digest('hex')
  return entries.filter((entry) => entry.served && entry.promptSha256 === promptSha256)
}

async function mustBeRight(
  expected: ExpectedPictures,
  { pictures = [], previews = [] }: Pictures,
  bought: readonly LogEntry[],
  log: UpstreamLog,
  gatewayUrl: string,
): Promise<void> {
  const { count, form } = expected
  must(pictures.length === count, `${count} pictures`, `${pictures.length}`)
  for (const { url } of pictures) {
    if (form === 'b64_json') must(url === undefined, 'base64', `the link ${url}`)
    else must(url?.startsWith(`${gatewayUrl}/`) === true, `a link of ${gatewayUrl}`, url ?? 'base64')
  }
  const notes = bought.flatMap((entry) => entry.pictures ?? [])
  must(notes.length === count, `${count} pictures in the upstream's log`, `${notes.length}`)
  // Several calls end in any order.
  const left = [...notes]
  for (const [index, picture] of pictures.entries()) {
    const found = await placeOf(picture, left, expected, log)
    must(found !== -1, `picture ${index} of the upstream's log`, `another: ${picture.file}`)
    must(found === 0 || bought.length > 1, 'pictures in their order', `picture ${index} out of it`)
    await mustBeSound(picture, left[found] as Note, expected)
    left.splice(found, 1)
  }
  await mustBePreviews(previews, pictures, notes, expected)
  if (expected.edited === undefined) return
  for (const entry of bought) mustHaveArrived(expected.edited, entry)
  for (const { file } of pictures) await mustBePainted(expected.edited, file)
}

async function placeOf(
  { file, sha256 }: SavedPicture,
  notes: readonly Note[],
  { isConverted }: ExpectedPictures,
  log: UpstreamLog,
): Promise<number> {
  if (!isConverted) return notes.findIndex((note) => note.sha256 === sha256)
  for (const [index, note] of notes.entries()) {
    const original = log.picture(note.sha256)
    if (original !== undefined && (await differenceOf(readFileSync(file), original)) <= maxDifference) {
      return index
    }
  }
  return -1
}

/** What the client saved is what it hashed, a whole picture, of the format and size that were asked for. */
async function mustBeSound(
  { file, sha256 }: SavedPicture,
  { width, height }: Note,
  { format, size }: ExpectedPictures,
): Promise<void> {
  const bytes = readFileSync(file)
  const sum = createHash('sha256').update(bytes).digest('hex')
  must(sum === sha256, `the sum of ${file}, ${sum}`, sha256)
  const decoded = await decodedFrom(bytes)
  must(decoded.size === `${width}x${height}`, `${width}x${height}`, decoded.size)
  must(size === 'auto' || decoded.size === size, size, decoded.size)
  must(format === 'auto' || decoded.format === format, format, decoded.format)
}

async function mustBePreviews(
  previews: readonly SavedPicture[],
  pictures: readonly SavedPicture[],
  [note]: readonly Note[],
  expected: ExpectedPictures,
): Promise<void> {
  must(previews.length === expected.previews, `${expected.previews} previews`, `${previews.length}`)
  const sums = new Set([...previews, ...pictures].map(({ sha256 }) => sha256))
  must(sums.size === previews.length + pictures.length, 'previews that differ', 'the same twice')
  if (note !== undefined) for (const preview of previews) await mustBeSound(preview, note, expected)
}

/** Decodes all of it: a cut picture has a good header too. */
async function decodedFrom(bytes: Buffer): Promise<{ format: string; size: string }> {
  try {
    const { format } = await sharp(bytes, { failOn: 'warning' }).metadata()
    const { info } = await sharp(bytes, { failOn: 'warning' }).raw().toBuffer({ resolveWithObject: true })
    return { format, size: `${info.width}x${info.height}` }
  } catch (error) {
    throw new Unfit('a picture', `${bytes.length} bytes that are none: ${String(error)}`)
  }
}

/** Of small copies, in which the coding leaves no trace and the text still does. */
async function differenceOf(one: Buffer, other: Buffer): Promise<number> {
  const [first, second] = await Promise.all([one, other].map(smallPixels))
  if (first === undefined || second === undefined) return Infinity
  let sum = 0
  for (const [position, value] of first.entries()) sum += Math.abs(value - (second[position] as number))
  return sum / first.length
}

function smallPixels(bytes: Buffer): Promise<Buffer> {
  return sharp(bytes).flatten().resize(64, 64, { fit: 'fill' }).raw().toBuffer()
}
