import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cutTexts } from './cut-texts.ts'

/** Digits have a token each, letters one for each four: texts whose ends cost more than their beginnings. */
function tokensIn(text: string): number {
  const letters = text.replaceAll(/\d/g, '').length
  return text.length - letters + Math.ceil(letters / 4)
}

const count = async (texts: readonly string[]): Promise<readonly number[]> => texts.map(tokensIn)

test('what is kept fits the model, and little that would fit is cut off', async () => {
  const text = fc
    .tuple(fc.nat({ max: 4000 }), fc.nat({ max: 4000 }))
    .map(([letters, digits]) => 'a'.repeat(letters) + '7'.repeat(digits))
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { maxLength: 5 }),
      fc.integer({ min: 100, max: 900 }),
      async (texts, most) => {
        const kept = await cutTexts(texts, texts.map(tokensIn), most, count)
        for (const [index, characters] of kept.entries()) {
          const one = texts[index] ?? ''
          const tokens = tokensIn(one.slice(0, characters))
          assert.ok(tokens <= most, `${tokens} of ${most}`)
          if (tokensIn(one) <= most) assert.equal(characters, one.length)
          else assert.ok(tokens >= most * 0.98 - 1, `${tokens} of ${most}`)
        }
      },
    ),
  )
})

test('a pair of surrogates is never cut', async () => {
  const text = '😀'.repeat(500)
  for (let most = 50; most < 60; most += 1) {
    const [kept = 0] = await cutTexts([text], [text.length], most, async (texts) =>
      texts.map(({ length }) => length),
    )
    assert.ok(kept > 0 && kept <= most && kept % 2 === 0, String(kept))
  }
})

test('texts are counted together, a few times', async () => {
  let asked = 0
  const texts = Array.from({ length: 20 }, (_, row) => 'word '.repeat(1000 + row * 100))
  await cutTexts(texts, texts.map(tokensIn), 500, async (some) => {
    asked += 1
    return count(some)
  })
  assert.ok(asked <= 4, String(asked))
})
