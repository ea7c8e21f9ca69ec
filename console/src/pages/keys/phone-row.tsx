/** A key in two lines, for a narrow screen. */
import { ageOf } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { Budget } from '../../parts/terms/shown.tsx'
import { words } from '../../words/words.ts'
import { KeyName, Notes, type Key } from './columns.tsx'

export const phoneRow = (key: Key) => <KeyPhoneRow keyRow={key} />

function KeyPhoneRow({ keyRow }: { readonly keyRow: Key }) {
  const nowMs = useNow()
  const { id, last_used_at: used } = keyRow
  return (
    <span className="flex min-w-0 flex-col gap-0.5">
      <span className="flex items-center gap-2">
        <span className="min-w-0 flex-1">
          <KeyName id={id} />
        </span>
        <span className="shrink-0 text-12 tabular-nums text-ink-3">
          {used === null ? words.keys.never : ageOf(used, nowMs)}
        </span>
      </span>
      <span className="flex items-center gap-2 text-12">
        {keyRow.budget === null && <span className="text-ink-3">{words.keys.columns.budget}</span>}
        <Budget of={keyRow} />
        <span className="ml-auto">
          <Notes keyRow={keyRow} />
        </span>
      </span>
    </span>
  )
}
