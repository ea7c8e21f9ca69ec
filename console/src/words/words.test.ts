import { test } from 'node:test'
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const SOURCES = join(import.meta.dirname, '..')

test('modules read `words.<page>`: `words` as a whole would load the words of all pages', () => {
  const readers = globSync('{api,app,charts,pages,parts,ui}/**/*.{ts,tsx}', { cwd: SOURCES }).filter((name) =>
    readFileSync(join(SOURCES, name), 'utf8').includes('import { words } from'),
  )
  assert.ok(readers.length > 100, 'found too few modules: the check would pass vacuously')
  const whole = readers.filter((name) =>
    /(?:[=(,]|\.\.\.) ?words(?![.:\w'])/.test(readFileSync(join(SOURCES, name), 'utf8')),
  )
  assert.deepEqual(whole, [])
})

test('each file of words is translated by its own name', () => {
  const files = globSync('words/en/*.ts', { cwd: SOURCES })
  const named = files.flatMap((name) => [
    ...readFileSync(join(SOURCES, name), 'utf8').matchAll(/export const (\w+) = inLanguage\('(\w+)'/g),
  ])
  assert.ok(named.length >= files.length, 'a file does not ask for its translation')
  for (const [, exported, asked] of named) assert.equal(asked, exported)
})
