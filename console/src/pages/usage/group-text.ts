/** What a group is called. A tag is called by its key. */
import type { UsageGroup } from '../../api/usage-groups.ts'
import type { paths } from '../../app/paths.ts'
import { words } from '../../words/words.ts'

export function groupText(by: UsageGroup): string {
  return by.startsWith('tag:')
    ? words.usage.tagNamed(by.slice('tag:'.length))
    : words.usage.groups[by as keyof typeof words.usage.groups]
}

const isLabel = (group: string): boolean => group.startsWith('user') || group.startsWith('tag:')

/** Users and tags are counted one by one: filters by another one than the page is by are taken away. */
export function onlyWith(by: UsageGroup, only: readonly string[]): string[] | undefined {
  const kept = isLabel(by) ? only.filter((one) => !isLabel(one) || one.startsWith(`${by}:`)) : [...only]
  return kept.length === 0 ? undefined : kept
}

type RequestFilter = Parameters<typeof paths.requests>[0]

/** The filter of the request log that shows the calls of a group. */
export function requestFilterOf(by: UsageGroup, name: string): RequestFilter {
  return by.startsWith('tag:') ? { tag: `${by.slice('tag:'.length)}:${name}` } : { [by]: name }
}
