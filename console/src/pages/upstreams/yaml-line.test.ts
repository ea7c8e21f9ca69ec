import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lineOf } from './yaml-line.ts'

const TEXT = `upstreams:
  hosted: { provider: siliconflow }
models:
  'BAAI/bge-m3':
    deployments:
      - upstream: gpu-one
      - { upstream: hosted, priority: 1 }
`

test('a path leads to its line; a step that is not there stops at the one before', () => {
  const lines = TEXT.split('\n')
  const at = (...path: readonly string[]) => lineOf(lines, path)
  assert.equal(at('upstreams', 'hosted'), 1)
  assert.equal(at('models', 'BAAI/bge-m3'), 3)
  assert.equal(at('models', 'BAAI/bge-m3', 'upstream: gpu-one'), 5)
  assert.equal(at('models', 'BAAI/bge-m3', 'upstream: hosted'), 6)
  assert.equal(at('models', 'unknown'), 2)
  assert.equal(at('unknown'), undefined)
})
