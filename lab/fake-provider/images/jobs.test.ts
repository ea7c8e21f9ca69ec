import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, describe, it } from 'node:test'
import { createFireworks } from '@ai-sdk/fireworks'
import type { LogEntry } from '../log.ts'
import { startFakeProvider } from '../server.ts'
import { scenarioOf } from '../traits.ts'
import { assertLogged, downloaded, lastPurchase } from './test-client.ts'
import { imageTraits } from './traits.ts'

const provider = await startFakeProvider()
after(() => provider.close())

type Body = Record<string, unknown>

/** How each polled wire is spoken to, without a package: its packages hide the polls. */
type Dialect = {
  wire: string
  headers: Record<string, string>
  submit: string
  body: object
  poll: (scenarioUrl: string, submitted: Body) => Request
  /** Where the submit answer and a poll name their state and the picture. */
  status: (body: Body) => unknown
  file: (body: Body) => string | undefined
  pending: string[]
  done: string
  failed: string
  moderated: string
}

const bearer = { authorization: 'Bearer sk-jobs-1234' }
const prompt = 'a lighthouse'
const key = { 'x-key': 'jobs-1234' }

const dialects: Dialect[] = [
  {
    wire: 'black-forest-labs',
    headers: key,
    submit: 'bfl/v1/flux-pro-1.1',
    body: { prompt, width: 256, height: 256 },
    poll: (_, { polling_url }) => new Request(String(polling_url), { headers: key }),
    status: ({ status }) => status,
    file: ({ result }) => (result as { sample?: string } | null)?.sample,
    pending: ['Pending', 'Pending'],
    done: 'Ready',
    failed: 'Error',
    moderated: 'Request Moderated',
  },
  {
    wire: 'replicate',
    headers: { ...bearer, prefer: 'wait' },
    submit: 'replicate/v1/models/black-forest-labs/flux-1.1-pro/predictions',
    body: { input: { prompt, size: '256x256' } },
    poll: (_, { urls }) => new Request((urls as { get: string }).get, { headers: bearer }),
    status: ({ status }) => status,
    file: ({ output }) => (output ?? undefined) as string | undefined,
    pending: ['starting', 'processing'],
    done: 'succeeded',
    failed: 'failed',
    moderated: 'failed',
  },
  {
    wire: 'luma',
    headers: bearer,
    submit: 'luma/dream-machine/v1/generations/image',
    body: { prompt, model: 'photon-1' },
    poll: (url, { id }) =>
      new Request(`${url}/luma/dream-machine/v1/generations/${String(id)}`, { headers: bearer }),
    status: ({ state }) => state,
    file: ({ assets }) => (assets as { image?: string } | null)?.image,
    pending: ['queued', 'dreaming'],
    done: 'completed',
    failed: 'failed',
    moderated: 'failed',
  },
  {
    wire: 'fireworks',
    headers: bearer,
    submit: 'fireworks/inference/v1/workflows/accounts/fireworks/models/flux-kontext-pro',
    body: { prompt },
    poll: (url, { request_id }) =>
      new Request(
        `${url}/fireworks/inference/v1/workflows/accounts/fireworks/models/flux-kontext-pro/get_result`,
        {
          method: 'POST',
          headers: { ...bearer, 'content-type': 'application/json' },
          body: JSON.stringify({ id: request_id }),
        },
      ),
    status: ({ status }) => status,
    file: ({ result }) => (result as { sample?: string } | null)?.sample,
    pending: ['Pending', 'Pending'],
    done: 'Ready',
    failed: 'Error',
    moderated: 'Request Moderated',
  },
]

async function submitted({ headers, submit, body }: Dialect, scenario: string): Promise<Body> {
  const answer = await fetch(`${provider.url}/${scenario}/${submit}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-torana-call-id': `call-${scenario}`, ...headers },
    body: JSON.stringify(body),
  })
  assert.ok(answer.ok, `${answer.status} ${answer.statusText}`)
  return (await answer.json()) as Body
}

async function polled(dialect: Dialect, scenario: string, job: Body): Promise<Body> {
  return (await (await fetch(dialect.poll(`${provider.url}/${scenario}`, job))).json()) as Body
}

function since(id: number): LogEntry[] {
  return provider.entries().filter((entry) => entry.id > id)
}

describe('a job that is polled', () => {
  for (const dialect of dialects) {
    const { wire, status, file, pending, done, failed, moderated } = dialect

    it(`${wire}: is pending for two polls, then has a picture; only the submit is a purchase`, async () => {
      const lastId = provider.entries().at(-1)?.id ?? 0
      const job = await submitted(dialect, 'plain')
      const polls = [await polled(dialect, 'plain', job), await polled(dialect, 'plain', job)]
      assert.deepEqual(polls.map(status), pending)
      assert.ok(polls.every((body) => file(body) === undefined))
      const ready = await polled(dialect, 'plain', job)
      assert.equal(status(ready), done)
      await assertLogged([await downloaded(file(ready) ?? '')], lastPurchase(provider))
      // However late it is asked again, it is there.
      assert.equal(file(await polled(dialect, 'plain', job)), file(ready))

      const entries = since(lastId)
      assert.deepEqual(
        entries.map(({ operation, served }) => [operation, served]),
        [
          ['submit', true],
          ['poll', false],
          ['poll', false],
          ['poll', false],
          ['download', false],
          ['poll', false],
        ],
      )
      const ids = entries.filter(({ operation }) => operation !== 'download').map(({ jobId }) => jobId)
      assert.equal(new Set(ids).size, 1)
      assert.equal(entries[0]?.callId, 'call-plain')
    })

    it(`${wire}: polls-N, job-fails, moderation and empty-data`, async () => {
      const first = async (scenario: string) =>
        await polled(dialect, scenario, await submitted(dialect, scenario))
      assert.equal(status(await first('polls-0')), done)
      assert.equal(status(await first('polls-1')), pending[0])
      assert.equal(status(await first('job-fails+polls-0')), failed)
      assert.deepEqual([lastPurchase(provider)?.served, lastPurchase(provider)?.pictures], [false, []])
      assert.equal(status(await first('moderation+polls-0')), moderated)
      assert.equal(lastPurchase(provider)?.served, false)
      assert.ok(!file(await first('empty-data+polls-0'))?.length)
      assert.equal(lastPurchase(provider)?.served, true)
    })

    it(`${wire}: pending-N counts milliseconds, not polls`, async () => {
      const job = await submitted(dialect, 'pending-300')
      let last: Body = {}
      const startMs = performance.now()
      do last = await polled(dialect, 'pending-300', job)
      while (status(last) !== done && performance.now() - startMs < 30_000)
      assert.equal(status(last), done)
    })

    it(`${wire}: polls fail as the scenario says, and the purchase stands`, async () => {
      const statusesOf = async (scenario: string, count: number) => {
        const job = await submitted(dialect, scenario)
        const statuses: number[] = []
        for (let poll = 0; poll < count; poll++) {
          const answer = await fetch(dialect.poll(`${provider.url}/${scenario}`, job))
          await answer.arrayBuffer()
          statuses.push(answer.status)
        }
        return statuses
      }
      assert.deepEqual(await statusesOf('poll-status-503', 2), [503, 503])
      assert.deepEqual(await statusesOf('poll-fails-first-2+poll-slow-1', 3), [500, 500, 200])
      assert.equal(lastPurchase(provider)?.served, true)
    })

    it(`${wire}: charged, and the answer to the submit lost`, async () => {
      await assert.rejects(submitted(dialect, 'serves-then-resets'))
      assert.deepEqual([lastPurchase(provider)?.served, lastPurchase(provider)?.status], [true, null])
    })
  }

  it('Black Forest Labs does not know a job: Task not found; the others: 404', async () => {
    const answer = await fetch(`${provider.url}/plain/bfl/v1/get_result?id=x`, { headers: key })
    assert.equal(((await answer.json()) as Body)['status'], 'Task not found')
    for (const path of ['replicate/v1/predictions/x', 'luma/dream-machine/v1/generations/x']) {
      assert.equal((await fetch(`${provider.url}/plain/${path}`, { headers: bearer })).status, 404)
    }
  })

  it('Black Forest Labs tells a moderated prompt from a moderated picture', async () => {
    const dialect = dialects[0] ?? assert.fail()
    const body = await submitted(dialect, 'moderation-output+polls-0')
    assert.equal((await polled(dialect, 'moderation-output+polls-0', body))['status'], 'Content Moderated')
  })

  it('the Fireworks package polls a Kontext model to its end', async () => {
    const fireworks = createFireworks({
      apiKey: 'k',
      baseURL: `${provider.url}/polls-1/fireworks/inference/v1`,
    })
    const { images } = await fireworks.image('accounts/fireworks/models/flux-kontext-pro').doGenerate({
      prompt,
      n: 1,
      size: undefined,
      aspectRatio: '1:1',
      seed: undefined,
      files: undefined,
      mask: undefined,
      providerOptions: {},
    })
    await assertLogged(images as Uint8Array[], lastPurchase(provider))
  })
})

describe("fal's queue", () => {
  const headers = { authorization: 'Key id:secret', 'content-type': 'application/json' }

  async function queued(scenario: string): Promise<Record<string, string>> {
    const answer = await fetch(`${provider.url}/${scenario}/fal-queue/fal-ai/flux/dev`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ prompt, image_size: 'square' }),
    })
    return (await answer.json()) as Record<string, string>
  }

  it('answers a status, then the result', async () => {
    const { status_url = '', response_url = '' } = await queued('plain')
    assert.match(status_url, /\/fal-queue\/fal-ai\/flux\/requests\/[^/]+\/status$/)
    const ask = async (url: string) => (await (await fetch(url, { headers })).json()) as Body
    const statuses = [await ask(status_url), await ask(status_url), await ask(status_url)]
    assert.deepEqual(
      statuses.map(({ status }) => status),
      ['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED'],
    )
    const { images } = (await ask(response_url)) as { images: { url: string; width: number }[] }
    assert.equal(images[0]?.width, 512)
    await assertLogged([await downloaded(images[0].url)], lastPurchase(provider))
    assert.deepEqual(
      [lastPurchase(provider)?.wire, lastPurchase(provider)?.model],
      ['fal-queue', 'fal-ai/flux/dev'],
    )
  })

  it('a result that is asked for too early is refused; a cancel is in the log', async () => {
    const { response_url = '', cancel_url = '' } = await queued('plain')
    assert.equal((await fetch(response_url, { headers })).status, 400)
    assert.equal((await fetch(cancel_url, { method: 'PUT', headers })).status, 202)
    assert.equal(provider.entries().at(-1)?.operation, 'cancel')
  })
})

describe('traits of pictures', () => {
  it('none is left out of these tests', () => {
    const files = ['openai', 'stream', 'jobs', 'edits', 'edit-wires'].map((name) =>
      readFileSync(new URL(`./${name}.test.ts`, import.meta.url), 'utf8'),
    )
    const untested = Object.keys(imageTraits).filter((trait) => {
      const stem = trait.replace(/-(N|WxH.*)$/, '')
      return !files.some((text) => text.includes(stem))
    })
    assert.deepEqual(untested, [])
  })

  it('sizes are part of the name', () => {
    assert.deepEqual(scenarioOf('sizes-1024x1024-1536x1024+plain').sizes, ['1024x1024', '1536x1024'])
    assert.equal(scenarioOf('plain').sizes, null)
    for (const name of ['sizes', 'sizes-1024', 'sizes-AxB'])
      assert.throws(() => scenarioOf(name), /There is no trait/)
  })
})
