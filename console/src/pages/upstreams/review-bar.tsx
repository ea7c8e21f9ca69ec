/** Where there is no room for the panel of changes: how many there are, and the way to review them. */
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { words } from '../../words/words.ts'
import { DiscardDialog } from './change-panel.tsx'
import { LineCounts } from './diff-view.tsx'
import type { Pending } from './pending.ts'

interface ReviewBarProps {
  readonly pending: Pending
  readonly onReview: () => void
}

export function ReviewBar({ pending, onReview }: ReviewBarProps) {
  const [isAsking, setAsking] = useState(false)
  const say = words.routing.changes
  const { preview, count } = pending
  return (
    <div className="sticky bottom-0 z-1 flex h-16 shrink-0 items-center gap-2 border-t border-line bg-surface px-6 phone:px-4">
      <div className="min-w-0 flex-1">
        <p className="truncate font-semibold">{say.summary(count)}</p>
        {preview !== undefined && (
          <p className="flex gap-1.5 text-12 text-ink-2">
            <LineCounts added={preview.added} removed={preview.removed} />
          </p>
        )}
      </div>
      <Button size="large" onClick={() => setAsking(true)}>
        {say.discard}
      </Button>
      <Button size="large" look="primary" onClick={onReview}>
        {say.review}
      </Button>
      {isAsking && <DiscardDialog pending={pending} onClose={() => setAsking(false)} />}
    </div>
  )
}
