/** Inputs of several parts, by every wire that takes them. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, describe, it } from 'node:test'
import { contentVector } from '../contents.ts'
import { image, mp3, pdf, video, wav } from '../sample-media.ts'
import { startFakeProvider } from '../server.ts'
import { tokensOf } from '../vectors.ts'
import { kindOf, post, spoken, type Given, type Json, type Name, type Spoken } from './contents-client.ts'

const provider = await startFakeProvider()
after(() => provider.close())

const png = await image('png')
const jpeg = await image('jpeg', { width: 560, height: 10 })
const gif = await image('gif')
const webp = await image('webp')
const audio = wav(2)
const clip = video(3)
const paper = pdf(2)

/** A text that takes 3 tokens. */
const words = 'a red chair'

const alone = [[words], [png], [jpeg]]
const fused = [[words, png]]
const text = tokensOf(words)

/** What each wire is asked, and what it says that it cost. */
const right: { wire: Name; contents: Given[][]; usage?: (answer: Json) => unknown; says?: unknown }[] = [
  {
    wire: 'google',
    contents: [[words], [words, png, jpeg], [audio], [mp3(1)], [clip], [video(2, 'qt  ')], [paper]],
    usage: ({ usageMetadata }) => usageMetadata,
    says: {
      promptTokenCount: 2 * text + 2 * 258 + 3 * 32 + 5 * 263 + 2 * 258,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 2 * text },
        { modality: 'IMAGE', tokenCount: 516 },
        { modality: 'AUDIO', tokenCount: 96 },
        { modality: 'VIDEO', tokenCount: 5 * 263 },
        { modality: 'DOCUMENT', tokenCount: 516 },
      ],
      totalTokenCount: 2 * text + 2 * 258 + 3 * 32 + 5 * 263 + 2 * 258,
    },
  },
  { wire: 'google single', contents: fused },
  {
    wire: 'vertex',
    contents: fused,
    usage: ({ usageMetadata, truncated: cut }) => [usageMetadata?.['promptTokenCount'], cut],
    says: [text + 258, false],
  },
  {
    wire: 'cohere',
    contents: [[words], [png], [words, jpeg, webp], [gif]],
    usage: ({ meta }) => meta?.['billed_units'],
    says: { input_tokens: 2 * text, image_tokens: 4 * 258, images: 4 },
  },
  {
    wire: 'voyage',
    contents: [[words], [words, jpeg], [png], [clip]],
    usage: ({ usage }) => usage,
    says: {
      text_tokens: 2 * text,
      image_pixels: 5600 + 96,
      video_pixels: 3 * 640 * 360,
      total_tokens: 2 * text + 10 + 1 + Math.ceil((3 * 640 * 360) / 1120),
    },
  },
  {
    wire: 'jina',
    contents: [[words], [png], [audio], [clip], [paper]],
    usage: ({ usage }) => usage,
    says: { total_tokens: text + 258 + 64 + 3 * 263 + 516 },
  },
  { wire: 'nova', contents: [[words]], usage: ({ inputTokenCount }) => inputTokenCount, says: text },
  { wire: 'nova', contents: [[webp]], usage: ({ inputTokenCount }) => inputTokenCount },
  { wire: 'nova', contents: [[mp3(1)]] },
  {
    wire: 'nova',
    contents: [[clip]],
    usage: ({ embeddings }) => embeddings?.[0]?.['embeddingType'],
    says: 'AUDIO_VIDEO_COMBINED',
  },
  { wire: 'titan', contents: fused, usage: ({ inputTextTokenCount }) => inputTextTokenCount, says: text },
  { wire: 'titan', contents: [[png]], usage: ({ inputTextTokenCount }) => inputTextTokenCount, says: 0 },
  { wire: 'bedrock cohere', contents: [[words, png], [words]] },
  {
    wire: 'vllm',
    contents: [[words, png], [audio, words], [clip]],
    usage: ({ usage }) => usage,
    says: { prompt_tokens: 2 * text + 258 + 64 + 789, total_tokens: 2 * text + 258 + 64 + 789 },
  },
  { wire: 'sglang, one conversation', contents: fused },
  { wire: 'infinity', contents: [[png], [jpeg]] },
  { wire: 'infinity', contents: [[audio]] },
  { wire: 'infinity', contents: [[words]] },
  {
    wire: 'openrouter',
    contents: [[words, png], [audio], [clip], [paper]],
    usage: ({ usage }) => usage,
    says: {
      prompt_tokens: text + 258 + 64 + 789 + 516,
      total_tokens: text + 258 + 64 + 789 + 516,
      cost: Number(((text + 258 + 64 + 789 + 516) * 2e-7).toFixed(10)),
      prompt_tokens_details: {
        text_tokens: text,
        image_tokens: 258,
        audio_tokens: 64,
        video_tokens: 789,
        file_tokens: 516,
      },
    },
  },
  {
    wire: 'openrouter',
    contents: [[png]],
    usage: ({ usage }) => usage,
    says: { prompt_tokens: 258, total_tokens: 258, cost: 0.0000516 },
  },
  {
    wire: 'dashscope',
    contents: alone,
    usage: ({ usage }) => usage,
    says: { input_tokens: text, image_tokens: 516 },
  },
  { wire: 'dashscope, fused', contents: [[words, png, jpeg]] },
]

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')

function noteOf(part: Given): object {
  const bytes = typeof part === 'string' ? Buffer.from(part) : part.bytes
  const note = { bytes: bytes.length, sha256: sha256(bytes) }
  if (typeof part === 'string') return { kind: 'text', ...note }
  const format = { 'audio/mpeg': 'mp3', 'video/quicktime': 'mov' }[part.type] ?? part.type.split('/')[1]
  return { kind: kindOf(part), format, ...note }
}

describe('every wire of contents answers one vector for each content, made of the bytes of its parts', () => {
  for (const { wire, contents, usage, says } of right) {
    const sent = contents.map((parts) =>
      parts.map((part) => (typeof part === 'string' ? 'text' : part.type)).join('+'),
    )
    it(`${wire}: ${sent.join(', ')}`, async () => {
      const { path, body, vectors, width }: Spoken = spoken[wire]
      const answer = await post(`${provider.url}/plain`, path, body(contents))
      assert.equal(answer.status, 200, answer.text)
      const expected = contents.map((parts) =>
        contentVector(
          parts.map((part) => (typeof part === 'string' ? part : part.bytes)),
          width,
        ),
      )
      assert.deepEqual(
        (vectors(answer.json) as number[][]).map((vector) => Float32Array.from(vector)),
        expected,
      )
      if (usage !== undefined) assert.deepEqual(usage(answer.json), says)
      const entry = provider.entries().at(-1)
      assert.equal(entry?.inputs, contents.length)
      const isPlainText = wire === 'infinity' && typeof contents[0]?.[0] === 'string'
      assert.deepEqual(entry.contents, isPlainText ? undefined : contents.map((parts) => parts.map(noteOf)))
    })
  }

  it('a changed byte, another order and another part each make another vector', () => {
    const changed = Buffer.from(png.bytes)
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1
    const vectors = [
      [png.bytes],
      [changed],
      [words, png.bytes],
      [png.bytes, words],
      [jpeg.bytes, png.bytes],
    ].map((parts) => contentVector(parts, 8).join())
    assert.equal(new Set(vectors).size, vectors.length)
  })
})
