/** `torana projects …`: the projects of the running node. */
import { CommandProblem } from '../client/command-problem.ts'
import { command, group, Misuse } from '../command/command.ts'
import type { ControlClient } from '../client/control-client.ts'
import { tableOf, type Columns } from './columns.ts'
import { listCommand } from './list-command.ts'
import { budgetText, limitsText, TERMS_OPTIONS, termsIn, type BudgetBody, type LimitsBody } from './terms.ts'

interface ProjectBody {
  readonly limits: LimitsBody
  readonly budget: BudgetBody | null
}

const PROJECT = { name: '<project>', says: 'the name of a project' }

const COLUMNS: Columns<ProjectBody> = {
  project: 'name',
  'managed by': 'managed_by',
  limits: ({ limits }) => limitsText(limits),
  budget: ({ budget }) => budgetText(budget),
}

const list = listCommand({
  summary: 'list all projects, including those of torana.yaml',
  path: '/projects',
  paging: { perPage: 1000, field: 'name' },
  columns: COLUMNS,
})

const set = command({
  name: 'set',
  summary: 'change limits and budget of a project, or create it; other settings stay',
  arguments: [PROJECT],
  options: TERMS_OPTIONS,
  reach: 'node',
  examples: ['torana projects set search --budget 200 --per month --hard --requests-per-minute 600'],
  async run(call) {
    const [name = ''] = call.given
    const change = termsIn(call)
    if (Object.keys(change).length === 0) throw new Misuse('Name at least one setting to change.')
    const project = await setOrCreate(call.control, name, change)
    return { data: project, text: tableOf(COLUMNS, [project]) }
  },
})

const remove = command({
  name: 'delete',
  summary: 'revoke all keys of a project and delete its data',
  arguments: [PROJECT],
  options: { yes: { says: 'do it: nothing brings the data back' } },
  reach: 'node',
  async run({ control, given: [name = ''], flag }) {
    if (!flag('yes'))
      throw new Misuse(`this revokes all keys of ${name} and deletes its data for ever. Add --yes to do it.`)
    await control.ask('DELETE', `/projects/${encodeURIComponent(name)}`)
    return { data: { name, deleted: true }, note: `${name} is deleted, and its keys are revoked.` }
  },
})

export const projects = group({
  name: 'projects',
  summary: 'list, change and delete projects',
  subcommands: [list, set, remove],
})

async function setOrCreate(
  control: ControlClient,
  name: string,
  change: Record<string, unknown>,
): Promise<ProjectBody> {
  try {
    return await control.ask('PATCH', `/projects/${encodeURIComponent(name)}`, change)
  } catch (error) {
    if (!(error instanceof CommandProblem) || error.status !== 404) throw error
    return control.ask('POST', '/projects', { name, ...change })
  }
}
