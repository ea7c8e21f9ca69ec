/** Whether a page is live: a quiet dot, or that the stream is lost and tried again. */
import { words } from '../words/words.ts'
import { StateMark } from './state-mark.tsx'

export function LiveMark({ state }: { readonly state: 'idle' | 'connecting' | 'live' | 'lost' }) {
  if (state === 'idle') return null
  const isLost = state === 'lost'
  return (
    <span role="status" className="inline-flex items-center gap-1.5 text-12 text-ink-2">
      <StateMark mark={isLost ? 'warn' : 'good'} word="" size={9} />
      {isLost ? words.shell.reconnecting : words.shell.live}
    </span>
  )
}
