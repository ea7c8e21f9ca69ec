import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogOf, problemsOf } from '#test/support/config.ts'

const HEAD = `
upstreams: { openai: { provider: openai, apiKey: x } }
models: { text-embedding-3-small: { deployments: [{ upstream: openai }] } }
`
const SECRET = 'a-secret-of-twenty-four-chars'

test('receivers of the audit are read with their secrets', () => {
  const { auditWebhooks } = catalogOf(
    `${HEAD}audit: { webhooks: [{ url: 'http://siem.internal/in', secret: ${SECRET}, private: true }] }`,
  )
  assert.deepEqual(auditWebhooks, [
    { url: 'http://siem.internal/in', secret: SECRET, events: undefined, isPrivate: true },
  ])
})

const HTTPS = `{ url: 'https://siem.example/in', secret: ${SECRET} }`
const PROBLEMS: readonly [text: string, problem: RegExp][] = [
  [`[${HTTPS}, ${HTTPS}]`, /is there twice: keep one/],
  [`[{ url: 'http://siem.example/in', secret: ${SECRET} }]`, /must begin with https:/],
  [`[{ url: 'https://siem.example/in', secret: short }]`, /24 characters or more/],
  [`[{ url: 'https://siem.example/in' }]`, /secret/],
  [`[{ url: 'https://u:p@siem.example/in', secret: ${SECRET} }]`, /needs no credentials in the URL/],
  [`[{ url: 'https://siem.example/in', secret: ${SECRET}, events: [audit.entry] }]`, /events/],
  [`[${Array.from({ length: 11 }, (_, index) => HTTPS.replace('/in', `/${index}`)).join(', ')}]`, /10/],
]

for (const [text, problem] of PROBLEMS)
  test(`torana check refuses receivers of the audit: ${problem.source}`, () => {
    const problems = problemsOf(() => catalogOf(`${HEAD}audit: { webhooks: ${text} }`))
    assert.equal(problems.length, 1, problems.join('\n'))
    assert.match(problems[0] ?? '', problem)
  })
