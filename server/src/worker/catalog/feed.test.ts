import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_FEEDS, type FeedState } from '#ports/catalog-feed.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { FeedInForce } from './feed.ts'

function aFeed() {
  const state = { stored: NO_FEEDS, failure: undefined as Error | undefined }
  const done: string[] = []
  const feed = new FeedInForce({
    store: {
      async state() {
        if (state.failure !== undefined) throw state.failure
        return state.stored
      },
      document: async (sequence) => (sequence === 99 ? undefined : `document ${sequence}`),
    },
    builtInSequence: 10,
    used: { sequence: 10, document: undefined },
    reload: async () => void done.push(`reload ${feed.used.sequence}`),
    keep: async ({ document = 'nothing' }) => void done.push(`keep ${document}`),
    log: { warn: (text) => void done.push(text), error: (text) => void done.push(text) },
  })
  const storedIs = (pinned: FeedState['pinned'], ...sequences: number[]): void => {
    const one = { madeOn: '', digest: '', keyId: '', source: '', by: '', atMs: 0 }
    state.stored = { feeds: sequences.map((sequence) => ({ ...one, sequence })), pinned }
  }
  return { feed, state, done, storedIs }
}

test('another catalogue is kept for the next start, and the configuration loaded with it, once', async () => {
  const { feed, done, storedIs } = aFeed()
  await feed.follow()
  storedIs(undefined, 12, 11)
  await feed.follow()
  await feed.follow()
  assert.deepEqual(done, ['keep document 12', 'reload 12'])
  storedIs('built-in', 12, 11)
  await feed.follow()
  assert.deepEqual(done.slice(2), ['keep nothing', 'reload 10'])
})

test('while the store is unreachable, or the document is gone, the last catalogue stays', async () => {
  const { feed, state, done, storedIs } = aFeed()
  state.failure = new StoreUnreachable('connection refused')
  await feed.follow()
  assert.deepEqual(done, ['the catalogue in force could not be read; the last one stays'])
  state.failure = undefined
  storedIs(undefined, 99)
  await feed.follow()
  assert.deepEqual([feed.used.sequence, done.length], [10, 1])
})
