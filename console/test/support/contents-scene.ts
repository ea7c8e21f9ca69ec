/**
 * A playground with contents, for images of the docs: a node whose model takes texts and images, and an upstream that gives each
 * input of the scene the vector of its place. Nothing is learned here, and the docs say so.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import type { Page } from '@playwright/test'
import { tokensOf, truncated, vectorOf } from '../../../lab/fake-provider/vectors.ts'
import { startTorana } from '../../../lab/torana.ts'
import { drawn } from './contents-drawings.ts'
import { settled } from './settled.ts'

/** On the unit sphere, seen from above: what is alike is close together. */
type Place = readonly [x: number, y: number]

interface SceneInput {
  readonly text?: string
  readonly image?: string
  readonly place: Place
}

const GROUPS: Readonly<Record<string, readonly SceneInput[]>> = {
  chairs: [
    { image: 'armchair.jpg', place: [-0.65, 0.54] },
    { image: 'office-chair.jpg', place: [-0.35, 0.44] },
    { image: 'stool.jpg', place: [-0.71, 0.22] },
    { text: 'A folding garden chair', place: [-0.3, 0.02] },
    { text: 'Deckchair, blue stripes', image: 'deckchair.jpg', place: [-0.05, 0.12] },
  ],
  fruit: [
    { image: 'apple.jpg', place: [-0.69, -0.28] },
    { image: 'pear.jpg', place: [-0.47, -0.52] },
    { image: 'lemon.jpg', place: [-0.73, -0.57] },
    { text: 'A bowl of ripe fruit', place: [-0.45, -0.3] },
  ],
  cats: [
    { image: 'black-cat.jpg', place: [0.53, 0.66] },
    { image: 'tabby.jpg', place: [0.75, 0.42] },
    { image: 'window-cat.jpg', place: [0.38, 0.4] },
    { text: 'A cat asleep on the sofa', place: [0.14, 0.62] },
  ],
  coast: [
    { image: 'dunes.jpg', place: [0.46, -0.12] },
    { image: 'pier.jpg', place: [0.74, -0.36] },
    { image: 'sunset.jpg', place: [0.43, -0.55] },
    { text: 'Waves at dusk', place: [0.17, -0.52] },
    { text: 'A walk along the cliffs', place: [0.34, -0.76] },
  ],
}
const QUERY: SceneInput = { text: 'a place to sit by the sea', place: [0.11, -0.08] }

const MODEL = 'house-vision'
const WIDTH = 1024
/** What an input has apart from its place, beside a length of 1: high enough that no two inputs are nearly equal. */
const OWN_LENGTH = 0.6
const IMAGE_TOKENS = 258

export const CONTENTS_PATH = `/playground/embeddings?model=${MODEL}&project=research`

/** A part as OpenRouter's wire spells it. */
interface WirePart {
  readonly text?: string
  readonly image_url?: { readonly url: string }
}

function vectorAt([x, y]: Place, key: string): Float32Array {
  const directions = [
    ['z', Math.sqrt(1 - x ** 2 - y ** 2)],
    ['x', x],
    ['y', y],
    [key, OWN_LENGTH],
  ] as const
  const sum = new Float32Array(WIDTH)
  for (const [name, factor] of directions)
    for (const [index, value] of vectorOf(name, WIDTH).entries()) sum[index]! += factor * value
  return truncated(sum, WIDTH)
}

/** By the text and the image of an input, as they arrive. */
async function placesByKey(): Promise<ReadonlyMap<string, Place>> {
  const places = new Map<string, Place>()
  for (const { text = '', image, place } of [...Object.values(GROUPS).flat(), QUERY]) {
    const url = image && `data:image/jpeg;base64,${(await drawn(image)).buffer.toString('base64')}`
    places.set(`${text}${url ?? ''}`, place)
  }
  return places
}

/** Speaks OpenRouter's wire. Inputs that the scene does not have, such as the probes of the space guard, are nowhere near it. */
async function startUpstream(): Promise<{ readonly url: string; close(): void }> {
  const places = await placesByKey()
  const answerTo = async (request: IncomingMessage): Promise<string> => {
    const { input } = (await json(request)) as { input: readonly { content: readonly WirePart[] }[] }
    const keys = input.map(({ content }) =>
      content.map(({ text, image_url: image }) => text ?? image?.url).join(''),
    )
    const data = keys.map((key, index) => {
      const place = places.get(key)
      const vector = place === undefined ? vectorOf(key, WIDTH) : vectorAt(place, key)
      return { object: 'embedding', index, embedding: [...vector] }
    })
    const parts = input.flatMap(({ content }) => content)
    const text = parts.reduce((sum, part) => sum + (part.text === undefined ? 0 : tokensOf(part.text)), 0)
    const image = parts.filter(({ text: ofText }) => ofText === undefined).length * IMAGE_TOKENS
    const usage = {
      prompt_tokens: text + image,
      total_tokens: text + image,
      prompt_tokens_details: { text_tokens: text, image_tokens: image },
    }
    return JSON.stringify({ object: 'list', data, model: MODEL, usage })
  }
  const server = createServer((request, response) => {
    answerTo(request).then(
      (body) => response.setHeader('content-type', 'application/json').end(body),
      (error: unknown) => {
        console.error('the upstream of the scene:', error)
        response.writeHead(500).end()
      },
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const configFor = (url: string): object => ({
  upstreams: {
    lab: { dialect: 'openai', baseUrl: url, apiKey: 'key-of-the-scene' },
    demo: { dialect: 'demo' },
  },
  models: {
    [MODEL]: {
      kind: 'embedding',
      embedding: {
        dimensions: WIDTH,
        matryoshka: true,
        maxInputTokens: 8192,
        tokenizer: 'none',
        mediaTokens: { maxPerImage: IMAGE_TOKENS },
      },
      price: { usdPerInput: { millionTextTokens: 0.12, millionImageTokens: 0.47 } },
      deployments: [
        {
          upstream: 'lab',
          capabilities: { contents: { wire: 'openrouter', inputs: ['text', 'image'], fuses: true } },
        },
      ],
    },
    'demo-embed': { deployments: [{ upstream: 'demo' }] },
  },
  projects: { search: {}, research: {} },
})

export interface ContentsNode {
  readonly controlUrl: string
  stop(): Promise<void>
}

export async function startContentsNode(env: Readonly<Record<string, string>>): Promise<ContentsNode> {
  const upstream = await startUpstream()
  const folder = mkdtempSync(join(tmpdir(), 'torana-contents-'))
  const node = await startTorana({ folder, name: 'contents', config: configFor(upstream.url), env })
  return {
    controlUrl: node.controlUrl,
    async stop() {
      await node.stop()
      upstream.close()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Enters the scene line by line, embeds it and searches it. The joined input has the focus at the end. */
export async function showContents(page: Page): Promise<void> {
  const lines = page.locator('[data-line]')
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await page.locator('[data-line="1"]').waitFor({ state: 'detached' })
  await page.locator('[aria-label=Close]').click({ force: true })
  for (const [group, inputs] of Object.entries(GROUPS)) {
    await addText(page, `#${group}`)
    for (const { text, image } of inputs) {
      if (text !== undefined) await addText(page, text)
      if (image === undefined) continue
      const line = await lines.count()
      await page.locator('main input[type=file][multiple]').setInputFiles([await drawn(image)])
      const added = page.locator(`[data-line="${line}"]`)
      await added.getByRole('group').waitFor()
      if (text === undefined) continue
      await added.hover()
      await added.getByRole('button', { name: 'Join to the line above' }).click()
      await added.waitFor({ state: 'detached' })
    }
  }
  await page.getByRole('button', { name: /^Embed/ }).click()
  await page.locator('figure').first().waitFor({ timeout: 30_000 })
  const query = page.locator('input[data-page-search]')
  await query.fill(QUERY.text ?? '')
  await query.press('Enter')
  await page.locator('aside ol li').first().waitFor({ timeout: 30_000 })
  await page.mouse.move(0, 0)
  await lines.first().scrollIntoViewIfNeeded()
  await lines.filter({ hasText: 'deckchair.jpg' }).getByRole('textbox').focus()
  await settled(page)
}

/** Below the last line, or in it if it is empty. */
async function addText(page: Page, text: string): Promise<void> {
  const lines = page.locator('[data-line]')
  await page.getByRole('button', { name: 'Add a text' }).click()
  const field = lines.last().getByRole('textbox')
  await field.fill(text)
}
