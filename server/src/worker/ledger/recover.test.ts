import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { systemClock } from '#runtime/clock.ts'
import { FileSpool } from '#stores/spool/spool.ts'
import { testFolder } from '#test/support/disk.ts'
import { numbered } from '#test/support/entries.ts'
import { MemoryLedgerStore } from '#test/support/stores/ledger-store.ts'
import { recover } from './recover.ts'

const NODE = '01930000-0000-7000-8000-00000000000a'

test('a call whose end is in the spool of a dead node is never unknown in the ledger; one without an end is', async () => {
  const store = new MemoryLedgerStore(systemClock)
  await store.startNode({ id: NODE })
  const spool = new FileSpool(join(testFolder(), 'spool'))
  after(() => spool.close())
  await spool.append([numbered(1)])
  const calls = [1, 2].map((number) => numbered(number, { kind: 'unknown', tokens: undefined }))
  const dead = {
    nodeId: NODE,
    spool,
    openCalls: { calls, damagedLines: 0 },
    discard: () => {},
    release: () => assert.fail('recovered'),
  }
  const recovered = await recover([dead], store, { refused: () => assert.fail('refused') })
  assert.deepEqual(recovered, [{ nodeId: NODE, spooled: 1, openCalls: 2, damagedLines: 0 }])
  assert.deepEqual(
    store.entries().map(({ requestId, kind }) => [requestId, kind]),
    [
      [numbered(1).requestId, 'post'],
      [numbered(2).requestId, 'unknown'],
    ],
  )
})
