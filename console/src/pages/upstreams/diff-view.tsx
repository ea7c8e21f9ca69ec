/** What saving would change in the exported torana.yaml. */
import { Lock } from 'lucide-react'
import type { DiffLine, Preview } from '../../api/queries/routing.ts'
import { whole } from '../../app/format.ts'
import { classes } from '../../ui/classes.ts'
import { CopyIconButton } from '../../ui/copy.tsx'
import { STALE } from '../../ui/loading.tsx'
import { words } from '../../words/words.ts'
import { foldedLines } from './folded-lines.ts'
import { declaredAt } from './upstream-row.ts'

interface DiffViewProps {
  readonly preview: Preview
  /** It answers an earlier question. */
  readonly isStale: boolean
}

export function DiffView({ preview, isStale }: DiffViewProps) {
  const say = words.routing.changes
  const { lines, added, removed } = preview
  const copied = lines.filter(({ op }) => op !== ' ').map(({ op, text }) => `${op}${text}`)
  return (
    <div className="overflow-hidden rounded-control border border-line">
      <div className="flex h-8 items-center gap-2 border-b border-line bg-sunken pr-1 pl-2.5">
        <span className="mono-12 min-w-0 flex-1 truncate text-11! text-ink-2">
          <span className="text-ink">torana.yaml</span> {say.exported}
        </span>
        <LineCounts added={added} removed={removed} />
        <CopyIconButton text={copied.join('\n')} label={say.copy} />
      </div>
      <div
        role="region"
        aria-label={say.title}
        tabIndex={0}
        className={classes('max-h-105 overflow-auto py-1 phone:max-h-none', isStale && STALE)}
      >
        <table className="mono-12 w-full border-collapse text-[11.5px]!">
          <tbody>
            {foldedLines(lines).map((shown, at) =>
              'line' in shown ? (
                <Line key={at} line={shown.line} />
              ) : (
                <tr key={at} className="text-ink-3">
                  <td colSpan={2} />
                  <td className="pr-2 whitespace-pre" colSpan={2}>
                    {' '.repeat(shown.indent)}
                    {say.hidden(shown.hidden)}
                  </td>
                </tr>
              ),
            )}
          </tbody>
        </table>
        {preview.is_cut && <p className="px-2.5 pt-1 text-12 text-ink-3">{say.cut}</p>}
      </div>
    </div>
  )
}

export function LineCounts({ added, removed }: { readonly added: number; readonly removed: number }) {
  const say = words.routing.changes
  return (
    <span className="flex gap-2 text-11 font-medium tabular-nums">
      <span className="text-good" aria-label={`${whole(added)} ${say.added}`}>
        +{whole(added)}
      </span>
      <span className="text-bad" aria-label={`${whole(removed)} ${say.removed}`}>
        −{whole(removed)}
      </span>
    </span>
  )
}

const LOOKS: Record<DiffLine['op'], string> = {
  ' ': '',
  '+': 'bg-good-tint text-good',
  '-': 'bg-bad-tint text-bad',
}

function Line({ line: { op, number, text, source } }: { readonly line: DiffLine }) {
  const at = source === null ? undefined : declaredAt(source)
  return (
    <tr className={classes(LOOKS[op], at !== undefined && 'text-ink-3')}>
      <td className="w-9 pl-2 text-right text-ink-3 tabular-nums select-none">{number}</td>
      <td className="w-5 text-center select-none">{op}</td>
      <td className="pr-2 whitespace-pre">{text}</td>
      <td className="w-6 pr-2 text-right">
        {at !== undefined && (
          <span title={words.routing.changes.readOnlyLine(at)}>
            <Lock
              size={11}
              aria-label={words.routing.changes.readOnlyLine(at)}
              className="inline text-ink-3"
            />
          </span>
        )}
      </td>
    </tr>
  )
}
