/** Requests to `POST /v1/images/edits` for tests, and how they read the results: the files at the provider, the pixels. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import sharp from 'sharp'
import type { LogEntry } from '../../../lab/fake-provider/log.ts'
import type { FakeProvider } from '../../../lab/fake-provider/server.ts'
import { BOUNDARY, formBody, type FormPart } from './forms.ts'
import { GATEWAY_KEY, type AskOptions, type Gateway } from './gateway.ts'
import { sha256, type ImageBody, type ImagesAsked } from './image-answers.ts'
import { PATIENCE_MS } from './patience.ts'
import { eventually } from './process.ts'
import { openFilesIn } from './system.ts'

export const EDITS_PATH = '/v1/images/edits'

/** A deployment's capabilities for images, like OpenAI's own. */
export const EDITS = { maxInputs: 16, mask: 'alpha', bodies: ['multipart', 'json'] } as const

const TEXTS = { prompt: 'a blue bicycle' }

export function filePart(
  name: string,
  value: Uint8Array,
  label: Partial<Pick<FormPart, 'filename' | 'type'>> = {},
): FormPart {
  return { name, filename: 'picture.png', type: 'image/png', value, ...label }
}

export function textParts(texts: Readonly<Record<string, string>>): FormPart[] {
  return Object.entries(texts).map(([name, value]) => ({ name, value }))
}

/** A form with a prompt, unless the texts say otherwise; the files behind them. */
export function askForm(
  gateway: Pick<Gateway, 'url'>,
  texts: Readonly<Record<string, string>>,
  files: readonly FormPart[],
  options: AskOptions = {},
): Promise<ImagesAsked> {
  return sendForm(gateway, [...textParts({ ...TEXTS, ...texts }), ...files], options)
}

/** These parts and no others, in this order. */
export function sendForm(
  gateway: Pick<Gateway, 'url'>,
  parts: readonly FormPart[],
  options: AskOptions = {},
): Promise<ImagesAsked> {
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, ...options.headers }
  return send(gateway, formBody(parts), { ...options, headers })
}

/** JSON with a prompt, unless the fields say otherwise. */
export function askJson(
  gateway: Pick<Gateway, 'url'>,
  fields: Readonly<Record<string, unknown>>,
  options: AskOptions = {},
): Promise<ImagesAsked> {
  const headers = { 'content-type': 'application/json', ...options.headers }
  return send(gateway, JSON.stringify({ ...TEXTS, ...fields }), { ...options, headers })
}

export async function send(
  { url }: Pick<Gateway, 'url'>,
  body: string | Uint8Array,
  options: AskOptions,
): Promise<ImagesAsked> {
  const { key, headers, path = EDITS_PATH } = { key: GATEWAY_KEY, ...options }
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...headers },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  })
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.includes('json') === true
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    body: (isJson ? JSON.parse(text) : {}) as ImageBody,
  }
}

export function dataUrl(picture: Uint8Array, type = 'image/png'): string {
  return `data:${type};base64,${Buffer.from(picture).toString('base64')}`
}

export function references(...pictures: readonly Uint8Array[]): { readonly image_url: string }[] {
  return pictures.map((picture) => ({ image_url: dataUrl(picture) }))
}

/** Every edit that was tried at a scenario, or at any of them, billed or not. */
export function editsAt(provider: FakeProvider, scenario?: string): LogEntry[] {
  return provider
    .entries()
    .filter(
      ({ operation, ...entry }) =>
        (operation === 'edit' || operation === 'submit' || operation === 'generate') &&
        (scenario === undefined || entry.scenario === scenario),
    )
}

/** The digests of what a provider was given, in its order: images, mask, markup. */
export function givenTo(entry: LogEntry | undefined): (string | null)[] {
  return (entry?.parts ?? []).map((part) => part.sha256)
}

export function digestsOf(...pictures: readonly Uint8Array[]): string[] {
  return pictures.map(sha256)
}

/** Which pixels are to change. */
export type Region = (x: number, y: number) => boolean

/** Every pixel another colour and opacity, none of them transparent or opaque alone. */
export function aPicture(width: number, height: number, seed = 0): Promise<Buffer> {
  const pixels = Buffer.from(
    Array.from({ length: width * height * 4 }, (_, at) => (at * 31 + seed * 7) & 0xff),
  )
  return sharp(pixels, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer()
}

/** As in OpenAI's API: fully transparent where the image is to change, and nowhere else. */
export function aMask(
  width: number,
  height: number,
  isEdited: Region,
  opacity: (x: number, y: number) => number = () => 255,
): Promise<Buffer> {
  const pixels = Buffer.alloc(width * height * 4, 90)
  for (let at = 0; at < width * height; at += 1) {
    const [x, y] = [at % width, Math.floor(at / width)]
    pixels[at * 4 + 3] = isEdited(x, y) ? 0 : opacity(x, y)
  }
  return sharp(pixels, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer()
}

export interface Fidelity {
  /** Pixels that changed although they were not to. */
  readonly wrong: number
  /** Pixels that did not change although they were to. */
  readonly unchanged: number
  readonly edited: number
}

/** Compares bit by bit, in all four channels. */
export async function fidelityOf(before: Uint8Array, after: Uint8Array, isEdited: Region): Promise<Fidelity> {
  const [old, made] = await Promise.all([before, after].map(rgba))
  assert.ok(old && made)
  assert.deepEqual([made.info.width, made.info.height], [old.info.width, old.info.height])
  const { width } = old.info
  const [left, right] = [wordsOf(old.data), wordsOf(made.data)]
  let [wrong, unchanged, edited] = [0, 0, 0]
  for (let at = 0; at < left.length; at += 1) {
    const isSame = left[at] === right[at]
    if (isEdited(at % width, Math.floor(at / width))) {
      edited += 1
      if (isSame) unchanged += 1
    } else if (!isSame) wrong += 1
  }
  return { wrong, unchanged, edited }
}

function rgba(picture: Uint8Array): Promise<{ data: Buffer; info: { width: number; height: number } }> {
  return sharp(picture).autoOrient().ensureAlpha().raw().toBuffer({ resolveWithObject: true })
}

function wordsOf(data: Buffer): Uint32Array {
  return new Uint32Array(new Uint8Array(data).buffer)
}

/** Resolves once no file of a request is on the gateway's disk, and none is held open. Only for a node of this process. */
export function uploadsGone(
  { configFile }: Pick<Gateway, 'configFile'>,
  withinMs = PATIENCE_MS,
): Promise<void> {
  const folder = join(dirname(configFile), 'data', 'uploads')
  return eventually(async () => {
    assert.deepEqual(readdirSync(folder), [])
    assert.deepEqual(openFilesIn(folder), [])
  }, withinMs)
}
