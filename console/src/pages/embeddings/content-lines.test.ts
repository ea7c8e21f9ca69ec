import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  inputOfLine,
  joinedAt,
  kindOfInput,
  lineOfInput,
  linesOf,
  nameOfInput,
  splitAt,
  withMedia,
  withoutPart,
} from './content-lines.ts'

const CHAIR = { id: 'a1', name: 'chair.jpg' }
const STOOL = { id: 'b2', name: 'stool.png' }

test('a line with a text and media is one input', () => {
  const line = lineOfInput({ text: 'Deckchair, blue', media: [CHAIR, STOOL] })
  const input = inputOfLine(line)
  assert.deepEqual(input, { text: 'Deckchair, blue', media: [CHAIR, STOOL] })
  assert.equal(kindOfInput(input), 'joined')
  assert.equal(nameOfInput(input), 'Deckchair, blue')
  assert.equal(kindOfInput(inputOfLine(lineOfInput({ text: '', media: [CHAIR] }))), 'media')
  assert.equal(nameOfInput({ text: '', media: [CHAIR, STOOL] }), 'chair.jpg, stool.png')
})

test('any text without a reference stays as it was typed', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      fc.pre(!text.includes('](media:'))
      assert.deepEqual(inputOfLine(text), { text: text.trim(), media: [] })
    }),
  )
})

test('any name of a file comes back from its line, without brackets', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (name) => {
      const line = lineOfInput({ text: '', media: [{ id: 'x-1', name }] })
      assert.equal(linesOf(line.replaceAll('\r', ' ')).length, 1)
      assert.equal(inputOfLine(line).media[0]?.id, 'x-1')
    }),
  )
})

test('media are added below, joined to a line, taken out again and removed', () => {
  const added = withMedia('#chairs\na garden chair\n\n', [CHAIR])
  assert.equal(added, '#chairs\na garden chair\n![chair.jpg](media:a1)')
  const joined = joinedAt(added, 1, [STOOL])
  assert.equal(linesOf(joined)[1], 'a garden chair ![stool.png](media:b2)')
  assert.equal(
    splitAt(joined, 1, 0),
    '#chairs\na garden chair\n![stool.png](media:b2)\n![chair.jpg](media:a1)',
  )
  assert.equal(withoutPart(joined, 1, 0), added)
  assert.equal(withoutPart(added, 2, 0), '#chairs\na garden chair')
  assert.equal(linesOf(joinedAt(added, 0, [STOOL]))[1], '![stool.png](media:b2)')
})
