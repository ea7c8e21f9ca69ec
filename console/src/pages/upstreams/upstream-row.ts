/** One row of the list: what the node reports, with the pending changes and the result of a check by hand on top of it. */
import type { Schema } from '../../api/client.ts'
import type { Source } from '../../api/queries/routing.ts'
import { DAY_MS } from '../../time/day.ts'
import { words } from '../../words/words.ts'
import { keyOf, type Change, type Draft } from './draft.ts'

export type Upstream = Schema<'Upstream'>

/** A check that was made by hand. */
export type Check =
  | 'busy'
  | { readonly atMs: number; readonly code: string | undefined; readonly problem: string | undefined }

export interface UpstreamRow {
  readonly upstream: Upstream
  readonly change: Change | undefined
  readonly check: Check | undefined
}

export function rowsOf(
  upstreams: readonly Upstream[],
  draft: Draft,
  checks: ReadonlyMap<string, Check>,
): readonly UpstreamRow[] {
  return upstreams.map((upstream) => ({
    upstream,
    change: draft.get(keyOf({ object: 'upstream', name: upstream.name })),
    check: checks.get(upstream.name),
  }))
}

/** The pending change of an upstream, or one that changes nothing yet. */
export function changeOf({ upstream, change }: UpstreamRow): Change {
  const { entry } = upstream
  return change ?? { object: 'upstream', name: upstream.name, base: upstream.revision, before: entry, entry }
}

/** The address with the pending change. */
export function addressOf({ upstream, change }: UpstreamRow): string {
  const url = change?.entry?.['baseUrl']
  return shortAddress(typeof url === 'string' ? url : upstream.base_url)
}

/** The host alone; its path says little in a list. */
export function shortAddress(url: string): string {
  return (URL.canParse(url) && new URL(url).host) || url
}

/** A key this old is due for another one, and then overdue: providers advise one per half year and demand one per year. */
const OLD_KEY_DAYS = 180
const OVERDUE_KEY_DAYS = 330

export function keyAge(
  { credential, state }: Upstream,
  nowMs: number,
): { readonly days: number; readonly tone: 'text-ink' | 'text-warn' | 'text-bad' } | undefined {
  if (credential.updated_at === null) return undefined
  const days = Math.floor(Math.max(0, nowMs - Date.parse(credential.updated_at)) / DAY_MS)
  if (days >= OVERDUE_KEY_DAYS || state.kind === 'rejected') return { days, tone: 'text-bad' }
  return { days, tone: days >= OLD_KEY_DAYS ? 'text-warn' : 'text-ink' }
}

/** `torana.yaml:31`, or the variable that brings the upstream along. Undefined: it is of the store. */
export function declaredAt(source: Source): string | undefined {
  switch (source.kind) {
    case 'file':
      return `${source.file}:${source.line}`
    case 'environment':
      return source.variable
    case 'built_in':
      return words.routing.builtIn
    case 'console':
      return undefined
  }
}

/** Why it can't be changed here. Undefined: it can. */
export function lockedBy(source: Source): string | undefined {
  const at = declaredAt(source)
  if (at === undefined) return undefined
  return source.kind === 'file' ? words.routing.upstreams.declared(at) : words.routing.fixed
}
