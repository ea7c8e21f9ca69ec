/** Every name of a part of Torana in README and docs/ exists in the code: a page cannot promise what was renamed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idleForeignNames, NAME_KINDS, unknownNames, type NameKind } from '#test/support/docs-names.ts'
import { docsPages, isGenerated } from '#test/support/docs-pages.ts'

const all = docsPages()
const pages = all.filter((page) => !isGenerated(page))
assert.ok(pages.length > 20, 'found too few pages: the checks would pass vacuously')

for (const kind of NAME_KINDS)
  test(`${kind} that pages name exist`, () => {
    // Generated pages name commands in sentences, too; their other names come from the code.
    const read = kind === 'commands' ? all : pages
    assert.deepEqual(
      read.flatMap(({ path, text }) => unknownNames(kind, text).map((problem) => `${path}: ${problem}`)),
      [],
    )
  })

test('every listed name of another product is used by a page', () => {
  assert.deepEqual(idleForeignNames(pages.map(({ text }) => text)), [])
})

const PLANTED: readonly (readonly [NameKind, string])[] = [
  ['commands', 'Run `torana unknowns resolve`.'],
  ['commands', '```sh\ntorana reload\n```'],
  ['options', 'Add `--everything` to it.'],
  ['options', 'Run `torana check --hard`.'],
  ['snakeCase', 'Keys are refused with `budget_exceeded`.'],
  ['snakeCase', 'Watch `torana_requests_lost_total`.'],
  ['variables', 'Set `TORANA_DATABASE_URL`.'],
  ['settings', 'Set `limits.drainSeconds`.'],
  ['settings', 'Set `projects.<name>.quota`.'],
  ['paths', 'Call `GET /api/v1/everything`.'],
  ['npmScripts', 'Run `npm run test:docs`.'],
  ['npmScripts', '```sh\nnpm run lab -- bench/everything\n```'],
  ['files', 'See `server/src/everything.ts`.'],
]

for (const [kind, text] of PLANTED)
  test(`a planted name is found: ${text.replaceAll('\n', ' ')}`, () => {
    assert.equal(unknownNames(kind, text).length, 1)
  })
