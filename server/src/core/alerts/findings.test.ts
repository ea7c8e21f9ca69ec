import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attention } from './attention.ts'
import type { AlertFacts, LastingAttention } from './facts.ts'
import { findingsOf } from './findings.ts'
import { initialCondition, type AlertKind, type Condition } from './kind.ts'
import type { AlertRule } from './rule.ts'

const NOW_MS = Date.parse('2026-11-18T12:00:00Z')
const MINUTE_MS = 60_000

const rule = (
  kind: AlertKind,
  condition: Condition = {},
  scope: AlertRule['scope'] = { installation: true },
) => ({
  id: 'r',
  name: '',
  isOn: true,
  kind,
  condition: { ...initialCondition(kind), ...condition },
  scope,
  channels: [],
  quiet: undefined,
})

const facts = (over: Partial<AlertFacts>): AlertFacts => ({
  nowMs: NOW_MS,
  attention: [],
  budgets: [],
  certificates: [],
  traffic: new Map(),
  isOpen: () => false,
  ...over,
})

function item(
  kind: Attention['kind'],
  subject: Attention['subject'],
  figures: Attention['figures'],
  sinceMinutes = 10,
): LastingAttention {
  const sinceMs = NOW_MS - sinceMinutes * MINUTE_MS
  return { id: subject.id, kind, severity: 'bad', since: '', subject, figures, sinceMs }
}

const deployment = (model: string, upstream: string, sinceMinutes?: number) =>
  item(
    'deployment_ejected',
    { type: 'deployment', id: `${model}/${upstream}` },
    { model, upstream, calls: 4, failed: 3, stands_in: '' },
    sinceMinutes,
  )

test('the deployments of one upstream are one finding, which counts them', () => {
  const models = Array.from({ length: 14 }, (_, index) => `model-${index}`)
  const attention = [...models.map((model) => deployment(model, 'azure-eu')), deployment('m', 'gpu-two')]
  const found = findingsOf(rule('ejected'), facts({ attention }))
  assert.deepEqual(
    found.map(({ title, grouped }) => [title, grouped]),
    [
      ['azure-eu ejected', 14],
      ['gpu-two ejected', 1],
    ],
  )
  assert.equal(
    found[0]?.detail.lines[0],
    'model-0, model-1, model-2, model-3, model-4 and 9 more, 42 of 56 calls failed.',
  )
})

test('a deployment is reported after the time of the condition, and stays in an open incident from its first moment', () => {
  const attention = [deployment('m', 'gpu-two', 4)]
  assert.equal(findingsOf(rule('ejected', { minutes: 5 }), facts({ attention })).length, 0)
  assert.equal(findingsOf(rule('ejected', { minutes: 4 }), facts({ attention })).length, 1)
  const open = facts({ attention, isOpen: () => true })
  assert.equal(findingsOf(rule('ejected', { minutes: 5 }), open).length, 1)
})

test('what lasts began with the first of it, not when the rule looked', () => {
  const attention = [deployment('m', 'gpu-two', 4), deployment('n', 'gpu-two', 7)]
  const [first] = findingsOf(rule('ejected', { minutes: 1 }), facts({ attention }))
  assert.equal(first?.sinceMs, NOW_MS - 7 * MINUTE_MS)
})

const budget = (spent: number, hard = true) => ({
  id: 'project:ads',
  limitNanoUsd: 100n * 10n ** 9n,
  spentNanoUsd: BigInt(spent) * 10n ** 9n,
  per: 'month',
  hard,
})

const BUDGETS: readonly [number, boolean, readonly (string | number)[]][] = [
  [79, true, []],
  [87, true, ['ads: 87% of budget used', 'warning', 80]],
  [100, true, ['ads: 100% of budget used', 'critical', 100]],
  [120, false, ['ads: 120% of budget used', 'warning', 100]],
]

for (const [spent, hard, expected] of BUDGETS)
  test(`a ${hard ? 'hard' : 'soft'} budget with ${spent}% spent is ${expected[0] ?? 'not reported'}`, () => {
    const found = findingsOf(rule('budget'), facts({ budgets: [budget(spent, hard)] }))
    assert.deepEqual(
      found.flatMap(({ title, severity, level }) => [title, severity, level]),
      expected,
    )
  })

const traffic = (project: string, requests: number, failed: number) => ({
  project,
  requests,
  failed,
  latency: { classes: [110], counts: [requests] },
})

test('rates are those of all projects, of one, or of each; probes and few requests count for none', () => {
  const all = [
    traffic('ads', 100, 50),
    traffic('search', 900, 0),
    traffic('new', 3, 3),
    traffic('system', 900, 900),
  ]
  const given = facts({ traffic: new Map([[5, all]]) })
  const titles = (scope: AlertRule['scope'], percent = 4.9) =>
    findingsOf(rule('error_rate', { percent }, scope), given).map(({ title }) => title)
  assert.deepEqual(titles({ installation: true }), ['Error rate 5.3%'])
  assert.deepEqual(titles({ project: '*' }), ['ads: Error rate 50%'])
  assert.deepEqual(titles({ project: 'search' }), [])
  assert.deepEqual(titles({ project: 'ads' }, 50), [])
})

test('a rate starts above its threshold and ends below four fifths of it', () => {
  const given = (failed: number, isOpen: boolean) =>
    facts({ traffic: new Map([[5, [traffic('ads', 1000, failed)]]]), isOpen: () => isOpen })
  const found = (failed: number, isOpen: boolean) =>
    findingsOf(rule('error_rate'), given(failed, isOpen)).length
  assert.deepEqual([found(50, false), found(51, false), found(45, true), found(40, true)], [0, 1, 1, 0])
})

const OTHERS: readonly [AlertKind, Partial<AlertFacts>, string][] = [
  [
    'space',
    {
      attention: [
        item(
          'space_left',
          { type: 'deployment', id: 'm/azure' },
          { model: 'm', upstream: 'azure', least_cosine: -0.04 },
        ),
      ],
    },
    'azure: space check failed',
  ],
  [
    'unknowns',
    { attention: [item('unknowns_open', { type: 'unknowns', id: 'open' }, { open: 2, usd: '0.38' }, 1500)] },
    'Unknowns older than 24 h',
  ],
  [
    'spool',
    { attention: [item('spool_waiting', { type: 'node', id: 'n' }, { waiting: 4120 })] },
    'Spool growing on 1 node',
  ],
  [
    'certificate',
    { certificates: [{ node: 'n', endsAtMs: NOW_MS + 12.5 * 86_400_000 }] },
    'Certificate expires in 12 days',
  ],
  [
    'node_down',
    { attention: [item('node_silent', { type: 'node', id: 'n' }, { host: 'gateway-2' })] },
    'gateway-2 is down',
  ],
  [
    'ledger_stalled',
    {
      attention: [
        item(
          'ledger_stalled',
          { type: 'store', id: 'ledger' },
          { step: 'sealed', hours: 3, earlier_nodes: 1 },
        ),
      ],
    },
    'Ledger not sealed for 3 h',
  ],
  ['latency', { traffic: new Map([[10, [traffic('ads', 100, 0)]]]) }, 'p95 latency 3.4 s'],
]

for (const [kind, given, title] of OTHERS)
  test(`${kind} is reported as “${title}”, and not without a cause`, () => {
    assert.deepEqual(
      findingsOf(rule(kind), facts(given)).map((one) => one.title),
      [title],
    )
    assert.deepEqual(findingsOf(rule(kind), facts({})), [])
  })
