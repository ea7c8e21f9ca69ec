/** What a model can do, as small icons: filled where the upstream does it, outlined where Torana does. */
import {
  Binary,
  Brush,
  Grid2x2,
  Hash,
  Highlighter,
  Layers,
  Pencil,
  Radio,
  Scissors,
  Tag as TagIcon,
  type LucideIcon,
} from 'lucide-react'
import { classes } from '../../ui/classes.ts'
import { Tip } from '../../ui/tooltip.tsx'
import { words } from '../../words/words.ts'

/** In the order in which they are shown. */
export const ABILITIES: readonly (readonly [name: string, icon: LucideIcon])[] = [
  ['base64', Binary],
  ['dimensions', Scissors],
  ['token_ids', Hash],
  ['split', Layers],
  ['input_type', TagIcon],
  ['edits', Pencil],
  ['mask', Brush],
  ['markup', Highlighter],
  ['previews', Radio],
  ['transparent', Grid2x2],
]

export function Abilities({ can }: { readonly can: Readonly<Record<string, 'native' | 'emulated'>> }) {
  const there = ABILITIES.filter(([name]) => can[name] !== undefined)
  if (there.length === 0) return <span className="text-ink-3">–</span>
  return (
    <span className="flex gap-1">
      {there.map(([name, Icon]) => {
        const how = can[name] ?? 'native'
        const text = `${words.models.abilities[name]}: ${how === 'native' ? words.models.native : words.models.toranaDoes}`
        return (
          <Tip key={name} text={text}>
            <span
              role="img"
              aria-label={text}
              className={classes(
                'flex size-5 items-center justify-center rounded-chip text-ink-2',
                how === 'native' ? 'bg-tag' : 'border border-line-strong',
              )}
            >
              <Icon size={13} strokeWidth={1.75} aria-hidden />
            </span>
          </Tip>
        )
      })}
    </span>
  )
}

/** What the icons mean. */
export function AbilityLegend() {
  return (
    <>
      {ABILITIES.map(([name, Icon]) => (
        <span key={name} className="flex items-center gap-1.5">
          <Icon size={14} strokeWidth={1.75} aria-hidden /> {words.models.abilities[name]}
        </span>
      ))}
      <span className="ml-auto flex items-center gap-4">
        <span className="flex items-center gap-2">
          <span className="size-3.5 rounded-chip bg-tag" /> {words.models.native}
        </span>
        <span className="flex items-center gap-2">
          <span className="size-3.5 rounded-chip border border-line-strong" /> {words.models.toranaDoes}
        </span>
      </span>
    </>
  )
}
