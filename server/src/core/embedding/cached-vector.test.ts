import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { anyText, float32Array, runs } from '#test/support/arbitraries.ts'
import { bytesOfVector, vectorOfBytes } from './cached-vector.ts'
import type { StoredVector } from './cached-vector.ts'

const checksum = (bytes: Uint8Array): number => crc32(bytes)
const moment = fc.double({ noNaN: true, noDefaultInfinity: true })

const storable: fc.Arbitrary<StoredVector> = fc.record(
  {
    values: float32Array(1, 40),
    tokens: fc.nat(0xff_ff_ff_ff),
    deployment: fc.string({ unit: 'binary', maxLength: 100 }),
    madeAtMs: moment,
    expiresAtMs: moment,
  },
  { noNullPrototype: true },
)

const plain: StoredVector = {
  values: Float32Array.of(1, -0, 1.401298464324817e-45),
  tokens: 7,
  deployment: 'openai/small',
  madeAtMs: 1_794_700_000_123.5,
  expiresAtMs: 1_794_700_060_123.5,
}

function written(vector: StoredVector): Uint8Array {
  const bytes = bytesOfVector(vector, checksum)
  assert.ok(bytes)
  return bytes
}

test('what is written is read again bit for bit, wherever the bytes lie', () => {
  fc.assert(
    fc.property(storable, fc.nat(8), (vector, offset) => {
      const bytes = written(vector)
      const among = new Uint8Array(offset + bytes.length + 3)
      among.set(bytes, offset)
      const read = vectorOfBytes(among.subarray(offset, offset + bytes.length), checksum)
      assert.ok(read)
      assert.deepEqual(read, vector)
      assert.equal(Buffer.compare(Buffer.from(read.values.buffer), Buffer.from(vector.values.buffer)), 0)
      assert.equal(read.values.buffer.byteLength, vector.values.byteLength, 'holds more than its values')
    }),
    runs(2000),
  )
})

test('the form stays as it is: nodes of two versions read one another', () => {
  const parts = [
    '01 0c00 03000000 07000000',
    '00b8b74bc71d7a42 00b85d5ac71d7a42',
    '6f70656e61692f736d616c6c',
    '0000803f 00000080 01000000',
    '06241982',
  ]
  assert.equal(written(plain).toHex(), parts.join('').replaceAll(' ', ''))
})

test('no cut, longer or damaged value is a vector, whichever bit it is', () => {
  const bytes = written(plain)
  for (let length = 0; length < bytes.length; length += 1)
    assert.equal(vectorOfBytes(bytes.subarray(0, length), checksum), undefined)
  assert.equal(vectorOfBytes(Uint8Array.from([...bytes, 0]), checksum), undefined)
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const damaged = bytes.slice()
    damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    assert.equal(vectorOfBytes(damaged, checksum), undefined, `bit ${bit}`)
  }
})

test('whatever bytes there are, reading them does not throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      vectorOfBytes(bytes, () => new DataView(bytes.buffer).getUint32(Math.max(0, bytes.length - 4), true))
      vectorOfBytes(Uint8Array.from([1, ...bytes]), checksum)
    }),
    runs(5000),
  )
})

test('what the form can not hold exactly is not written', () => {
  for (const [name, change] of Object.entries({
    'half a token': { tokens: 0.5 },
    'too many tokens': { tokens: 2 ** 32 },
    'fewer than no tokens': { tokens: -1 },
    'no number of tokens': { tokens: Number.NaN },
    'half a character': { deployment: '\uD800' },
    'a name of 513 bytes': { deployment: 'é'.repeat(256) + 'x' },
    'no time': { madeAtMs: Number.NaN },
    'no end': { expiresAtMs: Number.POSITIVE_INFINITY },
    'no values': { values: new Float32Array(0) },
  } satisfies Record<string, Partial<StoredVector>>)) {
    assert.equal(bytesOfVector({ ...plain, ...change }, checksum), undefined, name)
  }
  fc.assert(
    fc.property(anyText, (deployment) => {
      const bytes = bytesOfVector({ ...plain, deployment }, checksum)
      if (bytes) assert.equal(vectorOfBytes(bytes, checksum)?.deployment, deployment)
      else assert.ok(!deployment.isWellFormed() || Buffer.byteLength(deployment) > 512)
    }),
  )
})
