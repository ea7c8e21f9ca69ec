/** Usage, budgets and unknowns as people see them: exact sums, only of their own projects. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Caller } from '#control/shared/caller.ts'
import { BATCH_LINES_ROUTE } from '#ports/request-reports.ts'
import { budgetReachedEvents } from '#stores/webhook-events.ts'
import { csvCell } from '#control/usage/export-routes.ts'
import { MANY_RUNS, runs } from '#test/support/arbitraries.ts'
import { LEDGER_NOW_MS, DAY_MS, postgresStores, type LedgerStores } from '#test/support/ledger-stores.ts'
import { startLedgerControl } from '#test/support/ledger-control.ts'
import { assertFault } from '#test/support/errors.ts'

const open = postgresStores()
const HOUR_MS = 3_600_000

interface SumBody {
  readonly requests: number
  readonly tokens: number
  readonly usd: string
  readonly unknown_usd: string
  readonly hits: number
  readonly saved_usd: string
  readonly unpriced: number
}
interface GroupBody {
  readonly group: string
  readonly total: SumBody
  readonly before: SumBody | null
  readonly slots: readonly (SumBody & { readonly at: string })[]
}
interface UsageBody {
  readonly slot: string
  readonly data: readonly GroupBody[]
  readonly others: (Omit<GroupBody, 'group'> & { readonly groups: number }) | null
  readonly total: SumBody
  readonly before: SumBody | null
  readonly before_span: { readonly from: string; readonly to: string } | null
  readonly forecast: { readonly usd: string; readonly low_usd: string; readonly high_usd: string } | null
}
interface BudgetBody {
  readonly id: string
  readonly spent_usd: string
  readonly unknown_usd: string
  readonly left_usd: string
  readonly forecast: { readonly used_up_at: string | null; readonly at_end_usd: string | null } | null
  readonly marks: readonly { readonly percent: number; readonly at: string }[]
  readonly refused: Readonly<Record<string, number>>
  readonly refuses: boolean
  readonly spenders: readonly { readonly key: string; readonly usd: string; readonly models: string[] }[]
}

const developer: Caller = {
  kind: 'member',
  actor: 'ada',
  role: 'developer',
  projects: ['search'],
  isReadOnly: false,
}

/** Entries at moments before now, in nano-dollars. */
async function spend(
  { ledger, nodeId, entry, clock }: LedgerStores,
  daysAgo: number,
  overrides: Parameters<LedgerStores['entry']>[0],
): Promise<void> {
  clock.ms = LEDGER_NOW_MS - daysAgo * DAY_MS
  await ledger.append(nodeId, [entry({ countsRequest: true, ...overrides })])
  clock.ms = LEDGER_NOW_MS
}

/** Two projects over a fortnight, with a hit, an unknown and a call without a price. */
async function fortnight(stores: LedgerStores): Promise<void> {
  for (let daysAgo = 0; daysAgo < 14; daysAgo += 1) {
    await spend(stores, daysAgo, { amountNanoUsd: 1000n, tokens: 100 })
    await spend(stores, daysAgo, {
      project: 'ads',
      keyId: 'ads/website',
      model: 'gpt-image-2',
      deployment: 'gpt-image-2/openai',
      tokens: undefined,
      images: 1,
      amountNanoUsd: 5000n,
    })
  }
  await spend(stores, 3, {
    deployment: 'small/cache',
    amountNanoUsd: 0n,
    tokens: 0,
    hits: 7,
    savedNanoUsd: 70n,
  })
  await spend(stores, 1, { kind: 'unknown', amountNanoUsd: 400n, tokens: undefined })
  await spend(stores, 5, { amountNanoUsd: undefined })
  await stores.rollUpAllDays()
}

test('usage adds up by model, in days, with what the cache saved, what is unknown and what has no price', async () => {
  const stores = await open()
  await fortnight(stores)
  const { ask } = await startLedgerControl(stores)
  const { status, body } = await ask<UsageBody>('GET', '/usage?by=model')
  assert.equal(status, 200)
  assert.deepEqual(
    body.data.map(({ group, total }) => [group, total.usd, total.requests, total.tokens]),
    [
      ['gpt-image-2', '0.000070000', 14, 0],
      ['small', '0.000014400', 17, 1410],
    ],
  )
  const small = body.data[1]?.total
  assert.deepEqual(
    [small?.unknown_usd, small?.hits, small?.saved_usd, small?.unpriced],
    ['0.000000400', 7, '0.000000070', 1],
  )
  assert.deepEqual([body.total.usd, body.total.requests, body.slot], ['0.000084400', 31, 'day'])
  const today = body.data[0]?.slots.at(-1)
  assert.deepEqual([today?.at, today?.usd], ['2026-12-12T00:00:00.000Z', '0.000005000'])
})

test('sums of slots are the sums of their group, and groups and others the whole, for any entries', async () => {
  const stores = await open()
  const drawn = fc.sample(
    fc.record({
      daysAgo: fc.integer({ min: 0, max: 20 }),
      key: fc.integer({ min: 0, max: 9 }),
      nanoUsd: fc.bigInt({ min: 0n, max: 10n ** 17n }),
    }),
    { ...runs(60), seed: 7 },
  )
  for (const { daysAgo, key, nanoUsd } of drawn)
    await spend(stores, daysAgo, { keyId: `search/${key}`, amountNanoUsd: nanoUsd })
  await stores.rollUpAllDays()
  const { ask } = await startLedgerControl(stores)
  const { body } = await ask<UsageBody>('GET', '/usage?by=key&groups=3')
  const nano = (usd: string): bigint => BigInt(usd.replace('.', ''))
  const whole = drawn.reduce((sum, { nanoUsd }) => sum + nanoUsd, 0n)
  assert.equal(nano(body.total.usd), whole)
  assert.deepEqual([body.data.length, body.others?.groups], [3, 7])
  const rows = [...body.data, ...(body.others ? [body.others] : [])]
  for (const { total, slots } of rows)
    assert.equal(
      slots.reduce((sum, { usd }) => sum + nano(usd), 0n),
      nano(total.usd),
    )
  assert.equal(
    rows.reduce((sum, { total }) => sum + nano(total.usd), 0n),
    whole,
  )
  // The list of ranked keys is cached for a while; what they spent is not.
  const [first] = body.data
  await spend(stores, 0, { keyId: first?.group ?? '', amountNanoUsd: 5n })
  await spend(stores, 0, { keyId: 'search/new', amountNanoUsd: 7n })
  const again = (await ask<UsageBody>('GET', '/usage?by=key&groups=3')).body
  assert.equal(nano(again.data[0]?.total.usd ?? ''), nano(first?.total.usd ?? '') + 5n)
  assert.equal(nano(again.others?.total.usd ?? ''), nano(body.others?.total.usd ?? '') + 7n)
})

test('two days are shown in hours, and include what was written a moment ago', async () => {
  const stores = await open()
  await spend(stores, 0, { amountNanoUsd: 1n })
  await spend(stores, 1, { amountNanoUsd: 2n })
  const { ask } = await startLedgerControl(stores)
  const from = new Date(LEDGER_NOW_MS - 47 * HOUR_MS).toISOString()
  const to = new Date(LEDGER_NOW_MS).toISOString()
  const { body } = await ask<UsageBody>('GET', `/usage?from=${from}&to=${to}`)
  assert.equal(body.slot, 'hour')
  assert.deepEqual(
    body.data[0]?.slots.map(({ at, usd }) => [at, usd]),
    [
      ['2026-12-11T15:00:00.000Z', '0.000000002'],
      ['2026-12-12T15:00:00.000Z', '0.000000001'],
    ],
  )
})

test('the period before, only some names, and wrong questions', async () => {
  const stores = await open()
  await fortnight(stores)
  await spend(stores, 40, { amountNanoUsd: 9n })
  await stores.rollUpAllDays()
  const { ask } = await startLedgerControl(stores)
  const { body } = await ask<UsageBody>('GET', '/usage?before=1&only=model:small&only=key:search/ci')
  assert.deepEqual(
    body.data.map(({ group, before }) => [group, before?.usd]),
    [['small', '0.000000009']],
  )
  assert.equal(body.before?.usd, '0.000000009')
  const none = await ask<UsageBody>('GET', '/usage?only=model:small&only=project:ads')
  assert.deepEqual([none.body.data, none.body.total.usd, none.body.forecast], [[], '0.000000000', null])
  for (const [query, words] of [
    ['only=small', /model:/],
    ['from=2026-12-12T00:00:00Z&to=2026-12-11T00:00:00Z', /before/],
    ['from=2020-12-12T00:00:00Z', /366 days/],
    ['slot=hour', /hours/],
  ] as const)
    assertFault(await ask('GET', `/usage?${query}`), 'invalid_parameter', { words })
})

test('a week with today is compared with the week before up to the same hour', async () => {
  const stores = await open()
  const hours = (daysAgo: number, later: number): number => daysAgo - later / 24
  // Now is 15:30 of the last of seven days. The period before ends at 16:00, seven days ago.
  for (const [at, amountNanoUsd] of [
    [1, 5n],
    [13, 100n],
    [7, 20n],
    [hours(7, 1), 3000n],
    [14, 40_000n],
  ] as const)
    await spend(stores, at, { amountNanoUsd })
  await stores.rollUpAllDays()
  const { ask } = await startLedgerControl(stores)
  const week = 'from=2026-12-06T00:00:00Z&to=2026-12-13T00:00:00Z'
  for (const by of ['model', 'key']) {
    const { body } = await ask<UsageBody>('GET', `/usage?before=1&by=${by}&${week}`)
    assert.deepEqual(
      [body.total.usd, body.before?.usd, body.data[0]?.before?.usd, body.before_span],
      [
        '0.000000005',
        '0.000000120',
        '0.000000120',
        { from: '2026-11-29T00:00:00.000Z', to: '2026-12-05T16:00:00.000Z' },
      ],
      by,
    )
  }
  assert.equal((await ask<UsageBody>('GET', `/usage?${week}`)).body.before_span, null)
})

test('the forecast of a month goes on with the last week, and there is none from two days', async () => {
  const stores = await open()
  await spend(stores, 1, { amountNanoUsd: 1000n })
  await spend(stores, 2, { amountNanoUsd: 1000n })
  const { ask } = await startLedgerControl(stores)
  assert.equal((await ask<UsageBody>('GET', '/usage')).body.forecast, null)
  for (let daysAgo = 3; daysAgo <= 7; daysAgo += 1) await spend(stores, daysAgo, { amountNanoUsd: 1000n })
  await stores.rollUpAllDays()
  const { body } = await ask<UsageBody>('GET', '/usage')
  // Seven of the twelve days until now, the rest of today and the nineteen days to the end of December.
  assert.equal(body.forecast?.usd, '0.000026354')
  assert.equal(body.forecast.low_usd, body.forecast.high_usd)
})

test('a developer sees usage, budgets and nothing else of the own project', async () => {
  const stores = await open()
  await fortnight(stores)
  const budget = { limitNanoUsd: 100_000n, per: 'month', hard: true } as const
  const declared = ['search', 'ads'].map((name) => ({ name, keys: [], budget }))
  const { ask } = await startLedgerControl(stores, { caller: developer, declared })
  const { body } = await ask<UsageBody>('GET', '/usage?by=project')
  assert.deepEqual(
    body.data.map(({ group }) => group),
    ['search'],
  )
  assert.deepEqual((await ask<UsageBody>('GET', '/usage?by=project&only=project:ads')).body.data, [])
  assertFault(await ask('GET', '/usage?project=ads'), 'forbidden')
  const list = await ask<{ data: BudgetBody[] }>('GET', '/budgets')
  assert.deepEqual(
    list.body.data.map(({ id }) => id),
    ['project:search'],
  )
  assert.equal((await ask('GET', '/budgets/project:search')).status, 200)
  for (const path of ['/budgets/project:ads', '/budgets/project:ads/series', '/budgets/key:ads%2Fwebsite'])
    assertFault(await ask('GET', path), 'not_found')
})

test('budgets stand fullest first, page by page, those of the file and those of the store', async () => {
  const stores = await open()
  await fortnight(stores)
  const actor = { kind: 'member', name: 'tester' } as const
  await stores.keys.createProject(
    'ads',
    { budget: { limitNanoUsd: 65_000n, per: 'month', hard: true } },
    actor,
  )
  const declared = [
    {
      name: 'search',
      keys: [
        { name: 'ci', secret: 'x', budget: { limitNanoUsd: 20_000n, per: 'month', hard: false } as const },
      ],
      budget: { limitNanoUsd: 1_000_000n, per: 'total', hard: true } as const,
    },
  ]
  const { ask } = await startLedgerControl(stores, { declared })
  const seen: BudgetBody[] = []
  for (let after = ''; ;) {
    const { body } = await ask<{ data: BudgetBody[]; next: string | null }>(
      'GET',
      `/budgets?limit=1${after && `&after=${encodeURIComponent(after)}`}`,
    )
    seen.push(...body.data)
    if (body.next === null) break
    after = body.next
  }
  assert.deepEqual(
    seen.map(({ id, spent_usd, unknown_usd, left_usd }) => [id, spent_usd, unknown_usd, left_usd]),
    [
      ['project:ads', '0.000060000', '0.000000000', '0.000005000'],
      ['key:search/ci', '0.000012400', '0.000000400', '0.000007600'],
      ['project:search', '0.000014400', '0.000000400', '0.000985600'],
    ],
  )
  const { body } = await ask<BudgetBody>('GET', '/budgets/project:ads')
  assert.equal(body.forecast?.used_up_at?.slice(0, 10), '2026-12-13')
  assert.deepEqual(
    body.marks.map(({ percent, at }) => [percent, at]),
    [
      [50, '2026-12-07T15:00:00.000Z'],
      [80, '2026-12-11T15:00:00.000Z'],
    ],
  )
  assert.deepEqual(body.spenders, [{ key: 'ads/website', usd: '0.000060000', models: ['gpt-image-2'] }])
  assert.deepEqual(body.refused, { budget_exhausted: 0, budget_reserved: 0, model_unpriced: 0 })
  const series = await ask<{ data: { at: string; spent_usd: string }[] }>(
    'GET',
    '/budgets/project:ads/series',
  )
  assert.equal(series.body.data.at(-1)?.spent_usd, '0.000060000')
  const amounts = series.body.data.map(({ spent_usd }) => spent_usd)
  assert.deepEqual(amounts, amounts.toSorted())
})

test('a budget says which webhooks were notified of its marks, and counts the requests of callers refused for it', async () => {
  const stores = await open()
  const { identifiers, requests, rows } = stores
  const webhooksFor = () => [{ url: 'https://hooks.example:8443/a' }]
  for (const budgetId of ['project:search', 'key:search/ci'])
    for (const { id, url, project, type, payload } of budgetReachedEvents(
      { project: 'search', budgetId, windowStartMs: 0, percent: 80, spentNanoUsd: 8n, limitNanoUsd: 10n },
      LEDGER_NOW_MS,
      webhooksFor,
    ))
      await rows(
        'INSERT INTO webhook_events (event_id, url, project, type, payload, created_at) VALUES ($1, $2, $3, $4, $5, $6)',
        [id, url, project, type, payload, new Date(LEDGER_NOW_MS)],
      )
  const refused = {
    project: 'search',
    keyId: 'search/ci',
    status: 429,
    fault: 'budget_exhausted',
    durationMs: 1,
  }
  await requests.append(
    [
      { ...refused },
      { ...refused, keyId: 'search/web' },
      { ...refused, fault: 'model_unpriced' },
      { ...refused, fault: 'rate_limited' },
      { ...refused, project: 'ads', keyId: 'ads/website' },
      { ...refused, route: BATCH_LINES_ROUTE },
    ].map((record) => ({ route: '/v1/embeddings', ...record, requestId: identifiers.next() })),
  )
  const budget = { limitNanoUsd: 10n, per: 'month', hard: true } as const
  const declared = [{ name: 'search', budget, keys: [{ name: 'ci', secret: 'x', budget }] }]
  const { ask } = await startLedgerControl(stores, { declared })
  const bodies = await Promise.all(
    ['project:search', 'key:search%2Fci'].map(
      async (id) => (await ask<BudgetBody>('GET', `/budgets/${id}`)).body,
    ),
  )
  assert.deepEqual(
    bodies.map(({ marks }) => marks.map((mark) => Object.values(mark))),
    bodies.map(() => [[80, '2026-12-12T15:30:00.000Z', ['hooks.example:8443']]]),
  )
  assert.deepEqual(
    bodies.map((body) => body.refused),
    [
      { budget_exhausted: 2, budget_reserved: 0, model_unpriced: 1 },
      { budget_exhausted: 1, budget_reserved: 0, model_unpriced: 1 },
    ],
  )
})

test('a hard budget that refused a caller within the hour says so; a refusal is the key’s where it has a hard budget', async () => {
  const stores = await open()
  const { identifiers, requests } = stores
  const budget = { limitNanoUsd: 10n, per: 'month', hard: true } as const
  const declared = ['search', 'ads', 'calm'].map((name) => ({
    name,
    budget,
    keys: [{ name: 'ci', secret: name, ...(name === 'search' && { budget }) }],
  }))
  await requests.append(
    [
      { keyId: 'search/ci', project: 'search', route: '/v1/embeddings' },
      { keyId: 'ads/ci', project: 'ads', route: '/v1/embeddings' },
      { keyId: 'calm/ci', project: 'calm', route: BATCH_LINES_ROUTE },
    ].map((record) => ({
      ...record,
      requestId: identifiers.next(),
      status: 429,
      fault: 'budget_exhausted',
      durationMs: 1,
    })),
  )
  const { ask } = await startLedgerControl(stores, { declared })
  const { body } = await ask<{ data: BudgetBody[] }>('GET', '/budgets')
  assert.deepEqual(Object.fromEntries(body.data.map(({ id, refuses }) => [id, refuses])), {
    'project:search': false,
    'key:search/ci': true,
    'project:ads': true,
    'project:calm': false,
  })
})

test('resolved unknowns say who resolved them, why and at what cost, and the day knows at once', async () => {
  const stores = await open()
  await spend(stores, 4, { kind: 'unknown', amountNanoUsd: 400n, tokens: undefined })
  await stores.rollUpAllDays()
  const person: Caller = {
    kind: 'member',
    actor: 'ada@example.com',
    role: 'operator',
    projects: null,
    isReadOnly: false,
    member: { id: 'm', name: 'Ada', email: 'ada@example.com' },
  }
  const { ask } = await startLedgerControl(stores, { caller: person })
  interface Unknowns {
    readonly data: {
      readonly request_id: string
      readonly resolved: { readonly by: string; readonly note: string; readonly cost_usd: string } | null
    }[]
    readonly summary: { readonly open: number; readonly reserved_usd: string; readonly resolved: number }
  }
  const before = (await ask<Unknowns>('GET', '/unknowns')).body
  assert.deepEqual(before.summary, { open: 1, reserved_usd: '0.000000400', resolved: 0 })
  const id = before.data[0]?.request_id ?? ''
  assertFault(
    await ask('POST', `/unknowns/${id}/0`, { action: 'post', cost_usd: '0.000000150' }),
    'invalid_parameter',
    {
      words: /note/,
    },
  )
  const note = 'the bill, line 4411'
  assert.equal(
    (await ask('POST', `/unknowns/${id}/0`, { action: 'post', cost_usd: '0.000000150', note })).status,
    200,
  )
  const { data, summary } = (await ask<Unknowns>('GET', '/unknowns?state=resolved')).body
  assert.deepEqual(summary, { open: 0, reserved_usd: '0.000000000', resolved: 1 })
  const { by, note: said, cost_usd: cost } = data[0]?.resolved ?? { by: '', note: '', cost_usd: '' }
  assert.deepEqual([by, said, cost], ['ada@example.com', note, '0.000000150'])
  assert.equal((await ask<UsageBody>('GET', '/usage')).body.total.usd, '0.000000150')
  assert.equal((await stores.audit.list({ limit: 1 }))[0]?.detail['note'], note)
  const other = await startLedgerControl(stores, { caller: { ...person, projects: ['ads'] } })
  assert.deepEqual((await other.ask<Unknowns>('GET', '/unknowns?state=resolved')).body.data, [])
  assertFault(await other.ask('POST', `/unknowns/${id}/0`, { action: 'void', note }), 'not_found')
})

test('an export has every row and ends with the digest of all lines before', async () => {
  const stores = await open()
  await fortnight(stores)
  await spend(stores, 0, { keyId: 'search/=cmd()', amountNanoUsd: 1n })
  const { ask } = await startLedgerControl(stores)
  for (const format of ['csv', 'ndjson']) {
    const { text, headers } = await ask('GET', `/usage/export?rows=ledger&format=${format}`)
    const lines = text.trimEnd().split('\n')
    const last = lines.pop() ?? ''
    const sha256 = createHash('sha256')
      .update(lines.map((line) => `${line}\n`).join(''))
      .digest('hex')
    assert.equal(last, format === 'csv' ? `# sha256 ${sha256}` : `{"sha256":"${sha256}"}`)
    assert.equal(lines.length, 14 * 2 + 4 + (format === 'csv' ? 1 : 0))
    assert.match(headers.get('content-disposition') ?? '', /attachment; filename="torana-ledger-/)
  }
  const groups = await ask('GET', '/usage/export?by=key')
  assert.match(groups.text, /^2026-12-12,search\/=cmd\(\),/m)
  assert.match(groups.text, /^day,key,requests,/)
  const own = await startLedgerControl(stores, { caller: { ...developer, role: 'admin' } })
  assert.ok(!(await own.ask('GET', '/usage/export?rows=ledger')).text.includes('ads'))
})

test('no cell of a CSV is taken for a formula, and none breaks its line', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const cell = csvCell(text)
      const inside = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell
      assert.ok(inside === text || inside === `'${text}`)
      assert.ok(!/^[=+@\t\r]/.test(inside))
      assert.ok(cell.startsWith('"') || !/[",\n\r]/.test(cell))
    }),
    MANY_RUNS,
  )
  assert.deepEqual(['-0.5', '-cmd', '=1+1'].map(csvCell), ['-0.5', "'-cmd", "'=1+1"])
})
