import assert from 'node:assert/strict'
import { test } from 'node:test'
import ranks from 'gpt-tokenizer/bpeRanks/cl100k_base'
import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base'
import { seededRandom } from '../../server/test/support/random.ts'
import { tokensOf } from '../fake-provider/vectors.ts'
import { textOf } from './traffic.ts'

test('the fake provider counts no more tokens of a text than Torana reserves by its own count', () => {
  const isCovered = (text: string): void => assert.ok(tokensOf(text) <= countTokens(text), text)
  const random = seededRandom(1)
  for (let time = 0; time < 1000; time += 1) isCovered(textOf(random))
  // Numbers that are a word, and so one token: one in a hundred thousand.
  const words = ranks.flatMap((rank) => /^ ([a-z][0-9a-z]{0,5})$/.exec(String(rank))?.[1] ?? [])
  assert.ok(words.length > 1000)
  for (const word of words) isCovered(textOf({ below: () => Number.parseInt(word, 36) }))
})
