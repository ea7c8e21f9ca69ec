/** Work that outlives its request belongs to a key or to an actor of the playground by a field, whatever the key is called. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { playgroundKey, type Player } from '#core/access/actor.ts'
import { configFile } from '#config/schema/schema.ts'
import { name as keyName } from '#control/shared/fields.ts'
import { playerNow } from '#control/shared/players.ts'
import { fileIdOf } from '#core/files/blob-names.ts'
import type { WorkOwner } from '#ports/keys.ts'
import { decided } from '#request/access/terms-now.ts'
import { systemClock } from '#runtime/clock.ts'
import { MemoryKeys } from '#stores/memory/keys.ts'
import { openPostgres } from '#stores/postgres/database.ts'
import { PostgresKeys } from '#stores/postgres/directory/keys.ts'
import { PostgresBatches } from '#stores/postgres/jobs/batches.ts'
import { PostgresFileUploads } from '#stores/postgres/jobs/file-uploads.ts'
import { PostgresFiles } from '#stores/postgres/jobs/files.ts'
import { PostgresImageJobs } from '#stores/postgres/jobs/image-jobs.ts'
import { migrate } from '#stores/postgres/migrate.ts'
import { runs } from '#test/support/arbitraries.ts'
import { someSecret } from '#test/support/directory.ts'
import { keyNode, TestClock } from '#test/support/key-nodes.ts'
import { testPostgres } from '#test/support/servers.ts'
import { NodeTerms } from '#worker/keys/node-terms.ts'
import { aBatch } from './batches-open.ts'
import { aJob, KEYS, nextId } from './image-jobs-open.ts'

async function aDatabase(prepared?: 'nothing') {
  const database = openPostgres((await testPostgres(prepared)).url)
  after(() => database.close())
  return database
}

const database = await aDatabase()
await migrate(database)
const keyStore = new PostgresKeys(database)
const batches = new PostgresBatches(database)
const jobs = new PostgresImageJobs(database, KEYS)
const files = new PostgresFiles(database, systemClock)
const uploads = new PostgresFileUploads(database)

const BY = { kind: 'member', name: 'tester' } as const
const NODE_TOKENS = ['local-admin', 'admin-token']
const BUDGET = { limitNanoUsd: 5n, per: 'day', hard: true } as const

/** Names that mean something elsewhere, and those at the bounds of what a name may be. */
const AWKWARD = [
  'console.x',
  'console.local-admin',
  'console.admin-token',
  'console.',
  'playground',
  'playground.local-admin',
  'local-admin',
  'admin-token',
  'system',
  'token',
  'token.ci',
  'a',
  '0',
  `console.${'x'.repeat(55)}`,
  'Z'.repeat(63),
  'a..--__',
]

const anyName = fc.oneof(
  fc.constantFrom(...AWKWARD),
  fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/),
  fc.stringMatching(/^console\.[A-Za-z0-9._-]{0,55}$/),
)

const anyPlayer: fc.Arbitrary<Player> = fc.oneof(
  fc.emailAddress().map((address) => ({ kind: 'member', name: address.toLowerCase() }) as const),
  fc
    .stringMatching(/^[a-z0-9][a-z0-9._-]{0,62}$/)
    .map((name) => ({ kind: 'token', name: `token:${name}` }) as const),
  fc.constantFrom(...NODE_TOKENS).map((name) => ({ kind: 'node', name }) as const),
)

const inFile = (name: string) => ({ projects: { p: { keys: [{ name, secret: 'a secret of a key 0001' }] } } })

test('no key of the console or of torana.yaml can have the name under which an actor plays', () => {
  fc.assert(
    fc.property(anyName, anyPlayer, (name, player) => {
      assert.ok(keyName.safeParse(name).success, name)
      assert.ok(configFile.safeParse(inFile(name)).success, name)
      const played = playgroundKey(player)
      assert.ok(!keyName.safeParse(played).success, played)
      assert.ok(!configFile.safeParse(inFile(played)).success, played)
    }),
    runs(300),
  )
})

test('two actors of different kinds never play under one name', () => {
  fc.assert(
    fc.property(anyPlayer, anyPlayer, (one, other) => {
      fc.pre(one.kind !== other.kind)
      assert.notEqual(playgroundKey(one), playgroundKey(other))
    }),
    runs(300),
  )
})

/** Work of each kind that this owner began, and the owners that its stores return when it continues. */
async function workOf(owner: WorkOwner): Promise<readonly WorkOwner[]> {
  const [job, fileId] = [aJob({ ...owner, digest: nextId() }), fileIdOf(nextId())]
  await batches.create(aBatch(owner), 1000)
  await jobs.begin(job)
  await files.begin({ ...owner, id: fileId, announcedBytes: 0 }, { maxFiles: 10, maxBytes: 10 })
  await uploads.begin({
    ...owner,
    id: `upload_${nextId()}`,
    fileId,
    filename: 'texts.jsonl',
    bytes: 1,
    expiresAfterMs: 3_600_000,
    createdAtMs: Date.now(),
    expiresAtMs: Date.now() + 3_600_000,
    state: 'pending',
  })
  const isOurs = ({ project }: WorkOwner): boolean => project === owner.project
  const work = [
    ...(await batches.open()).filter(isOurs),
    await jobs.find(job.id, owner.project),
    ...(await uploads.pending(100_000)).filter(isOurs),
  ]
  assert.equal(work.length, 3)
  return work.map((one) => {
    assert.ok(one)
    const { keyId, project, player } = one
    return { keyId, project, player }
  })
}

let projects = 0
const newProject = (): string => `p${(projects += 1)}`

async function aNode(nodeTokens: readonly string[] = NODE_TOKENS) {
  const clock = new TestClock()
  const { snapshot } = keyNode(keyStore, { clock })
  await snapshot.start()
  const declared = new MemoryKeys((secret) => secret)
  const players = { keyStore, declaredProjects: () => [], playground: {}, reports: database, nodeTokens }
  const terms = new NodeTerms({
    declared,
    snapshot,
    source: keyStore,
    budgetInForce: (id) => declared.budgetInForce(id) ?? snapshot.budgetInForce(id),
    playerNow: (player, project) => playerNow(player, project, players),
    clock,
  })
  const hears = async (): Promise<void> => {
    clock.advance(2000)
    await snapshot.refresh()
  }
  return { clock, declared, terms, hears }
}

test('for every name of a key, work under it has its budget and models, and ends with it', async () => {
  const { clock, terms, hears } = await aNode()
  await fc.assert(
    fc.asyncProperty(anyName, async (name) => {
      const project = newProject()
      const id = `${project}/${name}`
      const secret = someSecret().stored
      await keyStore.createKey({ project, name, secret, models: ['small'], budget: BUDGET }, BY)
      await hears()
      const owners = await workOf({ project, keyId: id, player: undefined })
      for (const owner of owners) {
        const now = await terms.of(owner)
        assert.ok(now.standing === 'valid')
        assert.deepEqual(now.key.budgets, [{ id: `key:${id}`, ...BUDGET }])
        assert.deepEqual(now.key.models, new Set(['small']))
      }
      const follows = async (): Promise<readonly unknown[]> => {
        await hears()
        return Promise.all(owners.map((owner) => decided(owner, false, terms)))
      }
      const all = (one: object): readonly object[] => owners.map(() => one)
      await keyStore.setKey(id, { expiresAtMs: clock.nowMs() }, BY)
      assert.deepEqual(await follows(), all({ does: 'pause', because: 'key_expired' }))
      await keyStore.setKey(id, { expiresAtMs: null }, BY)
      assert.deepEqual(await follows(), all({ does: 'continue', under: 'key' }))
      await keyStore.revokeKey(id, BY)
      assert.deepEqual(await follows(), all({ does: 'pause', because: 'key_revoked' }))
      await keyStore.revokeKey(id, BY, true)
      assert.deepEqual(await follows(), all({ does: 'cancel', because: 'key_revoked' }))
    }),
    // Each has some forty statements.
    { ...runs(40), examples: AWKWARD.map((name) => [name]) },
  )
})

test('for every name of a key of torana.yaml, work under it has its budget, and ends when the file lists it no more', async () => {
  const { declared, terms, clock } = await aNode()
  const fileLists = async (keys: readonly object[]): Promise<void> =>
    (await declared.prepare([{ name: 'filed', keys }] as never, async () => {}))()
  await fc.assert(
    fc.asyncProperty(anyName, async (name) => {
      const owner = { project: 'filed', keyId: `filed/${name}`, player: undefined }
      await fileLists([{ name, secret: 'a secret of a key 0001', budget: BUDGET }])
      const now = await terms.of(owner)
      assert.ok(now.standing === 'valid')
      assert.deepEqual(now.key.budgets, [{ id: `key:filed/${name}`, ...BUDGET }])
      await fileLists([])
      clock.advance(2000)
      assert.deepEqual(await decided(owner, false, terms), { does: 'pause', because: 'key_revoked' })
    }),
    { ...runs(100), examples: AWKWARD.map((name) => [name]) },
  )
})

test('work under a key that was never made does not go on, whatever the key is called', async () => {
  const { terms } = await aNode()
  const asPlayer = anyPlayer.map(playgroundKey)
  await fc.assert(
    fc.asyncProperty(fc.oneof(anyName, asPlayer), async (name) => {
      const owner = { project: 'nowhere', keyId: `nowhere/${name}`, player: undefined }
      assert.deepEqual(await decided(owner, false, terms), { does: 'pause', because: 'key_revoked' })
    }),
    runs(100),
  )
})

test('the store returns the actor in whose playground work began', async () => {
  await fc.assert(
    fc.asyncProperty(anyPlayer, async (player) => {
      const project = newProject()
      const owner = { project, keyId: `${project}/${playgroundKey(player)}`, player }
      assert.deepEqual(await workOf(owner), [owner, owner, owner])
    }),
    runs(40),
  )
})

const ADA: Player = { kind: 'member', name: 'ada@example.com' }
const CI: Player = { kind: 'token', name: 'token:ci' }
const LOCAL: Player = { kind: 'node', name: 'local-admin' }

const ENDS: readonly (readonly [what: string, player: Player, begins: string, ends: string])[] = [
  [
    'a member is disabled',
    ADA,
    `INSERT INTO members (member_id, name, email, role, source)
     VALUES (gen_random_uuid(), 'Ada', 'ada@example.com', 'admin', 'local')`,
    `UPDATE members SET disabled_at = now() WHERE email = 'ada@example.com'`,
  ],
  [
    'a token ends',
    CI,
    `INSERT INTO admin_tokens (name, digest, tail, role, projects, read_only, created_by, expires_at)
     VALUES ('ci', 'x', '', 'admin', NULL, false, '', now() + interval '1 hour')`,
    `UPDATE admin_tokens SET expires_at = now() WHERE name = 'ci'`,
  ],
]

for (const [what, player, begins, ends] of ENDS) {
  test(`work of the playground stops when ${what}`, async () => {
    const { terms } = await aNode()
    const project = newProject()
    await keyStore.createProject(project, {}, BY)
    await database.query(begins)
    const owners = await workOf({ project, keyId: `${project}/${playgroundKey(player)}`, player })
    const follows = () => Promise.all(owners.map((owner) => decided(owner, false, terms)))
    assert.deepEqual(
      await follows(),
      owners.map(() => ({ does: 'continue', under: 'key' })),
    )
    await database.query(ends)
    assert.deepEqual(
      await follows(),
      owners.map(() => ({ does: 'pause', because: 'key_revoked' })),
    )
  })
}

test('work of a token of the node stops when the token is not configured any more', async () => {
  const project = newProject()
  await keyStore.createProject(project, {}, BY)
  const owner = { project, keyId: `${project}/${playgroundKey(LOCAL)}`, player: LOCAL }
  const on = async (tokens: readonly string[]) => decided(owner, false, (await aNode(tokens)).terms)
  assert.deepEqual(await on(['local-admin']), { does: 'continue', under: 'key' })
  assert.deepEqual(await on(['admin-token']), { does: 'pause', because: 'key_revoked' })
})
