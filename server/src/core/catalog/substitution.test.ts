import assert from 'node:assert/strict'
import { test } from 'node:test'
import { substitutionIn } from './substitution.ts'

test('an answer that names another model is a substitution, unless the operator listed the name', () => {
  const of = (answered: unknown, answersAs?: readonly string[], dialect: 'openai' | 'azure' = 'openai') =>
    substitutionIn({ id: 'm/one', upstream: { dialect }, upstreamModel: 'quality', answersAs }, answered)
      ?.answered
  const cases: readonly (readonly [Parameters<typeof of>, string | undefined])[] = [
    [['quality'], undefined],
    [['image-2.0'], 'image-2.0'],
    // Names are compared as they are.
    [['Quality'], 'Quality'],
    [['quality-v2'], 'quality-v2'],
    [['quality-v2', ['quality-v2']], undefined],
    [['quality', ['quality-v2']], undefined],
    [['image-2.0', ['quality-v2']], 'image-2.0'],
    // An upstream that does not say.
    [[undefined], undefined],
    [[null], undefined],
    [[''], undefined],
    [[7], undefined],
    // On Azure the asked name is the operator's own.
    [['image-2.0', undefined, 'azure'], undefined],
    [['image-2.0', ['quality-v2'], 'azure'], 'image-2.0'],
    [['quality-v2', ['quality-v2'], 'azure'], undefined],
    // No label, row or log line has what is no name.
    [['two words'], 'other'],
    [['x'.repeat(201)], 'other'],
    [['nul\0'], 'other'],
  ]
  for (const [given, answered] of cases) assert.equal(of(...given), answered, JSON.stringify(given))
})
