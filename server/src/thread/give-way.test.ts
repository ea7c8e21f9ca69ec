import assert from 'node:assert/strict'
import { once } from 'node:events'
import { constants, getPriority } from 'node:os'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'

const MODULE = new URL('give-way.ts', import.meta.url)

test(
  'a thread that gives way does so alone: the threads that answer callers keep their place',
  {
    skip: process.platform === 'linux' ? false : 'Linux alone gives each thread a priority',
  },
  async () => {
    const before = getPriority(0)
    const source = `
    const { parentPort } = require('node:worker_threads')
    const { getPriority } = require('node:os')
    import('${MODULE.href}').then(({ giveWay }) => {
      giveWay()
      parentPort.postMessage(getPriority(0))
    })`
    const worker = new Worker(source, { eval: true })
    const [ofThread] = (await once(worker, 'message')) as [number]
    await worker.terminate()
    assert.equal(ofThread, Math.max(before, constants.priority.PRIORITY_BELOW_NORMAL))
    assert.equal(getPriority(0), before)
  },
)
