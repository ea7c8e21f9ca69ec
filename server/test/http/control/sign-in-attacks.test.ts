/** Attacks on the sign-in and with the cookies of others: all of them are refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NODE_TOKEN, startConsoleNode } from '#test/support/console-node.ts'
import { operationsOf } from '#test/support/contract.ts'
import { cookieIn, memberOf, PASSWORD, signIn } from '#test/support/members.ts'

const node = await startConsoleNode({ env: { TRUSTED_PROXIES: 'loopback', TORANA_INSECURE_CONSOLE: 'true' } })
const from = (address: string) => ({ 'x-forwarded-for': address })

const writes = operationsOf('control')
  .filter(({ method, permission }) => method !== 'GET' && permission !== 'anyone')
  .map(({ method, path }) => [method, path.replace('/api/v1', '').replaceAll(/[{}]/g, '')] as const)

test('a page of another origin changes nothing with a member’s cookie, on any route', async () => {
  const admin = await memberOf(node, 'admin@example.com', 'admin')
  assert.ok(writes.length > 20)
  for (const [method, path] of writes)
    for (const origin of [
      undefined,
      'https://evil.example',
      'null',
      node.url,
      `${node.controlUrl}.evil.example`,
    ]) {
      const { cookie } = admin
      const answer = await node.control(method, path, { cookie, ...(origin !== undefined && { origin }) })
      assert.equal(answer.body.error?.code, 'wrong_origin', `${method} ${path} from ${origin}`)
    }
  // Nor can it sign a browser in to an account of its choice.
  const body = { email: 'admin@example.com', password: PASSWORD }
  for (const origin of [undefined, 'https://evil.example'])
    assert.equal(
      (await node.control('POST', '/session', { body, ...(origin && { origin }) })).body.error?.code,
      'wrong_origin',
    )
  assert.equal((await admin.ask('GET', '/session')).status, 200)
})

test('an address that guesses passwords waits after five, whomever it guesses at', async () => {
  const headers = from('203.0.113.1')
  const statuses = []
  for (let guess = 0; guess < 7; guess += 1)
    statuses.push((await signIn(node, `victim-${guess}@example.com`, `guess ${guess}`, headers)).status)
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429])
  const refused = await signIn(node, 'anybody@example.com', 'x', headers)
  assert.equal(refused.body.error?.code, 'too_many_sign_ins')
  const waitS = Number(refused.headers.get('retry-after'))
  assert.ok(waitS > 0 && waitS <= 24, String(waitS))
  assert.equal((await signIn(node, 'anybody@example.com', 'x', from('203.0.113.2'))).status, 401)
})

test('many guesses at the same time are no way around', async () => {
  const headers = from('203.0.113.3')
  const guesses = Array.from({ length: 30 }, (_, guess) =>
    signIn(node, 'busy@example.com', `guess ${guess}`, headers),
  )
  const statuses = (await Promise.all(guesses)).map(({ status }) => status)
  assert.ok(statuses.filter((status) => status === 401).length <= 6, statuses.join())
})

test('an account that many addresses guess at is slowed down for strangers, not locked for its member', async () => {
  const { email } = await memberOf(node, 'target@example.com', 'operator')
  assert.equal((await signIn(node, email, PASSWORD, from('198.51.100.7'))).status, 204)
  const statuses = []
  for (let guess = 0; guess < 8; guess += 1)
    statuses.push((await signIn(node, email, 'wrong', from(`203.0.113.${100 + guess}`))).status)
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429, 429])
  assert.equal((await signIn(node, email, PASSWORD, from('203.0.113.200'))).status, 429)
  const own = await signIn(node, email, PASSWORD, from('198.51.100.7'))
  assert.equal(own.status, 204, own.text)
})

test('links are not guessed either', async () => {
  const headers = from('203.0.113.4')
  const codes = []
  for (let guess = 0; guess < 7; guess += 1) {
    const body = { token: `guess-${guess}`, name: 'x', password: PASSWORD }
    const answer = await node.control('POST', '/invitations/accept', {
      origin: node.controlUrl,
      body,
      headers,
    })
    codes.push(answer.body.error?.code)
  }
  assert.deepEqual(
    codes.slice(0, 5),
    Array.from({ length: 5 }, () => 'link_invalid'),
  )
  assert.deepEqual(codes.slice(5), ['too_many_sign_ins', 'too_many_sign_ins'])
  const firstRun = { token: 'x', name: 'x', email: 'x@example.com', password: PASSWORD }
  const late = await node.control('POST', '/session/first-run', { origin: node.controlUrl, body: firstRun })
  assert.equal(late.body.error?.code, 'link_invalid')
})

/** Names that people can choose. */
const CORPUS = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "';alert(String.fromCharCode(88))//",
  '{{constructor.constructor("alert(1)")()}}',
  'javascript:alert(1)',
  '<svg/onload=alert(1)>',
  '\u202egnp.exe',
  '</textarea><script>alert(1)</script>',
  '%3Cscript%3Ealert(1)%3C/script%3E',
  '${7*7}',
]

test('names that look like scripts come back as text, in JSON that no browser takes for a page', async () => {
  for (const [index, name] of CORPUS.entries()) {
    const invited = await node.control('POST', '/invitations', {
      token: NODE_TOKEN,
      body: { email: `xss-${index}@example.com`, role: 'developer', projects: [name] },
    })
    const token = String(invited.body['link']).split('/').at(-1)
    const accepted = await node.control('POST', '/invitations/accept', {
      origin: node.controlUrl,
      body: { token, name, password: PASSWORD },
    })
    const session = await node.control('GET', '/session', { cookie: cookieIn(accepted) })
    assert.equal((session.body['member'] as { name: string }).name, name)
    for (const path of ['/members', '/audit', '/session']) {
      const { headers } = await node.control('GET', path, { token: NODE_TOKEN })
      assert.match(headers.get('content-type') ?? '', /^application\/json/)
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
    }
  }
})
