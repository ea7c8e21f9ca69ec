/** `torana alerts …`: incidents, and tests of the channels that hear of them. */
import { conditionText, type AlertKind, type Condition } from '#core/alerts/kind.ts'
import { command, group } from '../command/command.ts'
import { CommandProblem } from '../client/command-problem.ts'
import { dayText } from './columns.ts'
import { listCommand } from './list-command.ts'

interface IncidentBody {
  readonly scope: { readonly project?: string }
  readonly grouped: number
}

interface RuleBody {
  readonly name: string
  readonly kind: AlertKind
  readonly condition: Condition
  readonly scope: { readonly project?: string }
  readonly on: boolean
}

interface ChannelBody {
  readonly id: string
  readonly name: string
  readonly failing_since: string | null
}

interface Delivery {
  readonly ok: boolean
  readonly ms: number
  readonly problem: string | null
}

const scopeOf = ({ scope }: { readonly scope: { readonly project?: string } }): string =>
  scope.project === undefined ? 'installation' : scope.project === '*' ? 'each project' : scope.project

const list = listCommand({
  summary: 'list incidents, those that are open first',
  path: '/alerts/incidents',
  paging: { perPage: 100 },
  options: {
    state: { takes: '<open|resolved>', says: 'only those (both)' },
    limit: { takes: '<n>', says: 'at most this many' },
  },
  columns: {
    incident: 'title',
    severity: 'severity',
    scope: (incident: IncidentBody) => scopeOf(incident),
    started: 'started_at',
    resolved: 'ended_at',
    grouped: ({ grouped }: IncidentBody) => (grouped > 1 ? String(grouped) : ''),
  },
  none: 'There are no incidents.',
})

const rules = listCommand({
  name: 'rules',
  summary: 'list the rules that start incidents',
  path: '/alerts/rules',
  columns: {
    rule: ({ name, kind }: RuleBody) => name || kind,
    kind: 'kind',
    condition: ({ kind, condition }: RuleBody) => conditionText(kind, condition),
    scope: (rule: RuleBody) => scopeOf(rule),
    state: ({ on }: RuleBody) => (on ? 'on' : 'off'),
    'last triggered': 'last_at',
  },
  none: 'There are no alert rules. Make one in the console, or in torana.yaml.',
})

const channels = listCommand({
  name: 'channels',
  summary: 'list the channels that notices go to',
  path: '/alerts/channels',
  columns: {
    channel: 'name',
    kind: 'kind',
    'leads to': 'masked',
    queued: 'queued',
    'failing since': ({ failing_since: since }: ChannelBody) => dayText(since),
  },
  none: 'There are no alert channels. Make one in the console, or in torana.yaml.',
})

const test = command({
  name: 'test',
  summary: 'send a test to a channel',
  arguments: [{ name: '<channel>', says: 'the name of a channel' }],
  reach: 'node',
  examples: ['torana alerts test torana-ops'],
  async run({ control, given: [name = ''] }) {
    const { data: known } = await control.ask<{ readonly data: readonly ChannelBody[] }>(
      'GET',
      '/alerts/channels',
    )
    const found = known.find((one) => one.name === name)
    if (found === undefined)
      throw new CommandProblem(`There is no alert channel ${name}. \`torana alerts channels\` lists them.`)
    const path = `/alerts/channels/${encodeURIComponent(found.id)}/test`
    const data = await control.ask<Delivery>('POST', path)
    const note = data.ok
      ? `The test arrived after ${data.ms} ms.`
      : `The test did not arrive: ${data.problem ?? 'no reason is known'}.`
    return { data, note, exitCode: data.ok ? 0 : 1 }
  },
})

export const alerts = group({
  name: 'alerts',
  summary: 'list incidents, rules and channels, and test a channel',
  subcommands: [list, rules, channels, test],
})
