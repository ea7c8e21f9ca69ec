import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, describe, it } from 'node:test'
import sharp from 'sharp'
import { startFakeProvider } from '../server.ts'
import { tokensOf } from '../vectors.ts'
import { assertLogged, generate, lastPurchase, order, picturesIn, type ImagesAnswer } from './test-client.ts'

const apiKey = 'sk-images-4321'
const provider = await startFakeProvider()
after(() => provider.close())

describe('OpenAI images', () => {
  it('the log says what was asked, without the prompt', async () => {
    await generate(
      `${provider.url}/plain`,
      { n: 2 },
      { 'x-torana-call-id': 'call-9', authorization: 'Bearer k-abcd' },
    )
    const entry = provider.entries().at(-1) ?? assert.fail()
    const { callId, wire, operation, model, n, size, promptSha256, authorization, tokens } = entry
    assert.deepEqual(
      [callId, wire, operation, model, n, size, authorization],
      ['call-9', 'openai', 'generate', 'gpt-image-2', 2, '96x64', 'abcd'],
    )
    assert.equal(promptSha256, createHash('sha256').update(order.prompt).digest('hex'))
    assert.equal(tokens, tokensOf(order.prompt))
    assert.ok(!JSON.stringify(entry).includes(order.prompt))
  })

  it('the same prompt bought twice gives other bytes, and both can be had again', async () => {
    const bought = async () => {
      const [picture] = await picturesIn((await generate(`${provider.url}/plain`)).json())
      return picture ?? assert.fail()
    }
    const [first, second] = [await bought(), await bought()]
    assert.notDeepEqual(first, second)
    for (const picture of [first, second]) {
      const sha256 = createHash('sha256').update(picture).digest('hex')
      const answer = await fetch(`${provider.url}/_pictures/${sha256}`)
      assert.equal(answer.headers.get('content-type'), 'image/png')
      assert.deepEqual(Buffer.from(await answer.arrayBuffer()), picture)
      assert.deepEqual(provider.picture(sha256), picture)
    }
    assert.equal((await fetch(`${provider.url}/_pictures/abc`)).status, 404)
  })
})

type Row = {
  traits: string
  fields?: object
  status?: number
  code?: string
  check?: (answer: ImagesAnswer) => void
}

const rows: Row[] = [
  { traits: 'plain' },
  { traits: 'b64-only' },
  { traits: 'plain', fields: { response_format: 'b64_json' }, status: 400, code: 'unknown_parameter' },
  { traits: 'b64-only', fields: { response_format: 'url' }, status: 400, code: 'unknown_parameter' },
  {
    traits: 'url-only',
    check: ({ json }) => assert.match(json().data[0]?.url ?? '', /^http.*\/_file\/.*\.png$/),
  },
  { traits: 'url-only', fields: { response_format: 'b64_json' }, status: 400 },
  { traits: 'both-forms', check: ({ json }) => assert.ok('url' in (json().data[0] ?? {})) },
  {
    traits: 'both-forms',
    fields: { response_format: 'b64_json' },
    check: ({ json }) => assert.ok('b64_json' in (json().data[0] ?? {})),
  },
  {
    traits: 'foreign-files+url-only',
    check: ({ json }) => assert.match(json().data[0]?.url ?? '', /^http:\/\/localhost:/),
  },
  {
    traits: 'revises',
    check: ({ json }) => assert.match(json().data[0]?.revised_prompt ?? '', /red bicycle/),
  },
  {
    traits: 'no-echo',
    check: ({ json }) => assert.deepEqual(Object.keys(json()), ['created', 'data', 'usage']),
  },
  { traits: 'no-usage', check: ({ json }) => assert.ok(!('usage' in json())) },
  { traits: 'extra-fields', check: ({ json }) => assert.ok('meta' in json()) },
  { traits: 'refuses-stream', fields: { stream: true }, status: 400, code: 'unsupported_parameter' },
  { traits: 'ignores-stream', fields: { stream: true } },
  { traits: 'refuses-legacy', fields: { style: 'vivid' }, status: 400, code: 'unknown_parameter' },
  { traits: 'refuses-legacy', fields: { quality: 'hd' }, status: 400, code: 'invalid_value' },
  { traits: 'refuses-legacy', fields: { quality: 'high' } },
  { traits: 'strict-fields', fields: { dimensions: 4 }, status: 400, code: 'unknown_parameter' },
  { traits: 'refuses-null', fields: { user: null }, status: 400 },
  { traits: 'refuses-user', fields: { user: 'u' }, status: 400 },
  {
    traits: 'refuses-poison',
    fields: { prompt: 'a poison bottle' },
    status: 400,
    code: 'content_policy_violation',
  },
  { traits: 'max-n-2', fields: { n: 3 }, status: 400, code: 'integer_above_max_value' },
  { traits: 'max-n-2', fields: { n: 2 } },
  { traits: 'plain', fields: { n: 11 }, status: 400 },
  { traits: 'sizes-96x64-64x96', fields: { size: '64x96' } },
  { traits: 'sizes-64x96', status: 400, code: 'invalid_value' },
  { traits: 'sizes-64x96', fields: { size: 'auto' } },
  { traits: 'free-sizes', status: 400 },
  { traits: 'free-sizes', fields: { size: '1024x640' } },
  { traits: 'plain', fields: { size: '0x64' }, status: 400 },
  { traits: 'plain', fields: { size: 'large' }, status: 400 },
  { traits: 'plain', fields: { prompt: '' }, status: 400 },
  { traits: 'plain', fields: { prompt: 'x'.repeat(32_001) }, status: 400 },
  { traits: 'plain', fields: { n: 0 }, status: 400 },
  { traits: 'plain', fields: { quality: 'ultra' }, status: 400, code: 'invalid_value' },
  { traits: 'plain', fields: { background: 'transparent', output_format: 'jpeg' }, status: 400 },
  { traits: 'plain', fields: { output_compression: 50 }, status: 400 },
  { traits: 'plain', fields: { output_compression: 50, output_format: 'jpeg' } },
  { traits: 'plain', fields: { partial_images: 1 }, status: 400 },
  { traits: 'bytes-100000', check: ({ text }) => assert.ok(text.length > 133_000) },
  { traits: 'max-bytes-10', status: 413 },
  { traits: 'status-503', status: 503 },
  { traits: 'quota', status: 429, code: 'insufficient_quota' },
  { traits: 'moderation', status: 400, code: 'moderation_blocked' },
  { traits: 'moderation-output', status: 400, code: 'moderation_blocked' },
]

describe('every trait of the OpenAI wire does what it says', () => {
  for (const { traits, fields = {}, status = 200, code, check } of rows) {
    it(`${traits} ${JSON.stringify(fields).slice(0, 60)} → ${status} ${code ?? ''}`, async () => {
      const answer = await generate(`${provider.url}/${traits}`, fields)
      assert.equal(answer.status, status)
      check?.(answer)
      const entry = lastPurchase(provider)
      if (status === 200) return await assertLogged(await picturesIn(answer.json()), entry)
      if (code !== undefined) assert.equal(answer.json().error?.code, code)
      assert.deepEqual([entry?.served, entry?.pictures ?? []], [false, []])
    })
  }

  it('moderation has the type and the details of the real one', async () => {
    const { error } = (await generate(`${provider.url}/moderation`)).json()
    assert.equal(error?.type, 'image_generation_user_error')
    assert.ok('moderation_details' in error)
  })

  it('flaws: fewer pictures, none, another size, another format, no picture, no base64', async () => {
    const flawed = async (trait: string, fields = {}) =>
      (await generate(`${provider.url}/${trait}`, fields)).json()
    assert.equal((await flawed('wrong-count', { n: 3 })).data.length, 2)
    assert.equal((await flawed('one-more', { n: 3 })).data.length, 4)
    assert.deepEqual((await flawed('empty-data')).data, [])
    assert.equal(lastPurchase(provider)?.served, true)
    const [small] = await picturesIn(await flawed('wrong-size'))
    assert.equal((await sharp(small).metadata()).width, 48)
    const [other] = await picturesIn(await flawed('wrong-format'))
    assert.equal((await sharp(other).metadata()).format, 'webp')
    const [text] = await picturesIn(await flawed('not-a-picture'))
    assert.match(String(text), /no picture/)
    assert.match((await flawed('bad-base64')).data[0]?.b64_json ?? '', /^!/)
  })

  it('c2pa: pictures of every format have a manifest, and are pictures all the same', async () => {
    for (const [format, name] of [
      ['png', 'caBX'],
      ['jpeg', 'c2pa'],
      ['webp', 'C2PA'],
    ] as const) {
      const [picture] = await picturesIn(
        (await generate(`${provider.url}/c2pa`, { output_format: format })).json(),
      )
      assert.ok(picture?.includes(name), format)
      assert.equal((await sharp(picture, { failOn: 'warning' }).metadata()).format, format)
    }
  })

  it('a body that is no JSON, or does not say so, is refused', async () => {
    const url = `${provider.url}/plain/v1/images/generations`
    const post = (body: string, type: string) =>
      fetch(url, { method: 'POST', body, headers: { 'content-type': type } })
    assert.equal((await post('{', 'application/json')).status, 400)
    assert.equal((await post(JSON.stringify(order), 'text/plain')).status, 415)
    assert.equal((await fetch(url)).status, 405)
  })
})

describe('connections', () => {
  it('charged and never answered: reset, silence, half a body, HTML, garbage', async () => {
    await assert.rejects(generate(`${provider.url}/serves-then-resets`))
    assert.deepEqual([lastPurchase(provider)?.served, lastPurchase(provider)?.pictures?.length], [true, 1])
    const hanging = fetch(`${provider.url}/serves-then-hangs/v1/images/generations`, {
      method: 'POST',
      body: JSON.stringify(order),
      headers: { 'content-type': 'application/json' },
      signal: AbortSignal.timeout(500),
    })
    await assert.rejects(hanging, { name: 'TimeoutError' })
    assert.deepEqual([lastPurchase(provider)?.served, lastPurchase(provider)?.pictures?.length], [true, 1])
    for (const scenario of ['half-body', 'half-body-chunked']) {
      await assert.rejects(generate(`${provider.url}/${scenario}`))
      assert.equal(lastPurchase(provider)?.served, true)
    }
    assert.match((await generate(`${provider.url}/html-200`)).text, /^<!doctype/)
    assert.throws((await generate(`${provider.url}/garbage`)).json, SyntaxError)
    assert.equal(lastPurchase(provider)?.pictures?.length, 1)
  })

  it('not charged: a reset before the work, and an error', async () => {
    await assert.rejects(generate(`${provider.url}/reset`))
    assert.deepEqual([lastPurchase(provider)?.served, lastPurchase(provider)?.pictures], [false, []])
    await generate(`${provider.url}/fails-first-1+key-images`)
    assert.equal(lastPurchase(provider)?.served, false)
    await generate(`${provider.url}/fails-first-1+key-images`)
    assert.equal(lastPurchase(provider)?.served, true)
  })

  it('leaks-key, slow-N and chunked-N work as for vectors', async () => {
    const leaking = await generate(`${provider.url}/leaks-key`, {}, { authorization: 'Bearer sk-secret' })
    assert.match(leaking.json().error?.message ?? '', /Bearer sk-secret/)
    const startMs = performance.now()
    await generate(`${provider.url}/slow-120`)
    assert.ok(performance.now() - startMs >= 119)
    const chunked = await generate(`${provider.url}/chunked-1000`)
    await assertLogged(await picturesIn(chunked.json()), lastPurchase(provider))
  })
})

describe('downloads', () => {
  const url = async (traits: string) =>
    (await generate(`${provider.url}/url-only+${traits}`)).json().data[0]?.url ?? assert.fail()

  it('need no credential, and are in the log beside the purchase', async () => {
    const address = await url('plain')
    const answer = await fetch(address, { headers: { authorization: 'Bearer sk-leaked' } })
    assert.equal(answer.headers.get('content-type'), 'image/png')
    await assertLogged([Buffer.from(await answer.arrayBuffer())], lastPurchase(provider))
    const entry = provider.entries().at(-1)
    assert.deepEqual([entry?.operation, entry?.served, entry?.authorization], ['download', false, 'aked'])
  })

  it('fail as the scenario says', async () => {
    assert.equal((await fetch(await url('file-status-403'))).status, 403)
    assert.equal((await fetch((await url('plain')).replace(/[0-9a-f]{64}/, '0'.repeat(64)))).status, 404)
    await assert.rejects((await fetch(await url('file-half'))).arrayBuffer())
    const redirected = await fetch(await url('file-redirects'), { redirect: 'manual' })
    assert.equal(redirected.status, 302)
    assert.equal((await fetch(await url('file-redirects'))).status, 200)
    const startMs = performance.now()
    await fetch(await url('file-slow-120'))
    assert.ok(performance.now() - startMs >= 119)
  })
})

describe('Azure images', () => {
  it('answers the v1 style; refuses a missing key, and a deployment without api-version', async () => {
    const post = (path: string, headers: Record<string, string>) =>
      fetch(`${provider.url}/plain/azure/openai/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(order),
      })
    const key = { 'api-key': apiKey }
    assert.equal((await post('v1/images/generations?api-version=preview', key)).status, 200)
    assert.equal((await post('v1/images/generations', {})).status, 401)
    assert.equal((await post('deployments/d/images/generations', key)).status, 404)
  })
})
