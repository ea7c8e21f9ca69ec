/** What the sheet of a key holds while it is filled in, and what becomes of it: a request, or a line of shell. */
import type { Schema } from '../../api/client.ts'
import {
  budgetFormOf,
  budgetOf,
  limitFormOf,
  limitsOf,
  type BudgetForm,
  type LimitForm,
} from '../../parts/terms/form.ts'
import { DAY_MS } from '../../time/day.ts'

type Key = Schema<'Key'>
type NewKey = Schema<'NewKeyInput'>
type KeyChange = Schema<'KeyChangeInput'>
export type Scope = NonNullable<Key['scopes']>[number]

export interface KeyForm extends LimitForm, BudgetForm {
  readonly project: string
  readonly name: string
  readonly models: readonly string[]
  /** `2027-02-13`; empty: never. */
  readonly ends: string
  readonly scopes: readonly Scope[]
  readonly calls: number | null
  readonly addresses: string
}

export const SPANS = { d30: 30, d90: 90, y1: 365, never: 0 } as const
export type Span = keyof typeof SPANS

export function endOf(span: Span, nowMs: number): string {
  return span === 'never' ? '' : new Date(nowMs + SPANS[span] * DAY_MS).toISOString().slice(0, 10)
}

export function spanOf(ends: string, nowMs: number): Span | undefined {
  return (Object.keys(SPANS) as Span[]).find((span) => endOf(span, nowMs) === ends)
}

export function newForm(project: string, nowMs: number): KeyForm {
  return {
    project,
    name: '',
    models: [],
    ...limitFormOf({}),
    ...budgetFormOf(null),
    ends: endOf('d90', nowMs),
    scopes: [],
    calls: null,
    addresses: '',
  }
}

export function formOf(key: Key): KeyForm {
  return {
    project: key.project,
    name: key.name,
    models: key.models ?? [],
    ...limitFormOf(key.limits),
    ...budgetFormOf(key.budget),
    ends: key.expires_at?.slice(0, 10) ?? '',
    scopes: key.scopes ?? [],
    calls: key.max_calls_at_once,
    addresses: (key.addresses ?? []).join(', '),
  }
}

function addressesIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((one) => one !== '')
}

function termsOf(form: KeyForm): Required<KeyChange> {
  const addresses = addressesIn(form.addresses)
  return {
    models: form.models.length === 0 ? null : [...form.models],
    limits: limitsOf(form),
    budget: budgetOf(form),
    expires_at: form.ends === '' ? null : form.ends,
    scopes: form.scopes.length === 0 ? null : [...form.scopes],
    max_calls_at_once: form.calls,
    addresses: addresses.length === 0 ? null : addresses,
  }
}

export function newKeyOf(form: KeyForm): NewKey {
  return { project: form.project, name: form.name, ...termsOf(form) }
}

/** Only what changed, and null where something is taken away. */
export function changeOf(before: KeyForm, after: KeyForm): KeyChange {
  const [old, now] = [termsOf(before), termsOf(after)]
  const names = Object.keys(now) as (keyof typeof now)[]
  return Object.fromEntries(
    names
      .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]))
      .map((name) => [name, now[name]]),
  )
}

/** The command that does the same, in lines of a few options. */
export function commandOf(form: KeyForm, verb: 'create' | 'set' = 'create'): string {
  const addresses = addressesIn(form.addresses)
  const lines = [
    [form.models.length > 0 && `--models ${form.models.join(',')}`],
    [
      form.requests !== null && `--requests-per-minute ${form.requests}`,
      form.tokens !== null && `--tokens-per-minute ${form.tokens}`,
      form.images !== null && `--images-per-minute ${form.images}`,
    ],
    [
      form.scopes.length > 0 && `--scope ${form.scopes.join(',')}`,
      form.calls !== null && `--calls ${form.calls}`,
      addresses.length > 0 && `--from ${addresses.join(',')}`,
    ],
    [
      form.usd !== '' && `--budget ${form.usd}`,
      form.usd !== '' && form.per !== 'month' && `--per ${form.per}`,
      form.usd !== '' && form.hard && '--hard',
      form.ends !== '' && `--expires ${form.ends}`,
    ],
  ]
    .map((options) => options.filter((option) => option !== false).join(' '))
    .filter((line) => line !== '')
  const id = `${form.project || '<project>'}/${form.name || '<name>'}`
  return [`torana keys ${verb} ${id}`, ...lines].join(' \\\n  ')
}
