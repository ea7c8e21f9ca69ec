import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogOf, problemsOf } from '#test/support/config.ts'

const HEAD = `
upstreams: { openai: { provider: openai, apiKey: x } }
models: { text-embedding-3-small: { deployments: [{ upstream: openai }] } }
`
const SECRET = 'a-secret-of-twenty-four-chars'

test('webhooks of a project are read with their secrets', () => {
  const { projects } = catalogOf(
    `${HEAD}projects: { p: { webhooks: [{ url: 'http://app.internal/in', secret: ${SECRET}, private: true }] } }`,
  )
  assert.deepEqual(projects[0]?.webhooks, [
    { url: 'http://app.internal/in', secret: SECRET, events: undefined, isPrivate: true },
  ])
})

const HTTPS = `{ url: 'https://app.example/in', secret: ${SECRET} }`
const PROBLEMS: readonly [text: string, problem: RegExp][] = [
  [`[${HTTPS}, ${HTTPS}]`, /is there twice: keep one/],
  [`[{ url: 'http://app.example/in', secret: ${SECRET} }]`, /must begin with https:/],
  [`[{ url: 'https://app.example/in', secret: short }]`, /24 characters or more/],
  [`[{ url: 'https://app.example/in' }]`, /secret/],
  [`[{ url: 'https://u:p@app.example/in', secret: ${SECRET} }]`, /needs no credentials in the URL/],
  [`[{ url: 'https://app.example/in', secret: ${SECRET}, events: [image.done] }]`, /events/],
  [`[${Array.from({ length: 11 }, (_, index) => HTTPS.replace('/in', `/${index}`)).join(', ')}]`, /10/],
]

for (const [text, problem] of PROBLEMS)
  test(`torana check refuses webhooks: ${problem.source}`, () => {
    const problems = problemsOf(() => catalogOf(`${HEAD}projects: { p: { webhooks: ${text} } }`))
    assert.equal(problems.length, 1, problems.join('\n'))
    assert.match(problems[0] ?? '', problem)
  })
