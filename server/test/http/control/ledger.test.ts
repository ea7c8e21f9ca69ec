/** The routes about the ledger, and the commands that use them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { doctor } from '#cli/commands/doctor.ts'
import { ledger as ledgerCommand } from '#cli/commands/ledger.ts'
import { nodes as nodesCommand } from '#cli/commands/nodes.ts'
import { unknowns as unknownsCommand } from '#cli/commands/unknowns.ts'
import { windowOf } from '#core/money/budget.ts'
import { HOUR_MS, momentOf } from '#core/money/ledger.ts'
import type { AuditEntry, AuditLog, AuditProof } from '#ports/audit.ts'
import { controlFault } from '#control/shared/faults.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { LEDGER_NOW_MS, DAY_MS, postgresStores, type LedgerStores } from '#test/support/ledger-stores.ts'
import { outcome } from '#test/support/command-outcome.ts'
import { QUIET_NODE, startLedgerControl } from '#test/support/ledger-control.ts'
import { assertFault } from '#test/support/errors.ts'
import { unusedLake } from '#test/support/lake.ts'

const open = postgresStores()

interface Report {
  readonly verdict: string
  readonly checks: readonly { readonly name: string; readonly verdict: string; readonly says: string }[]
}

const findingsOf = ({ checks }: Report): Record<string, string> =>
  Object.fromEntries(checks.map(({ name, verdict, says }) => [name, `${verdict}: ${says}`]))

/** Five unknowns of three requests, of which one has three attempts. */
async function withUnknowns(stores: LedgerStores) {
  const { ledger, nodeId, entry, clock } = stores
  const unknown = { kind: 'unknown', usage: 'unknown', tokens: undefined, amountNanoUsd: 1500n } as const
  const [first, second, third] = [1, 2, 3].map((step) => {
    clock.ms = LEDGER_NOW_MS + step
    return entry(unknown)
  }) as [ReturnType<typeof entry>, ReturnType<typeof entry>, ReturnType<typeof entry>]
  const attempts = [1, 2].map((attempt) => ({ ...second, attempt }))
  const known = { ...first, remarks: { what: '640 inputs', reason: 'no answer within 60 s' } }
  await ledger.append(nodeId, [known, second, ...attempts, { ...third, amountNanoUsd: undefined }])
  return { first, second, third }
}

test('unknowns are listed page by page, none twice and none left out, with what is counted for them', async () => {
  const stores = await open()
  const { first, second, third } = await withUnknowns(stores)
  const { ask } = await startLedgerControl(stores)
  const seen: string[] = []
  for (let after = ''; ;) {
    const { status, body } = await ask<{
      data: { request_id: string; attempt: number; reserved_usd: string | null }[]
      has_more: boolean
      next: string | null
    }>('GET', `/unknowns?limit=2${after && `&after=${after}`}`)
    assert.equal(status, 200)
    assert.ok(body.data.length <= 2)
    seen.push(...body.data.map((one) => `${one.request_id}/${one.attempt} ${one.reserved_usd}`))
    assert.equal(body.has_more, body.next !== null)
    if (body.next === null) break
    after = body.next
  }
  assert.deepEqual(seen, [
    `${first.requestId}/0 0.000001500`,
    ...[0, 1, 2].map((attempt) => `${second.requestId}/${attempt} 0.000001500`),
    `${third.requestId}/0 null`,
  ])
  const { body } = await ask<{ data: Record<string, unknown>[] }>('GET', '/unknowns?limit=1')
  const { written_at: writtenAt, posted_at: postedAt, ...rest } = body.data[0] ?? {}
  assert.deepEqual(rest, {
    request_id: first.requestId,
    attempt: 0,
    call_id: first.callId,
    project: 'search',
    key_id: 'search/ci',
    model: 'small',
    deployment: 'small/openai',
    images: 0,
    what: '640 inputs',
    reason: 'no answer within 60 s',
    node: 'here',
    resolved: null,
    reserved_usd: '0.000001500',
    requested_at: new Date(momentOf(first.requestId)).toISOString(),
  })
  assert.equal(Date.parse(postedAt as string) - Date.parse(writtenAt as string), 7 * DAY_MS)
  assertFault(await ask('GET', '/unknowns?after=x'), 'invalid_parameter', { words: /request id/ })
})

test('an unknown is posted or voided once, by name of who did it', async () => {
  const stores = await open()
  const { first, second, third } = await withUnknowns(stores)
  const { ask } = await startLedgerControl(stores)
  const resolve = (id: string, attempt: number, body: unknown) =>
    ask('POST', `/unknowns/${id}/${attempt}`, body)
  assert.equal(
    (await resolve(first.requestId, 0, { action: 'post', cost_usd: 0.000002, tokens: 7 })).status,
    200,
  )
  assert.equal((await resolve(second.requestId, 1, { action: 'void' })).status, 200)
  assert.equal((await resolve(third.requestId, 0, { action: 'post' })).status, 200)
  for (const [id, attempt] of [
    [first.requestId, 0],
    [second.requestId, 9],
    ['01890000-0000-7000-8000-000000000000', 0],
  ] as const)
    assertFault(await resolve(id, attempt, { action: 'void' }), 'not_found', { words: /no open unknown/ })
  const [sums] = await stores.rows<{ nano: bigint; tokens: bigint }>(
    'SELECT sum(amount_nano)::bigint AS nano, sum(tokens)::bigint AS tokens FROM usage_events',
  )
  assert.deepEqual([sums?.nano, sums?.tokens], [2000n + 2n * 1500n, 7n])
  const audit = await stores.audit.list({ limit: 10 })
  assert.deepEqual(
    audit.map(({ actor, action, target }) => [actor, action, target]),
    [
      ['tester', 'unknown.post', `${third.requestId}/0`],
      ['tester', 'unknown.void', `${second.requestId}/1`],
      ['tester', 'unknown.post', `${first.requestId}/0`],
    ],
  )
})

test('a resolution that makes no sense is refused', async () => {
  const { ask } = await startLedgerControl(await open())
  const path = '/unknowns/01890000-0000-7000-8000-000000000000/0'
  for (const body of [
    {},
    { action: 'delete' },
    { action: 'void', cost_usd: 1 },
    { action: 'void', tokens: 1 },
    { action: 'post', cost_usd: -1 },
    { action: 'post', cost_usd: 1.0000000001 },
    { action: 'post', tokens: 1.5 },
    { action: 'post', cost: 1 },
  ])
    assertFault(await ask('POST', path, body), 'invalid_parameter')
  assertFault(await ask('POST', '/unknowns/x/0', { action: 'void' }), 'invalid_parameter')
  assertFault(await ask('POST', `${path.slice(0, -1)}70000`, { action: 'void' }), 'invalid_parameter')
})

test('nodes are listed, and a lost one is ended once its machine has been silent', async () => {
  const stores = await open()
  const { nodeId, budgets, identifiers, database } = stores
  const budget = { id: 'project:search', limitNanoUsd: 4_000_000_000n, per: 'month', hard: true } as const
  const window = windowOf('month', LEDGER_NOW_MS)
  const lease = { budget, window, nodeId, operation: identifiers.next(), liveNodes: 1 }
  await budgets.lease({ ...lease, neededNanoUsd: 1_500_000_000n })
  const { ask } = await startLedgerControl(stores)
  const listed = async () => {
    const { body } = await ask<{ data: { id: string; state: string; leased_usd: string }[] }>('GET', '/nodes')
    return body.data.map(({ id, state, leased_usd: leased }) => [id, state, leased])
  }
  assert.deepEqual(await listed(), [[nodeId, 'alive', '1.500000000']])
  assertFault(await ask('POST', `/nodes/${nodeId}/end`, {}), 'conflict', { words: /is alive/ })
  await database.query(`UPDATE nodes SET seen_at = now() - interval '2 minutes'`)
  assert.deepEqual(await listed(), [[nodeId, 'silent', '1.500000000']])
  assert.deepEqual((await ask<unknown>('POST', `/nodes/${nodeId}/end`, {})).body, {
    id: nodeId,
    returned_usd: '1.500000000',
  })
  assert.deepEqual(await listed(), [[nodeId, 'ended', '0.000000000']])
  const again = await ask<unknown>('POST', `/nodes/${nodeId}/end`, { force: true })
  assert.deepEqual(again.body, { id: nodeId, returned_usd: '0.000000000' })
  assertFault(await ask('POST', '/nodes/01890000-0000-7000-8000-000000000000/end', {}), 'not_found')
  assertFault(await ask('POST', '/nodes/x/end', {}), 'invalid_parameter')
})

test('the doctor says ok to a ledger that agrees', async () => {
  const stores = await open()
  const { ledger, nodeId, entry } = stores
  await stores.upkeep.makePartitions()
  await ledger.append(nodeId, [entry(), entry()])
  const { ask } = await startLedgerControl(stores)
  // A trigger that does nothing is missed.
  await stores.database.query('ALTER TABLE ledger_seal ENABLE TRIGGER ledger_seal_in_the_past')
  const { status, body } = await ask<Report>('GET', '/doctor')
  assert.equal(status, 200)
  assert.equal(body.verdict, 'ok')
  assert.deepEqual(findingsOf(body), {
    store: 'ok: the built-in database answers',
    durability: 'ok: the built-in database survives a killed process, not a power cut',
    ledger: 'ok: 2 entries checked: the hourly totals agree',
    budgets: 'ok: 0 periods checked: all agree with the ledger',
    spending: 'ok: no hard budget is in use',
    labels: 'ok: all users and tags of the last day are counted separately',
    unknowns: 'ok: none open',
    refused: 'ok: PostgreSQL has refused no usage records',
    nodes: 'ok: 1 alive',
    agreement: 'ok: 0 nodes compared: the same configuration and prices',
    places: 'ok: all nodes keep images and batch files in one place',
    leases: 'ok: no lost node has a budget lease',
    partitions: 'ok: created ahead; no row is outside of them',
    schema: 'ok: the database has all that the migrations made',
    sealing: 'ok: no hour is sealed yet',
    audit: 'ok: no entries yet',
    deletions: 'ok: 0 deleted projects with data left',
    requests: 'ok: 0 of the newest 0 requests of 15 minutes failed',
    models: 'ok: 0 models, all deployments usable',
    spool: 'ok: no usage records queued on the disk of this node',
    calls: 'ok: 0 calls in flight on this node',
    disk: 'ok: the data folder of this node can be written',
    space: 'ok: the system does not report free space',
    images: 'ok: the image store answers',
    clock: 'ok: agrees with that of the database',
    configuration: 'ok: there is no configuration file',
    redis: 'ok: not configured: each node applies its share of the rate limits',
    cache: 'ok: CACHE_URL is not set: each node has a vector cache of its own',
  })
})

test('the doctor tells what to look at and what is wrong, and how far back it looked', async () => {
  const stores = await open()
  const { ledger, budgets, nodeId, identifiers, clock, entry, database, tamper } = stores
  await ledger.append(nodeId, [entry(), entry({ kind: 'unknown', tokens: undefined, amountNanoUsd: 1500n })])
  const budget = { id: 'project:search', limitNanoUsd: 100_000n, per: 'month', hard: true } as const
  const window = windowOf('month', LEDGER_NOW_MS)
  const lease = { budget, window, nodeId, operation: identifiers.next(), liveNodes: 1 }
  await budgets.lease({ ...lease, neededNanoUsd: 50_000n })
  await database.query('UPDATE budgets SET spent_nano = spent_nano + 300')
  await database.query(`UPDATE nodes SET seen_at = now() - interval '2 minutes'`)
  clock.ms = LEDGER_NOW_MS - 10 * DAY_MS
  const old = entry()
  await ledger.append(nodeId, [old])
  clock.ms = LEDGER_NOW_MS
  await tamper('UPDATE usage_events SET amount_nano = 999 WHERE request_id = $1', [old.requestId])
  const counts = { takes: 9, localDecisions: 4, scriptCalls: 5, timeouts: 1, errors: 0 }
  const { ask } = await startLedgerControl(stores, {
    nodeFigures: () => ({
      isStoreUnreachable: false,
      spoolWaiting: 3,
      journalOpen: 1,
      hasConfigFile: true,
      diskFailure: undefined,
      clockSkewMs: 0,
      configRefusal: undefined,
      limiter: { state: 'local', counts },
    }),
  })
  const { body } = await ask<Report>('GET', '/doctor')
  assert.equal(body.verdict, 'warn')
  const findings = findingsOf(body)
  assert.match(findings['ledger'] ?? '', /^ok: 2 entries/)
  assert.match(
    findings['budgets'] ?? '',
    /^warn: 1 corrected; project:search: spent \$0\.0000022 → \$0\.0000019, leased \$0\.00005 → \$0\.00005$/,
  )
  assert.match(
    findings['unknowns'] ?? '',
    /^warn: 1 open, which count as \$0\.0000015 spent: see torana unknowns$/,
  )
  assert.match(findings['nodes'] ?? '', /^warn: 0 alive, 1 not reporting/)
  assert.match(
    findings['leases'] ?? '',
    new RegExp(`^warn: lost nodes have leased \\$0\\.00005 .*\\(${nodeId}\\)`),
  )
  assert.match(
    findings['partitions'] ?? '',
    /^warn: usage_events_2026_12 could not be created \(rows in the way\); 3 rows of the ledger/,
  )
  assert.match(findings['spool'] ?? '', /^warn: 3 records/)
  assert.match(findings['redis'] ?? '', /^warn: unreachable/)

  const whole = (await ask<Report>('GET', '/doctor?hours=all')).body
  assert.equal(whole.verdict, 'fail')
  assert.match(
    findingsOf(whole)['ledger'] ?? '',
    /^fail: 1 difference from the hourly totals; project search from 2026-12-02T15:00:00\.000Z: ledger 1 posts, 10 tokens, \$0\.000000999; hourly totals 1 posts, 10 tokens, \$0\.0000002$/,
  )
  assert.equal((await ask<Report>('GET', `/doctor?hours=${11 * 24}`)).body.verdict, 'fail')
  assertFault(await ask('GET', '/doctor?hours=0'), 'invalid_parameter')
  assertFault(await ask('GET', '/doctor?hours=some'), 'invalid_parameter')
})

test('the doctor fails on a seal in the future, on a lost day of the request log, and on a node whose clock is wrong', async () => {
  const stores = await open()
  const { database, ledger, nodeId, entry, clock, requests, identifiers, upkeep } = stores
  clock.ms = Date.now()
  await upkeep.makePartitions()
  const yesterdayMs = Date.now() - DAY_MS
  const day = new Date(yesterdayMs).toISOString().slice(0, 10)
  clock.ms = yesterdayMs
  await upkeep.makePartitions()
  await ledger.append(nodeId, [entry({ countsRequest: true })])
  clock.ms = Date.now()
  const { ask } = await startLedgerControl(stores)
  const says = async (name: string) => findingsOf((await ask<Report>('GET', '/doctor')).body)[name] ?? ''
  for (const name of ['sealing', 'partitions', 'clock']) assert.match(await says(name), /^ok/)

  await database.query(`DROP TABLE requests_${day.replaceAll('-', '_')}`)
  assert.match(await says('partitions'), new RegExp(`^fail: the request log of ${day} is missing`))
  clock.ms = yesterdayMs
  await requests.append([{ requestId: identifiers.next(), route: 'embeddings', status: 200, durationMs: 1 }])
  clock.ms = Date.now()
  assert.match(await says('partitions'), /^warn: 1 row of the request log without one/)

  const ahead = new Date(Date.now() + 3 * DAY_MS)
  for (const column of ['through', 'compared_through', 'entries_kept_from']) {
    await database.query(`UPDATE ledger_seal SET ${column} = $1`, [ahead])
    assert.match(
      await says('sealing'),
      new RegExp(`^fail: the ledger is sealed until ${ahead.toISOString()}`),
    )
    await database.query(`UPDATE ledger_seal SET ${column} = date_trunc('hour', now())`)
    assert.match(await says('sealing'), /^ok/)
  }

  await ledger.heartbeat(nodeId, { clockSkewMs: 40 * DAY_MS })
  assert.match(await says('clock'), new RegExp(`^fail: on here \\(node ${nodeId}\\), 3456000\\.0 s ahead`))
})

test('the doctor tells of audit entries that are unkeyed or not intact', async () => {
  const stores = await open()
  const entryOf = (sequence: number, proof: AuditProof, intact = true): AuditEntry => ({
    sequence: BigInt(sequence),
    atMs: 0,
    actor: 'a',
    actorKind: 'member',
    address: undefined,
    action: 'b',
    target: 'c',
    detail: {},
    hash: '',
    proof,
    intact,
  })
  const auditFinding = async (newestFirst: readonly AuditEntry[]) => {
    const list: AuditLog['list'] = async ({ limit, before = 1_000_000n }) =>
      newestFirst.filter(({ sequence }) => sequence < before).slice(0, limit)
    const entries = newestFirst.length
    const brokenAt = newestFirst.findLast(({ intact }) => !intact)?.sequence
    const chain: AuditLog['chain'] = async () => ({ entries, verified: entries, brokenAt, lastHash: '' })
    const audit = { list, chain } as AuditLog
    const { ask } = await startLedgerControl(stores, { audit })
    return findingsOf((await ask<Report>('GET', '/doctor')).body)['audit'] ?? ''
  }
  const unkeyed = Array.from({ length: 700 }, (_, index) => entryOf(700 - index, 'unkeyed'))
  assert.match(await auditFinding(unkeyed), /^warn: 700 entries, the newest unkeyed/)
  assert.match(
    await auditFinding([entryOf(701, 'keyed'), ...unkeyed]),
    /^ok: 701 entries intact; 700 unkeyed/,
  )
  assert.match(await auditFinding([entryOf(701, 'other_key'), ...unkeyed]), /^warn: .* TORANA_SECRET/)
  assert.match(
    await auditFinding([entryOf(702, 'keyed'), entryOf(701, 'keyed', false), ...unkeyed]),
    /^fail: 1 of the newest 702 entries not intact/,
  )
})

test('a list that fails changed nothing, and says so; of a change it is not known', async () => {
  const stores = await open()
  const { ask } = await startLedgerControl(stores, {
    summaries: () => Promise.reject(new StoreUnreachable('gone')),
    makePartitions: () => Promise.reject(new StoreUnreachable('gone')),
  })
  const listed = await ask<{ error: { message: string } }>('GET', '/nodes')
  assert.deepEqual(
    [listed.status, listed.body.error.message],
    [503, 'The database did not answer. Nothing was changed. Try again.'],
  )
  const changed = controlFault(new StoreUnreachable('gone'), 'POST')
  assert.equal(
    changed.message,
    'The database did not answer. The change may or may not have been made: list the objects, then retry.',
  )
})

test('the doctor has something to say while the store is away', async () => {
  const stores = await open()
  const away = () => Promise.reject(new StoreUnreachable('gone'))
  const { ask } = await startLedgerControl(stores, {
    makePartitions: away,
    nodeFigures: () => ({ ...QUIET_NODE, isStoreUnreachable: true, spoolWaiting: 12 }),
  })
  const { status, body } = await ask<Report>('GET', '/doctor')
  assert.deepEqual([status, body.verdict], [200, 'fail'])
  const findings = findingsOf(body)
  assert.match(findings['store'] ?? '', /^fail: the built-in database does not answer/)
  assert.match(
    findings['spool'] ?? '',
    /^warn: 12 records .* safe until the built-in database answers again$/,
  )
  assert.equal(findings['ledger'], undefined)
})

test('torana unknowns lists, posts and voids', async () => {
  const stores = await open()
  const { first, second, third } = await withUnknowns(stores)
  const { url } = await startLedgerControl(stores)
  const listed = await outcome(unknownsCommand, 'list', url)
  assert.equal(listed.code, 0, listed.stderr)
  assert.match(
    listed.stdout,
    new RegExp(
      `^${first.requestId}/0 +2026-12-12 15:30 +search/ci +small/openai +\\$0\\.0000015 +20.* +${first.callId}$`,
      'm',
    ),
  )
  assert.match(listed.stdout, / unpriced /)
  const json = JSON.parse((await outcome(unknownsCommand, 'list --json', url)).stdout) as unknown[]
  assert.equal(json.length, 5)

  const posted = await outcome(unknownsCommand, `post ${first.requestId}/0 --usd 0.000001 --tokens 5`, url)
  assert.deepEqual([posted.code, posted.stderr], [0, `${first.requestId}/0 is posted with $0.000001.\n`])
  const reserved = await outcome(unknownsCommand, `post ${third.requestId}/0`, url)
  assert.match(reserved.stderr, /posted with the reserved amount/)
  for (const attempt of [0, 1, 2])
    assert.equal((await outcome(unknownsCommand, `void ${second.requestId}/${attempt}`, url)).code, 0)
  assert.deepEqual(
    (await outcome(unknownsCommand, 'list', url)).stdout,
    'There are no calls with an unknown outcome.\n',
  )

  const again = await outcome(unknownsCommand, `void ${first.requestId}/0`, url)
  assert.equal(again.code, 1)
  assert.match(again.stderr, /no open unknown/)
  assert.match(
    (await outcome(unknownsCommand, `post ${first.requestId}`, url)).stderr,
    /as the list shows it/,
  )
  assert.match(
    (await outcome(unknownsCommand, `post ${first.requestId}/0 --usd x`, url)).stderr,
    /expected a number/,
  )
})

test('torana nodes lists and ends, and torana doctor ends with 1 only when something is wrong', async () => {
  const stores = await open()
  const { nodeId, database, ledger, entry, upkeep, tamper } = stores
  await upkeep.makePartitions()
  await ledger.append(nodeId, [entry()])
  const { url } = await startLedgerControl(stores)
  const healthy = await outcome(doctor, '', url)
  assert.equal(healthy.code, 0, healthy.stderr)
  assert.match(
    healthy.stdout,
    /^verdict +check +finding\nok +store +the built-in database answers\n[\s\S]*^ok +ledger +1 entry checked/m,
  )
  assert.match((await outcome(nodesCommand, `end ${nodeId}`, url)).stderr, /is alive/)
  await database.query(`UPDATE nodes SET seen_at = now() - interval '2 minutes'`)
  assert.equal((await outcome(doctor, '', url)).code, 0, 'a silent node is something to look at')
  assert.match(
    (await outcome(nodesCommand, 'list', url)).stdout,
    new RegExp(`^${nodeId} +here +1\\.0\\.0 +all +silent `, 'm'),
  )
  assert.match(
    (await outcome(nodesCommand, `end ${nodeId}`, url)).stderr,
    /is ended; \$0\.00 of budgets was returned/,
  )
  assert.doesNotMatch((await outcome(nodesCommand, 'list', url)).stdout, new RegExp(nodeId))
  assert.match((await outcome(nodesCommand, 'list --all', url)).stdout, new RegExp(nodeId))

  await tamper('UPDATE usage_hours SET posts = posts + 1')
  const wrong = await outcome(doctor, '--hours all', url)
  assert.equal(wrong.code, 1)
  assert.match(wrong.stdout, /^fail +ledger +1 difference/m)
  const { checks } = JSON.parse((await outcome(doctor, '--hours all --json', url)).stdout) as Report
  assert.equal(checks.length, 28)
  assert.equal((await outcome(doctor, '--minutes 3', url)).code, 2)
  assert.match((await outcome(doctor, '--hours x', url)).stderr, /^torana doctor: --hours: /)
})

test('the doctor looks around: clock, free space, the image store, and a Redis that evicts', async () => {
  const counts = { takes: 1, localDecisions: 0, scriptCalls: 1, timeouts: 0, errors: 0 }
  const limiter = { state: 'shared', counts } as const
  const memory = { usedBytes: 1, maxBytes: 0, evictionPolicy: 'allkeys-lru' }
  const report = async (clockSkewMs: number, freeBytes: number, trouble?: string) => {
    const { ask } = await startLedgerControl(await open(), {
      nodeFigures: () => ({ ...QUIET_NODE, clockSkewMs, limiter }),
      limiterMemory: async () => memory,
      diskSpace: async () => ({ freeBytes, sizeBytes: 100 * 1024 ** 3 }),
      imageStore: {
        list: () => (trouble === undefined ? Promise.resolve([]) : Promise.reject(new Error(trouble))),
      },
      imagesWaiting: async () => (trouble === undefined ? 0 : 7),
    })
    return findingsOf((await ask<Report>('GET', '/doctor')).body)
  }
  const good = await report(-40, 50 * 1024 ** 3)
  assert.match(good['clock'] ?? '', /^ok: /)
  assert.equal(good['space'], 'ok: 50.0 of 100.0 GiB are free on the disk of the data folder')
  assert.equal(good['images'], 'ok: the image store answers')
  assert.match(good['redis'] ?? '', /^warn: its maxmemory-policy is allkeys-lru/)
  const bad = await report(7_200_000, 1024 ** 2, 'SignatureDoesNotMatch')
  assert.match(bad['clock'] ?? '', /^fail: 7200\.0 s ahead of that of the database/)
  assert.match(bad['space'] ?? '', /^warn: 0\.0 of 100\.0 GiB/)
  assert.match(bad['images'] ?? '', /^warn: .*SignatureDoesNotMatch; 7 images wait/)
})

test('the doctor tells of a disk that can’t be written, and of a configuration file that was refused', async () => {
  const { ask } = await startLedgerControl(await open(), {
    nodeFigures: () => ({
      ...QUIET_NODE,
      diskFailure: 'the journal cannot be written: ENOSPC',
      clockSkewMs: 0,
      configRefusal: { sinceMs: 0, problems: ['torana.yaml:1:1 models: expected an object', 'and another'] },
    }),
  })
  const { body } = await ask<Report>('GET', '/doctor')
  assert.equal(body.verdict, 'fail')
  const findings = findingsOf(body)
  assert.match(
    findings['disk'] ?? '',
    /^fail: the journal cannot be written: ENOSPC: this node takes no requests/,
  )
  assert.match(
    findings['configuration'] ?? '',
    /^warn: the file has been invalid since 1970-01-01T00:00:00\.000Z, an earlier one is in use: torana\.yaml:1:1 .* \(and 1 more\)$/,
  )
})

test('a ledger without progress for two hours is stalled, with the step and since when; a moment earlier it is on time', async () => {
  const stores = await open()
  const { clock, sealing, reconciler } = stores
  const { ask, url } = await startLedgerControl(stores)
  const stalled = async () => (await ask('GET', '/ledger')).body['sealing_stalled']
  clock.ms = LEDGER_NOW_MS + 2 * HOUR_MS - 1
  assert.equal(await stalled(), null)
  assert.equal((await outcome(ledgerCommand, '', url)).code, 0)
  clock.ms = LEDGER_NOW_MS + 3 * HOUR_MS
  const since = new Date(LEDGER_NOW_MS).toISOString()
  assert.deepEqual(await stalled(), { step: 'seal', since, earlier_nodes: 0 })
  const { code, stdout } = await outcome(ledgerCommand, '', url)
  assert.equal(code, 1)
  assert.match(stdout, new RegExp(`stalled since ${since}: see why job seal fails in the log`))
  await reconciler.reconcileDue()
  await sealing.sealDue()
  assert.equal(await stalled(), null)
})

test('an export is late when more than two days wait, and never where it is off', async () => {
  const stores = await open()
  const off = unusedLake(stores.database)
  const lateWith = async (waiting: number, isExported: boolean) => {
    const status = async () => ({ ...(await off.status()), waiting })
    const { ask } = await startLedgerControl(stores, { lake: { ...off, isExported, status } })
    return (await ask('GET', '/ledger')).body['export_late']
  }
  assert.deepEqual(
    [await lateWith(2, true), await lateWith(3, true), await lateWith(3, false)],
    [false, true, false],
  )
})
