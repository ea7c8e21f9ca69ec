import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '../file/problem.ts'
import { readConfig } from '../load.ts'
import { builtInFacts } from './facts.ts'

const HEAD = `
upstreams: { openai: { provider: openai, apiKey: x } }
models: { text-embedding-3-small: { deployments: [{ upstream: openai }] } }
`

function read(text: string) {
  const surroundings = { env: {}, readFile: () => '', facts: builtInFacts(), bootstrapKey: undefined }
  return readConfig('torana.yaml', `${HEAD}${text}`, { ...surroundings, nowMs: 0 }).catalog.alerts
}

function problemsOf(text: string): string {
  try {
    read(text)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.join('\n')
    throw error
  }
  return ''
}

test('declared rules and channels have the line of their entry, the condition of their kind, and ids of their names', () => {
  const alerts = read(`
alerts:
  channels:
    ops: { kind: slack, url: 'https://hooks.slack.com/services/T0/B0/0123456789x9Qd' }
    on-call: { kind: pagerduty, routingKey: R0123456789abcdef4b7e }
  rules:
    slow:
      kind: latency
      condition: { p95Ms: 3000 }
      project: '*'
      channels: [ops, on-call]
      quietHours: { days: [sat, sun], from: '00:00', to: '24:00', zone: Europe/Berlin }
`)
  const [ops, onCall] = alerts?.channels ?? []
  assert.deepEqual([ops?.id, ops?.masked, ops?.keepsQuiet], ['file.ops', 'hooks.slack.com/…/x9Qd', true])
  assert.deepEqual([onCall?.keepsQuiet, onCall?.managedBy], [false, 'torana.yaml:8'])
  const [slow] = alerts?.rules ?? []
  assert.deepEqual(slow?.condition, { p95_ms: 3000, minutes: 10, requests: 20 })
  assert.deepEqual(slow?.channels, ['file.ops', 'file.on-call'])
  assert.deepEqual(slow?.quiet?.days, [6, 7])
  assert.deepEqual(slow?.scope, { project: '*' })
})

const OPS = `channels: { ops: { kind: slack, url: 'https://hooks.example/x' } }`
const WRONG: readonly [string, string, RegExp][] = [
  ['a channel without its address', '{ channels: { ops: { kind: slack } } }', /url is missing/],
  [
    'a field of another kind',
    `{ channels: { ops: { kind: slack, url: 'https://hooks.example/x', to: [a@example.com] } } }`,
    /a channel of slack has none/,
  ],
  ['plain http', `{ channels: { ops: { kind: slack, url: 'http://hooks.example/x' } } }`, /https/],
  ['an unknown channel', `{ ${OPS}, rules: { r: { kind: space, channels: [opps] } } }`, /Did you mean/],
  [
    'another field of a condition',
    `{ ${OPS}, rules: { r: { kind: space, condition: { percent: 3 }, channels: [ops] } } }`,
    /percent/,
  ],
  [
    'a project of the spool',
    `{ ${OPS}, rules: { r: { kind: spool, project: ads, channels: [ops] } } }`,
    /whole installation/,
  ],
  [
    'an unknown zone',
    `{ ${OPS}, rules: { r: { kind: space, channels: [ops], quietHours: { from: '22:00', to: '07:00', zone: Mars } } } }`,
    /time zone Mars/,
  ],
]

for (const [what, text, problem] of WRONG)
  test(`${what} is refused with its place`, () => {
    const problems = problemsOf(`alerts: ${text}`)
    assert.match(problems, problem)
    assert.match(problems, /torana\.yaml:\d+/)
  })
