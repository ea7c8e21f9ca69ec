import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import sharp from 'sharp'
import { runs } from '#test/support/arbitraries.ts'
import { withManifest } from '../../../../lab/fake-provider/images/encode.ts'
import { provenanceKept, provenanceOf } from './provenance.ts'

const picture = sharp({ create: { width: 37, height: 21, channels: 3, background: '#963' } })
const FORMATS = ['png', 'jpeg', 'webp'] as const

for (const format of FORMATS) {
  const noted = picture.clone().withExif({ IFD0: { Copyright: 'c2pa caBX C2PA' } })
  const plain = await noted.toFormat(format).toBuffer()
  const marked = withManifest(plain, format)

  test(`${format}: a manifest is found, and its name among other notes is none`, () => {
    assert.equal(provenanceOf(plain, format), 'none')
    assert.equal(provenanceOf(marked, format), 'c2pa')
  })

  test(`${format}: no cut or bent file throws, and each is read in a moment`, () => {
    fc.assert(
      fc.property(fc.nat(marked.length), fc.nat(marked.length - 1), fc.nat(255), (end, at, value) => {
        const bent = Buffer.from(marked)
        bent[at] = value
        provenanceOf(bent.subarray(0, end), format)
      }),
      runs(300),
    )
    const looping = Buffer.alloc(8_000_000, format === 'jpeg' ? 0xff : 0)
    const startedMs = process.cpuUsage().user / 1000
    assert.equal(provenanceOf(looping, format), 'none')
    assert.ok(process.cpuUsage().user / 1000 - startedMs < 100)
  })
}

test('a JPEG box that is no manifest is none', async () => {
  const marked = withManifest(await picture.clone().jpeg().toBuffer(), 'jpeg')
  const at = marked.indexOf('jumd') + 4
  marked.write('cb01', at)
  assert.equal(provenanceOf(marked, 'jpeg'), 'none')
})

for (const [came, handedOut, expected] of [
  ['c2pa', 'c2pa', 'kept'],
  ['c2pa', 'none', 'dropped'],
  ['none', 'none', 'none'],
  [undefined, 'none', undefined],
  ['c2pa', undefined, undefined],
] as const) {
  test(`a manifest that came as ${came} and is handed out as ${handedOut} was ${expected}`, () => {
    assert.equal(provenanceKept(came, handedOut), expected)
  })
}

test('formats that are not checked are not said to have none', () => {
  for (const format of ['gif', 'svg', undefined] as const)
    assert.equal(provenanceOf(Buffer.from('GIF89a'), format), undefined)
})
