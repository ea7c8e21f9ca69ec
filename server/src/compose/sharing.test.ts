import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { EmbeddingModel } from '#core/catalog.ts'
import { defaultLimits } from '#core/settings.ts'
import { systemClock } from '#runtime/clock.ts'
import { aDeployment } from '#test/support/deployments.ts'
import { aModel, aRequest } from '#test/support/models.ts'
import type { Basics } from './basics.ts'
import { openSharing } from './sharing.ts'

const basics = {
  storeUrls: { cache: undefined },
  secrets: { current: 'a secret of this test, long enough', previous: undefined },
  clock: systemClock,
  limits: defaultLimits,
} as Basics
const sharing = openSharing(basics, { isTrusted: () => true })
after(() => sharing[Symbol.asyncDispose]())

const usual = { cache: { ttlMs: 1000 }, deployments: [aDeployment({ upstreamModel: 'one' })] }

function digestOf(
  model: EmbeddingModel,
  { project = 'p', space = 's', inputType = undefined as 'query' | undefined, text = 'a text' } = {},
): string | undefined {
  const asked = { project, space, cacheUse: 'usual' } as const
  return sharing
    .sharingOf(model, aRequest({ inputType }), asked)
    ?.digestsOf({ kind: 'texts', texts: [text] })[0]
}

const prefixed = (query: string): EmbeddingModel =>
  aModel({ ...usual, facts: { inputType: { rule: 'prefix', prefixes: { query } } } })

test('a vector is kept under all that makes it: whoever differs in one of them does not find it', () => {
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
