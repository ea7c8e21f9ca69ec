import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, test } from 'node:test'
import type { Settings } from '#core/settings.ts'
import type { AuditLog } from '#ports/audit.ts'
import type { TableReport, WriteLine } from '#ports/backup.ts'
import { StoreUnreachable } from '#ports/store.ts'
import { systemClock } from '#runtime/clock.ts'
import { uuidv7Identifiers } from '#runtime/identifiers.ts'
import { writeBackup } from '#stores/backup.ts'
import { writeBackupFile } from '#stores/backup-file.ts'
import { openFilesIn } from '#test/support/system.ts'
import { deleteOldBackups, makeBackup } from './open.ts'

const dataDir = await mkdtemp(join(tmpdir(), 'torana-backup-'))
after(() => rm(dataDir, { recursive: true }))
const actor = { kind: 'member', name: 'admin-token', address: undefined } as const

type AuditNews = Parameters<AuditLog['appendNews']>[0]

/** More than a stream takes at once, so that writing has to wait for the disk. */
const LINES = 500
const LINE = JSON.stringify(Array.from({ length: 200 }, (_, index) => `${index * 7919}`))

async function dumpLines(write: WriteLine): Promise<readonly TableReport[]> {
  for (let number = 0; number < LINES; number += 1) await write(LINE)
  return [{ table: 'projects', rows: LINES, sha256: '' }]
}

const made = (dump = dumpLines, appendNews: (news: AuditNews) => Promise<void> = async () => {}) =>
  makeBackup(
    {
      settings: { dataDir } as Settings,
      identifiers: uuidv7Identifiers(systemClock),
      audit: { appendNews } as AuditLog,
      writeBackup: (file) => writeBackup(file, dump, undefined),
    },
    { pictures: false, actor },
  )

/** Backups that this process has open, with a name or without. */
const openFiles = (): number => openFilesIn(join(dataDir, 'backup-')).length

const left = async (): Promise<string[]> =>
  (await readdir(dataDir)).filter((name) => name.startsWith('backup-'))
const away = async (): Promise<never> => {
  throw new StoreUnreachable('PostgreSQL: terminated')
}

test('a backup whose store fails half-way leaves no file, neither open nor on the disk', async () => {
  const failing = async (write: WriteLine): Promise<never> => {
    await dumpLines(write)
    return away()
  }
  for (let attempt = 0; attempt < 5; attempt += 1) await assert.rejects(made(failing), StoreUnreachable)
  assert.deepEqual([openFiles(), await left()], [0, []])
})

test('a full disk ends a backup with its own error', async () => {
  await using full = await open('/dev/full', 'w')
  const endless = writeBackupFile(full, async (line) => {
    for (;;) await line(randomBytes(20_000).toString('base64'))
  })
  await assert.rejects(endless, { code: 'ENOSPC' })
})

test('a backup that the audit does not take is none, and leaves no file', async () => {
  await assert.rejects(made(dumpLines, away), StoreUnreachable)
  assert.deepEqual([openFiles(), await left()], [0, []])
})

test('the digest in the audit is that of the bytes which the caller gets', async () => {
  const news: AuditNews[] = []
  const bytes = await buffer(await made(dumpLines, async (one) => void news.push(one)))
  assert.ok(bytes.length > 1000)
  assert.equal(news[0]?.detail.digest, createHash('sha256').update(bytes).digest('hex'))
  assert.deepEqual([openFiles(), await left()], [0, []])
})

test('a backup that is not read to its end leaves no file', async () => {
  const stream = await made()
  assert.equal(openFiles(), 1)
  await new Promise((closed) => stream.once('close', closed).destroy())
  assert.deepEqual([openFiles(), await left()], [0, []])
})

test('a start deletes what a killed backup left behind, and nothing else', async () => {
  await writeFile(join(dataDir, 'backup-01900000-0000-7000-8000-000000000000.tmp'), 'half')
  const others = ['backup-of-mine.gz', 'backup-01900000.tmp.gz', 'my-backup-1.tmp']
  for (const name of others) await writeFile(join(dataDir, name), 'whole')
  await deleteOldBackups(dataDir)
  assert.deepEqual(
    (await readdir(dataDir)).filter((name) => name.includes('backup-')).toSorted(),
    others.toSorted(),
  )
})
