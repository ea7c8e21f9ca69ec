/** `torana migrate`: brings the tables of the database up to date, as the start of a node does. */
import { CommandProblem } from '../client/command-problem.ts'
import { command } from '../command/command.ts'

export const migrate = command({
  name: 'migrate',
  summary: 'bring the tables of the database up to date, and say what was done',
  reach: 'none',
  more: 'Every start of a node does the same. Where nodes must not change tables, run this first, as another role or in a deployment step. Migrations only add, so nodes on the previous version keep working.',
  async run() {
    const { settingsHere, asCommandProblem } = await import('../offline/offline.ts')
    const { FolderInUse } = await import('#stores/postgres/pglite.ts')
    const { migrateDatabase } = await import('../offline/backup.ts')
    try {
      const report = await asCommandProblem(migrateDatabase(settingsHere()))
      const { applied, unknown } = report
      const lines =
        applied.length === 0 ? ['The tables are up to date.'] : applied.map((name) => `applied ${name}`)
      if (unknown.length > 0)
        lines.push(`A newer version has applied ${unknown.join(', ')}. This version works on.`)
      return { data: report, text: `${lines.join('\n')}\n` }
    } catch (error) {
      if (error instanceof FolderInUse) throw new CommandProblem(error.message)
      throw error
    }
  },
})
