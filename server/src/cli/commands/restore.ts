/** `torana restore <file>`: makes an empty database of a backup. */
import { CommandProblem } from '../client/command-problem.ts'
import { command } from '../command/command.ts'
import { bar } from '../command/progress.ts'
import { shownBackup } from './backup.ts'

const OTHER_SECRET =
  'No node can read the stored keys with the TORANA_SECRET that is set here: start nodes with the secret of the backup. Without DATABASE_URL it stands in the file `secret` of the data folder.'

/** Problems that are shown. `--json` has all; they need the same action. */
const MAX_SHOWN = 20

export const restore = command({
  name: 'restore',
  summary: 'fill an empty database from a backup',
  arguments: [{ name: '<file>', says: 'what torana backup has written' }],
  reach: 'none',
  more: 'It fills the database of DATABASE_URL, or the one in the data folder if that is unset, and checks every table against the backup. A database with rows is refused. All or nothing is restored. Images that are in the file go to ASSETS_URL. Where days of the ledger were dropped, it warns of each whose files are not in ASSETS_URL as the backup knows them. No node may run on the database meanwhile.',
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
      const { hasSecret, droppedDays: { checked, problems } = { checked: 0, problems: [] } } = restored
      const shown = shownBackup(path, restored, 'restored')
      const notes = [
        ...(hasSecret === false ? [OTHER_SECRET] : []),
        ...(problems.length > 0 ? missingDays(problems) : []),
      ]
      if (notes.length > 0) return { ...shown, note: notes.join('\n') }
      return checked > 0
        ? { ...shown, text: `${shown.text}The files of ${checked} dropped days are there.\n` }
        : shown
    } catch (error) {
      if (error instanceof FolderInUse) throw new CommandProblem(error.message)
      throw error
    }
  },
})

function missingDays(problems: readonly string[]): readonly string[] {
  const more = problems.length - MAX_SHOWN
  return [
    'The database is restored, but dropped days of its ledger are not in ASSETS_URL as the backup knows them:',
    ...problems.slice(0, MAX_SHOWN).map((problem) => `  ${problem}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
    'Copy ledger/ of its bucket there, then run torana doctor --hours all.',
  ]
}
