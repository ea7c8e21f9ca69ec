import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Caller } from '#http/control/access/caller.ts'
import type { EventTopic, Listener } from '#http/control/events/topic.ts'
import { ADMIN_TOKEN, startControl } from '#test/support/control.ts'
import { memoryDirectory } from '#test/support/directory.ts'
import { assertFault } from '#test/support/errors.ts'
import { eventually } from '#test/support/process.ts'

const listeners: Listener[] = []
const troubles: string[] = []
let closed = 0
let isSignedIn = true

const counting: EventTopic = {
  name: 'counting',
  permission: 'overview.read',
  open(listener) {
    listeners.push(listener)
    let count = 0
    return { news: () => [{ count: (count += 1) }], close: () => (closed += 1) }
  },
}
const broken: EventTopic = {
  name: 'broken',
  permission: 'nodes.read',
  open: () => ({ news: () => Promise.reject(new Error('no news')) }),
}

const DEVELOPER: Caller = { actor: 'dev', role: 'developer', projects: ['search'], isReadOnly: false }
const control = await startControl(memoryDirectory(), {
  events: {
    topics: [counting, broken],
    isSignedIn: async () => isSignedIn,
    onTrouble: (topic) => troubles.push(topic),
  },
  callerOf: (token) =>
    token === ADMIN_TOKEN
      ? { actor: 'admin', role: 'admin', projects: null, isReadOnly: false }
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

test('news of all topics come over one stream, and a topic without news ends no other', async () => {
  const leaving = new AbortController()
  const answer = await listen('topics=counting,broken&outcome=failed', leaving.signal)
  assert.equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  assert.equal(answer.headers.get('cache-control'), 'no-store')
  const text = await textUntil(answer, /"count":2/)
  assert.match(text, /event: counting\ndata: \{"count":1\}\n\nevent: counting\ndata: \{"count":2\}\n\n/)
  assert.deepEqual(listeners.at(-1)?.query, { outcome: 'failed' })
  assert.ok(troubles.includes('broken'))
  const before = closed
  leaving.abort()
  await eventually(async () => assert.equal(closed, before + 1))
})

test('a topic is refused to whoever lacks its permission, and to nobody known', async () => {
  const { signal } = new AbortController()
  const refused = await listen('topics=counting,broken', signal, 'developer')
  assert.equal(refused.status, 403)
  assertFault(await control.ask('GET', '/events?topics=nothing'), 'invalid_parameter', { words: /counting/ })
  assertFault(await control.ask('GET', '/events?topics=counting', undefined, ''), 'missing_api_key')
})

test('a developer’s stream is of its own projects, and another project is refused', async () => {
  const leaving = new AbortController()
  await listen('topics=counting', leaving.signal, 'developer')
  assert.deepEqual(listeners.at(-1)?.projects, ['search'])
  const refused = await listen('topics=counting&project=ads', leaving.signal, 'developer')
  assert.equal(refused.status, 403)
  leaving.abort()
})

test('a stream ends soon after its session has ended', async () => {
  isSignedIn = false
  try {
    const answer = await listen('topics=counting', AbortSignal.timeout(10_000))
    const text = await answer.text()
    assert.doesNotMatch(text, /"count":4/)
  } finally {
    isSignedIn = true
  }
})

test('no more than fifty streams are served at once, and a place that is left is free again', async () => {
  const leaving = new AbortController()
  const before = closed
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => listen('topics=counting', leaving.signal)),
  )
  assert.ok(answers.every(({ status }) => status === 200))
  assertFault(await control.ask('GET', '/events?topics=counting'), 'too_many_streams')
  leaving.abort()
  await eventually(async () => assert.equal(closed, before + 50))
  const again = new AbortController()
  assert.equal((await listen('topics=counting', again.signal)).status, 200)
  again.abort()
})
