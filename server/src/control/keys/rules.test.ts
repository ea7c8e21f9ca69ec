import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Catalog, ConfiguredBudget, Project } from '#core/catalog/catalog.ts'
import { Fault } from '#core/fault/fault.ts'
import { checksum } from '#core/keys/key.ts'
import type { KeyChange, KeyRecord, Pepper } from '#ports/key-store.ts'
import { SYSTEM } from '#ports/audit.ts'
import { systemClock } from '#runtime/clock.ts'
import { MemoryAudit } from '#test/support/stores/audit.ts'
import { MemoryKeyStore } from '#test/support/stores/key-store.ts'
import type { Caller } from '../shared/caller.ts'
import { checkModels, checkSecret, checkTighter, checkWithinProject } from './rules.ts'

const OURS = 'tr_0123456789abcdefghijABCDEFGHIJ01'
const PEPPER = (id: string): Pepper => ({ id, digestOf: (secret) => `${id}:${secret}` })
const FOREIGN = 'sk-0123456789abcdefghijk'
const TAKEN = 'sk-declared-0123456789abc'
const EARLIER = 'sk-kept-0123456789abcdef'

const budget = (limitNanoUsd: bigint): ConfiguredBudget => ({ limitNanoUsd, per: 'day', hard: true })
const declared: Project[] = [
  { name: 'free', keys: [{ name: 'first', secret: 'another' }] },
  {
    name: 'ads',
    keys: [
      { name: 'web', secret: 'yet another' },
      { name: 'ci', secret: TAKEN },
    ],
    limits: { requestsPerMinute: 60, tokensPerMinute: 1000 },
    budget: budget(5_000_000_000n),
  },
]
const keyStore = new MemoryKeyStore(systemClock, new MemoryAudit(systemClock))
await keyStore.createKey(
  { project: 'stored', name: 'k', secret: { digest: `previous:${EARLIER}`, pepper: 'previous', tail: '…' } },
  SYSTEM,
)
await keyStore.setProject('stored', { limits: { imagesPerMinute: 9 } }, SYSTEM)
const node = { keyStore, declaredProjects: () => declared }

/** The parameter at fault and the message, or undefined. */
async function refusalOf(check: () => Promise<void> | void): Promise<string | undefined> {
  try {
    await check()
  } catch (error) {
    assert.ok(error instanceof Fault)
    return `${error.code} ${error.param}: ${error.message}`
  }
  return undefined
}

test('a secret from elsewhere is refused when it can be guessed, is damaged, or is another key’s', async () => {
  for (const [secret, words] of [
    [`${OURS}_${checksum(OURS)}`, undefined],
    [`${OURS}_00000000`, /^invalid_parameter secret: .*checksum is wrong/],
    ['tr_cut', /checksum is wrong/],
    [FOREIGN, undefined],
    [FOREIGN.slice(1), /^invalid_parameter secret: .*at least 24 characters/],
    ['abcdefg'.repeat(4), /^invalid_parameter secret: .*at least 8 different characters/],
    ['abcdefgh'.repeat(4), undefined],
    [TAKEN, /^invalid_parameter secret: .*another key already has/],
    [EARLIER, /another key already has/],
    [`${EARLIER}0`, undefined],
  ] as const) {
    const peppers = { current: PEPPER('current'), previous: PEPPER('previous') }
    const refusal = await refusalOf(() => checkSecret(secret, { ...node, peppers }))
    if (words === undefined) assert.equal(refusal, undefined, secret)
    else assert.match(refusal ?? 'nothing', words, secret)
  }
  // Without a rotation there is no earlier digest to look up. The store itself refuses a current one.
  const peppers = { current: PEPPER('previous'), previous: undefined }
  assert.equal(await refusalOf(() => checkSecret(EARLIER, { ...node, peppers })), undefined)
})

test('a key’s models exist, and a mistyped one is suggested', async () => {
  const catalog = {
    models: new Map([
      ['embed-small', {}],
      ['embed', {}],
    ]),
  } as unknown as Catalog
  for (const [models, words] of [
    [undefined, undefined],
    [null, undefined],
    [['embed', 'embed-small'], undefined],
    [['embed', 'embed-smal'], 'models: there is no model embed-smal. Did you mean embed-small?'],
    [['quite-another'], 'models: there is no model quite-another.'],
  ] as const)
    assert.equal(
      await refusalOf(() => checkModels(models, catalog)),
      words && `invalid_parameter models: ${words}`,
    )
})

const CALLER: Caller = {
  kind: 'member',
  actor: 'ann@example.com',
  role: 'developer',
  projects: ['ads'],
  isReadOnly: false,
}

const WITHIN: readonly (readonly [project: string, change: KeyChange, refusal: string | undefined])[] = [
  ['ads', {}, undefined],
  ['ads', { limits: { requestsPerMinute: 60 } }, undefined],
  [
    'ads',
    { limits: { requestsPerMinute: 61 } },
    'limits.requests_per_minute: 61 is more than the project ads has, 60 a minute.',
  ],
  ['ads', { limits: { requestsPerMinute: null } }, undefined],
  [
    'ads',
    { limits: { requestsPerMinute: 1, tokensPerMinute: 1001 } },
    'limits.tokens_per_minute: 1001 is more than the project ads has, 1000 a minute.',
  ],
  ['ads', { limits: { imagesPerMinute: 1_000_000 } }, undefined],
  [
    'stored',
    { limits: { imagesPerMinute: 10 } },
    'limits.images_per_minute: 10 is more than the project stored has, 9 a minute.',
  ],
  ['stored', { budget: budget(9_000_000_000n) }, undefined],
  ['free', { limits: { requestsPerMinute: 1_000_000 } }, undefined],
  ['ads', { budget: budget(5_000_000_000n) }, undefined],
  ['ads', { budget: null }, undefined],
  [
    'ads',
    { budget: budget(5_000_000_001n) },
    'budget.usd: $5.000000001 is more than the budget of the project ads, $5.00.',
  ],
  ['missing', { limits: { requestsPerMinute: 61 }, budget: budget(9n) }, undefined],
]

test('a developer gives a key no more than its project has, and an admin gives it anything', async () => {
  for (const [project, change, words] of WITHIN) {
    const refusal = await refusalOf(() => checkWithinProject(CALLER, project, change, node))
    const param = words?.split(': ', 1)[0]
    assert.equal(refusal, words && `invalid_parameter ${param}: ${words}`)
    const admin: Caller = { ...CALLER, role: 'admin', projects: null }
    assert.equal(await refusalOf(() => checkWithinProject(admin, project, change, node)), undefined)
  }
})

const BOUND: Pick<KeyRecord, 'id'> & Partial<KeyRecord> = {
  id: 'ads/web',
  models: ['embed'],
  scopes: ['embeddings'],
  addresses: ['10.0.0.0/8'],
  maxCallsAtOnce: 4,
  expiresAtMs: 1000,
  budget: budget(5n),
  limits: { requestsPerMinute: 60, tokensPerMinute: 1000, imagesPerMinute: 9 },
}

test('each term of a key may be tightened, and loosening one names its field and the permission', async () => {
  const before = BOUND as KeyRecord
  for (const [field, tighter, looser] of [
    ['models', { models: [] }, { models: null }],
    ['scopes', { scopes: [] }, { scopes: null }],
    ['addresses', { addresses: ['10.0.0.0/8'] }, { addresses: null }],
    ['max_calls_at_once', { maxCallsAtOnce: 3 }, { maxCallsAtOnce: 5 }],
    ['expires_at', { expiresAtMs: 999 }, { expiresAtMs: 1001 }],
    ['budget', { budget: budget(4n) }, { budget: budget(6n) }],
    [
      'limits.requests_per_minute',
      { limits: { requestsPerMinute: 59 } },
      { limits: { requestsPerMinute: 61 } },
    ],
    ['limits.tokens_per_minute', { limits: { tokensPerMinute: 1 } }, { limits: { tokensPerMinute: null } }],
    ['limits.images_per_minute', { limits: { imagesPerMinute: 8 } }, { limits: { imagesPerMinute: 10 } }],
  ] as const satisfies readonly (readonly [string, KeyChange, KeyChange])[]) {
    assert.equal(await refusalOf(() => checkTighter(CALLER, before, tighter)), undefined, field)
    assert.equal(
      await refusalOf(() => checkTighter(CALLER, before, looser)),
      `forbidden ${field}: ${field}: this would let key ads/web do more than now, which needs the permission keys.loosen (admin). ann@example.com is developer. Ask an admin, or create another key.`,
    )
  }
})
