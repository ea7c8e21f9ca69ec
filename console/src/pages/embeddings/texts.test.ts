import { test } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { linesOfCsv, typedTexts } from './texts.ts'

test('each line is a text, and # names the group of those after it', () => {
  const typed = typedTexts('before\n#billing\n twice \n\n#delivery\nwhere\nlate\n#billing\nrefund\n#\nafter')
  assert.deepEqual(typed.texts, ['before', 'twice', 'where', 'late', 'refund', 'after'])
  assert.deepEqual(typed.groupOf, [-1, 0, 1, 1, 0, -1])
  assert.deepEqual(typed.groups, [
    { name: 'billing', count: 2 },
    { name: 'delivery', count: 2 },
  ])
  assert.deepEqual(Array.from(typed.heads), [
    [1, 0],
    [4, 1],
    [7, 0],
  ])
})

test('a table of texts and labels becomes lines in groups', () => {
  assert.equal(
    linesOfCsv('text,label\n"Where, please?",delivery\n"say ""hi""",\nlate,delivery\r\n'),
    'say "hi"\n#delivery\nWhere, please?\nlate',
  )
  assert.equal(linesOfCsv('label;text\nA;one\nB;two'), '#A\none\n#B\ntwo')
  assert.equal(linesOfCsv('one\ttwo words\nthree\tfour'), '#two words\none\n#four\nthree')
  assert.equal(linesOfCsv('"two\nlines",x'), '#x\ntwo lines')
})

test('whatever is in a table, every text of it is typed once', () => {
  const cell = fc
    .string()
    .filter((text) => /[^\s#]/.test(text) && !/^(?:text|content|input)$/i.test(text.trim()))
  fc.assert(
    fc.property(fc.array(cell, { minLength: 1, maxLength: 10 }), (texts) => {
      const csv = ['text,label', ...texts.map((text) => `"${text.replaceAll('"', '""')}",g`)].join('\n')
      const expected = texts
        .map((text) =>
          text
            .replaceAll(/\s+/g, ' ')
            .trim()
            .replace(/^#+\s*/, ''),
        )
        .filter((text) => text !== '')
      assert.deepEqual(typedTexts(linesOfCsv(csv)).texts, expected)
    }),
  )
})
