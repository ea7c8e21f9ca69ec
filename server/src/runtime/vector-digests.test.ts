import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EmbeddingModel } from '#core/catalog/catalog.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { aModel } from '#test/support/models.ts'
import { vectorDigests } from './vector-digests.ts'

const digestsFor = vectorDigests('a secret of this test, long enough')

const usual = { cache: { ttlMs: 1000 }, deployments: [aDeployment({ upstreamModel: 'one' })] }

function digestOf(
  model: EmbeddingModel,
  { project = 'p', space = 's', inputType = undefined as 'query' | undefined, text = 'a text' } = {},
): string | undefined {
  return digestsFor({ project, space, inputType, model })({ kind: 'texts', texts: [text] })[0]
}

const prefixed = (query: string): EmbeddingModel =>
  aModel({ ...usual, facts: { inputType: { rule: 'prefix', prefixes: { query } } } })

test('a vector is cached under everything that decides on it: a request that differs in one of them does not find it', () => {
  const digests = [
    digestOf(aModel(usual)),
    digestOf(aModel(usual), { project: 'q' }),
    digestOf(aModel(usual), { space: 't' }),
    digestOf(aModel(usual), { inputType: 'query' }),
    digestOf(aModel(usual), { text: 'another' }),
    digestOf(aModel({ ...usual, deployments: [aDeployment({ upstreamModel: 'other' })] })),
    digestOf(aModel({ ...usual, facts: { tokenizer: 'none' } })),
    digestOf(prefixed('query: '), { inputType: 'query' }),
    digestOf(prefixed('search: '), { inputType: 'query' }),
  ]
  assert.equal(new Set(digests).size, digests.length)
})

test('another deployment of the same model finds it', () => {
  const twice = { ...usual, deployments: ['a', 'b'].map((id) => aDeployment({ id, upstreamModel: 'one' })) }
  assert.equal(digestOf(aModel(twice)), digestOf(aModel(usual)))
})
