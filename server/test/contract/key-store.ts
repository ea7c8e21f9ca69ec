/** What every `KeyStore` promises, whichever engine it is kept in. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfiguredBudget } from '#core/catalog/catalog.ts'
import { KEY_STATES, statesOf } from '#core/keys/key-hygiene.ts'
import { rankIn, type KeyOrder } from '#core/keys/key-order.ts'
import {
  ChangeRefused,
  type KeyChange,
  type KeyRecord,
  type KeySource,
  type RefusalReason,
} from '#ports/key-store.ts'
import { digested, someSecret, type DatabaseDirectory } from '#test/support/directory.ts'
import { allEnded } from '#test/support/reused-database.ts'

const budget: ConfiguredBudget = { limitNanoUsd: 9_007_199_254_740_993n, per: 'month', hard: true }

const bounds = {
  scopes: ['embeddings', 'edits'] as const,
  maxCallsAtOnce: 4,
  addresses: ['192.0.2.7', '2001:db8::/32'],
}

export function keyStoreSuite(name: string, open: () => Promise<DatabaseDirectory>): void {
  test(`${name}: a key that was made is found by its digest, with everything it was made with`, async () => {
    const { keyStore } = await open()
    const { stored } = someSecret()
    const made = await keyStore.createKey(
      {
        project: 'search',
        name: 'ci',
        secret: stored,
        models: ['a', 'b"c{,}'],
        limits: { requestsPerMinute: 60 },
        budget,
        expiresAtMs: 2_000_000_000_123,
        ...bounds,
      },
      { kind: 'member', name: 'tester' },
    )
    assert.deepEqual(await keyStore.findKey([stored.digest]), made)
    assert.deepEqual(
      [made.id, made.project, made.name, made.models, made.limits, made.budget, made.expiresAtMs],
      ['search/ci', 'search', 'ci', ['a', 'b"c{,}'], { requestsPerMinute: 60 }, budget, 2_000_000_000_123],
    )
    assert.deepEqual([made.scopes, made.maxCallsAtOnce, made.addresses], Object.values(bounds))
    assert.deepEqual([made.revokedAtMs, made.lastUsedAtMs], [undefined, undefined])
    assert.deepEqual(made.projectTerms, { limits: {}, budget: undefined })
    assert.ok(Math.abs(made.createdAtMs - Date.now()) < 60_000)
    const [secret] = made.secrets
    assert.deepEqual({ ...secret, createdAtMs: 0 }, { ...stored, validUntilMs: undefined, createdAtMs: 0 })
    assert.equal(await keyStore.findKey([someSecret().stored.digest]), undefined)
  })

  test(`${name}: a key that needs its project does not create one`, async () => {
    const { keyStore } = await open()
    const key = { project: 'planned', name: 'k', secret: someSecret().stored, needsProject: true }
    const isMissing = (error: unknown) => error instanceof ChangeRefused && error.reason === 'missing'
    await assert.rejects(keyStore.createKey(key, { kind: 'member', name: 'tester' }), isMissing)
    assert.deepEqual(await keyStore.listProjects({ limit: 10 }), [])
    await keyStore.createProject('planned', {}, { kind: 'member', name: 'tester' })
    assert.equal((await keyStore.createKey(key, { kind: 'member', name: 'tester' })).id, 'planned/k')
  })

  test(`${name}: a change that its check refuses, given the key as it is, changes nothing`, async () => {
    const { keyStore } = await open()
    const key = { project: 'p', name: 'k', secret: someSecret().stored, limits: { requestsPerMinute: 5 } }
    await keyStore.createKey(key, { kind: 'member', name: 'tester' })
    const seen: (number | undefined)[] = []
    const refuse = ({ limits }: KeyRecord): void => {
      seen.push(limits.requestsPerMinute)
      throw new Error('refused by the check')
    }
    const change = { limits: { requestsPerMinute: 6 } }
    await assert.rejects(
      keyStore.setKey('p/k', change, { kind: 'member', name: 'tester' }, refuse),
      /refused by the check/,
    )
    const [after] = await keyStore.listKeys({ ids: ['p/k'], limit: 1 })
    assert.deepEqual([seen, after?.limits], [[5], { requestsPerMinute: 5 }])
  })

  test(`${name}: any of several digests of one secret finds the key`, async () => {
    const { keyStore } = await open()
    const { stored } = someSecret()
    await keyStore.createKey({ project: 'p', name: 'k', secret: stored }, { kind: 'member', name: 'tester' })
    const found = await keyStore.findKey([someSecret().stored.digest, stored.digest])
    assert.equal(found?.id, 'p/k')
  })

  test(`${name}: making a key makes its project, once`, async () => {
    const { keyStore, audit } = await open()
    await keyStore.createKey(
      { project: 'p', name: 'one', secret: someSecret().stored },
      { kind: 'member', name: 'tester' },
    )
    await keyStore.createKey(
      { project: 'p', name: 'two', secret: someSecret().stored },
      { kind: 'member', name: 'tester' },
    )
    assert.deepEqual(await names(keyStore.listProjects({ limit: 10 })), ['p'])
    assert.deepEqual(await actions(audit), ['key.create p/two', 'key.create p/one', 'project.create p'])
  })

  test(`${name}: an id, a project and a secret exist once`, async () => {
    const { keyStore } = await open()
    const { stored } = someSecret()
    await keyStore.createKey({ project: 'p', name: 'k', secret: stored }, { kind: 'member', name: 'tester' })
    await keyStore.createProject('q', {}, { kind: 'member', name: 'tester' })
    const other = someSecret().stored
    await refused(
      'exists',
      keyStore.createKey({ project: 'p', name: 'k', secret: other }, { kind: 'member', name: 'tester' }),
    )
    await refused(
      'secret-taken',
      keyStore.createKey({ project: 'q', name: 'k', secret: stored }, { kind: 'member', name: 'tester' }),
    )
    await refused('secret-taken', keyStore.rotateKey('p/k', stored, 0, { kind: 'member', name: 'tester' }))
    await refused('exists', keyStore.createProject('p', {}, { kind: 'member', name: 'tester' }))
    await keyStore.revokeKey('p/k', { kind: 'member', name: 'tester' })
    await refused(
      'exists',
      keyStore.createKey({ project: 'p', name: 'k', secret: other }, { kind: 'member', name: 'tester' }),
    )
    assert.deepEqual(
      (await keyStore.listKeys({ limit: 10 })).map(({ id }) => id),
      ['p/k'],
    )
  })

  test(`${name}: a change that is refused leaves nothing behind, in the version or in the audit`, async () => {
    const { keyStore, audit } = await open()
    const before = await keyStore.directoryVersion()
    await refused('missing', keyStore.setKey('p/k', {}, { kind: 'member', name: 'tester' }))
    await refused(
      'missing',
      keyStore.rotateKey('p/k', someSecret().stored, 0, { kind: 'member', name: 'tester' }),
    )
    await refused('missing', keyStore.revokeKey('p/k', { kind: 'member', name: 'tester' }))
    await refused('missing', keyStore.setProject('p', {}, { kind: 'member', name: 'tester' }))
    await refused('missing', keyStore.deleteProject('p', { kind: 'member', name: 'tester' }))
    assert.equal(await keyStore.directoryVersion(), before)
    assert.deepEqual(await actions(audit), [])
  })

  test(`${name}: what a change leaves out stays, null takes away`, async () => {
    const { keyStore } = await open()
    const limits = { requestsPerMinute: 60, tokensPerMinute: 1000 }
    const key = { project: 'p', name: 'k', secret: someSecret().stored, models: ['a'], limits, budget }
    await keyStore.createKey({ ...key, ...bounds, expiresAtMs: 5000 }, { kind: 'member', name: 'tester' })
    const unchanged = await keyStore.setKey(
      'p/k',
      { limits: { requestsPerMinute: undefined } },
      { kind: 'member', name: 'tester' },
    )
    assert.deepEqual(
      [unchanged.limits, unchanged.budget, unchanged.models, unchanged.expiresAtMs],
      [limits, budget, ['a'], 5000],
    )
    const changed = await keyStore.setKey(
      'p/k',
      {
        limits: { requestsPerMinute: null, imagesPerMinute: 5 },
        budget: null,
        models: null,
        expiresAtMs: null,
        scopes: null,
        maxCallsAtOnce: null,
        addresses: null,
      },
      { kind: 'member', name: 'tester' },
    )
    assert.deepEqual(
      [changed.limits, changed.budget, changed.models, changed.expiresAtMs],
      [{ tokensPerMinute: 1000, imagesPerMinute: 5 }, undefined, undefined, undefined],
    )
    const boundsIn = ({ scopes, maxCallsAtOnce, addresses }: KeyRecord) => [scopes, maxCallsAtOnce, addresses]
    assert.deepEqual(boundsIn(unchanged), Object.values(bounds))
    assert.deepEqual(boundsIn(changed), [undefined, undefined, undefined])
    assert.deepEqual(
      (await keyStore.setProject('p', { budget }, { kind: 'member', name: 'tester' })).budget,
      budget,
    )
    const project = await keyStore.setProject(
      'p',
      { limits: { tokensPerMinute: 7 } },
      { kind: 'member', name: 'tester' },
    )
    assert.deepEqual([project.limits, project.budget], [{ tokensPerMinute: 7 }, budget])
    const [listed] = await keyStore.listKeys({ limit: 1 })
    assert.deepEqual(listed?.projectTerms, { limits: { tokensPerMinute: 7 }, budget })
  })

  test(`${name}: an overlap is ended by hand, once`, async () => {
    const { keyStore, audit } = await open()
    const [first, second] = [someSecret().stored, someSecret().stored]
    await keyStore.createKey({ project: 'p', name: 'k', secret: first }, { kind: 'member', name: 'tester' })
    const before = await keyStore.endOverlap('p/k', { kind: 'member', name: 'tester' })
    assert.equal(before.secrets.length, 1)
    await keyStore.rotateKey('p/k', second, 60_000, { kind: 'member', name: 'tester' })
    const ended = await keyStore.endOverlap('p/k', { kind: 'member', name: 'tester' })
    assert.deepEqual(
      ended.secrets.map(({ digest }) => digest),
      [second.digest],
    )
    assert.equal(await keyStore.findKey([first.digest]), undefined)
    await keyStore.endOverlap('p/k', { kind: 'member', name: 'tester' })
    assert.equal((await actions(audit)).filter((one) => one === 'key.end_overlap p/k').length, 1)
    await refused('missing', keyStore.endOverlap('p/none', { kind: 'member', name: 'tester' }))
  })

  test(`${name}: a rotated key has both secrets until the overlap ends`, async () => {
    const { keyStore } = await open()
    const [first, second, third] = [someSecret().stored, someSecret().stored, someSecret().stored]
    await keyStore.createKey({ project: 'p', name: 'k', secret: first }, { kind: 'member', name: 'tester' })
    const rotated = await keyStore.rotateKey('p/k', second, 60_000, { kind: 'member', name: 'tester' })
    assert.deepEqual(
      rotated.secrets.map(({ digest }) => digest),
      [second.digest, first.digest],
    )
    const [now, before] = rotated.secrets
    assert.equal(now?.validUntilMs, undefined)
    assert.ok(Math.abs((before?.validUntilMs ?? 0) - Date.now() - 60_000) < 10_000)
    assert.equal((await keyStore.findKey([first.digest]))?.id, 'p/k')
    // A longer overlap does not give time back to a secret that was already ending.
    const again = await keyStore.rotateKey('p/k', third, 3_600_000, { kind: 'member', name: 'tester' })
    assert.deepEqual(
      again.secrets.map(({ digest }) => digest),
      [third.digest, second.digest, first.digest],
    )
    assert.equal(again.secrets[2]?.validUntilMs, before?.validUntilMs)
    const last = await keyStore.rotateKey('p/k', someSecret().stored, 0, { kind: 'member', name: 'tester' })
    assert.equal(last.secrets.length, 1)
    assert.equal(await keyStore.findKey([third.digest]), undefined)
  })

  test(`${name}: the state of a key and its project is found by its id`, async () => {
    const { keyStore } = await open()
    const by = { kind: 'member', name: 'tester' } as const
    const owner = (name: string, project = 'p') => ({ keyId: `${project}/${name}`, project })
    for (const name of ['living', 'revoked', 'leaked'])
      await keyStore.createKey({ project: 'p', name, secret: someSecret().stored }, by)
    await keyStore.createKey({ project: 'gone', name: 'k', secret: someSecret().stored }, by)
    await keyStore.revokeKey('p/revoked', by)
    assert.equal((await keyStore.revokeKey('p/leaked', by)).isLeaked, false)
    // That it leaked may be found out later.
    const before = await keyStore.directoryVersion()
    assert.equal((await keyStore.revokeKey('p/leaked', by, true)).isLeaked, true)
    assert.ok((await keyStore.directoryVersion()) > before)
    // And is never taken back.
    assert.equal((await keyStore.revokeKey('p/leaked', by)).isLeaked, true)
    await keyStore.deleteProject('gone', by)
    for (const key of ['living', 'revoked', 'leaked', 'missing'] as const)
      assert.deepEqual(await keyStore.standingOf(owner(key)), { key, isProjectDeleted: false })
    assert.deepEqual(await keyStore.standingOf(owner('k', 'gone')), {
      key: 'revoked',
      isProjectDeleted: true,
    })
  })

  test(`${name}: a revoked key stays revoked, and differs from one that never existed`, async () => {
    const { keyStore, audit } = await open()
    const { stored } = someSecret()
    await keyStore.createKey({ project: 'p', name: 'k', secret: stored }, { kind: 'member', name: 'tester' })
    const revoked = await keyStore.revokeKey('p/k', { kind: 'member', name: 'tester' })
    assert.ok(revoked.revokedAtMs)
    assert.deepEqual(
      (await keyStore.revokeKey('p/k', { kind: 'member', name: 'tester' })).revokedAtMs,
      revoked.revokedAtMs,
    )
    await refused('revoked', keyStore.setKey('p/k', { models: ['a'] }, { kind: 'member', name: 'tester' }))
    await refused(
      'revoked',
      keyStore.rotateKey('p/k', someSecret().stored, 0, { kind: 'member', name: 'tester' }),
    )
    assert.equal((await keyStore.findKey([stored.digest]))?.revokedAtMs, revoked.revokedAtMs)
    assert.deepEqual((await actions(audit)).slice(0, 2), ['key.revoke p/k', 'key.create p/k'])
  })

  test(`${name}: a deleted project takes its keys with it, and its name is not used again`, async () => {
    const { keyStore } = await open()
    await keyStore.createKey(
      { project: 'p', name: 'one', secret: someSecret().stored },
      { kind: 'member', name: 'tester' },
    )
    await keyStore.createKey(
      { project: 'p', name: 'two', secret: someSecret().stored },
      { kind: 'member', name: 'tester' },
    )
    await keyStore.createKey(
      { project: 'q', name: 'one', secret: someSecret().stored },
      { kind: 'member', name: 'tester' },
    )
    const before = await keyStore.directoryVersion()
    await keyStore.deleteProject('p', { kind: 'member', name: 'tester' })
    assert.deepEqual(await names(keyStore.listProjects({ limit: 10 })), ['q'])
    const changed = await all(keyStore, before)
    assert.deepEqual(
      changed.map(({ id, revokedAtMs }) => [id, revokedAtMs !== undefined]),
      [
        ['p/one', true],
        ['p/two', true],
      ],
    )
    const secret = someSecret().stored
    await refused(
      'deleted',
      keyStore.createKey({ project: 'p', name: 'new', secret }, { kind: 'member', name: 'tester' }),
    )
    await refused('deleted', keyStore.createProject('p', {}, { kind: 'member', name: 'tester' }))
    await refused('deleted', keyStore.setProject('p', {}, { kind: 'member', name: 'tester' }))
    await refused('deleted', keyStore.deleteProject('p', { kind: 'member', name: 'tester' }))
  })

  test(`${name}: every change has a larger version, and brings exactly the keys it touched`, async () => {
    const { keyStore } = await open()
    let version = await keyStore.directoryVersion()
    const touched = async (change: Promise<unknown>): Promise<string[]> => {
      await change
      const before = version
      version = await keyStore.directoryVersion()
      assert.ok(version > before)
      const changed = await all(keyStore, before)
      assert.ok(changed.every((key) => key.version > before && key.version <= version))
      return changed.map(({ id }) => id)
    }
    const make = (project: string, key: string) =>
      keyStore.createKey(
        { project, name: key, secret: someSecret().stored },
        { kind: 'member', name: 'tester' },
      )
    assert.deepEqual(await touched(make('p', 'a')), ['p/a'])
    assert.deepEqual(await touched(make('p', 'b')), ['p/b'])
    assert.deepEqual(await touched(make('q', 'a')), ['q/a'])
    assert.deepEqual(
      await touched(keyStore.setKey('p/a', { models: ['m'] }, { kind: 'member', name: 'tester' })),
      ['p/a'],
    )
    assert.deepEqual(
      await touched(keyStore.rotateKey('p/b', someSecret().stored, 0, { kind: 'member', name: 'tester' })),
      ['p/b'],
    )
    const before = version
    assert.deepEqual(
      await touched(keyStore.setProject('p', { budget }, { kind: 'member', name: 'tester' })),
      [],
    )
    const [[changed] = []] = await Array.fromAsync(keyStore.projectsChangedSince(before))
    assert.deepEqual([changed?.name, changed?.budget, changed?.version], ['p', budget, version])
    assert.deepEqual(await touched(keyStore.revokeKey('p/a', { kind: 'member', name: 'tester' })), ['p/a'])
    assert.deepEqual(
      await touched(keyStore.createProject('empty', {}, { kind: 'member', name: 'tester' })),
      [],
    )
    assert.deepEqual(
      (await all(keyStore, undefined)).map(({ id }) => id),
      ['p/b', 'q/a'],
    )
  })

  test(`${name}: each version has a mark of its own, and an earlier state that comes again has another`, async () => {
    const { keyStore, database } = await open()
    const first = await keyStore.directoryVersion()
    const marks = [await keyStore.markOf(first)]
    await keyStore.createProject('p', {}, { kind: 'member', name: 'tester' })
    marks.push(await keyStore.markOf(await keyStore.directoryVersion()))
    assert.equal(await keyStore.markOf(first), marks[0])
    assert.equal(await keyStore.markOf(first + 5n), undefined)
    await database.query('UPDATE directory_version SET version = $1', [first])
    marks.push(await keyStore.markOf(first))
    assert.ok(marks.every((mark) => mark !== undefined) && new Set(marks).size === 3)
    await database.query('UPDATE directory_version SET version = $1', [first + 20_000n])
    assert.equal(await keyStore.markOf(first), undefined, 'long past')
  })

  test(`${name}: more keys than one portion come all, each once`, async () => {
    const { keyStore, database } = await open()
    const count = 2100
    await database.query(`INSERT INTO projects (project, version) VALUES ('p', 2)`)
    await database.query(
      `INSERT INTO keys (key_id, project, name, version)
       SELECT 'p/' || n, 'p', n, 3 FROM generate_series(1, $1::int) AS n`,
      [count],
    )
    for (const since of [undefined, 1n]) {
      const ids = (await all(keyStore, since)).map(({ id }) => id)
      assert.deepEqual([ids.length, new Set(ids).size], [count, count])
    }
  })

  test(`${name}: pages are sorted byte by byte and leave nothing out`, async () => {
    const { keyStore } = await open()
    const order = ['B', 'a', 'a-b', 'a.b', 'a0', 'aa', 'b'].sort()
    for (const project of order.toReversed()) {
      await keyStore.createKey(
        { project, name: 'k', secret: someSecret().stored },
        { kind: 'member', name: 'tester' },
      )
    }
    const projects: string[] = []
    for (let after = ''; ; after = projects.at(-1) ?? '') {
      const page = await names(keyStore.listProjects({ after, limit: 3 }))
      if (page.length === 0) break
      projects.push(...page)
    }
    assert.deepEqual(projects, order)
    const [first, second] = await keyStore.listKeys({ limit: 2 })
    assert.ok(first && second && first.id < second.id)
    assert.deepEqual(
      (await keyStore.listKeys({ after: { rank: 0, id: first.id }, limit: 1 }))[0]?.id,
      second.id,
    )
    assert.deepEqual(
      (await keyStore.listKeys({ projects: ['a'], limit: 10 })).map(({ id }) => id),
      ['a/k'],
    )
  })

  test(`${name}: each key stands in the lists that its notes put it into, and is found by its id and its tail`, async () => {
    const { keyStore } = await open()
    const DAY_MS = 86_400_000
    const nowMs = Date.now() + 100 * DAY_MS
    const pepper = someSecret().stored.pepper
    const ends = { expiresAtMs: nowMs + 60 * DAY_MS }
    const limits = { requestsPerMinute: 1 }
    const terms: Record<string, KeyChange> = {
      good: { ...ends, limits },
      endless: { limits },
      unlimited: ends,
      ending: { limits, expiresAtMs: nowMs + DAY_MS },
      ended: { limits, expiresAtMs: nowMs - DAY_MS },
      forgotten: { ...ends, limits },
      peppered: { ...ends, limits },
    }
    for (const [key, change] of Object.entries(terms)) {
      const { stored } = someSecret()
      const secret = key === 'peppered' ? { ...stored, pepper: 'before' } : stored
      await keyStore.createKey(
        { project: 'P', name: key, secret, ...change },
        { kind: 'member', name: 'tester' },
      )
      if (key !== 'forgotten') await keyStore.markUsed([{ keyId: `P/${key}`, atMs: nowMs - DAY_MS }])
    }
    const all = await keyStore.listKeys({ limit: 100 })
    const moment = { nowMs, pepper }
    const counts = await keyStore.countKeys(moment)
    for (const is of KEY_STATES) {
      const listed = await keyStore.listKeys({ state: { is, ...moment }, limit: 100 })
      const expected = all.filter((key) => statesOf(key, nowMs, pepper).includes(is))
      assert.deepEqual(
        listed.map(({ id }) => id),
        expected.map(({ id }) => id),
        is,
      )
      assert.equal(counts[is], expected.length, is)
    }
    assert.deepEqual(counts, { active: 6, ending: 1, tidy: 4, revoked: 1 })
    assert.deepEqual([...(await keyStore.countByProject(['P', 'none'], nowMs))].slice(0, 1), [['P', 6]])
    const found = async (text: string) =>
      (await keyStore.listKeys({ text, limit: 100 })).map(({ name: key }) => key)
    assert.deepEqual(await found('p/END'), ['ended', 'ending', 'endless'])
    assert.deepEqual(await found('%'), [])
    const tail = all.find((key) => key.name === 'good')?.secrets[0]?.tail.slice(1) ?? ''
    assert.ok((await found(tail)).includes('good'))
    assert.equal((await keyStore.countKeys({ text: 'endless', ...moment })).active, 1)
    assert.equal((await keyStore.countKeys({ projects: ['q'], ...moment })).active, 0)
    assert.deepEqual(
      (await keyStore.listKeys({ ids: ['P/good', 'P/none'], limit: 2 })).map(({ id }) => id),
      ['P/good'],
    )
  })

  test(`${name}: keys are listed by their last use and by their end, page by page, none twice and none left out`, async () => {
    const { keyStore } = await open()
    const atMs = 1_900_000_000_000
    for (const [index, key] of ['a', 'b', 'c', 'd', 'e'].entries()) {
      const expiresAtMs = index % 2 === 0 ? undefined : atMs + (10 - index) * 60_000
      const { stored } = someSecret()
      await keyStore.createKey(
        { project: 'p', name: key, secret: stored, expiresAtMs },
        { kind: 'member', name: 'tester' },
      )
      if (key !== 'd') await keyStore.markUsed([{ keyId: `p/${key}`, atMs: atMs + (index % 3) * 60_000 }])
    }
    const walked = async (order: KeyOrder): Promise<string> => {
      const found: KeyRecord[] = []
      for (;;) {
        const last = found.at(-1)
        const after = last && { rank: rankIn(order, last), id: last.id }
        const page = await keyStore.listKeys({ order, after, limit: 2 })
        found.push(...page)
        if (page.length < 2) return found.map(({ name: key }) => key).join('')
      }
    }
    assert.equal(await walked('id'), 'abcde')
    // c at 2 minutes, b and e at 1, a at 0, d never.
    assert.equal(await walked('-used'), 'cbead')
    // d ends before b; the others never do.
    assert.equal(await walked('ends'), 'dbace')
  })

  test(`${name}: a last use is noted, never set back, and is no change of the directory`, async () => {
    const { keyStore } = await open()
    await keyStore.createKey(
      { project: 'p', name: 'k', secret: someSecret().stored },
      { kind: 'member', name: 'tester' },
    )
    const version = await keyStore.directoryVersion()
    const lastUse = async () => (await keyStore.listKeys({ limit: 1 }))[0]?.lastUsedAtMs
    const atMs = 1_900_000_000_000
    await keyStore.markUsed([
      { keyId: 'p/k', atMs },
      { keyId: 'p/nobody', atMs },
    ])
    assert.equal(await lastUse(), atMs)
    await keyStore.markUsed([{ keyId: 'p/k', atMs: atMs - 60_000 }])
    assert.equal(await lastUse(), atMs)
    await keyStore.markUsed([{ keyId: 'p/k', atMs: atMs + 60_000 }])
    assert.equal(await lastUse(), atMs + 60_000)
    assert.equal((await keyStore.listKeys({ limit: 1 }))[0]?.firstUsedAtMs, atMs)
    assert.equal(await keyStore.directoryVersion(), version)
  })

  test(`${name}: uses of keys of the configuration are noted apart, the first and the last`, async () => {
    const { keyStore } = await open()
    const atMs = 1_900_000_000_000
    const [id, other] = ['declared/a', 'declared/b']
    assert.deepEqual([...(await keyStore.declaredUses([id]))], [])
    for (const moment of [atMs, atMs + 60_000, atMs - 60_000])
      await keyStore.markDeclaredUsed([
        { keyId: id, atMs: moment },
        { keyId: other, atMs: moment },
      ])
    assert.deepEqual(
      [...(await keyStore.declaredUses([id, 'declared/never']))],
      [[id, { firstAtMs: atMs, lastAtMs: atMs + 60_000 }]],
    )
    assert.deepEqual(await keyStore.listKeys({ limit: 1 }), [])
  })

  test(`${name}: a digest made with another pepper takes the place of the one before`, async () => {
    const { keyStore } = await open()
    const { secret, stored } = someSecret()
    await keyStore.createKey({ project: 'p', name: 'k', secret: stored }, { kind: 'member', name: 'tester' })
    const renewed = digested(secret, { current: 'another secret of the node', previous: undefined })
    assert.notEqual(renewed.pepper, stored.pepper)
    await keyStore.renewDigest(stored.digest, renewed)
    await keyStore.renewDigest(stored.digest, renewed)
    assert.equal(await keyStore.findKey([stored.digest]), undefined)
    const found = await keyStore.findKey([renewed.digest])
    assert.deepEqual([found?.id, found?.secrets[0]?.pepper], ['p/k', renewed.pepper])
    const other = someSecret().stored
    await keyStore.createKey(
      { project: 'p', name: 'other', secret: other },
      { kind: 'member', name: 'tester' },
    )
    await keyStore.renewDigest(other.digest, renewed)
    assert.equal((await keyStore.findKey([renewed.digest]))?.id, 'p/k')
  })

  test(`${name}: changes made at once are all made, each with its own version and audit entry`, async () => {
    const { keyStore, audit } = await open()
    const before = await keyStore.directoryVersion()
    const keys = Array.from({ length: 20 }, (_, index) => ({ project: 'p', name: `k${index}` }))
    const made = await allEnded(
      keys.map((key) =>
        keyStore.createKey({ ...key, secret: someSecret().stored }, { kind: 'member', name: 'tester' }),
      ),
    )
    assert.equal(new Set(made.map(({ version }) => version)).size, keys.length)
    assert.equal(await keyStore.directoryVersion(), before + 20n)
    const entries = await audit.list({ limit: 100 })
    assert.equal(entries.length, 21)
    assert.ok(entries.every(({ intact }) => intact))
  })

  test(`${name}: the audit says who did what from where, before and after, and never a secret`, async () => {
    const { keyStore, audit } = await open()
    const { secret, stored } = someSecret()
    await keyStore.createKey(
      { project: 'p', name: 'k', secret: stored, budget },
      { kind: 'member', name: 'alice' },
    )
    await keyStore.setKey(
      'p/k',
      { models: ['m'], budget: null },
      { kind: 'member', name: 'bob', address: '192.0.2.7' },
    )
    const unbound = { scopes: null, maxCallsAtOnce: null, addresses: null }
    const [set, create, project] = await audit.list({ limit: 10 })
    assert.deepEqual([set?.actor, create?.actor, project?.actor], ['bob', 'alice', 'alice'])
    assert.deepEqual([set?.address, create?.address], ['192.0.2.7', undefined])
    assert.ok(!JSON.stringify(set?.detail).includes('192.0.2.7'))
    assert.deepEqual(set?.detail['before'], {
      limits: {},
      budget: { ...budget, limitNanoUsd: String(budget.limitNanoUsd) },
      models: null,
      expiresAt: null,
      ...unbound,
    })
    assert.deepEqual(set?.detail['after'], {
      limits: {},
      budget: null,
      models: ['m'],
      expiresAt: null,
      ...unbound,
    })
    const text = JSON.stringify([set, create, project], (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    assert.ok(!text.includes(secret) && !text.includes(stored.digest))
    assert.ok(text.includes(stored.tail))
    assert.deepEqual([project?.sequence, create?.sequence, set?.sequence], [1n, 2n, 3n])
    assert.ok(Math.abs((set?.atMs ?? 0) - Date.now()) < 60_000)
  })

  test(`${name}: the audit is read page by page, and each page is checked against the next`, async () => {
    const { keyStore, audit } = await open()
    for (let index = 0; index < 7; index += 1)
      await keyStore.createProject(`p${index}`, {}, { kind: 'member', name: 'tester' })
    const targets: string[] = []
    let before: bigint | undefined
    for (;;) {
      const page = await audit.list({ limit: 3, before })
      assert.ok(page.every(({ intact }) => intact))
      targets.push(...page.map(({ target }) => target))
      before = page.at(-1)?.sequence
      if (page.length === 0) break
    }
    assert.deepEqual(targets, ['p6', 'p5', 'p4', 'p3', 'p2', 'p1', 'p0'])
  })
}

async function all(source: KeySource, since: bigint | undefined): Promise<KeyRecord[]> {
  const portions = await Array.fromAsync(source.keysChangedSince(since))
  return portions.flat()
}

async function names(list: Promise<readonly { readonly name: string }[]>): Promise<string[]> {
  return (await list).map(({ name }) => name)
}

async function actions(audit: DatabaseDirectory['audit']): Promise<string[]> {
  return (await audit.list({ limit: 100 })).map(({ action, target }) => `${action} ${target}`)
}

async function refused(reason: RefusalReason, change: Promise<unknown>): Promise<void> {
  await assert.rejects(change, (error) => {
    assert.ok(error instanceof ChangeRefused, String(error))
    assert.equal(error.reason, reason)
    return true
  })
}
