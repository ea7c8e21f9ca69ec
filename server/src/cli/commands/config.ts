/** `torana config …`: upstreams and models of the store, as one torana.yaml and as a history that can be taken back. */
import { command, group } from '../command/command.ts'
import { CommandProblem } from '../client/command-problem.ts'
import { dayText } from './columns.ts'
import { listCommand } from './list-command.ts'
import { LIMIT } from './query.ts'

interface Entry {
  readonly id: string | null
  readonly at: string
  readonly by: string
  readonly summary: string
  readonly revertible: boolean
}

const history = listCommand({
  name: 'history',
  summary: 'list changes of upstreams and models, newest first',
  options: { limit: LIMIT },
  examples: ['torana config history --limit 20'],
  path: '/configuration/changes',
  paging: { perPage: 200 },
  columns: {
    change: ({ id }: Entry) => id ?? '-',
    at: ({ at }) => dayText(at),
    by: 'by',
    what: 'summary',
    revertible: ({ revertible }) => (revertible ? 'yes' : 'no'),
  },
  none: 'Nothing was changed yet.',
})

const revert = command({
  name: 'revert',
  summary: 'take a change back',
  arguments: [{ name: '<change>', says: 'its number in `torana config history`' }],
  more: 'It is a change itself, so it can be taken back too. Torana refuses it when one of its objects changed since.',
  reach: 'node',
  async run({ control, given: [id = ''] }) {
    const path = `/configuration/changes/${encodeURIComponent(id)}/revert`
    const data = await control.ask<{ readonly id: string; readonly summary: string }>('POST', path)
    return { data, note: `Change ${id} is taken back, as change ${data.id}: ${data.summary}` }
  },
})

const exporting = command({
  name: 'export',
  summary: 'write one torana.yaml of the file in force and all that the store adds',
  options: { output: { takes: '<file>', short: 'o', says: 'the file to make; standard output by default' } },
  more: 'Upstreams, models, prices, projects and keys. Secrets are not in it: its head names a variable for each. A node that starts with the file, those variables and an empty database serves the same.',
  examples: ['torana config export > torana.yaml', 'torana config export --output torana.yaml'],
  reach: 'node',
  isPlain: true,
  async run({ control, text, out }) {
    const yaml = await (await control.open('GET', '/configuration/export')).text()
    const file = text('output')
    if (file === undefined) out.stdout.write(yaml)
    else await writeNew(file, yaml)
    return 0
  },
})

async function writeNew(file: string, yaml: string): Promise<void> {
  const { writeFileSync } = await import('node:fs')
  try {
    writeFileSync(file, yaml, { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new CommandProblem(`${file} exists already. Name a file that does not.`)
  }
}

export const config = group({
  name: 'config',
  summary: 'export the configuration, list its changes and take one back',
  bare: 'history',
  subcommands: [exporting, history, revert],
})
