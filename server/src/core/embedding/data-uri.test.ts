import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { mediaInDataUri } from './data-uri.ts'
import { readInput } from './input.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const WHOLE: readonly (readonly [text: string, media: string])[] = [
  [`data:image/png;base64,${PNG}`, 'image'],
  [`DATA:IMAGE/PNG;BASE64,${PNG}`, 'image'],
  [`\n  data:image/jpeg;base64,${PNG}\r\n`, 'image'],
  ['data:image/png;base64,', 'image'],
  ['data:image/png;base64,iVBO\r\nRw0K\r\nGgo=', 'image'],
  ['data:image/png;base64,iVBORw0KGgo%3D', 'image'],
  ['data:image/webp;base64,-_AA', 'image'],
  ['data:image/svg+xml;charset=utf-8;base64,PHN2Zz4=', 'image'],
  ['data:image/svg+xml,%3Csvg%20xmlns%3D%22http%3A//www.w3.org/2000/svg%22/%3E', 'image'],
  ['data:image/png; base64,iVBO', 'image'],
  ['data:audio/wav;base64,UklGRg==', 'audio'],
  ['data:audio/ogg;codecs=opus;base64,T2dnUw==', 'audio'],
  ['data:video/mp4;base64,AAAAIGZ0eXA=', 'video'],
  ['data:application/pdf;base64,JVBERi0xLjc=', 'pdf'],
  ['data:application/pdf,%25PDF-1.7', 'pdf'],
]
for (const [text, media] of WHOLE)
  test(`a string that is ${media} as a whole is no text: ${JSON.stringify(text.slice(0, 50))}`, () => {
    assert.equal(mediaInDataUri(text), media)
    const [alone, among] = [readInput(text, 4), readInput(['a text', text], 4)]
    for (const [read, param] of [
      [alone, 'input'],
      [among, 'input[1]'],
    ] as const) {
      assert.ok(read.kind === 'problem')
      assert.deepEqual([read.code, read.param], ['ambiguous_input', param])
      assert.ok(!read.message.includes(PNG.slice(0, 8)), 'an input may be private')
    }
  })

const TEXTS: readonly string[] = [
  'a',
  'd',
  'data',
  'data:',
  'data: image/png and more',
  'data:image/png',
  'data:image/png;base64',
  'data:image/png;base64 is how it begins, and then come letters',
  'data:image/ is a prefix, and so is data:audio/',
  `data:image/png;base64,${PNG} is a red dot`,
  `see data:image/png;base64,${PNG}`,
  `![dot](data:image/png;base64,${PNG})`,
  'data:text/plain;base64,aGVsbG8=',
  'data:text/plain,hello',
  'data:,hello',
  'data:application/json;base64,e30=',
  'data:application/pdfx;base64,AAAA',
  'data:imagery/png;base64,AAAA',
  `data:image/png;${'x'.repeat(300)},AAAA`,
  '   ',
  'daten: image',
  'Data science is fun, she said',
]
for (const text of TEXTS)
  test(`a text stays a text: ${JSON.stringify(text.slice(0, 60))}`, () => {
    assert.equal(mediaInDataUri(text), undefined)
    assert.deepEqual(readInput(text, 4), { kind: 'texts', texts: [text] })
  })

test('no word before or after a data URI is too short to make it a text again', () => {
  fc.assert(
    fc.property(fc.constantFrom(...WHOLE), fc.constantFrom('see', 'a', '.', '(', '#'), ([uri], word) => {
      const [before, after] = [`${word} ${uri.trim()}`, `${uri.trim()} ${word}`]
      assert.equal(mediaInDataUri(before), undefined)
      assert.equal(mediaInDataUri(after), undefined)
    }),
  )
})

test('what only looks like a data URI for megabytes takes no longer than reading it', () => {
  const millions = 4_000_000
  const long = [
    `data:image/png;base64,${'A'.repeat(millions)} x`,
    `data:image/png;base64,${'\n'.repeat(millions)}! x`,
    `data:image/png${'; '.repeat(millions / 2)}`,
    `${' '.repeat(millions)}data:image/png;base64,! `,
    `data:image/svg+xml,${'a'.repeat(millions)} b`,
  ]
  const begun = process.cpuUsage()
  for (const text of long) assert.equal(mediaInDataUri(text), undefined)
  const { user } = process.cpuUsage(begun)
  assert.ok(user < 2_000_000, `${user} µs for ${long.length} texts of ${millions} characters`)
})
