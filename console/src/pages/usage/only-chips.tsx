/** What the page is narrowed to: `model:gpt-image-2`, `project:ads`. */
import type { UsageGroup } from '../../api/usage-groups.ts'
import { AddFilter, ValueChip } from '../../ui/filter-chip.tsx'
import { MenuItem } from '../../ui/menu.tsx'
import { groupText } from './group-text.ts'
import type { GroupRow } from '../../parts/usage/usage-groups.ts'

/** As many as a menu shows without scrolling. */
const MOST_OFFERED = 15

interface OnlyChipsProps {
  readonly by: UsageGroup
  readonly only: readonly string[]
  readonly rows: readonly GroupRow[] | undefined
  readonly onChange: (only: string[] | undefined) => void
}

export function OnlyChips({ by, only, rows, onChange }: OnlyChipsProps) {
  const offered = (rows ?? [])
    .flatMap(({ name }) => (name === undefined ? [] : [name]))
    .slice(0, MOST_OFFERED)
  return (
    <>
      {only.map((one) => {
        const at = one.startsWith('tag:') ? one.indexOf(':', 'tag:'.length) : one.indexOf(':')
        const group = one.slice(0, at) as UsageGroup
        const left = only.filter((other) => other !== one)
        return (
          <ValueChip
            key={one}
            label={groupText(group)}
            shown={one.slice(at + 1)}
            onRemove={() => onChange(left.length === 0 ? undefined : left)}
          />
        )
      })}
      <span className="ml-1">
        <AddFilter>
          {offered
            .filter((name) => !only.includes(`${by}:${name}`))
            .map((name) => (
              <MenuItem key={name} onSelect={() => onChange([...only, `${by}:${name}`])}>
                {name}
              </MenuItem>
            ))}
        </AddFilter>
      </span>
    </>
  )
}
