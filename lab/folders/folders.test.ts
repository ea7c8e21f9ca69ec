import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { folderPage, foldersOf, problemsOf } from './folders.ts'

const ROOTS = { 'server/src': Infinity, lab: 0 }

function planted(t: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'torana-folders-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

const GOOD = {
  'server/src/README.md': 'The server.\n',
  'server/src/core/README.md':
    '# Core\n\n```sh\nls\n\nls\n```\n\nPure rules,\nsee [ports](../ports).\n\nMore.\n',
  'server/src/core/rule.ts': '',
  'server/src/keys/routes.ts': "/**\n * Keys: made\n * and revoked.\n */\nimport { z } from 'zod'\n",
  'lab/README.md': 'The tools.\n',
  'lab/deeper/main.ts': '',
  'server/src/core/node_modules/x.js': '',
}

test('the page has the first paragraph of each README, or the first comment of routes.ts', (t) => {
  const folders = foldersOf(planted(t, GOOD), ROOTS)
  assert.deepEqual(problemsOf(folders), [])
  assert.deepEqual(folderPage(folders).split('\n').slice(-5), [
    '- `server/src/`: The server.',
    '  - `core/`: Pure rules, see ports.',
    '  - `keys/`: Keys: made and revoked.',
    '- `lab/`: The tools.',
    '',
  ])
})

for (const [what, files, path] of [
  ['a folder without a sentence', { 'server/src/worker/loop.ts': '/** Loops. */\n' }, 'server/src/worker'],
  ['an empty README', { 'server/src/worker/README.md': '\n' }, 'server/src/worker'],
  ['a README with a heading alone', { 'server/src/worker/README.md': '# Worker\n' }, 'server/src/worker'],
  [
    'routes without a first comment',
    { 'server/src/a/routes.ts': "import 'zod'\n/** Late. */\n" },
    'server/src/a',
  ],
  ['a folder that has only folders', { 'server/src/a/b/README.md': 'B.\n' }, 'server/src/a'],
] as const)
  test(`${what} fails, and the message says what to write and where`, (t) => {
    const [problem = '', ...others] = problemsOf(foldersOf(planted(t, { ...GOOD, ...files }), ROOTS))
    assert.deepEqual(others, [])
    assert.ok(problem.startsWith(`${path}/ does not say what belongs in it.`), problem)
    assert.ok(problem.includes(`${path}/README.md`), problem)
  })

test('a folder that Git left behind without files is no folder', (t) => {
  const root = planted(t, GOOD)
  mkdirSync(join(root, 'server/src/gone'))
  assert.deepEqual(problemsOf(foldersOf(root, ROOTS)), [])
})
