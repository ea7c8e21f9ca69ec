/** The kinds of alerts: what each of them watches, its condition, and the scopes in which it makes sense. */

/** `drift`: vectors of another space. */
export type AlertSeverity = 'critical' | 'drift' | 'warning'

/** Values of a condition, by field. A list holds marks, each of which is reported once. */
export type Condition = Readonly<Record<string, number | readonly number[]>>

/** `*`: each project separately. */
export type AlertScope = { readonly installation: true } | { readonly project: string }

interface ConditionField {
  readonly initial: number | readonly number[]
  readonly min: number
  readonly max: number
}

interface KindEntry {
  readonly name: string
  /** Whether a rule can watch one project, or each of them. */
  readonly hasProjects: boolean
  readonly fields: Readonly<Record<string, ConditionField>>
  /** A condition in short: `{percent%}` is each of its values with the sign. */
  readonly short: string
  /** A condition on the page of the docs: `{percent}` is the field with its initial value. */
  readonly long: string
  /** What an incident of it is about, on the page of the docs. */
  readonly subject: string
}

/** Marks of one rule: more would be a notice every other day. */
const MAX_MARKS = 10

/** A single failure of a quiet minute is no rate. */
const REQUESTS: ConditionField = { initial: 20, min: 1, max: 1_000_000 }

/** In the order in which they are offered. */
const KINDS = {
  budget: {
    name: 'Budget reached',
    hasProjects: true,
    fields: { percent: { initial: [80, 100], min: 1, max: 1000 } },
    short: '{percent%}',
    long: '{percent} of a budget of a project or key',
    subject: 'a project',
  },
  ejected: {
    name: 'Deployment ejected',
    hasProjects: false,
    fields: { minutes: { initial: 1, min: 0, max: 1440 } },
    short: 'for more than {minutes} min',
    long: '{minutes} without a deployment, or its key is rejected',
    subject: 'an upstream',
  },
  space: {
    name: 'Space check failed',
    hasProjects: false,
    fields: {},
    short: 'immediately',
    long: 'at once, when the space guard removes a deployment',
    subject: 'an upstream',
  },
  error_rate: {
    name: 'Error rate',
    hasProjects: true,
    fields: {
      percent: { initial: 5, min: 0.1, max: 100 },
      minutes: { initial: 5, min: 1, max: 60 },
      requests: REQUESTS,
    },
    short: 'over {percent%} for {minutes} min',
    long: '{percent} of at least {requests} within {minutes}',
    subject: 'installation or project',
  },
  latency: {
    name: 'Latency',
    hasProjects: true,
    fields: {
      p95_ms: { initial: 2000, min: 1, max: 600_000 },
      minutes: { initial: 10, min: 1, max: 60 },
      requests: REQUESTS,
    },
    short: 'p95 over {p95_ms} ms for {minutes} min',
    long: '{p95_ms} of at least {requests} within {minutes}',
    subject: 'installation or project',
  },
  unknowns: {
    name: 'Unknowns waiting',
    hasProjects: false,
    fields: { hours: { initial: 24, min: 0, max: 168 } },
    short: 'older than {hours} h',
    long: '{hours} without a decision about a call with an unknown outcome',
    subject: 'installation',
  },
  spool: {
    name: 'Spool growing',
    hasProjects: false,
    fields: {
      entries: { initial: 1000, min: 1, max: 100_000_000 },
      minutes: { initial: 5, min: 0, max: 1440 },
    },
    short: 'over {entries} entries for {minutes} min',
    long: '{entries} usage records on disk for {minutes}',
    subject: 'installation',
  },
  certificate: {
    name: 'Certificate expiring',
    hasProjects: false,
    fields: { days: { initial: 21, min: 1, max: 90 } },
    short: '{days} days before',
    long: '{days} before the certificate of a node ends',
    subject: 'installation',
  },
  node_down: {
    name: 'Node down',
    hasProjects: false,
    fields: { minutes: { initial: 1, min: 1, max: 1440 } },
    short: 'for more than {minutes} min',
    long: '{minutes} without a heartbeat',
    subject: 'a machine',
  },
  ledger_stalled: {
    name: 'Ledger stalled',
    hasProjects: false,
    fields: { hours: { initial: 2, min: 2, max: 168 } },
    short: 'for more than {hours} h',
    long: '{hours} without an hour of the ledger compared or sealed that is due',
    subject: 'installation',
  },
} as const satisfies Readonly<Record<string, KindEntry>>

export type AlertKind = keyof typeof KINDS
export const KIND_TABLE: Readonly<Record<AlertKind, KindEntry>> = KINDS
export const ALERT_KINDS = Object.keys(KINDS) as readonly AlertKind[]

export function initialCondition(kind: AlertKind): Condition {
  const fields = Object.entries(KIND_TABLE[kind].fields)
  return Object.fromEntries(fields.map(([field, { initial }]) => [field, initial]))
}

/** `p95_ms` of a condition is `p95Ms` in torana.yaml. */
export function fieldInFile(field: string): string {
  return field.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

export function fieldOfFile(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The condition with the values that were left out, or its problem. */
export function readCondition(
  kind: AlertKind,
  given: Readonly<Record<string, unknown>>,
): { readonly condition: Condition } | { readonly field: string; readonly problem: string } {
  const { fields } = KIND_TABLE[kind]
  const condition: Record<string, number | readonly number[]> = { ...initialCondition(kind) }
  for (const [field, value] of Object.entries(given)) {
    const known = fields[field]
    if (known === undefined) {
      const names = Object.keys(fields).join(', ') || 'no fields'
      return { field, problem: `a condition of ${kind} has ${names}` }
    }
    const isList = Array.isArray(known.initial)
    const values: readonly unknown[] = isList && Array.isArray(value) ? value : [value]
    const isFit = (one: unknown): one is number =>
      typeof one === 'number' && one >= known.min && one <= known.max
    if (values.length === 0 || values.length > MAX_MARKS || !values.every(isFit)) {
      const what = isList ? `1 to ${MAX_MARKS} numbers` : 'a number'
      return { field, problem: `expected ${what} from ${known.min} to ${known.max}` }
    }
    condition[field] = isList ? [...new Set(values)] : (values[0] ?? 0)
  }
  return { condition }
}

/** A single value of a condition. */
export function valueOf(condition: Condition, field: string): number {
  const value = condition[field]
  return typeof value === 'number' ? value : 0
}

/** The marks of a condition. */
export function marksOf(condition: Condition, field: string): readonly number[] {
  const value = condition[field]
  return typeof value === 'object' ? value : []
}

export function conditionText(kind: AlertKind, condition: Condition): string {
  return KIND_TABLE[kind].short.replaceAll(/\{(\w+)(%?)\}/g, (_, field: string, sign: string) =>
    [condition[field] ?? 0]
      .flat()
      .map((value) => `${value}${sign}`)
      .join(', '),
  )
}

/** Undefined: the scope fits the kind. */
export function scopeProblem(kind: AlertKind, scope: AlertScope): string | undefined {
  if ('installation' in scope || KIND_TABLE[kind].hasProjects) return undefined
  return `${kind} concerns the whole installation: use {"installation": true}`
}
