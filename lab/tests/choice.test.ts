import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { listChangedPaths } from './changed-paths.ts'
import { chooseChecks, TESTS_OF_PAGE } from './choice.ts'
import { reachFrom } from './imports.ts'
import { ROOT } from './test-files.ts'

const everything = chooseChecks(undefined)
const partsOf = (...paths: string[]): string[] => [
  ...new Set(chooseChecks(paths).tests.map(({ part }) => part)),
]

interface Row {
  readonly changed: string
  readonly parts: readonly string[]
  readonly lacks?: readonly string[]
  readonly programs?: readonly string[]
  readonly shape?: readonly string[]
}

const SMOKE = 'test:console -- smoke'
const DOCS = 'lab -- check/docs --smoke'
const ROWS: readonly Row[] = [
  {
    changed: '.github/workflows/weekly.yml',
    parts: ['text'],
    lacks: ['unit', 'control'],
    programs: [],
    shape: [],
  },
  {
    changed: 'docs/routing.md',
    parts: ['text'],
    lacks: ['unit', 'contract', 'control', 'e2e'],
    programs: [],
    shape: [],
  },
  { changed: 'README.md', parts: ['text'], lacks: ['control', 'e2e'], programs: [DOCS], shape: [] },
  {
    changed: 'console/src/app/format.ts',
    parts: ['console'],
    lacks: ['http', 'e2e'],
    programs: [SMOKE],
  },
  {
    changed: 'console/src/pages/keys/place.ts',
    parts: [],
    lacks: ['http', 'e2e'],
    programs: [SMOKE, 'test:console -- keys --project chromium'],
  },
  {
    changed: 'lab/release/plan.ts',
    parts: ['lab'],
    lacks: ['unit', 'http', 'e2e'],
    programs: [],
    shape: ['types'],
  },
  { changed: 'lab/fake-provider/server.ts', parts: ['lab', 'http', 'control'], programs: [] },
  {
    changed: 'server/src/core/money/price.ts',
    parts: ['unit', 'contract', 'http', 'control', 'e2e'],
    programs: [SMOKE],
  },
  {
    changed: 'server/test/contract/pooler.test.ts',
    parts: ['contract'],
    lacks: ['unit', 'http', 'e2e'],
    programs: [],
  },
]

for (const { changed, parts, lacks = [], programs, shape } of ROWS)
  test(`a change of ${changed} runs what reads it, and no more`, () => {
    const choice = chooseChecks([changed])
    const has = partsOf(changed)
    assert.deepEqual(
      parts.filter((part) => !has.includes(part)),
      [],
      'these are missing',
    )
    assert.deepEqual(
      lacks.filter((part) => has.includes(part)),
      [],
      'these read nothing of it',
    )
    if (programs !== undefined) assert.deepEqual(choice.programs, programs)
    if (shape !== undefined) assert.deepEqual(choice.shape, shape)
    assert.deepEqual(choice.first, everything.first)
  })

test('everything runs without a known commit, without a change, and for a file whose readers are unknown', () => {
  for (const paths of [
    undefined,
    [],
    ['package-lock.json'],
    ['server/catalog/openai.yaml', 'docs/a.md'],
    ['.ci/run'],
  ])
    assert.deepEqual({ ...chooseChecks(paths), why: '' }, { ...everything, why: '' })
})

test('a test that starts a process of Torana reads the whole server, its threads among it', () => {
  const reach = reachFrom('server/test/e2e/first-start.test.ts')
  for (const path of [
    'server/src/main.ts',
    'server/src/core/money/price.ts',
    ...globSync('server/src/**/*-worker.ts', { cwd: ROOT }),
  ])
    assert.ok(reach.has(path), path)
})

test('the browser tests of every page exist', () => {
  for (const folder of globSync('console/src/pages/*/', { cwd: ROOT }))
    for (const name of TESTS_OF_PAGE[basename(folder)] ?? [basename(folder)])
      assert.ok(existsSync(join(ROOT, `console/test/${name}.test.ts`)), `${folder}: ${name}`)
})

test('changes are those since the commit that a branch starts from, committed or not; none of them means: unknown', (context) => {
  const root = mkdtempSync(join(tmpdir(), 'torana-changes-'))
  context.after(() => rmSync(root, { recursive: true }))
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd: root,
      encoding: 'utf8',
    })
  const commit = (name: string): string => {
    writeFileSync(join(root, name), name)
    git('add', '.')
    git('commit', '-qm', name)
    return git('rev-parse', 'HEAD').trim()
  }
  git('init', '-q')
  const base = commit('first')
  assert.equal(listChangedPaths({}, root), undefined, 'no origin/main')
  assert.equal(listChangedPaths({ CI_BASE: base }, root), undefined, 'nothing changed')
  commit('second')
  writeFileSync(join(root, 'first'), 'other')
  writeFileSync(join(root, 'third'), '')
  assert.deepEqual(listChangedPaths({ CI_BASE: base }, root)?.toSorted(), ['first', 'second', 'third'])
  assert.equal(listChangedPaths({ CI_BASE: base, CI_ALL: '1' }, root), undefined)
  assert.equal(listChangedPaths({ CI_BASE: '0'.repeat(40) }, root), undefined, 'no such commit')
})
