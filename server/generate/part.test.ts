import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtInFacts, readFacts } from '#config/build/facts.ts'
import { ALERT_KINDS } from '#core/alerts/kind.ts'
import { withAlertKinds } from './alert-kinds.ts'
import { withProviders } from './providers.ts'

const MARKS = [
  '<!-- generated providers: `npm run generate` makes it from server/catalog -->',
  '<!-- /generated -->',
]
const page = `# Before\n\n${MARKS.join('\nan old table\n')}\n\nAfter.\n`

test('every provider of the catalog has one row, and the rest of the page stays', () => {
  const made = withProviders(page)
  for (const provider of builtInFacts().keys())
    assert.equal(made.split(`| \`${provider}\`:`).length - 1, provider === 'demo' ? 0 : 1, provider)
  assert.ok(
    made.startsWith('# Before\n\n') && made.endsWith('\n\nAfter.\n') && !made.includes('an old table'),
  )
  assert.equal(withProviders(made), made)
})

test('a row counts models, and gives the texts per call of all of them', () => {
  const text = `provider: p
name: Name
dialect: openai
imageDialect: ai-sdk
factSource: { source: a test, asOf: 2026-11-18 }
capabilities: { maxInputs: 96 }
models:
  a: { kind: embedding, embedding: { dimensions: 4 }, capabilities: { maxInputs: 1 } }
  b: { kind: embedding, embedding: { dimensions: 4 } }
  c: { kind: image }
`
  const made = withProviders(page, readFacts([{ name: 'catalog/p.yaml', text }]))
  assert.match(made, /^\| `p`: Name \| OpenAI; images: own \| 2 embedding, 1 image \| 1 to 96 \|$/m)
})

test('an alert kind has one row, with the defaults of its condition as the file writes them', () => {
  const made = withAlertKinds('<!-- generated alert-kinds -->\nold\n<!-- /generated -->\n')
  assert.equal(made.match(/^\| `/gm)?.length, ALERT_KINDS.length)
  assert.match(made, /^\| `latency` \| `p95Ms: 2000` of at least `requests: 20` within `minutes: 10` \|/m)
  assert.match(made, /^\| `budget` \| `percent: \[80, 100\]` of/m)
})

test('a page that lost its marks is an error, not a page without a table', () => {
  assert.throws(() => withProviders('# Before\n'), /needs <!-- generated providers/)
})
