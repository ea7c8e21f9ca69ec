import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListedNode } from './queries.ts'
import type { NodeFigures } from '#ports/upkeep.ts'
import type { Finding } from './check-rules.ts'
import {
  cacheCheck,
  certificateCheck,
  clockCheck,
  imagesCheck,
  modelsCheck,
  spaceCheck,
  type NodeSurroundings,
} from './surroundings-rules.ts'

const AROUND: NodeSurroundings = {
  disk: undefined,
  images: { trouble: undefined, waiting: 0 },
  certificate: undefined,
  cache: undefined,
  isPoolerUnfit: undefined,
  limiterMemory: undefined,
  models: [],
}
const DAY_MS = 86_400_000
const GIB = 1024 ** 3
const NOW_MS = Date.UTC(2026, 10, 17)

const clock = (clockSkewMs: number | undefined, ...others: readonly Partial<ListedNode>[]): Finding =>
  clockCheck(
    { clockSkewMs } as NodeFigures,
    others.map((other) => ({ id: 'n', host: 'there', state: 'alive', ...other }) as ListedNode),
  )
const disk = (freeBytes: number, sizeBytes: number): Finding =>
  spaceCheck({ ...AROUND, disk: { freeBytes, sizeBytes } })
const images = (trouble: string | undefined, waiting: number): Finding =>
  imagesCheck({ ...AROUND, images: { trouble, waiting } })
const certificate = (days: number): Finding | undefined =>
  certificateCheck(
    { ...AROUND, certificate: { beginsAtMs: NOW_MS - 300 * DAY_MS, endsAtMs: NOW_MS + days * DAY_MS } },
    NOW_MS,
  )
type Deployment = NodeSurroundings['models'][number]['deployments'][number]
const on = (id: string, state: Deployment['state'], reason?: string): Deployment => ({ id, state, reason })
const models = (...all: readonly Deployment[][]): Finding =>
  modelsCheck({ ...AROUND, models: all.map((deployments, index) => ({ model: `m${index}`, deployments })) })

const WRONG_TIME =
  'that of the database: the node goes by the clock of the database, but does no chores, and what the machine signs or logs has the wrong time. Let NTP set it'
const SEE = 'See torana deployments'
const FINDINGS: readonly (readonly [
  finding: Finding | undefined,
  verdict: Finding['verdict'],
  says: string,
  figures: Finding['figures'],
])[] = [
  [clock(undefined), 'ok', 'not checked yet', {}],
  [clock(1999), 'ok', 'agrees with that of the database', { skew_seconds: 1.999 }],
  [clock(2000), 'warn', '2.0 s ahead of that of the database. Let NTP set it', { skew_seconds: 2 }],
  [clock(-5000), 'warn', '5.0 s behind that of the database. Let NTP set it', { skew_seconds: -5 }],
  [clock(-5001), 'fail', `5.0 s behind ${WRONG_TIME}`, { skew_seconds: -5.001 }],
  [
    clock(0, { clock_skew_ms: null }, { clock_skew_ms: 259_200_000 }),
    'fail',
    `on there (node n), 259200.0 s ahead of ${WRONG_TIME}`,
    { skew_seconds: 0 },
  ],
  [
    clock(0, { clock_skew_ms: 9000, state: 'silent' }),
    'ok',
    'agrees with that of the database',
    { skew_seconds: 0 },
  ],
  [spaceCheck(AROUND), 'ok', 'the system does not report free space', {}],
  [
    disk(GIB, 20 * GIB),
    'ok',
    '1.0 of 20.0 GiB are free on the disk of the data folder',
    { free_bytes: GIB, size_bytes: 20 * GIB },
  ],
  [
    disk(GIB - 1, 2 * GIB),
    'warn',
    '1.0 of 2.0 GiB are free on the disk of the data folder',
    { free_bytes: GIB - 1, size_bytes: 2 * GIB },
  ],
  [
    disk(2 * GIB, 41 * GIB),
    'warn',
    '2.0 of 41.0 GiB are free on the disk of the data folder',
    { free_bytes: 2 * GIB, size_bytes: 41 * GIB },
  ],
  [images(undefined, 0), 'ok', 'the image store answers', { waiting: 0 }],
  [
    images(undefined, 2),
    'warn',
    'the image store answers; 2 images wait on the disk of this node',
    { waiting: 2 },
  ],
  [images('no bucket', 0), 'warn', 'the image store (ASSETS_URL) can not be used: no bucket', { waiting: 0 }],
  [
    images('no bucket', 2),
    'warn',
    'the image store (ASSETS_URL) can not be used: no bucket; 2 images wait on the disk of this node',
    { waiting: 2 },
  ],
  [certificate(20), 'ok', 'ends at 2026-12-07T00:00:00.000Z, in 20.0 days', { days_left: 20 }],
  [
    certificate(10.05),
    'warn',
    'ends at 2026-11-27T01:12:00.000Z, in 10.1 days: renew TORANA_TLS_CERT',
    { days_left: 10.1 },
  ],
  [
    certificate(1.5),
    'fail',
    'ends at 2026-11-18T12:00:00.000Z, in 1.5 days: renew TORANA_TLS_CERT',
    { days_left: 1.5 },
  ],
  [
    certificate(0),
    'fail',
    'ended at 2026-11-17T00:00:00.000Z: clients refuse it. Replace TORANA_TLS_CERT',
    { days_left: 0 },
  ],
  [cacheCheck(AROUND), 'ok', 'CACHE_URL is not set: each node has a vector cache of its own', {}],
  [
    cacheCheck({ ...AROUND, cache: { trouble: undefined } }),
    'ok',
    'the vector cache (CACHE_URL) answers',
    {},
  ],
  [
    cacheCheck({ ...AROUND, cache: { trouble: 'refused' } }),
    'warn',
    'the vector cache (CACHE_URL) can not be used, so nodes pay for texts that others have cached: refused',
    {},
  ],
  [
    models([on('a', 'healthy')], [on('b', 'limited')]),
    'ok',
    '2 models, all deployments usable',
    { models: 2, refused: 0, unusable_deployments: 0 },
  ],
  [
    models([on('a', 'healthy'), on('b', 'drained')]),
    'ok',
    '1 model, all deployments usable',
    { models: 1, refused: 0, unusable_deployments: 0 },
  ],
  [
    models([on('a', 'healthy'), on('b', 'ejected', 'refused')]),
    'warn',
    `b is ejected (refused); other deployments serve its requests. ${SEE}`,
    { models: 1, refused: 0, unusable_deployments: 1 },
  ],
  [
    models([on('a', 'healthy'), on('b', 'probing')], [on('c', 'held-back'), on('d', 'healthy')]),
    'warn',
    `b is probing, and 1 more; other deployments serve its requests. ${SEE}`,
    { models: 2, refused: 0, unusable_deployments: 2 },
  ],
  [
    models([on('a', 'healthy')], [on('b', 'quarantined', 'left its space'), on('c', 'drained')]),
    'fail',
    `this node refuses every request for m1: b is quarantined (left its space), c is drained. ${SEE}`,
    { models: 2, refused: 1, unusable_deployments: 1 },
  ],
  [
    models([], [on('b', 'ejected')]),
    'fail',
    `this node refuses every request for m0: it has no deployment; and 1 more model. ${SEE}`,
    { models: 2, refused: 2, unusable_deployments: 1 },
  ],
]

test('the doctor says of the surroundings of a node what is wrong, and how much', () => {
  for (const [finding, verdict, says, figures] of FINDINGS)
    assert.deepEqual(finding, { verdict, says, figures })
  assert.equal(certificateCheck(AROUND, NOW_MS), undefined)
})
