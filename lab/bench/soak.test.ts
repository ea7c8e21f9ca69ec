/** The judge of the soak finds what is planted: a judge that finds nothing must have looked. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { judgeCalls, judgePurchases, type Row } from './soak/ledger.ts'
import { coloursOf, drawing, motifIn, motifText, pictureOf } from '../fake-provider/players/soak/oracle.ts'
import type { RecordedCall } from '../fake-provider/players/soak/calls.ts'

const served: RecordedCall = { callId: 'c', fault: 'none', served: true, tokens: 10 }
const posted: Row = {
  call_id: 'c',
  share: 'r/0',
  kind: 'post',
  model: 'plain',
  usage: 'upstream',
  tokens: '10',
  images: 0,
  amount_nano: '1300',
}

function found(recorded: readonly RecordedCall[], rows: readonly Row[]): string[] {
  return [
    ...judgeCalls(
      recorded,
      Map.groupBy(rows, ({ call_id: callId }) => callId),
    ),
  ]
}

test('a ledger that equals the upstream’s records is right', () => {
  const shares = [
    { ...posted, tokens: '4', amount_nano: '520' },
    { ...posted, share: 's/0', tokens: '6', amount_nano: '780' },
  ]
  const cached = { ...posted, call_id: 'none', tokens: '0', amount_nano: '0' }
  assert.deepEqual(found([served], [{ ...posted, kind: 'intent', amount_nano: null }, posted, cached]), [])
  assert.deepEqual(found([served], shares), [])
  assert.deepEqual(found([{ ...served, fault: 'cut' }], [{ ...posted, kind: 'unknown' }]), [])
  assert.deepEqual(found([{ ...served, fault: 'limited', served: false }], []), [])
})

const planted: Readonly<Record<string, readonly [RecordedCall, readonly Row[], RegExp]>> = {
  'a call that is not in the ledger': [served, [], /not in the ledger/],
  'a call that was given back though it was served': [served, [{ ...posted, kind: 'void' }], /says void/],
  'a call that is open for ever': [
    { ...served, served: false },
    [{ ...posted, kind: 'intent' }],
    /left open/,
  ],
  'an answer that arrived and is unknown': [served, [{ ...posted, kind: 'unknown' }], /was answered/],
  'a row for a call that never was': [
    { ...served, served: false, fault: 'failed' },
    [posted],
    /never served/,
  ],
  'a call that counts twice': [served, [posted, { ...posted, share: 's/0' }], /20 tokens for 10/],
  'a share that counts twice': [served, [posted, { ...posted, kind: 'unknown' }], /more than once/],
  'other tokens': [served, [{ ...posted, tokens: '9' }], /9 tokens for 10/],
  'another price': [served, [{ ...posted, amount_nano: '1299' }], /1299 nano-dollars for 1300/],
  'a guess where the upstream counted': [served, [{ ...posted, usage: 'estimated' }], /not the upstream/],
}

for (const [name, [entry, rows, words]] of Object.entries(planted)) {
  test(`${name} is found`, () => assert.match(found([entry], rows).join('\n'), words))
}

test('a picture that was bought twice, and one that shows another motif, are found', () => {
  const motif = motifText({ prompt: 'p', callId: 'c', index: 0, given: [] })
  const call: RecordedCall = { callId: 'c', fault: 'none', served: true, prompt: 'p', motifs: [motif] }
  const judge = (recorded: readonly RecordedCall[], colours: Uint8Array): string[] => [
    ...judgePurchases(recorded, { callsAllowed: new Map([['p', 1]]), converted: [{ prompt: 'p', colours }] }),
  ]
  assert.deepEqual(judge([call], coloursOf(motif)), [])
  assert.match(
    judge([call, { ...call, callId: 'd' }], coloursOf(motif)).join(),
    /2 calls bought instead of 1/,
  )
  assert.match(judge([call], coloursOf('another')).join(), /another picture after a conversion/)
})

test('a picture says what it shows', () => {
  assert.equal(motifIn(pictureOf('a motif of its own')), 'a motif of its own')
  assert.notDeepEqual(pictureOf('one'), pictureOf('another'))
  assert.notDeepEqual(drawing('one'), drawing('two'))
})

test('the judge and its upstreams share no code with the server', () => {
  const files = globSync(['{soak.ts,soak/*.ts}', '../fake-provider/players/soak/*.ts'], {
    cwd: import.meta.dirname,
  })
  assert.ok(files.length > 8)
  for (const file of files)
    assert.doesNotMatch(
      readFileSync(join(import.meta.dirname, file), 'utf8'),
      /from '(#|[./]*server\/)/,
      file,
    )
})
