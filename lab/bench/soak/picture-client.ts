/** Asks for images, edits and streams, fetches links, comes back after it left, and compares every byte. */
import sharp from 'sharp'
import { KEYS, PAINTERS, PROJECTS } from './config.ts'
import { exchange, type Asked, type Received } from './exchange.ts'
import {
  drawing,
  EDGE,
  mask,
  motifIn,
  pictureOf,
  sha256,
  SQUARE,
  SQUARES,
  type Motif,
} from '../../fake-provider/players/soak/oracle.ts'
import { below, chance, isAnswer, leavingOf, newWord, oneOf, type Visit } from './visit.ts'

const LEAVES = 0.1
const BOUNDARY = 'soak-boundary'

interface Question {
  readonly model: string
  readonly prompt: string
  readonly n: number
  readonly stream: boolean
  readonly format: 'png' | 'jpeg' | 'webp'
  /** Sums of the files, in their order, the mask last. */
  readonly given: readonly string[]
  readonly asked: Asked
}

export async function paint(visit: Visit): Promise<void> {
  const { tally } = visit
  const question = questionOf(visit)
  const { model, prompt, n, asked, given } = question
  const what = `${given.length > 0 ? 'edits' : 'pictures'} of ${model}`
  // Fan-out makes a call for each image where the upstream makes one at a time.
  tally.callsAllowed.set(prompt, model === 'paint-links' || model === 'paint-stream' ? n : 1)
  let received = await exchange({ ...asked, leaving: leavingOf(LEAVES, 300) })
  tally.requests += 1
  if (received === undefined) {
    tally.left += 1
    if (asked.headers?.['idempotency-key'] === undefined) return
    // The same request again must return what the first one bought.
    tally.count('pictures asked for again')
    received = await exchange(asked)
  }
  if (received === undefined || !isAnswer(visit, what, received)) return
  await compare(visit, question, received)
}

function questionOf({ origin, project }: Visit): Question {
  const model = oneOf(PAINTERS)
  const stream = chance(0.25)
  const n = stream ? 1 : 1 + below(3)
  const prompt = `a picture of ${newWord()}`
  const format = chance(0.1) ? oneOf(['jpeg', 'webp'] as const) : 'png'
  const fields: Record<string, string | number | boolean> = {
    model,
    prompt,
    n,
    size: `${EDGE}x${EDGE}`,
    ...(stream ? { stream } : { response_format: chance(0.4) ? 'url' : 'b64_json' }),
    // Previews come in the upstream's own format only.
    ...(stream && model === 'paint-stream' && format === 'png' ? { partial_images: below(3) } : {}),
    ...(format === 'png' ? {} : { output_format: format }),
  }
  const files = chance(0.35) ? filesFor(prompt) : []
  const isEdit = files.length > 0
  const isForm = isEdit && chance(0.7)
  const headers = {
    'content-type': isForm ? `multipart/form-data; boundary=${BOUNDARY}` : 'application/json',
    ...(chance(0.6) ? { 'idempotency-key': newWord() } : {}),
  }
  const asked = {
    url: `${origin}/v1/images/${isEdit ? 'edits' : 'generations'}`,
    key: KEYS[project],
    headers,
    body: isForm ? formOf(fields, files) : Buffer.from(JSON.stringify({ ...fields, ...referencesTo(files) })),
  }
  return { model, prompt, n, stream, format, given: files.map(({ bytes }) => sha256(bytes)), asked }
}

interface File {
  readonly name: string
  readonly bytes: Buffer
}

function filesFor(prompt: string): File[] {
  const images = Array.from({ length: 1 + below(3) }, (_, index) => ({
    name: 'image[]',
    bytes: drawing(`${prompt} ${index}`),
  }))
  return chance(0.5) ? [...images, { name: 'mask', bytes: mask(prompt) }] : images
}

function formOf(fields: Readonly<Record<string, string | number | boolean>>, files: readonly File[]): Buffer {
  const part = (head: string, content: Buffer | string): Buffer =>
    Buffer.concat([
      Buffer.from(`--${BOUNDARY}\r\n${head}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ])
  const disposition = (name: string): string => `content-disposition: form-data; name="${name}"`
  return Buffer.concat([
    ...Object.entries(fields).map(([name, value]) => part(disposition(name), String(value))),
    ...files.map(({ name, bytes }) =>
      part(`${disposition(name)}; filename="${name}.png"\r\ncontent-type: image/png`, bytes),
    ),
    Buffer.from(`--${BOUNDARY}--\r\n`),
  ])
}

/** Files as data URLs in JSON. */
function referencesTo(files: readonly File[]): object {
  if (files.length === 0) return {}
  const reference = ({ bytes }: File): object => ({
    image_url: `data:image/png;base64,${bytes.toString('base64')}`,
  })
  const sent = files.find(({ name }) => name === 'mask')
  const images = files.filter((file) => file !== sent).map(reference)
  return { images, ...(sent === undefined ? {} : { mask: reference(sent) }) }
}

interface Item {
  readonly url?: string
  readonly b64_json?: string
}

async function compare(visit: Visit, question: Question, received: Received): Promise<void> {
  const { tally } = visit
  const where = `${question.prompt}, ${question.model}, request ${String(received.headers['x-request-id'])}`
  const { items, broke } = itemsOf(question, received, where)
  const isShort = broke || received.headers['x-torana-incomplete'] !== undefined
  tally.must(
    items.length === question.n || (isShort && items.length < question.n),
    () => `${items.length} pictures instead of ${question.n}: ${where}`,
  )
  const motifs = new Set<string>()
  for (const item of items) {
    const bytes =
      item.url === undefined ? Buffer.from(item.b64_json ?? '', 'base64') : await fetched(visit, item.url)
    if (bytes === undefined) continue
    tally.pictures += 1
    if (question.format !== 'png') {
      tally.converted.push({ prompt: question.prompt, colours: await coloursIn(bytes, question.format) })
      continue
    }
    const motif = motifIn(bytes) ?? '{}'
    const { prompt, given } = JSON.parse(motif) as Partial<Motif>
    const isRight = prompt === question.prompt && given?.join() === question.given.join()
    tally.must(isRight && pictureOf(motif).equals(bytes), () => `another picture: ${where}: ${motif}`)
    tally.must(!motifs.has(motif), () => `the same picture twice: ${where}`)
    motifs.add(motif)
  }
}

function itemsOf({ stream }: Question, { body }: Received, where: string): ReturnType<typeof itemsOfBody> {
  try {
    return stream ? itemsOfStream(body) : itemsOfBody(body)
  } catch (error) {
    const [start, end] = [body.subarray(0, 200), body.subarray(-200)].map((part) =>
      JSON.stringify(String(part)),
    )
    throw new Error(`unreadable: ${where}: ${start} … ${end}`, { cause: error })
  }
}

function itemsOfBody(body: Buffer): { items: readonly Item[]; broke: boolean } {
  return { items: (JSON.parse(body.toString()) as { data: Item[] }).data, broke: false }
}

function itemsOfStream(body: Buffer): { items: readonly Item[]; broke: boolean } {
  const events = body
    .toString()
    .split('\n\n')
    .filter((text) => text.includes('data: '))
    .map(
      (text) =>
        JSON.parse(text.slice(text.indexOf('data: ') + 6)) as Item & { type?: string; error?: object },
    )
  return {
    items: events.filter(({ type = '' }) => type.endsWith('.completed')),
    broke: events.some(({ error }) => error !== undefined),
  }
}

/** By its link without a key; sometimes also as its own and as the other project. */
async function fetched({ tally, project }: Visit, url: string): Promise<Buffer | undefined> {
  const answer = await exchange({ url })
  tally.assets += 1
  tally.must(answer?.status === 200, () => `a link answered ${answer?.status}: ${url}`)
  if (chance(0.1)) {
    const { origin, pathname } = new URL(url)
    for (const one of PROJECTS) {
      const wanted = one === project ? 200 : 404
      const seen = await exchange({ url: `${origin}${pathname}`, key: KEYS[one] })
      tally.must(
        seen?.status === wanted,
        () => `an asset of ${project} answered ${one} with ${seen?.status}: ${url}`,
      )
    }
  }
  return answer?.status === 200 ? answer.body : undefined
}

/** Of the middle of each square. */
async function coloursIn(bytes: Buffer, format: string): Promise<Uint8Array> {
  const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  const found = (await sharp(bytes).metadata()).format
  if (found !== format || info.width !== EDGE || info.height !== EDGE) return new Uint8Array()
  const colours = new Uint8Array(SQUARES * 3)
  for (let square = 0; square < SQUARES; square += 1) {
    const across = EDGE / SQUARE
    const x = (square % across) * SQUARE + SQUARE / 2
    const y = Math.floor(square / across) * SQUARE + SQUARE / 2
    colours.set(data.subarray((y * EDGE + x) * 3, (y * EDGE + x) * 3 + 3), square * 3)
  }
  return colours
}
