import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { SMTPServer } from 'smtp-server'
import type { Notice } from '#core/alerts/notice.ts'
import { systemClock } from '#runtime/clock.ts'
import { alertTransport } from './alert-transport.ts'
import { WebhookHttp } from './webhook.ts'

const mails: { readonly to: readonly string[]; readonly text: string; readonly user: unknown }[] = []
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onAuth: ({ username, password }, _, done) =>
    password === 'pass word' ? done(null, { user: username }) : done(new Error('wrong password')),
  onData(stream, { envelope, user }, done) {
    let body = ''
    stream.on('data', (chunk: Buffer) => (body += chunk.toString()))
    stream.on('end', () => {
      mails.push({ to: envelope.rcptTo.map(({ address }) => address), text: body, user })
      done()
    })
  },
})
server.listen(0, '127.0.0.1')
await once(server.server, 'listening')
const { port } = server.server.address() as AddressInfo
after(() => new Promise<void>((resolve) => server.close(resolve)))

const http = new WebhookHttp({ clock: systemClock })
after(() => http.close())

const NOTICE: Notice = {
  id: 'i1.0',
  incident: 'i1',
  phase: 'start',
  kind: 'ejected',
  severity: 'critical',
  title: 'gpu-two ejected',
  lines: ['12 of 14 calls failed.'],
  project: undefined,
  grouped: 1,
  startedAt: '2026-11-18T12:00:00.000Z',
  endedAt: undefined,
  installation: 'eu-prod',
  link: undefined,
  isTest: false,
}

function mailing(url: string | undefined) {
  const smtp = url === undefined ? undefined : { url, from: 'torana@example.com' }
  return alertTransport({ clock: systemClock, guarded: http, open: http, smtp })
}

const TO = { kind: 'email', to: ['a@example.com', 'b@example.com'] } as const

test('mail goes to all recipients over a signed-in connection, and the notices of an incident are one thread', async () => {
  const transport = mailing(`smtp://user:pass%20word@127.0.0.1:${port}`)
  const end: Notice = { ...NOTICE, id: 'i1.2000', phase: 'end', endedAt: '2026-11-18T12:04:00.000Z' }
  for (const notice of [NOTICE, end]) assert.equal((await transport.send(TO, notice)).isOk, true)
  const [first, second] = mails
  assert.deepEqual([first?.to, first?.user], [TO.to, 'user'])
  assert.match(first?.text ?? '', /Subject: \[Torana eu-prod\] gpu-two ejected/)
  assert.match(first?.text ?? '', /Message-ID: <i1\.0@torana>/)
  assert.match(second?.text ?? '', /Subject: \[Torana eu-prod\] Resolved: gpu-two ejected/)
  for (const mail of mails) assert.match(mail.text, /References: <i1@torana>/)
})

const FAILURES: readonly [string, string | undefined, RegExp][] = [
  ['a wrong password', `smtp://user:wrong@127.0.0.1:${port}`, /./],
  ['a server that is down', 'smtp://127.0.0.1:1', /ECONNREFUSED/],
  ['a node without a mail server', undefined, /SMTP_URL/],
]

for (const [what, url, problem] of FAILURES)
  test(`${what} is a failed delivery with its reason, and without the password`, async () => {
    const result = await mailing(url).send(TO, NOTICE)
    assert.equal(result.isOk, false)
    assert.match(result.problem ?? '', problem)
    assert.doesNotMatch(result.problem ?? '', /user:wrong/)
  })

test('an address inside the network is refused unless it was allowed', async () => {
  const target = { kind: 'slack', url: `https://127.0.0.1:${port}/`, isPrivate: false } as const
  const result = await mailing(undefined).send(target, NOTICE)
  assert.deepEqual([result.isOk, result.problem], [false, 'its host is not on the public internet'])
})
