/** Contents in lines: each ends as it would at its route, and leaves nothing on disk. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { startGatewayOnPostgres } from '#test/e2e/money/gateway-on-postgres.ts'
import { BatchCaller, requestLines, type BatchAnswer, type ResultLine } from '#test/support/batches.ts'
import { uploadsGone } from '#test/support/edits.ts'
import type { AnswerBody } from '#test/support/gateway.ts'
import { pdfOf, pngOf, wavOf } from '#test/support/media.ts'

const KB = 1024
const contents = {
  wire: 'openrouter',
  inputs: ['text', 'image', 'audio', 'file'],
  fuses: true,
  maxParts: 3,
  maxImages: 6,
  formats: ['png', 'wav', 'pdf'],
}
const price = {
  usdPerInput: { millionTextTokens: 1, millionImageTokens: 3, millionAudioTokens: 5, millionFileTokens: 7 },
}
const { gateway, database } = await startGatewayOnPostgres({
  models: {
    'all-w16': {
      on: 'plain',
      upstream: { base: 'openrouter/api/v1' },
      embedding: { maxInputTokens: 8192 },
      capabilities: { contents },
      price,
    },
    'texts-w16': { on: 'plain' },
  },
  limits: { fetchImageUrls: true, contentPartBytes: 2 * KB * KB },
})
const caller = new BatchCaller(gateway.url)

const png = await pngOf(20, 10)
const other = await pngOf(21, 10)
/** More than stays in memory, and more than is parsed on the event loop. */
const onDisk = Buffer.concat([png, Buffer.alloc(300 * KB, 1)])
const large = Buffer.concat([png, Buffer.alloc(1200 * KB, 1)])
const tooLarge = Buffer.concat([png, Buffer.alloc(2 * KB * KB, 1)])
const url = (bytes: Uint8Array, type = 'image/png'): string =>
  `data:${type};base64,${Buffer.from(bytes).toString('base64')}`
const image = (bytes: Uint8Array) => ({ type: 'image_url', image_url: { url: url(bytes) } })
const text = (words: string) => ({ type: 'text', text: words })
const address = (where: string) => ({ type: 'image_url', image_url: { url: where } })

const BODIES: readonly (readonly [what: string, body: object])[] = [
  ['a text', { input: 'a cat' }],
  ['a content of one image', { input: [{ content: [image(png)] }] }],
  ['an image with words', { input: [{ content: [text('a cat'), image(other)] }] }],
  ['a mixed list', { input: ['a dog', { content: [image(png)] }, { content: [text('a bird')] }] }],
  ['a bare part', { input: image(png) }],
  ['inputs', { inputs: [{ content: [image(other)] }] }],
  ['one conversation', { messages: [{ role: 'user', content: [text('a fox'), image(png)] }] }],
  ['objects as Jina names them', { input: [{ text: 'a hen' }, { image: png.toString('base64') }] }],
  ['a modality', { modality: 'image', input: [url(png), url(other)] }],
  [
    'audio',
    { input: [{ content: [{ type: 'input_audio', input_audio: { data: wavOf(1).toString('base64') } }] }] },
  ],
  [
    'a PDF',
    { input: [{ content: [{ type: 'file', file: { file_data: url(pdfOf(2), 'application/pdf') } }] }] },
  ],
  ['an image that is kept on disk', { input: [{ content: [image(onDisk)] }] }],
  ['an image that is parsed in a thread', { input: [{ content: [image(large)] }] }],
  [
    'eight images, more than one call takes',
    { input: Array.from({ length: 8 }, () => ({ content: [image(png)] })) },
  ],
  ['binary', { input: [{ content: [image(png)] }], output_dtype: 'binary' }],
  ['two types', { input: [{ content: [image(png)] }], embedding_types: ['float', 'float16'] }],
  ['an image as a text', { input: url(png) }],
  ['an image that is none', { input: [{ content: [image(Buffer.from('no image'))] }] }],
  ['broken base64', { input: [{ content: [address('data:image/png;base64,????')] }] }],
  ['a format that the model does not take', { input: [{ content: [address(url(Buffer.from('GIF89a')))] }] }],
  ['too large', { input: [{ content: [image(tooLarge)] }] }],
  ['too many parts', { input: [{ content: [text('a'), text('b'), text('c'), text('d')] }] }],
  ['media in a wrong place', { input: [{ content: [text('x')], image: url(png) }] }],
  ['an address in the own network', { input: ['ok', { content: [address('https://127.0.0.1/a.png')] }] }],
  ['a part of an unknown type', { input: [{ content: [{ type: 'smell' }] }] }],
  ['a video', { input: [{ content: [{ type: 'video_url', video_url: { url: 'gs://bucket/v.mp4' } }] }] }],
  ['a model of texts', { model: 'texts-w16', input: [{ content: [image(png)] }] }],
]
const bodies = BODIES.map(([, body]) => ({ model: 'all-w16', ...body }))

async function run(lines: readonly object[]): Promise<{
  readonly batch: BatchAnswer
  readonly results: ReadonlyMap<number, ResultLine>
}> {
  const { id } = await caller.create(await caller.upload(requestLines('/v1/embeddings', lines)))
  const batch = await caller.ended(id)
  const all = [...(await caller.lines(batch.output_file_id)), ...(await caller.lines(batch.error_file_id))]
  assert.equal(all.length, lines.length)
  return { batch, results: new Map(all.map((line) => [Number(line.custom_id.slice('line '.length)), line])) }
}

const lines = await run(bodies)
const sentUpstream = gateway.provider.entries()

for (const [index, [what]] of BODIES.entries())
  test(`a line with ${what} ends as it does at its route`, async () => {
    const { status, body } = await gateway.ask(bodies[index])
    const { response } = lines.results.get(index) ?? {}
    assert.equal(response?.status_code, status, JSON.stringify(response).slice(0, 1000))
    const got = response?.body as unknown as AnswerBody
    if (status === 200) {
      assert.deepEqual(got.data, body.data)
      assert.equal(got.usage.prompt_tokens, got.usage.total_tokens)
    } else
      assert.deepEqual(
        [got.error.code, got.error.param, got.error.message],
        [body.error.code, body.error.param, body.error.message],
      )
  })

test('each media reached the upstream byte by byte, and nothing is left on disk', async () => {
  const hashes = new Set(
    sentUpstream.flatMap(({ contents: sent = [] }) =>
      sent.flat().flatMap((part) => ('sha256' in part && part.kind !== 'text' ? [part.sha256] : [])),
    ),
  )
  const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
  assert.deepEqual(hashes, new Set([png, other, onDisk, large, wavOf(1), pdfOf(2)].map(sha256)))
  await uploadsGone(gateway)
})

test('the tokens of the lines add up to those of the batch, by kind, and so does the cost', async () => {
  const mixed = [
    { model: 'all-w16', input: [{ content: [image(await pngOf(30, 10))] }] },
    { model: 'all-w16', input: [{ content: [image(await pngOf(31, 10)), text('a cat')] }] },
    {
      model: 'all-w16',
      input: [{ content: [image(await pngOf(32, 10))] }, { content: [image(await pngOf(33, 10))] }],
    },
  ]
  const { batch, results } = await run(mixed)
  const usages = [...results].sort(([a], [b]) => a - b).map(([, { response }]) => response?.body.usage)
  const details = usages.map((usage) => (usage as { prompt_tokens_details?: object }).prompt_tokens_details)
  assert.deepEqual(details, [
    { image_tokens: 258 },
    { image_tokens: 258, text_tokens: 2 },
    { image_tokens: 516 },
  ])
  const sum = usages.reduce((total, usage) => total + (usage?.total_tokens ?? 0), 0)
  assert.equal(batch.usage.total_tokens, sum)
  assert.equal(Number(batch.torana.cost_usd), (258 * 4 * 3 + 2) / 1e6)
  const [charged] = await database.query<{ nano: bigint }>(
    `SELECT sum(amount_nano)::bigint AS nano FROM usage_events WHERE batch_id = $1`,
    [batch.id],
  )
  assert.equal(charged?.nano, BigInt(258 * 4 * 3000 + 2000))
})
