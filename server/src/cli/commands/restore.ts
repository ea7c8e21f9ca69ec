/** `torana restore <file>`: makes an empty database of a backup. */
import { CommandProblem } from '../client/command-problem.ts'
import { command } from '../command/command.ts'
import { bar } from '../command/progress.ts'
import { shownBackup } from './backup.ts'

const OTHER_SECRET =
  'No node can read the stored keys with the TORANA_SECRET that is set here: start nodes with the secret of the backup. Without DATABASE_URL it stands in the file `secret` of the data folder.'

export const restore = command({
  name: 'restore',
  summary: 'fill an empty database from a backup',
  arguments: [{ name: '<file>', says: 'what torana backup has written' }],
  reach: 'none',
  more: 'It fills the database of DATABASE_URL, or the one in the data folder if that is unset, and checks every table against the backup. A database with rows is refused. All or nothing is restored. Images that are in the file go to ASSETS_URL. No node may run on the database meanwhile.',
  examples: ['DATABASE_URL=postgres://torana@db/torana torana restore torana.gz'],
  async run({ given: [path = ''], out }) {
    const { settingsHere, asCommandProblem } = await import('../offline/offline.ts')
    const { FolderInUse } = await import('#stores/postgres/pglite.ts')
    const { restore: restoreFrom } = await import('../offline/backup.ts')
    const settings = settingsHere()
    let step: ((done: number) => void) | undefined
    const onProgress = (done: number, total: number): void => (step ??= bar('restoring', total, out))(done)
    try {
      const restored = await asCommandProblem(
        restoreFrom(settings, path, { secret: settings.secret, onProgress }),
      )
      const shown = shownBackup(path, restored, 'restored')
      return restored.hasSecret === false ? { ...shown, note: OTHER_SECRET } : shown
    } catch (error) {
      if (error instanceof FolderInUse) throw new CommandProblem(error.message)
      throw error
    }
  },
})
