import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sectionOf, withRelease } from './changelog.ts'

const before = '# Changelog\n\n## [Unreleased]\n\n- a cache\n\n## [0.1.0] - 2026-11-01\n\n- first\n'

test('a release gives what was unreleased a number and a date, and leaves an empty section for the next', () => {
  const after = withRelease(before, '0.2.0', '2026-11-16')
  assert.equal(sectionOf(after, '0.2.0'), '- a cache')
  assert.equal(sectionOf(after, '0.1.0'), '- first')
  assert.equal(sectionOf(after, 'Unreleased'), '')
  assert.ok(after.includes('## [0.2.0] - 2026-11-16\n'))
})

test('a version that was released is not released again', () => {
  assert.throws(() => withRelease(before, '0.1.0', '2026-11-16'), /already/)
})

test('a version without a change is not released', () => {
  const released = withRelease(before, '0.2.0', '2026-11-16')
  assert.throws(() => withRelease(released, '0.3.0', '2026-11-17'), /nothing to release/)
})
