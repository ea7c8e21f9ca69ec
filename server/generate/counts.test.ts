import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFacts } from '#config/build/facts.ts'
import { withCounts } from './counts.ts'

const catalog = (provider: string, models: string) => ({
  name: `catalog/${provider}.yaml`,
  text: `provider: ${provider}
name: Name
dialect: openai
factSource: { source: a test, asOf: 2026-11-18 }
models:
${models}`,
})

test('providers and models are counted, a model of several providers once; measured figures stay', () => {
  const embedding = '  a: { kind: embedding, embedding: { dimensions: 4 } }\n'
  const facts = readFacts([
    catalog('p', `${embedding}  b: { kind: image }\n`),
    catalog('q', `${embedding}  c: { kind: embedding, embedding: { dimensions: 4 } }\n`),
  ])
  const measured = { text: '168 µs', date: '2026-11-17', commit: 'abc1234', program: 'bench/gate', load: '' }
  const counted = (text: string) => ({ text, program: 'generate' })
  const made = withCounts(JSON.stringify({ 'cpu.embed': measured, 'catalog.providers': counted('9') }), facts)
  assert.deepEqual(JSON.parse(made), {
    'catalog.embedding-models': counted('2'),
    'catalog.image-models': counted('1'),
    'catalog.providers': counted('2'),
    'cpu.embed': measured,
  })
})
