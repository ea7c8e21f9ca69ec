import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeAuthority } from '#test/support/certificates.ts'
import { testFolder } from '#test/support/disk.ts'
import { certificateCheck, validityOf } from './certificate.ts'
import type { TlsCertificate } from './listener.ts'

const authority = makeAuthority(testFolder())
const issued = authority.issue('localhost')

test('a renewed certificate is used once, and a problem is reported once and keeps the earlier one', () => {
  const said: string[] = []
  const file = { text: 'first', isReadable: true }
  const check = certificateCheck({
    shown: { cert: 'first', key: 'k' },
    read() {
      if (!file.isReadable) throw new Error('no such file')
      return { cert: file.text, key: 'k' }
    },
    use({ cert }: TlsCertificate) {
      if (cert === 'torn') throw new Error('the key does not match')
      said.push(`use ${cert}`)
    },
    problemOf: (error) => (error as Error).message,
    onUsed: () => said.push('used'),
    onProblem: (problem) => said.push(problem),
  })
  const steps: readonly [change: Partial<typeof file>, said: readonly string[]][] = [
    [{}, []],
    [{ text: 'second' }, ['use second', 'used']],
    [{}, []],
    [{ text: 'torn' }, ['the key does not match']],
    [{}, []],
    [{ text: 'third' }, ['use third', 'used']],
    [{ isReadable: false }, ['no such file']],
    [{}, []],
    [{ isReadable: true }, ['use third', 'used']],
  ]
  for (const [change, expected] of steps) {
    said.length = 0
    Object.assign(file, change)
    check()
    check()
    assert.deepEqual(said, expected)
  }
})

test('a chain is valid until its first certificate ends', () => {
  const alone = validityOf(issued)
  assert.equal((alone?.endsAtMs ?? 0) - (alone?.beginsAtMs ?? 0), 2 * 86_400_000)
  const chain = validityOf({ cert: `${issued.cert}\n${authority.cert}` })
  const ends = [issued, authority].map((one) => validityOf(one)?.endsAtMs ?? 0)
  assert.equal(chain?.endsAtMs, Math.min(...ends))
  assert.equal(validityOf(undefined), undefined)
})
