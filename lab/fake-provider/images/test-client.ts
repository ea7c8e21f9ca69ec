import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import sharp from 'sharp'
import type { LogEntry } from '../log.ts'
import type { FakeProvider } from '../server.ts'

/** What tests of the OpenAI wire ask, and how they read the answer. Small, so that drawing takes no time. */
export const order = { model: 'gpt-image-2', prompt: 'a red bicycle', size: '96x64' }

export type ImagesBody = {
  created: number
  data: { b64_json?: string; url?: string; revised_prompt?: string }[]
  background?: string
  output_format?: string
  quality?: string
  size?: string
  usage?: { total_tokens: number; input_tokens: number; output_tokens: number }
  error?: { message: string; type: string; param: string | null; code: string | null }
}

export type ImagesAnswer = { status: number; headers: Headers; text: string; json: () => ImagesBody }

export async function generate(
  scenarioUrl: string,
  fields: object = {},
  headers: Record<string, string> = {},
): Promise<ImagesAnswer> {
  const answer = await fetch(`${scenarioUrl}/v1/images/generations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...order, ...fields }),
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, text, json: () => JSON.parse(text) as ImagesBody }
}

/** The bytes of the pictures of an answer, those that came as addresses downloaded. */
export async function picturesIn({ data }: ImagesBody): Promise<Buffer[]> {
  return await Promise.all(
    data.map(async ({ b64_json, url }) =>
      b64_json === undefined ? downloaded(url ?? '') : Buffer.from(b64_json, 'base64'),
    ),
  )
}

export async function downloaded(url: string): Promise<Buffer> {
  const answer = await fetch(url)
  assert.equal(answer.status, 200)
  return Buffer.from(await answer.arrayBuffer())
}

/** Every picture can be decoded, and is what the log says of the purchase, in the same order. */
export async function assertLogged(pictures: Uint8Array[], entry: LogEntry | undefined): Promise<void> {
  assert.deepEqual([entry?.served, entry?.status !== null], [true, true])
  const seen = pictures.map(async (bytes) => {
    const { format, width, height } = await sharp(bytes).metadata()
    await sharp(bytes).raw().toBuffer()
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    return { sha256, bytes: bytes.length, format, width, height }
  })
  assert.deepEqual(await Promise.all(seen), entry?.pictures)
}

/** The last purchase in the log: polls and downloads aside. */
export function lastPurchase(provider: FakeProvider): LogEntry | undefined {
  return provider
    .entries()
    .findLast(({ operation }) => operation === 'generate' || operation === 'edit' || operation === 'submit')
}
