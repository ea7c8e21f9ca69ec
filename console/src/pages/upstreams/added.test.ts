import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Routing } from '../../api/queries/routing.ts'
import type { GivenPrice } from '../../parts/connect-upstream/given-price.tsx'
import { withAdded } from './added.ts'
import { deploymentsIn } from './deployments.ts'
import { NO_CHANGES, type Draft } from './draft.ts'
import type { Entry } from './entry.ts'

type Deployments = Routing['deployments']

const first = { id: 'm/openai', upstream: 'openai', priority: 0, weight: 1, index: 0, price: 'free' }
const routingOf = (deployments: readonly object[], entry: Entry | null): Routing => ({
  ...({ model: 'm', kind: 'embedding', revision: '7' } as Routing),
  entry,
  deployments: deployments as Deployments,
})
const routing = routingOf([first], { deployments: [{ upstream: 'openai', price: 'free' }] })

const added = (
  role: 'fallback' | 'share',
  price: GivenPrice | undefined,
  of = routing,
  draft: Draft = NO_CHANGES,
) => withAdded(draft, of, { model: 'm', upstream: 'server-2', role, price })
const listIn = (draft: Draft) => deploymentsIn(draft.get('model m')?.entry ?? null)
const last = (draft: Draft): unknown => listIn(draft).at(-1)

test('a further deployment is a pending change: the fallback, at the price of the one beside it', () => {
  const draft = added('fallback', 'same')
  assert.deepEqual(draft.get('model m'), {
    object: 'model',
    name: 'm',
    base: '7',
    before: routing.entry,
    entry: {
      deployments: [
        { upstream: 'openai', price: 'free' },
        { upstream: 'server-2', priority: 1, price: 'free' },
      ],
    },
  })
})

test('it shares the traffic of tier 1, and has another price, where a person says so', () => {
  assert.deepEqual(last(added('share', { usd: '0.02' })), {
    upstream: 'server-2',
    price: { usdPerMillionTokens: '0.02' },
  })
  assert.deepEqual(last(added('fallback', undefined)), { upstream: 'server-2', priority: 1 })
  const later = routingOf([{ ...first, priority: 3, index: null }], null)
  assert.deepEqual(last(added('share', 'free', later)), { upstream: 'server-2', priority: 3, price: 'free' })
})

test('the price beside it is that of the first tier that has one, whole; one of the model counts for all', () => {
  const table = { usdPerImage: { default: '0.04' } }
  const mixed = [
    { ...first, priority: 1, price: table },
    { ...first, priority: 0, price: 'unpriced' },
  ]
  assert.partialDeepStrictEqual(last(added('fallback', 'same', routingOf(mixed, null))), { price: table })
  const whole = routingOf([first], { price: 'free', deployments: [{ upstream: 'openai' }] })
  assert.deepEqual(last(added('fallback', 'same', whole)), { upstream: 'server-2', priority: 1 })
})

test('pending changes of the model stay, and the same deployment is there once', () => {
  const before = added('fallback', 'free')
  assert.deepEqual(last(added('share', 'free', routing, before)), { upstream: 'server-2', price: 'free' })
  assert.equal(listIn(before).length, 2)
})
