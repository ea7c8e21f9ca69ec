/** `torana projects …`: the projects of the running node. */
import { CommandProblem } from './control-client.ts'
import type { Output } from './output.ts'
import { table } from './table.ts'
import {
  budgetText,
  limitsText,
  TERMS_OPTIONS,
  TERMS_TAKES,
  termsIn,
  type BudgetBody,
  type LimitsBody,
} from './terms.ts'
import { runVerb, type Call, type Verb } from './verbs.ts'

interface ProjectBody {
  readonly name: string
  readonly managed_by: string
  readonly limits: LimitsBody
  readonly budget: BudgetBody | null
}

const VERBS: Readonly<Record<string, Verb>> = {
  list: {
    takes: '[--json]',
    says: 'list all projects, including those of torana.yaml',
    target: 'none',
    options: { json: { type: 'boolean' } },
    async run({ control, flag, out }) {
      const projects = await control.list<ProjectBody>('/projects', ({ name }) => name)
      out.stdout.write(flag('json') ? `${JSON.stringify(projects, undefined, 2)}\n` : listing(projects))
    },
  },
  set: {
    takes: `<project> ${TERMS_TAKES}`,
    says: 'change limits and budget of a project, or create it; other settings stay',
    target: 'required',
    options: TERMS_OPTIONS,
    async run(call) {
      const change = termsIn(call)
      if (Object.keys(change).length === 0) throw new CommandProblem('Name at least one setting to change.')
      call.out.stdout.write(listing([await setOrCreate(call, change)]))
    },
  },
  delete: {
    takes: '<project> --yes',
    says: 'revoke all keys of a project and delete its data',
    target: 'required',
    options: { yes: { type: 'boolean' } },
    async run({ control, target, flag, out }) {
      if (!flag('yes'))
        throw new CommandProblem(
          `This revokes all keys of ${target} and deletes its data for ever. Add --yes to do it.`,
        )
      await control.ask('DELETE', `/projects/${encodeURIComponent(target)}`)
      out.stderr.write(`${target} is deleted, and its keys are revoked.\n`)
    },
  },
}

export function run(argv: string[], out: Output): Promise<number> {
  return runVerb('projects', VERBS, argv, out)
}

async function setOrCreate({ control, target }: Call, change: Record<string, unknown>): Promise<ProjectBody> {
  try {
    return await control.ask('PATCH', `/projects/${encodeURIComponent(target)}`, change)
  } catch (error) {
    if (!(error instanceof CommandProblem) || error.status !== 404) throw error
    return control.ask('POST', '/projects', { name: target, ...change })
  }
}

function listing(projects: readonly ProjectBody[]): string {
  const rows = projects.map(({ name, managed_by: managedBy, limits, budget }) => [
    name,
    managedBy,
    limitsText(limits),
    budgetText(budget),
  ])
  return table([['project', 'managed by', 'limits', 'budget'], ...rows])
}
