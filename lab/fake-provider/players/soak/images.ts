import { FormReader } from '../../form.ts'
import { EDGE, motifText, pictureOf, TOKENS_OF_A_FILE, TOKENS_OF_A_PICTURE } from './oracle.ts'
import type { Answer } from './calls.ts'

interface Call {
  readonly origin: string
  readonly path: string
  readonly callId: string
}

interface Question {
  readonly fields: Readonly<Record<string, unknown>>
  /** Sums of the files, in their order, the mask last. */
  readonly given: readonly string[]
}

/** Kept files: links are fetched at once; older ones were lost by the gateway, or are no longer needed. */
const KEPT_FILES = 2000
const files = new Map<string, Buffer>()

export function fileOf(path: string): Buffer | undefined {
  return files.get(path)
}

export async function answerPictures(
  body: Buffer,
  type: string,
  { origin, path, callId }: Call,
): Promise<Answer> {
  const { fields, given } = type.startsWith('multipart/') ? await formOf(body, type) : jsonOf(body)
  const prompt = String(fields['prompt'])
  const count = Number(fields['n'] ?? 1)
  const motifs = Array.from({ length: count }, (_, index) => motifText({ prompt, index, given, callId }))
  const pictures = motifs.map(pictureOf)
  const usage = usageOf(prompt, given.length, count)
  const recorded = {
    prompt,
    motifs,
    textTokens: usage.input_tokens_details.text_tokens,
    imageTokens: usage.input_tokens_details.image_tokens,
    outputTokens: usage.output_tokens,
  }
  if (String(fields['stream']) === 'true') {
    const kind = path.endsWith('/edits') ? 'image_edit' : 'image_generation'
    return { type: 'text/event-stream', chunks: eventsOf(kind, pictures, fields, usage), recorded }
  }
  const data = pictures.map((picture, index) =>
    path.startsWith('/links/')
      ? { url: linkTo(picture, `${callId}-${index}`, origin) }
      : { b64_json: picture.toString('base64') },
  )
  const answer = { created: seconds(), data, ...echo, usage }
  return { type: 'application/json', chunks: [Buffer.from(JSON.stringify(answer))], recorded }
}

const echo = { size: `${EDGE}x${EDGE}`, quality: 'high', background: 'opaque', output_format: 'png' }

function eventsOf(
  kind: string,
  pictures: readonly Buffer[],
  fields: Question['fields'],
  usage: object,
): Buffer[] {
  const previews = Number(fields['partial_images'] ?? 0)
  return pictures.flatMap((picture) => {
    const common = { created_at: seconds(), b64_json: picture.toString('base64'), ...echo }
    return [
      ...Array.from({ length: previews }, (_, index) =>
        eventOf(`${kind}.partial_image`, { partial_image_index: index, ...common }),
      ),
      eventOf(`${kind}.completed`, { ...common, usage }),
    ]
  })
}

function eventOf(type: string, event: object): Buffer {
  return Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...event })}\n\n`)
}

function usageOf(prompt: string, given: number, count: number) {
  const details = {
    text_tokens: Math.ceil(Buffer.byteLength(prompt) / 4),
    image_tokens: given * TOKENS_OF_A_FILE,
  }
  const input = details.text_tokens + details.image_tokens
  const output = count * TOKENS_OF_A_PICTURE
  return {
    input_tokens: input,
    input_tokens_details: details,
    output_tokens: output,
    total_tokens: input + output,
  }
}

function linkTo(picture: Buffer, name: string, origin: string): string {
  const path = `/files/${name}`
  files.set(path, picture)
  const [oldest] = files.keys()
  if (files.size > KEPT_FILES && oldest !== undefined) files.delete(oldest)
  return `${origin}${path}`
}

function seconds(): number {
  return Math.floor(Date.now() / 1000)
}

function jsonOf(body: Buffer): Question {
  return { fields: JSON.parse(body.toString()) as Question['fields'], given: [] }
}

async function formOf(body: Buffer, type: string): Promise<Question> {
  const reader = new FormReader(type, () => false)
  await reader.write(body)
  const { texts, parts } = await reader.end()
  const isMask = ({ name }: { readonly name: string }): boolean => name === 'mask'
  const sumOf = ({ sha256 }: { readonly sha256: string | null }): string => sha256 ?? ''
  return {
    fields: Object.fromEntries(texts.map(({ name, text }) => [name, text])),
    given: [...parts.filter((part) => !isMask(part)), ...parts.filter(isMask)].map(sumOf),
  }
}
