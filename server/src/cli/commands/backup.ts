/** `torana backup <file>`: everything that is kept, in one file. */
import { createWriteStream, existsSync, rmSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { LEDGER_TABLE, type TableReport } from '#ports/backup.ts'
import type { ControlClient } from '../client/control-client.ts'
import { CommandProblem } from '../client/command-problem.ts'
import { command, type Shown } from '../command/command.ts'
import { working } from '../command/progress.ts'

interface Tables {
  readonly tables: readonly TableReport[]
  readonly pictures: number
}

/** A large ledger with pictures. */
const BACKUP_MS = 60 * 60_000

export const backup = command({
  name: 'backup',
  summary: 'write everything that is kept into one file',
  arguments: [{ name: '<file>', says: 'the file to make, such as torana-2026-11-16.gz' }],
  options: { pictures: { says: 'with the images of ASSETS_URL' } },
  reach: 'node',
  more: 'All tables as they were at one moment: keys (their digests), projects, budgets, ledger, requests, audit log, people. It reads the database of DATABASE_URL itself; where a node has the database inside it, and with --url, the node makes the file. The file does not hold TORANA_SECRET: keep that elsewhere, for without it stored keys and credentials can not be read.',
  examples: ['torana backup torana.gz', 'torana backup torana.gz --pictures'],
  async run({ given: [path = ''], flag, isElsewhere, control, out }) {
    if (existsSync(path)) throw new CommandProblem(`${path} exists already. Name a file that does not.`)
    const pictures = flag('pictures')
    const made = isElsewhere ? fromNode(control, path, pictures) : here(control, path, pictures)
    return shownBackup(path, await working('writing the backup', made, out), 'written')
  },
})

async function here(control: ControlClient, path: string, pictures: boolean): Promise<Tables> {
  const { settingsHere, asCommandProblem } = await import('../offline/offline.ts')
  const { FolderInUse } = await import('#stores/postgres/pglite.ts')
  const { backUp } = await import('../offline/backup.ts')
  try {
    return await asCommandProblem(backUp(settingsHere(), path, pictures))
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error
    return fromNode(control, path, pictures)
  }
}

async function fromNode(control: ControlClient, path: string, pictures: boolean): Promise<Tables> {
  const { checkBackupFile } = await import('#stores/backup-file.ts')
  const answer = await control.open('POST', '/backup', { pictures }, BACKUP_MS)
  try {
    await pipeline(
      Readable.fromWeb(answer.body ?? new ReadableStream()),
      createWriteStream(path, { flags: 'wx', mode: 0o600 }),
    )
    const { tables, blobs } = await checkBackupFile(path)
    return { tables, pictures: blobs }
  } catch (error) {
    rmSync(path, { force: true })
    throw new CommandProblem(`The node did not send a whole backup: ${(error as Error).message}`)
  }
}

export function shownBackup(path: string, found: Tables, done: 'written' | 'restored'): Shown {
  const { tables, pictures } = found
  const rows = tables.reduce((sum, one) => sum + one.rows, 0)
  const ledger = tables.find(({ table }) => table === LEDGER_TABLE)
  const counts = `${tables.length} tables, ${rows} rows, ${pictures} files of the image store`
  return {
    data: { file: path, rows, ledger, ...found },
    text: `${path} is ${done}: ${counts}.\nLedger: ${ledger?.rows ?? 0} entries, sha256 ${ledger?.sha256 ?? '-'}\n${elsewhere(ledger)}`,
  }
}

function elsewhere(ledger: TableReport | undefined): string {
  const day = ledger?.inFilesBefore
  return day === undefined
    ? ''
    : `Entries of days before ${day} are not in it: they are the files under ledger/ in the bucket of ASSETS_URL. It has their manifests and sums.\n`
}
