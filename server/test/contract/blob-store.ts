/** What every `BlobStore` promises, wherever it keeps its bytes. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import type { BlobStore, OpenBlob } from '#ports/blobs.ts'
import { runs } from '#test/support/arbitraries.ts'

export interface BlobStoreSuite {
  readonly name: string
  /** A new store with nothing in it. */
  readonly open: () => Promise<BlobStore>
  /** It walks a tree and lists a folder before the names that merely begin like it, such as `a/b` before `a-b`. */
  readonly isTree?: boolean
  /** Random histories compared with a map. */
  readonly histories: number
}

const MEGABYTE = 1024 * 1024

export async function bytesOf(blob: OpenBlob | undefined): Promise<Buffer> {
  assert.ok(blob, 'there is no such blob')
  const pieces: Uint8Array[] = []
  for await (const piece of blob.bytes) pieces.push(piece)
  return Buffer.concat(pieces)
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** No name is the folder of another, and several are where digests are kept. */
const TREE_NAMES = [
  'a/b',
  'a/b.c',
  'a0',
  'jobs/0192/0.json',
  'jobs/0192/1.json',
  ...['5', 'ff', '/z'].map((rest) => `pictures/ab${rest}`),
  ...['0', '5', 'f'].map((digit) => `pictures/ab${digit.repeat(62)}`),
  `pictures/${digestOf('one')}`,
  '9'.repeat(64),
  `pictures/ab/ab${'1'.repeat(62)}`,
]
/** Their order is not that of a tree. */
const NAMES = [...TREE_NAMES, 'a-b/c', 'a.b', 'jobs/0192-1/0.json', 'pictures/ab-x', 'pictures/ab.y']

const HOSTILE_NAMES = [
  ...' . .. / /a a/ a//b a/./b a/../b ../a a/.. ./a a\\b ä a%2e ~drafts ~drafts/x a?b a#b a:b'.split(' '),
  'a\0b',
  'a b',
  'a\n',
  'x'.repeat(256),
  `${'y'.repeat(200)}/`.repeat(4) + 'z',
]

export function blobStoreSuite({ name, open, isTree = false, histories }: BlobStoreSuite): void {
  const names = isTree ? TREE_NAMES : NAMES

  test(`${name}: what was put is there, whole and under its name alone`, async () => {
    const store = await open()
    const picture = randomBytes(100_000)
    await store.put(`pictures/${digestOf('one')}`, picture)
    await store.put('jobs/0192/0.json', Buffer.from('{}'))
    const blob = await store.open(`pictures/${digestOf('one')}`)
    assert.equal(blob?.size, picture.length)
    assert.ok(picture.equals(await bytesOf(blob)))
    assert.equal((await bytesOf(await store.open('jobs/0192/0.json'))).toString(), '{}')
  })

  test(`${name}: a name that was never put is undefined`, async () => {
    const store = await open()
    await store.put('jobs/0192/0.json', Buffer.from('{}'))
    for (const missing of ['jobs/0192/1.json', 'jobs/0192', 'jobs', `pictures/${digestOf('none')}`])
      assert.equal(await store.open(missing), undefined)
  })

  test(`${name}: an empty blob is a blob`, async () => {
    const store = await open()
    await store.put('empty', new Uint8Array())
    const blob = await store.open('empty')
    assert.equal(blob?.size, 0)
    assert.equal((await bytesOf(blob)).length, 0)
  })

  test(`${name}: bytes that change after they were put do not change the blob`, async () => {
    const store = await open()
    const bytes = Buffer.from('before')
    await store.put('kept', bytes)
    bytes.write('after!')
    assert.equal((await bytesOf(await store.open('kept'))).toString(), 'before')
  })

  test(`${name}: a view into a larger buffer is put without its surroundings`, async () => {
    const store = await open()
    await store.put('view', Buffer.from('---middle---').subarray(3, 9))
    assert.equal((await bytesOf(await store.open('view'))).toString(), 'middle')
  })

  test(`${name}: a view into a buffer that can grow is put like any other`, async () => {
    const store = await open()
    const growing = new Uint8Array(new ArrayBuffer(100_000, { maxByteLength: 1_000_000 }))
    growing.set(Buffer.from('what was written'), 70_000)
    await store.put('batches/growing', growing.subarray(70_000, 70_016))
    const blob = await store.open('batches/growing')
    assert.equal((await bytesOf(blob)).toString(), 'what was written')
  })

  test(`${name}: a range has both its ends, and the size is that of the whole`, async () => {
    const store = await open()
    await store.put('ten', Buffer.from('0123456789'))
    for (const [first, last, text] of [
      [0, 0, '0'],
      [9, 9, '9'],
      [3, 5, '345'],
      [0, 9, '0123456789'],
    ] as const) {
      const blob = await store.open('ten', { first, last })
      assert.equal(blob?.size, 10)
      assert.equal((await bytesOf(blob)).toString(), text)
    }
    assert.equal(await store.open('none', { first: 0, last: 0 }), undefined)
  })

  test(`${name}: a range that does not lie within the blob is refused, not cut`, async () => {
    const store = await open()
    await store.put('ten', Buffer.from('0123456789'))
    await store.put('empty', new Uint8Array())
    for (const [blob, first, last] of [
      ['ten', 0, 10],
      ['ten', 10, 10],
      ['ten', 5, 4],
      ['ten', -1, 3],
      ['ten', 0.5, 3],
      ['empty', 0, 0],
    ] as const)
      await assert.rejects(store.open(blob, { first, last }), RangeError, `${blob} ${first}–${last}`)
  })

  test(`${name}: 5 MB come back by pieces, in any order`, async () => {
    const store = await open()
    const picture = randomBytes(5 * MEGABYTE)
    await store.put('large', picture)
    const pieceLength = 700_001
    const firsts = Array.from(
      { length: Math.ceil(picture.length / pieceLength) },
      (_, index) => index * pieceLength,
    )
    const pieces = await Promise.all(
      firsts.toReversed().map(async (first) => {
        const last = Math.min(first + pieceLength, picture.length) - 1
        return bytesOf(await store.open('large', { first, last }))
      }),
    )
    assert.ok(picture.equals(Buffer.concat(pieces.toReversed())))
  })

  test(`${name}: a reader that stops early does no harm`, async () => {
    const store = await open()
    await store.put('large', randomBytes(2 * MEGABYTE))
    for (let round = 0; round < 60; round += 1) {
      const blob = await store.open('large')
      for await (const piece of blob?.bytes ?? []) if (piece.length > 0) break
    }
    assert.equal((await bytesOf(await store.open('large'))).length, 2 * MEGABYTE)
  })

  test(`${name}: what is deleted is gone, and deleting it again is nothing`, async () => {
    const store = await open()
    await store.put('jobs/0192/0.json', Buffer.from('{}'))
    await store.put('jobs/0192/1.json', Buffer.from('{}'))
    for (const blob of ['jobs/0192/0.json', 'jobs/0192/0.json', 'jobs/0192', 'never/was'])
      await store.delete(blob)
    assert.equal(await store.open('jobs/0192/0.json'), undefined)
    assert.deepEqual(
      (await store.list({ prefix: '', limit: 10 })).map((blob) => blob.name),
      ['jobs/0192/1.json'],
    )
  })

  test(`${name}: names are listed in order of their bytes, page by page, by any prefix`, async () => {
    const store = await open()
    await Promise.all(names.map((blob, index) => store.put(blob, new Uint8Array(index))))
    const ordered = names.toSorted((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
    for (const prefix of [
      '',
      'a',
      'a/',
      'jobs/',
      'jobs/0192',
      'pictures/',
      'pictures/ab',
      'pictures/ab5',
      'b',
    ]) {
      for (const limit of [1, 3, 100]) {
        const listed: string[] = []
        for (let after: string | undefined; ; after = listed.at(-1)) {
          const page = await store.list({ prefix, after, limit })
          assert.ok(page.length <= limit)
          for (const blob of page) assert.equal(blob.size, names.indexOf(blob.name))
          listed.push(...page.map((blob) => blob.name))
          if (page.length === 0) break
        }
        assert.deepEqual(
          listed,
          ordered.filter((blob) => blob.startsWith(prefix)),
          `prefix '${prefix}', ${limit} a page`,
        )
      }
    }
    assert.deepEqual(await store.list({ prefix: '', limit: 0 }), [])
  })

  test(`${name}: a blob that is put again counts as new`, async () => {
    const store = await open()
    const modifiedMs = async (): Promise<number> =>
      (await store.list({ prefix: '', limit: 1 }))[0]?.modifiedMs ?? Number.NaN
    await store.put('again', Buffer.from('same'))
    const before = await modifiedMs()
    assert.ok(Math.abs(before - Date.now()) < 60_000, `${before} is no time of today`)
    // S3 reports whole seconds.
    await delay(1100)
    await store.put('again', Buffer.from('same'))
    assert.ok((await modifiedMs()) > before)
  })

  test(`${name}: who reads while a blob is replaced gets the old or the new, never a mixture`, async () => {
    const store = await open()
    const variants = ['a', 'b'].map((letter) => Buffer.alloc(MEGABYTE, letter))
    await store.put('changing', variants[0] as Buffer)
    const writing = { round: 1 }
    const writer = (async () => {
      for (; writing.round <= 30; writing.round += 1)
        await store.put('changing', variants[writing.round % 2] as Buffer)
    })()
    let reads = 0
    for (; writing.round <= 30 || reads === 0; reads += 1) {
      const read = await bytesOf(await store.open('changing'))
      assert.ok(
        variants.some((variant) => variant.equals(read)),
        'neither the old nor the new',
      )
    }
    await writer
    assert.ok(reads > 1)
  })

  test(`${name}: many at once do not disturb one another`, async () => {
    const store = await open()
    const names = Array.from({ length: 40 }, (_, index) => `jobs/${index % 4}/${index}.json`)
    await Promise.all(names.map((blob) => store.put(blob, Buffer.from(blob))))
    await Promise.all(names.filter((_, index) => index % 2 === 0).map((blob) => store.delete(blob)))
    for (const [index, blob] of names.entries()) {
      const found = await store.open(blob)
      assert.equal(found && (await bytesOf(found)).toString(), index % 2 === 0 ? undefined : blob)
    }
  })

  test(`${name}: a blob whose folder is being emptied is put all the same`, async () => {
    const store = await open()
    await Promise.all(
      Array.from({ length: 4 }, async (_, writer) => {
        for (let round = 0; round < 15; round += 1) {
          const blob = `jobs/shared/${writer}.json`
          await store.put(blob, Buffer.from(String(round)))
          assert.equal((await bytesOf(await store.open(blob))).toString(), String(round))
          await store.delete(blob)
        }
      }),
    )
    assert.deepEqual(await store.list({ prefix: '', limit: 10 }), [])
  })

  test(`${name}: a name that leads elsewhere is refused by every method`, async () => {
    const store = await open()
    for (const hostile of HOSTILE_NAMES) {
      await assert.rejects(store.put(hostile, Buffer.from('x')), TypeError, JSON.stringify(hostile))
      await assert.rejects(store.open(hostile), TypeError)
      await assert.rejects(store.delete(hostile), TypeError)
      await assert.rejects(store.list({ prefix: '', after: hostile, limit: 1 }), TypeError)
    }
    await assert.rejects(store.list({ prefix: 'a\0', limit: 1 }), TypeError)
    await assert.rejects(store.list({ prefix: '', limit: -1 }), RangeError)
    assert.deepEqual(await store.list({ prefix: '', limit: 10 }), [])
  })

  test(`${name}: after any history it holds what a map would hold`, async () => {
    const step = fc.record({
      blob: fc.constantFrom(...names),
      bytes: fc.option(fc.uint8Array({ maxLength: 64 }), { nil: undefined }),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 25 }),
        fc.constantFrom('', ...names.map((blob) => blob.slice(0, 11))),
        fc.option(fc.constantFrom(...names), { nil: undefined }),
        fc.integer({ min: 0, max: 8 }),
        async (steps, prefix, after, limit) => {
          const store = await open()
          const model = new Map<string, Uint8Array>()
          for (const { blob, bytes } of steps) {
            if (bytes) await store.put(blob, bytes)
            else await store.delete(blob)
            if (bytes) model.set(blob, bytes)
            else model.delete(blob)
          }
          const expected = [...model.keys()].filter((blob) => blob.startsWith(prefix) && blob > (after ?? ''))
          const listed = await store.list({ prefix, after, limit })
          assert.deepEqual(
            listed.map((blob) => [blob.name, blob.size]),
            expected
              .toSorted()
              .slice(0, limit)
              .map((blob) => [blob, model.get(blob)?.length]),
          )
          for (const [blob, bytes] of model)
            assert.deepEqual([...(await bytesOf(await store.open(blob)))], [...bytes])
        },
      ),
      runs(histories),
    )
  })
}
