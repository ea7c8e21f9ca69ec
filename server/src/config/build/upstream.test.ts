import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogOf, problemsOf } from '#test/support/config.ts'

const problemsWith = (upstream: string) =>
  problemsOf(() =>
    catalogOf(`upstreams: { up: ${upstream} }
models: { mine: { kind: embedding, embedding: { dimensions: 8 }, deployments: [{ upstream: up }] } }`),
  )

test('a setting that the package of the provider does not take is refused, with those that it takes', () => {
  assert.match(
    problemsWith('{ provider: alibaba, apiKey: k, settings: { embeddingBaseURL: http://127.0.0.1 } }').join(
      '\n',
    ),
    /upstreams\.up\.settings\.embeddingBaseURL: is not a setting of alibaba, which takes none: remove it/,
  )
  assert.match(
    problemsWith('{ provider: amazon-bedrock, settings: { regoin: eu-central-1 } }').join('\n'),
    /upstreams\.up\.settings\.regoin: is not a setting of amazon-bedrock, which takes region, .*Did you mean region/,
  )
  const vertex =
    '{ provider: google-vertex, settings: { project: p, location: eu, googleAuthOptions: { keyFile: k } } }'
  assert.deepEqual(problemsWith(vertex), [])
})
