import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtInFacts, readFacts } from '#config/build/facts.ts'
import { imageModelsMarkdown } from './image-models.ts'

test('every built-in image model stands on the page once for each provider, and no embedding model', () => {
  const lines = imageModelsMarkdown().split('\n')
  for (const { provider, models } of builtInFacts().values()) {
    if (provider === 'demo') continue
    for (const [id, { kind }] of Object.entries(models)) {
      const rows = lines.filter((line) => line.startsWith(`| \`${id}\``) && line.includes(`| ${provider} |`))
      assert.equal(rows.length, kind === 'image' ? 1 : 0, `${provider}: ${id}`)
    }
  }
})

test('the page says of a model what its provider and itself say, and stands together with its twins', () => {
  const file = (provider: string, rest: string) => ({
    name: `catalog/${provider}.yaml`,
    text: `provider: ${provider}\nname: X\ndialect: openai\nfactSource: { source: a test, asOf: 2026-11-18 }\n${rest}`,
  })
  const page = imageModelsMarkdown(
    readFacts([
      file(
        'a',
        'imageCapabilities: { maxImages: 4, formats: [jpeg], edits: { maxInputs: 16, mask: alpha } }\nmodels: { m: { kind: image, aliases: [n], capabilities: { qualities: [low, high], stream: true, maxPartialImages: 2 } }, o: { kind: image, price: free, capabilities: { edits: { maxInputs: 1, mask: none, markup: true } } } }\n',
      ),
      file(
        'b',
        "models: { m: { kind: image, endsOn: 2026-12-01, successor: o, endSource: { source: 'https://b.test', asOf: 2026-11-17 } } }\n",
      ),
    ]),
  )
  assert.deepEqual(
    page.split('\n').filter((line) => line.startsWith('| `')),
    [
      '| `m` = `n` | a | the upstream decides | low high | – | jpeg | 4 | 16, mask | yes, 2 previews | unpriced | – |',
      '| `m` | b | the upstream decides | – | – | png | 1 | – | – | unpriced | 2026-12-01, then `o` |',
      '| `o` | a | the upstream decides | – | – | jpeg | 4 | 1, markup | – | free | – |',
    ],
  )
  assert.match(page, /prices of 2 image models of 2 providers/)
})
