import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import * as fc from 'fast-check'
import { wellBehaved } from './behaviour.ts'
import { Mode, type ModeReport } from './modes.ts'
import { startFakeProvider } from './server.ts'
import { embed, expected, question, vectorsIn } from './test-client.ts'

const provider = await startFakeProvider()
after(() => provider.close())

async function post(path: string, body: unknown): Promise<{ status: number; json: ModeReport }> {
  const answer = await fetch(`${provider.url}${path}`, { method: 'POST', body: JSON.stringify(body) })
  return { status: answer.status, json: (await answer.json()) as ModeReport }
}

async function read(path: string, method = 'GET'): Promise<unknown> {
  return await (await fetch(`${provider.url}${path}`, { method })).json()
}

/** What a call meets: a status, or the code of the broken connection. */
async function met(url: string): Promise<number | string | undefined> {
  try {
    return (await embed(url, {}, { connection: 'close' })).status
  } catch (error) {
    return ((error as Error).cause as NodeJS.ErrnoException).code
  }
}

/** Waits until the name has this many calls under way. */
async function untilInFlight(name: string, count: number): Promise<void> {
  const deadlineMs = performance.now() + 5000
  while (provider.mode(name).inFlight !== count) {
    assert.ok(performance.now() < deadlineMs, `${name} never had ${count} calls in flight`)
    await delay(5)
  }
}

describe('an upstream whose behaviour changes while it runs', () => {
  it('does what the last POST said, and is well again after the next', async () => {
    const url = `${provider.url}/mode-a`
    const changes: [behaviour: object, meets: number | string][] = [
      [{}, 200],
      [{ mode: '500' }, 500],
      [{ mode: '429' }, 429],
      [{ mode: 'reset' }, 'ECONNRESET'],
      [{ mode: '503', retryAfterMs: 1000 }, 503],
      [{ traits: 'max-inputs-2' }, 400],
      [{ mode: 'ok' }, 200],
    ]
    for (const [behaviour, meets] of changes) {
      assert.equal((await post('/_mode', { name: 'a', ...behaviour })).status, 200)
      assert.equal(await met(url), meets)
    }
    assert.deepEqual(vectorsIn((await embed(url)).json()), expected)
  })

  it('a status has the retry-after that was asked for, and none otherwise', async () => {
    const url = `${provider.url}/mode-b`
    const headers = async () => {
      const answer = await embed(url)
      return [answer.headers.get('retry-after'), answer.headers.get('retry-after-ms')]
    }
    await provider.setMode('b', { mode: '429' })
    assert.deepEqual(await headers(), [null, null])
    await provider.setMode('b', { mode: '429', retryAfterMs: 3000 })
    assert.deepEqual(await headers(), ['3', null])
    await provider.setMode('b', { mode: '503', retryAfterMs: 250 })
    assert.deepEqual(await headers(), ['1', '250'])
  })

  it('hang answers never, or after hangMs', async () => {
    const url = `${provider.url}/mode-c`
    await provider.setMode('c', { mode: 'hang' })
    const waiting = fetch(`${url}/v1/embeddings`, {
      method: 'POST',
      body: JSON.stringify(question),
      signal: AbortSignal.timeout(200),
    })
    await assert.rejects(waiting, { name: 'TimeoutError' })
    await provider.setMode('c', { mode: 'hang', hangMs: 120 })
    const startMs = performance.now()
    assert.equal((await embed(url)).status, 200)
    assert.ok(performance.now() - startMs >= 119)
  })

  it('hold keeps calls until the mode changes, and meets them as it then says', async () => {
    const url = `${provider.url}/mode-held`
    await provider.setMode('held', { mode: 'hold' })
    const held = [met(url), met(url)]
    await untilInFlight('held', 2)
    await provider.setMode('held', { mode: 'hold', traits: 'slow-1' })
    assert.equal(provider.mode('held').served, 0)
    await provider.setMode('held', { mode: '503' })
    assert.deepEqual(await Promise.all(held), [503, 503])
    await provider.setMode('held')
    assert.equal(await met(url), 200)
  })

  it('garbage is a 200 that is no JSON', async () => {
    await provider.setMode('d', { mode: 'garbage' })
    const answer = await embed(`${provider.url}/mode-d`)
    assert.equal(answer.status, 200)
    assert.throws(answer.json, SyntaxError)
  })

  it('changes its vectors', async () => {
    const url = `${provider.url}/mode-e`
    await provider.setMode('e', { vectors: 'other-model' })
    assert.notDeepEqual(vectorsIn((await embed(url)).json()), expected)
    await provider.setMode('e')
    assert.deepEqual(vectorsIn((await embed(url)).json()), expected)
  })

  it('wins over the traits of the base URL, and shares its name among base URLs', async () => {
    await provider.setMode('f', { mode: '502', traits: 'max-inputs-4' })
    assert.equal(await met(`${provider.url}/max-inputs-2+mode-f`), 502)
    await provider.setMode('f', { traits: 'max-inputs-4' })
    assert.equal(await met(`${provider.url}/max-inputs-2+mode-f`), 200)
    assert.equal(await met(`${provider.url}/mode-f%2Bmax-inputs-2`), 200)
    assert.equal(provider.mode('f').calls, 3)
    assert.equal(await met(`${provider.url}/max-inputs-2+mode-other`), 400)
  })

  it('slows its capacity down while it runs', async () => {
    const url = `${provider.url}/mode-g+capacity-4+service-1`
    await embed(url)
    await provider.setMode('g', { traits: 'service-150' })
    const startMs = performance.now()
    await embed(url)
    assert.ok(performance.now() - startMs >= 149)
  })

  it('a share is spread evenly over the calls', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 1, max: 200 }), (twentieths, calls) => {
        const mode = new Mode('x')
        const share = twentieths / 20
        mode.behave({ ...wellBehaved, mode: '500', share })
        let bad = 0
        for (let call = 1; call <= calls; call++) {
          if (mode.nextTraits().length > 0) bad += 1
          assert.ok(Math.abs(bad - call * share) < 1 + 1e-9)
        }
      }),
    )
  })

  it('a share by chance is about that part of the calls, in no order', () => {
    const mode = new Mode('x')
    mode.behave({ ...wellBehaved, mode: '500', share: 0.5, byChance: true })
    const isBad = Array.from({ length: 1000 }, () => mode.nextTraits().length > 0)
    const repeated = isBad.filter((one, index) => one === isBad[index - 1]).length
    // Ten standard deviations: once in more runs than there will be.
    for (const count of [isBad.filter(Boolean).length, repeated]) assert.ok(Math.abs(count - 500) < 160)
  })

  it('speaks for pictures too', async () => {
    await provider.setMode('h', { mode: '500' })
    const answer = await fetch(`${provider.url}/mode-h/v1/images/generations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-image-1', prompt: 'a cat' }),
    })
    assert.equal(answer.status, 500)
  })
})

describe('a port of its own', () => {
  it('refuses connections in that mode, and is the same port afterwards', async () => {
    const { json } = await post('/_port', { name: 'own' })
    const url = json.url ?? assert.fail()
    assert.notEqual(url, provider.url)
    const base = `${url}/mode-own`
    assert.equal(await met(base), 200)
    await post('/_mode', { name: 'own', mode: 'refuse-connections' })
    assert.equal(await met(base), 'ECONNREFUSED')
    assert.equal(await met(`${provider.url}/mode-own`), 'ECONNRESET')
    assert.equal(await met(`${provider.url}/mode-neighbour`), 200)
    await post('/_mode', { name: 'own' })
    assert.equal(await met(base), 200)
    assert.equal(await provider.ownPort('own'), url)
  })

  it('ends the calls that are under way', async () => {
    const url = await provider.ownPort('cut')
    await provider.setMode('cut', { mode: 'hang' })
    const waiting = met(`${url}/mode-cut`)
    await untilInFlight('cut', 1)
    await provider.setMode('cut', { mode: 'refuse-connections' })
    assert.match(String(await waiting), /ECONNRESET|UND_ERR_SOCKET/)
    await untilInFlight('cut', 0)
  })

  it('is needed for refusing', async () => {
    assert.equal((await post('/_mode', { name: 'none', mode: 'refuse-connections' })).status, 400)
  })
})

describe('counters of a name', () => {
  it('tell calls, what became of them, and how many there were at once', async () => {
    const url = `${provider.url}/mode-k+slow-100`
    await Promise.all([embed(url), embed(url), embed(url)])
    await provider.setMode('k', { mode: '500' })
    await embed(url)
    await provider.setMode('k', { mode: 'reset' })
    await assert.rejects(embed(url))
    await untilInFlight('k', 0)
    const report = (await read('/_mode?name=k')) as ModeReport
    const { calls, served, inputs, tokens, statuses, inFlight, peakInFlight, perSecond } = report
    assert.deepEqual(
      { calls, served, inputs, tokens, statuses, inFlight },
      {
        calls: 5,
        served: 3,
        inputs: 12,
        tokens: 3 * 13,
        statuses: { 0: 1, 200: 3, 500: 1 },
        inFlight: 0,
      },
    )
    assert.ok(peakInFlight >= 1 && peakInFlight <= 3)
    assert.equal(
      perSecond.reduce((sum, second) => sum + second.calls, 0),
      5,
    )
    assert.equal(
      perSecond.reduce((sum, second) => sum + second.served, 0),
      3,
    )
    assert.ok(perSecond.every(({ at }) => Math.abs(at - Date.now() / 1000) < 60))
    assert.deepEqual(provider.mode('k'), report)
    assert.deepEqual(((await read('/_mode')) as Record<string, ModeReport>)['k'], report)
  })

  it('are forgotten with the behaviour', async () => {
    await provider.setMode('l', { mode: '500' })
    await embed(`${provider.url}/mode-l`)
    assert.deepEqual(await read('/_mode?name=l', 'DELETE'), { forgotten: ['l'] })
    const { calls, mode } = provider.mode('l')
    assert.deepEqual({ calls, mode }, { calls: 0, mode: 'ok' })
  })
})

describe('POST /_mode refuses by name', () => {
  const refused: [title: string, body: unknown][] = [
    ['no name', { mode: 'ok' }],
    ['a name that fits in no trait', { name: 'a+b' }],
    ['an unknown mode', { name: 'z', mode: 'sulk' }],
    ['a status that is no error', { name: 'z', mode: '204' }],
    ['an unknown field', { name: 'z', retryAfter: 3 }],
    ['retryAfterMs without a status', { name: 'z', retryAfterMs: 3 }],
    ['hangMs without hang', { name: 'z', hangMs: 3 }],
    ['a negative time', { name: 'z', mode: 'hang', hangMs: -1 }],
    ['part of a millisecond', { name: 'z', mode: '429', retryAfterMs: 0.5 }],
    ['unknown vectors', { name: 'z', vectors: 'odd' }],
    ['an unknown trait', { name: 'z', traits: 'wat' }],
    ['a mode within a mode', { name: 'z', traits: 'mode-y' }],
    ['a share above one', { name: 'z', share: 1.5 }],
    ['a chance that is no switch', { name: 'z', byChance: 0.5 }],
    ['what is no object', [1]],
  ]
  for (const [title, body] of refused) {
    it(title, async () => {
      const { status, json } = await post('/_mode', body)
      assert.equal(status, 400)
      assert.ok('error' in json)
    })
  }
})
