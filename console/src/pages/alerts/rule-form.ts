/** A rule while it is edited, and as it is sent. Pure, tested. */
import type { Schema } from '../../api/client.ts'
import type { AlertKind, Channel, Rule } from '../../api/queries/alerts.ts'
import { EACH_PROJECT, inOrder, numbersOf, type Quiet } from './texts.ts'

/** What a rule of each kind has, and begins with. */
export type KindFields = Schema<'AlertKindFields'>
export type RuleList = Schema<'AlertRuleList'>
export type ConditionField = KindFields['fields'][number]

export interface RuleForm {
  readonly name: string
  readonly kind: AlertKind
  /** As typed where it is a list. Null: empty. */
  readonly condition: Readonly<Record<string, string | number | null>>
  readonly scope: 'installation' | 'each' | 'project'
  readonly project: string
  readonly channels: readonly string[]
  readonly quiet: 'none' | 'daily' | 'days'
  readonly days: readonly number[]
  readonly from: string
  readonly to: string
  readonly zone: string
}

/** Of a part of the form. */
export interface FieldsProps {
  readonly form: RuleForm
  readonly set: (next: Partial<RuleForm>) => void
}

const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7]
const WEEKEND = [6, 7]
const ALL_DAY = { from: '00:00', to: '24:00' }
const NIGHT = { from: '22:00', to: '07:00' }

export function isList({ initial }: ConditionField): boolean {
  return Array.isArray(initial)
}

/** A list is shown as it is typed. */
function shown(value: number | readonly number[]): string | number {
  return typeof value === 'number' ? value : value.join(', ')
}

/** Of a new rule of a kind. Budgets are those of projects. */
export function formOfKind({ kind, fields }: KindFields): Pick<RuleForm, 'kind' | 'condition' | 'scope'> {
  return {
    kind,
    condition: Object.fromEntries(fields.map(({ field, initial }) => [field, shown(initial)])),
    scope: kind === 'budget' ? 'each' : 'installation',
  }
}

/** Kinds without a rule: each can be set up. */
export function missingKinds({ kinds, data }: RuleList): readonly KindFields[] {
  return kinds.filter(({ kind }) => data.every((rule) => rule.kind !== kind))
}

/** A rule as it would be if it was set up as offered. */
export function ruleOfKind(of: KindFields): Rule {
  const { kind, scope } = formOfKind(of)
  return {
    id: `kind.${kind}`,
    name: '',
    on: false,
    kind,
    condition: Object.fromEntries(of.fields.map(({ field, initial }) => [field, initial])),
    scope: scopeOf({ scope, project: '' }),
    channels: [],
    quiet: null,
    last_at: null,
    managed_by: 'store',
    managed_at: null,
  }
}

/** Where there is one channel, it is the one. */
export function newForm(
  of: KindFields,
  channels: readonly Pick<Channel, 'id'>[],
  project: string | undefined,
): RuleForm {
  return {
    name: '',
    ...formOfKind(of),
    ...(project !== undefined && of.projects && { scope: 'project' }),
    project: project ?? '',
    channels: channels.length === 1 ? channels.map(({ id }) => id) : [],
    quiet: 'none',
    days: EVERY_DAY,
    ...NIGHT,
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  }
}

export function formOf(rule: Rule, of: KindFields): RuleForm {
  const project = 'installation' in rule.scope ? '' : rule.scope.project
  const { quiet } = rule
  const isWhole = quiet !== null && isAllDay(quiet)
  return {
    ...newForm(of, [], undefined),
    name: rule.name,
    condition: Object.fromEntries(
      of.fields.map(({ field, initial }) => [field, shown(rule.condition[field] ?? initial)]),
    ),
    scope: 'installation' in rule.scope ? 'installation' : project === EACH_PROJECT ? 'each' : 'project',
    project: project === EACH_PROJECT ? '' : project,
    channels: rule.channels,
    quiet: quiet === null ? 'none' : isWhole ? 'days' : 'daily',
    ...(quiet !== null && { days: quiet.days, zone: quiet.zone }),
    ...(quiet !== null && !isWhole && { from: quiet.from, to: quiet.to }),
  }
}

function isAllDay({ from, to }: Pick<Quiet, 'from' | 'to'>): boolean {
  return from === ALL_DAY.from && to === ALL_DAY.to
}

/** Other quiet hours: a weekend is what whole days usually are. */
export function withQuiet(form: RuleForm, quiet: RuleForm['quiet']): RuleForm {
  return { ...form, quiet, days: quiet === 'days' ? WEEKEND : EVERY_DAY }
}

/** The condition as it is sent, or the field that is no number, or no list of numbers. */
export function conditionOf(
  typed: RuleForm['condition'],
  fields: readonly ConditionField[],
): { readonly condition: Rule['condition'] } | { readonly wrong: string } {
  const condition: Rule['condition'] = {}
  for (const one of fields) {
    const value = typed[one.field] ?? null
    const read = isList(one) ? numbersOf(String(value ?? '')) : value
    if (read === undefined || read === null || typeof read === 'string') return { wrong: one.field }
    condition[one.field] = typeof read === 'number' ? read : [...read]
  }
  return { condition }
}

export function scopeOf({ scope, project }: Pick<RuleForm, 'scope' | 'project'>): Rule['scope'] {
  return scope === 'installation'
    ? { installation: true }
    : { project: scope === 'each' ? EACH_PROJECT : project }
}

export function quietFormOf({ quiet, days, from, to, zone }: RuleForm): Quiet | null {
  if (quiet === 'none') return null
  return { days: inOrder(days), ...(quiet === 'days' ? ALL_DAY : { from, to }), zone }
}
