/** The settings of a model in the form of torana.yaml: what each is, what it was, and how it reads. */
import { whole } from '../../app/format.ts'
import type { Routing } from '../../api/queries/routing.ts'
import { words } from '../../words/words.ts'
import { isEntry, isSame, type Entry } from './entry.ts'
import type { ModelEdit } from './model-edit.ts'
import { choiceOf, priceText } from './price.ts'
import { spanOf, spanText } from './time-span.ts'

export interface Setting {
  readonly id: 'timeout' | 'cache' | 'microBatch' | 'price' | 'aliases' | 'spaceCheck'
  readonly title: string
  /** As a narrow screen shows it. */
  readonly text: string
  /** Undefined: it is as it is stored. */
  readonly was: string | undefined
  readonly hint?: string | undefined
  /** It takes the room of two. */
  readonly isWide?: true
}

/** Of torana.yaml, where a setting names no number. */
export const DEFAULT_BATCH = { maxWaitMs: 4, maxItems: 64 } as const

export interface MicroBatch {
  readonly maxWaitMs: number
  readonly maxItems: number
  readonly acrossProjects: boolean
}

export function microBatchIn(entry: Entry | null): MicroBatch | undefined {
  const own = entry?.['microBatch']
  if (!isEntry(own)) return undefined
  const {
    maxWaitMs = DEFAULT_BATCH.maxWaitMs,
    maxItems = DEFAULT_BATCH.maxItems,
    acrossProjects = false,
  } = own
  return { maxWaitMs: Number(maxWaitMs), maxItems: Number(maxItems), acrossProjects: acrossProjects === true }
}

export function ttlIn(entry: Entry | null): string | undefined {
  const own = entry?.['cache']
  return isEntry(own) && typeof own['ttl'] === 'string' ? own['ttl'] : undefined
}

export function aliasesIn(entry: Entry | null): readonly string[] {
  const own = entry?.['aliases']
  return Array.isArray(own) ? own.map(String) : []
}

/** The settings that a node uses, as an entry: of a declared model the API alone knows them. */
export function effectiveEntry(routing: Routing, { entry, locked }: ModelEdit): Entry | null {
  if (locked === undefined) return entry
  const { cache, micro_batch: batch, aliases, space_guard: guard, attempt_timeout_ms: timeout } = routing
  return {
    ...(routing.source.kind === 'console' && entry),
    aliases,
    ...(guard !== null && { spaceGuard: guard }),
    ...(timeout !== null && { attemptTimeoutMs: timeout }),
    ...(cache !== null && { cache: { ttl: spanOf(cache.ttl_ms) } }),
    ...(batch !== null && {
      microBatch: {
        maxWaitMs: batch.max_wait_ms,
        maxItems: batch.max_items,
        acrossProjects: batch.across_projects,
      },
    }),
  }
}

const SECOND_MS = 1000

export function settingsOf(routing: Routing, edit: ModelEdit): readonly Setting[] {
  const say = words.routing.settings
  const now = effectiveEntry(routing, edit)
  const then = edit.locked === undefined ? edit.before : now
  const isNew = edit.before === null
  const make = (
    id: Setting['id'],
    textOf: (entry: Entry | null) => string,
    field: string,
    more: Partial<Setting> = {},
  ): Setting => ({
    id,
    title: say[id],
    text: textOf(now),
    was: isNew || isSame(now?.[field], then?.[field]) ? undefined : textOf(then),
    ...more,
  })
  const batch = microBatchIn(now)
  const price = make('price', (entry) => modelPrice(entry, routing.kind), 'price', { hint: say.priceNote })
  const aliases = make('aliases', (entry) => aliasesIn(entry).join(', ') || say.noAliases, 'aliases', {
    isWide: true,
  })
  if (routing.kind === 'image') return [price, aliases]
  return [
    make('timeout', (entry) => `${secondsText(entry, routing)} ${say.seconds}`, 'attemptTimeoutMs', {
      hint: say.defaultTimeout(whole(routing.default_attempt_timeout_ms / SECOND_MS)),
    }),
    make('cache', (entry) => cacheText(ttlIn(entry)), 'cache', { hint: say.cacheNote }),
    make('microBatch', (entry) => batchText(microBatchIn(entry)), 'microBatch', {
      hint:
        batch === undefined
          ? say.microBatchOff
          : batch.acrossProjects
            ? say.acrossProjects
            : say.withinProject,
    }),
    price,
    aliases,
    make('spaceCheck', (entry) => (isGuarded(entry) ? say.spaceOn : say.spaceOff), 'spaceGuard', {
      isWide: true,
    }),
  ]
}

export function isGuarded(entry: Entry | null): boolean {
  return entry?.['spaceGuard'] !== false
}

/** Undefined: the timeout of all models. */
export function timeoutSeconds(entry: Entry | null): number | undefined {
  const own = entry?.['attemptTimeoutMs']
  return typeof own === 'number' ? own / SECOND_MS : undefined
}

function secondsText(entry: Entry | null, routing: Routing): string {
  return String(timeoutSeconds(entry) ?? routing.default_attempt_timeout_ms / SECOND_MS)
}

function cacheText(ttl: string | undefined): string {
  return ttl === undefined ? words.routing.settings.cacheOff : spanText(ttl)
}

export function batchText(batch: MicroBatch | undefined): string {
  const say = words.routing.settings
  return batch === undefined ? say.cacheOff : say.batches(String(batch.maxWaitMs), batch.maxItems)
}

function modelPrice(entry: Entry | null, kind: Routing['kind']): string {
  const price = entry?.['price']
  return choiceOf(price, kind) === 'default' ? words.routing.price.perDeployment : priceText(price, kind, '')
}
