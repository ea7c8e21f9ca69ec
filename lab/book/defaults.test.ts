/** Pages repeat the defaults of settings only where the generator fills them in. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { docsPages, isGenerated } from '../../server/test/support/docs-pages.ts'
import { defaultText, limitNames } from './defaults.ts'

const FILLED = /<!-- (default|fig|generated)\b[\s\S]*?<!-- \/\1 -->/g
const texts = new Map(limitNames().map((name) => [name, defaultText(`limits.${name}`)]))

/** Defaults that stand beside the name of their limit without a mark. */
function unmarkedIn(page: string): readonly string[] {
  const lines = page
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .replaceAll(FILLED, '')
    .split('\n')
  return lines.flatMap((line) =>
    [...line.matchAll(/`(?:limits\.)?(\w+)`/g)].flatMap(([, name = '']) => {
      const text = texts.get(name)
      const isRepeated = text !== undefined && new RegExp(String.raw`(?<![\d,.])${text}\b`).test(line)
      return isRepeated ? [`${name}: write <!-- default limits.${name} -->${text}<!-- /default -->`] : []
    }),
  )
}

for (const page of docsPages().filter((one) => !isGenerated(one)))
  test(`${page.path} marks the defaults that it repeats`, () => assert.deepEqual(unmarkedIn(page.text), []))

test('a default without its mark is found', () => {
  assert.equal(texts.get('queueWaitMs'), '2 s')
  assert.deepEqual(unmarkedIn('| wait | 2 s, `limits.queueWaitMs` |'), [
    'queueWaitMs: write <!-- default limits.queueWaitMs -->2 s<!-- /default -->',
  ])
  assert.deepEqual(unmarkedIn('12 s after `queueWaitMs`'), [])
  assert.deepEqual(unmarkedIn('`queueWaitMs`, <!-- default limits.queueWaitMs -->2 s<!-- /default -->'), [])
})

for (const [path, text] of [
  ['limits.stopDelayMs', '5 s'],
  ['limits.requestTimeoutMs', '60 s'],
  ['limits.imageTimeoutMs', '10 minutes'],
  ['limits.maxContentSeconds', '1 hour'],
  ['limits.assetLinkMs', '24 hours'],
  ['limits.assetRetentionMs', '7 days'],
  ['limits.imagesBodyBytes', '1 MB'],
  ['limits.uploadBytes', '16 GB'],
  ['limits.maxPicturePixels', '50 million'],
  ['limits.maxQueued', '4,096'],
  ['models.microBatch.maxWaitMs', '4 ms'],
  ['limits.gone', undefined],
  ['limits.overloadBrake', undefined],
] as const)
  test(`the default of ${path} is printed as ${text ?? 'nothing'}`, () =>
    assert.equal(defaultText(path), text))
