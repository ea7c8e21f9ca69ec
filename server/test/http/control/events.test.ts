import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '#control/shared/caller.ts'
import type { RequestRecord } from '#ports/observer.ts'
import type { RequestTail } from '#ports/request-reports.ts'
import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { ADMIN_TOKEN, startControl } from '#test/support/control.ts'
import { memoryDirectory } from '#test/support/directory.ts'
import { assertFault } from '#test/support/errors.ts'
import { eventually } from '#test/support/process.ts'

const identifiers = uuidv7Identifiers(systemClock)
const troubles: string[] = []
let opened = 0
let closed = 0
let isInForce = true

function record(project: string, status: number): RequestRecord {
  return { requestId: identifiers.next(), route: 'embeddings', status, project, durationMs: 1 }
}

/** In each second, a request of two projects ends well and one fails. */
const requestTail: RequestTail = {
  open() {
    opened += 1
    const records = () => [record('search', 200), record('ads', 200), record('search', 502)]
    return { take: () => ({ records: records(), skipped: 0 }), close: () => (closed += 1) }
  },
}

const DEVELOPER: Caller = {
  kind: 'member',
  actor: 'dev',
  role: 'developer',
  projects: ['search'],
  isReadOnly: false,
}
const control = await startControl(memoryDirectory(), {
  node: {
    hostname: 'here',
    liveNodes: () => 1,
    requestTail,
    // The topic `deployment` has no news.
    summaries: () => Promise.reject(new Error('no summaries')),
    onTopicFailure: (topic) => troubles.push(topic),
  },
  callerOf: (token) =>
    token === ADMIN_TOKEN
      ? {
          kind: 'node',
          actor: 'admin',
          role: 'admin',
          projects: null,
          isReadOnly: false,
          isInForce: async () => isInForce,
        }
      : token === 'developer'
        ? DEVELOPER
        : undefined,
})

function listen(search: string, signal: AbortSignal, token = ADMIN_TOKEN): Promise<Response> {
  return fetch(`${control.url}/api/v1/events?${search}`, {
    headers: { authorization: `Bearer ${token}` },
    signal,
  })
}

async function textUntil(answer: Response, words: RegExp): Promise<string> {
  let text = ''
  assert.ok(answer.body)
  for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
    text += part
    if (words.test(text)) break
  }
  return text
}

const statusesIn = (text: string) =>
  [...text.matchAll(/^event: request\ndata: (.*)\n\n/gm)].map(([, data = '']) =>
    (JSON.parse(data) as { rows: { status: number; project: string }[] }).rows.map(
      ({ project, status }) => `${project} ${status}`,
    ),
  )

test('news of all topics come over one stream, and a topic without news ends no other', async () => {
  const leaving = new AbortController()
  const answer = await listen('topics=request,deployment&outcome=failed', leaving.signal)
  assert.equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  const text = await textUntil(answer, /(event: request\n.*\n\n){2}/)
  assert.deepEqual(statusesIn(text), [['search 502'], ['search 502']])
  assert.ok(troubles.includes('deployment'))
  const before = closed
  leaving.abort()
  await eventually(async () => assert.equal(closed, before + 1))
})

test('a topic is refused without its permission, and without a caller', async () => {
  const { signal } = new AbortController()
  const refused = await listen('topics=request,deployment', signal, 'developer')
  assert.equal(refused.status, 403)
  assertFault(await control.ask('GET', '/events?topics=nothing'), 'invalid_parameter', { words: /request/ })
  assertFault(await control.ask('GET', '/events?topics=request', undefined, ''), 'missing_api_key')
})

test('a developer’s stream is of its own projects, and another project is refused', async () => {
  const leaving = new AbortController()
  const answer = await listen('topics=request', leaving.signal, 'developer')
  const text = await textUntil(answer, /event: request\n.*\n\n/)
  assert.deepEqual(statusesIn(text), [['search 502', 'search 200']])
  const refused = await listen('topics=request&project=ads', leaving.signal, 'developer')
  assert.equal(refused.status, 403)
  leaving.abort()
})

test('a stream ends within two seconds of a change of its caller’s rights', async () => {
  const answer = await listen('topics=request', AbortSignal.timeout(10_000))
  const startedMs = performance.now()
  isInForce = false
  try {
    await assert.rejects(answer.text(), 'it is cut off')
    assert.ok(performance.now() - startedMs < 2000)
  } finally {
    isInForce = true
  }
})

test('rights that were lost while a stream was opened end it before it begins', async () => {
  isInForce = false
  try {
    assertFault(await control.ask('GET', '/events?topics=request'), 'forbidden', { words: /have changed/ })
  } finally {
    isInForce = true
  }
})

/** Every feed that was opened is closed. */
function allClosed(): Promise<void> {
  return eventually(async () => assert.equal(closed, opened))
}

/** The streams that one caller may have: half of all. */
const MAX_PER_CALLER = 75

test('one caller has at most half of all topics, others get theirs, and what is left is free again', async () => {
  const leaving = new AbortController()
  await allClosed()
  const answers = await Promise.all(
    Array.from({ length: MAX_PER_CALLER }, () => listen('topics=request', leaving.signal)),
  )
  assert.ok(answers.every(({ status }) => status === 200))
  assertFault(await control.ask('GET', '/events?topics=request'), 'too_many_streams', {
    words: /150 topics/,
  })
  const other = await listen('topics=request', leaving.signal, 'developer')
  assert.equal(other.status, 200)
  leaving.abort()
  await allClosed()
  const again = new AbortController()
  assert.equal((await listen('topics=request', again.signal)).status, 200)
  again.abort()
})

test('a topic that is named twice is opened and counted once', async () => {
  const leaving = new AbortController()
  const before = opened
  const twice = `topics=${Array.from({ length: 20 }, () => 'request').join(',')}`
  const answers = await Promise.all(Array.from({ length: 40 }, () => listen(twice, leaving.signal)))
  assert.ok(answers.every(({ status }) => status === 200))
  assert.equal(opened, before + 40)
  leaving.abort()
  await allClosed()
})

test('a stream that can not be opened takes no slot and leaves no feed open', async () => {
  await allClosed()
  for (let attempt = 0; attempt < 200; attempt += 1)
    assertFault(await control.ask('GET', '/events?topics=request,key'), 'invalid_parameter')
  assert.equal(closed, opened, 'feeds that were opened before the refusal')
  const leaving = new AbortController()
  assert.equal((await listen('topics=request', leaving.signal)).status, 200)
  leaving.abort()
})

test('a client that leaves, before the answer or after, gives back all that it took', async () => {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const leaving = new AbortController()
    const asked = listen('topics=request', leaving.signal)
    setTimeout(() => leaving.abort(), attempt % 5)
    await asked.then(
      () => leaving.abort(),
      () => {},
    )
  }
  await allClosed()
})

test('HEAD answers at once with the headers of a stream, and takes nothing', async () => {
  const before = opened
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const answer = await fetch(`${control.url}/api/v1/events?topics=request`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      signal: AbortSignal.timeout(5000),
    })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  }
  assert.equal(opened, before)
})
