/** Commands of the documentation are run by `npm run lab -- check/docs`, or a mark in the page says why not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FAULTS } from '#core/fault/table.ts'
import { shellBlocks, unrunBlocks } from '#test/support/docs-blocks.ts'
import { docsPages } from '#test/support/docs-pages.ts'

test('every shell block of the documentation is run, or says why not', () => {
  const blocks = shellBlocks()
  const run = blocks.filter(({ notRun }) => notRun === undefined)
  assert.ok(run.length > 60, `only ${run.length} of ${blocks.length} are run`)
  assert.deepEqual(docsPages().flatMap(unrunBlocks), [])
})

const PLANTED: readonly (readonly [string, string, RegExp])[] = [
  ['a command that no test has', '```sh\nkubectl get pods\n```', /no test has kubectl/],
  ['a mark without a reason', '<!-- not run -->\n```sh\ntorana start\n```', /needs a reason/],
  ['a mark with an empty reason', '<!-- not run: -->\n```sh\ntorana start\n```', /needs a reason/],
  [
    'a mark before another block',
    '<!-- not run: too long -->\n```yaml\na: 1\n```',
    /belongs to a shell block/,
  ],
  ['a shell block in disguise', '```console\n$ torana start\n```', /write `sh`/],
]
for (const [name, text, problem] of PLANTED)
  test(`found in a page: ${name}`, () => {
    assert.match(unrunBlocks({ path: 'docs/planted.md', text: `# A page\n\n${text}\n` }).join('\n'), problem)
  })

test('a marked block is not run, and a block in a list is', () => {
  const text =
    '# A page\n\n<!-- not run: needs a cluster -->\n```sh\nhelm list\n```\n\n1. Step\n\n   ```sh\n   torana key\n   ```\n'
  const page = { path: 'docs/planted.md', text }
  assert.deepEqual(unrunBlocks(page), [])
  assert.deepEqual(
    shellBlocks([page]).map((block) => [block.text, block.notRun]),
    [
      ['helm list\n', 'needs a cluster'],
      ['torana key\n', undefined],
    ],
  )
})

const pages = docsPages().map(({ path, text }) => ({ page: path, text }))

test('every code that a request is refused with, by the documentation, exists', () => {
  const named = pages.flatMap(({ page, text }) =>
    [...text.matchAll(/refused with (?:[45]\d\d )?\[?`([a-z]+_[a-z_]+)`/g)].map(([, code = '']) => ({
      page,
      code,
    })),
  )
  assert.ok(named.length > 0, 'found no code: the check would pass vacuously')
  assert.deepEqual(
    named.filter(({ code }) => !Object.hasOwn(FAULTS, code)),
    [],
  )
})
