import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DiffLine } from '../../api/queries/routing.ts'
import { foldedLines } from './folded-lines.ts'

/** The first character of each line is its operation. */
const linesOf = (text: string): readonly DiffLine[] =>
  text
    .split('\n')
    .map((line, at) => ({ op: line[0], number: at + 1, text: line.slice(1), source: null }) as DiffLine)

const shown = (text: string): readonly string[] =>
  foldedLines(linesOf(text)).map((one) =>
    'line' in one ? `${one.line.op}${one.line.text}` : `${' '.repeat(one.indent)}… ${one.hidden}`,
  )

test('a changed line keeps the keys it is inside of and the heads of its list; the rest is counted', () => {
  const text = ` upstreams:
   gpu-one:
     baseUrl: x
 models:
   bge-m3:
     aliases: [house]
     kind: embedding
     deployments:
       - upstream: hosted
         priority: 1
         weight: 2
       - upstream: gpu-one
-        weight: 50
+        weight: 70
         price: free
       - upstream: gpu-two
+        price: free
 projects:
   a: {}`
  assert.deepEqual(shown(text), [
    ' models:',
    '   bge-m3:',
    '    … 2',
    '     deployments:',
    '       - upstream: hosted',
    '        … 2',
    '       - upstream: gpu-one',
    '-        weight: 50',
    '+        weight: 70',
    '         price: free',
    '       - upstream: gpu-two',
    '+        price: free',
  ])
})

test('without changes nothing is shown', () => {
  assert.deepEqual(shown(' models:\n   a:'), [])
})
