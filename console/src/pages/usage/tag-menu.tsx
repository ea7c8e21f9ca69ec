/** Tells usage apart by a tag: which one is chosen from the keys that were used. */
import { ChevronDown } from 'lucide-react'
import type { UsageGroup } from '../../api/usage-groups.ts'
import { Button } from '../../ui/button.tsx'
import { Menu, MenuChoice } from '../../ui/menu.tsx'
import { words } from '../../words/words.ts'
import { groupText } from './group-text.ts'

interface TagMenuProps {
  readonly by: UsageGroup
  readonly keys: readonly string[]
  readonly onChange: (by: UsageGroup) => void
}

export function TagMenu({ by, keys, onChange }: TagMenuProps) {
  const isTag = by.startsWith('tag:')
  if (keys.length === 0 && !isTag) return null
  return (
    <Menu
      className="max-h-[60vh] overflow-y-auto"
      trigger={
        <Button look={isTag ? 'primary' : 'plain'}>
          {isTag ? groupText(by) : words.usage.tag}
          <ChevronDown size={12} strokeWidth={2.25} aria-hidden />
        </Button>
      }
    >
      {keys.map((key) => (
        <MenuChoice key={key} chosen={by === `tag:${key}`} onSelect={() => onChange(`tag:${key}`)}>
          {key}
        </MenuChoice>
      ))}
    </Menu>
  )
}
