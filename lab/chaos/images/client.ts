/** A client that asks for images, and asks again. */
import { createHash } from 'node:crypto'
import { GATEWAY_KEY } from '../../../server/test/support/gateway.ts'
import type { ModelId } from './house.ts'

/** One image request with a unique prompt, so that the provider's log identifies its purchase. */
export interface Order {
  readonly idempotencyKey: string
  readonly body: Readonly<Record<string, unknown>> & { readonly prompt: string; readonly n: number }
}

interface Picture {
  readonly sha256: string
  readonly format: 'webp' | 'other'
}

export interface Answer {
  readonly status: number
  readonly jobId: string | undefined
  readonly shouldRetry: string | null
  readonly code: string | undefined
  readonly pictures: readonly Picture[]
}

export function order(
  name: string,
  index: number,
  { model, fields = {} }: { readonly model: ModelId; readonly fields?: Readonly<Record<string, unknown>> },
): Order {
  const prompt = `${name}, number ${index}`
  return {
    idempotencyKey: `${name.replaceAll(' ', '-')}-${index}`,
    // Both ways to deliver an image.
    body: { model, prompt, n: 1, response_format: index % 2 === 0 ? 'b64_json' : 'url', ...fields },
  }
}

/** As the provider's log names it. */
export function promptDigest({ body }: Order): string {
  return createHash('sha256').update(body.prompt).digest('hex')
}

/** Rejects when the connection breaks. */
export async function ask(url: string, { idempotencyKey, body }: Order): Promise<Answer> {
  const answer = await fetch(`${url}/v1/images/generations`, {
    method: 'POST',
    headers: { ...KEY, 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
    body: JSON.stringify(body),
  })
  const { data, error } = (await answer.json()) as Body
  return {
    status: answer.status,
    jobId: answer.headers.get('x-torana-job') ?? undefined,
    shouldRetry: answer.headers.get('x-should-retry'),
    code: error?.code,
    pictures: await picturesOf(data),
  }
}

export interface JobView {
  readonly status: string
  readonly code: string | undefined
  readonly pictures: readonly Picture[]
}

export async function job(url: string, jobId: string): Promise<JobView> {
  const answer = await fetch(`${url}/v1/images/jobs/${jobId}`, { headers: KEY })
  const { status, result, error } = (await answer.json()) as Body & { status: string; result?: Body }
  return { status, code: error?.code, pictures: await picturesOf(result?.data) }
}

const KEY = { authorization: `Bearer ${GATEWAY_KEY}` }

interface Body {
  readonly data?: readonly { readonly b64_json?: string; readonly url?: string }[]
  readonly error?: { readonly code: string }
}

async function picturesOf(data: Body['data'] = []): Promise<Picture[]> {
  const pictures: Picture[] = []
  for (const { b64_json, url } of data) {
    const bytes = url === undefined ? Buffer.from(b64_json ?? '', 'base64') : await downloaded(url)
    const format = bytes.toString('latin1', 8, 12) === 'WEBP' ? 'webp' : 'other'
    pictures.push({ sha256: createHash('sha256').update(bytes).digest('hex'), format })
  }
  return pictures
}

async function downloaded(url: string): Promise<Buffer> {
  const answer = await fetch(url)
  const bytes = Buffer.from(await answer.arrayBuffer())
  // Anything but an image has the digest of nothing.
  return answer.status === 200 ? bytes : Buffer.alloc(0)
}
