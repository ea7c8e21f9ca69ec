import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { missingIn, withFallback } from './fallback.ts'
import { MISSING_FILE, missingPage } from './zh-missing.ts'

const ALL = { title: 'Keys', form: { name: 'Name', hints: ['a', 'b'], count: (n: number) => `${n} keys` } }

test('English shows where a language lacks an entry, and only there', () => {
  const words = withFallback({ form: { name: '名称' } }, ALL)
  assert.deepEqual([words.title, words.form.name, words.form.hints], ['Keys', '名称', ['a', 'b']])
  assert.equal(words.form.count(2), '2 keys')
})

test('missing entries are listed by their path', () => {
  assert.deepEqual(missingIn({ title: '密钥', form: { name: '名称' } }, ALL), ['form.hints', 'form.count'])
  assert.deepEqual(missingIn(ALL, ALL), [])
})

test('zh-missing.md lists what Chinese lacks', () => {
  assert.equal(readFileSync(MISSING_FILE, 'utf8'), missingPage(), 'run node console/src/words/zh-missing.ts')
})
