import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { mutatedText, testFilesOf } from './mutant.ts'
import { MUTANTS } from './mutants.ts'

const ROOT = join(import.meta.dirname, '../../..')

test('every mutant can be planted in the code as it is, and has tests', () => {
  for (const mutant of MUTANTS) {
    assert.doesNotThrow(() => mutatedText(mutant, ROOT))
    assert.ok(testFilesOf(mutant, ROOT).length > 0, mutant.id)
  }
})

test('there are sixty mutants, each with an id of its own', () => {
  assert.equal(new Set(MUTANTS.map(({ id }) => id)).size, 60)
  assert.equal(MUTANTS.length, 60)
})

test('a mutant whose text is not in its file, or not only once, is named', () => {
  const [mutant] = MUTANTS
  assert.ok(mutant)
  const rotten = (old: string) => () => mutatedText({ ...mutant, old }, ROOT)
  assert.throws(rotten('no such text'), { message: new RegExp(`^${mutant.id}: the old text stands 0 times`) })
  assert.throws(rotten('export'), { message: new RegExp(`^${mutant.id}: the old text stands \\d+ times`) })
})
