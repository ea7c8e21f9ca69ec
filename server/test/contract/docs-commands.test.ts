/** Commands of the documentation are run by `npm run lab -- check/docs`, or there is a reason why not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMMANDS } from '#cli/commands.ts'
import { FAULTS } from '#core/fault/table.ts'
import { NOT_RUN, reasonNotToRun, REPOSITORY, shellBlocks } from '#test/support/docs-blocks.ts'

const blocks = shellBlocks()

test('most commands of the documentation are run', () => {
  const run = blocks.filter((block) => reasonNotToRun(block) === undefined)
  assert.ok(run.length > 30, `${run.length} of ${blocks.length}`)
})

test('every reason not to run a command has a command', () => {
  const idle = NOT_RUN.filter(([pattern]) => !blocks.some(({ text }) => pattern.test(text)))
  assert.deepEqual(
    idle.map(([, reason]) => reason),
    [],
  )
})

const pages = ['README.md', ...globSync('docs/{,recipes/}*.md', { cwd: REPOSITORY })].map((page) => ({
  page,
  text: readFileSync(join(REPOSITORY, page), 'utf8'),
}))

test('every command that the documentation names exists, in prose too', () => {
  const named = pages.flatMap(({ page, text }) =>
    [...text.matchAll(/(?:`|^|\$ |\()(?:npx )?torana ([a-z]+)(?: ([a-z]+))?/gm)].map(
      ([said, name = '', word]) => ({ where: `${page}: ${said}`, name, word }),
    ),
  )
  const unknown = named.filter(({ name, word }) => {
    const command = COMMANDS.find((one) => one.name === name)
    if (command === undefined) return true
    // After the name of a single command come arguments.
    if (word === undefined || !('subcommands' in command)) return false
    return !command.subcommands.some((one) => one.name === word)
  })
  assert.ok(named.length > 100, 'found too few commands: the check would pass vacuously')
  assert.deepEqual(
    unknown.map(({ where }) => where),
    [],
  )
})

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
