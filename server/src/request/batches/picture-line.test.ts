import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '#core/fault/fault.ts'
import { MAX_TAGS } from '#core/money/labels.ts'
import { anImageRequest } from '#test/support/images.ts'
import { NO_FILES } from '../images/files.ts'
import { taggedLine, type PictureLine } from './picture-line.ts'

function line(tags: Readonly<Record<string, string>> | undefined) {
  let discarded = 0
  const files = { ...NO_FILES, discard: async () => void (discarded += 1) }
  const read: PictureLine = { customId: 'c', asked: anImageRequest({ tags }), fault: undefined, files }
  return { read, discarded: () => discarded }
}

test('a line has the tags of its batch, and its own where both have a key', async () => {
  for (const [own, batch, expected] of [
    [undefined, undefined, undefined],
    [{ team: 'red' }, undefined, { team: 'red' }],
    [undefined, { team: 'blue' }, { team: 'blue' }],
    [{ team: 'red' }, { team: 'blue', tier: 'gold' }, { team: 'red', tier: 'gold' }],
  ] as const) {
    const { read, discarded } = line(own)
    const tagged = await taggedLine(read, batch)
    assert.deepEqual([tagged.asked?.tags, tagged.fault, tagged.customId], [expected, undefined, 'c'])
    assert.equal(tagged.files, read.files)
    assert.equal(discarded(), 0)
  }
})

test('a line with too many tags fails alone, and leaves no file', async () => {
  const many = Object.fromEntries(Array.from({ length: MAX_TAGS }, (_, index) => [`tag${index}`, 'x']))
  const { read, discarded } = line(many)
  const tagged = await taggedLine(read, { another: 'x' })
  assert.deepEqual([tagged.asked, tagged.files, tagged.customId], [undefined, NO_FILES, 'c'])
  assert.ok(tagged.fault instanceof Fault)
  assert.equal(tagged.fault.param, 'metadata')
  assert.equal(discarded(), 1)
})

test('a line that asks for nothing keeps its fault', async () => {
  const fault = new Fault('invalid_parameter', 'no prompt')
  const read: PictureLine = { customId: 'c', asked: undefined, fault, files: NO_FILES }
  assert.equal(await taggedLine(read, { team: 'red' }), read)
})

test('an error of Torana is not a fault of the line', async () => {
  const broken = {
    get team(): string {
      throw new RangeError('broken')
    },
  }
  await assert.rejects(taggedLine(line({ tier: 'gold' }).read, broken), RangeError)
})
