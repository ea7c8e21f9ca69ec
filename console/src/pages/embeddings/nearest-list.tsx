/** Texts by their cosine to the query, with bars. */
import { cosine } from '../../app/format.ts'
import { paint } from '../../charts/colours.ts'
import { Mark } from '../../charts/vectors/mark.tsx'
import { markOf } from '../../charts/vectors/marks.ts'
import type { Ranked } from './queries.ts'
import type { Run } from './run.ts'
import { InputThumbnail } from './thumbnail.tsx'

interface NearestListProps {
  readonly rows: readonly Ranked[]
  readonly run: Run
  readonly onPoint?: (index: number | undefined) => void
}

export function NearestList({ rows, run: { typed, files }, onPoint }: NearestListProps) {
  const hasMedia = files.size > 0
  return (
    <ol>
      {rows.map(({ index, cosine: value }) => {
        const group = typed.groupOf[index] ?? -1
        return (
          <li
            key={index}
            className="flex items-center gap-2 border-b border-line py-1"
            onPointerEnter={() => onPoint?.(index)}
            onPointerLeave={() => onPoint?.(undefined)}
          >
            {hasMedia && <InputThumbnail input={typed.inputs[index]} files={files} size={32} />}
            {!hasMedia && <Mark group={group} size={8} />}
            <span className="min-w-0 flex-1">
              <span className="block truncate leading-[18px]" title={typed.texts[index]}>
                {typed.texts[index]}
              </span>
              <span aria-hidden className="mt-0.5 flex items-center gap-1.5">
                {hasMedia && <Mark group={group} size={6} />}
                <span className="block h-[3px] flex-1 rounded-full bg-tag">
                  <span
                    className="block h-full rounded-full"
                    style={{
                      width: `${Math.max(0, Math.min(1, value)) * 100}%`,
                      background: paint(markOf(group).colour),
                    }}
                  />
                </span>
              </span>
            </span>
            <span className="w-11 text-right font-strong tabular-nums">{cosine(value, 3)}</span>
          </li>
        )
      })}
    </ol>
  )
}
