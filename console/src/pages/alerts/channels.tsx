/** The channels that rules notify: how the last delivery went, a test, and what waits for one that fails. */
import { Plus, Send } from 'lucide-react'
import { useState } from 'react'
import type { Channel, ChannelKind } from '../../api/queries/alerts.ts'
import { useWrite } from '../../api/write.ts'
import { clock, duration } from '../../app/format.ts'
import { lazyPart } from '../../app/lazy-part.tsx'
import { useMay } from '../../app/session.ts'
import { useNow } from '../../time/now.ts'
import { Button } from '../../ui/button.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { Section } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { StateMark, type Mark } from '../../ui/state-mark.tsx'
import { LockTag } from '../../ui/tag.tsx'
import { toast } from '../../ui/toast.tsx'
import { words } from '../../words/words.ts'
import { ChannelIcon } from './channel-icon.tsx'
import { problemText, timeText } from './texts.ts'

const ChannelSheet = lazyPart(async () => (await import('./channel-sheet.tsx')).ChannelSheet)

interface ChannelsProps {
  readonly channels: readonly Channel[] | undefined
  readonly error: unknown
  readonly retry: () => void
}

export function Channels({ channels, error, retry }: ChannelsProps) {
  const may = useMay()
  const [open, setOpen] = useState<'new' | Channel>()
  const say = words.alerts.channels
  return (
    <Section
      title={say.title}
      actions={
        <Button
          icon={<Plus size={14} aria-hidden />}
          why={may('alerts.write') ? undefined : words.alerts.forbidden}
          onClick={() => setOpen('new')}
        >
          {say.add}
        </Button>
      }
    >
      {channels === undefined ? (
        error === null ? (
          <LoadingRows rows={3} className="-mx-5" />
        ) : (
          <Problem error={error} retry={retry} className="px-0" />
        )
      ) : channels.length === 0 ? (
        <div className="py-3">
          <p className="font-semibold">{say.none}</p>
          <p className="text-ink-2">{say.noneText}</p>
        </div>
      ) : (
        <ul>
          {channels.map((channel) => (
            <ChannelCard key={channel.id} channel={channel} onEdit={() => setOpen(channel)} />
          ))}
        </ul>
      )}
      {open !== undefined && (
        <ChannelSheet {...(open !== 'new' && { channel: open })} onClose={() => setOpen(undefined)} />
      )}
    </Section>
  )
}

interface ChannelCardProps {
  readonly channel: Channel
  readonly onEdit: () => void
}

function ChannelCard({ channel, onEdit }: ChannelCardProps) {
  const mayWrite = useMay()('alerts.write')
  const test = useWrite('post', '/api/v1/alerts/channels/{id}/test')
  const say = words.alerts.channels
  const { id, name, kind, masked, managed_at: managedAt } = channel
  return (
    <li className="flex gap-2.5 border-b border-line py-3 last:border-b-0">
      <span className="mt-0.5 flex size-6.5 shrink-0 items-center justify-center rounded-control bg-tag text-ink-2">
        <ChannelIcon kind={kind} size={14} />
      </span>
      <div className="min-w-0 flex-1">
        <div className="flex items-start gap-2">
          <div className="min-w-0 flex-1 leading-[17px]">
            <p className="flex items-baseline gap-1.5">
              {mayWrite && managedAt === null ? (
                <button
                  type="button"
                  title={say.edit(name)}
                  className="truncate font-semibold hover:text-accent"
                  onClick={onEdit}
                >
                  {name}
                </button>
              ) : (
                <span title={name} className="truncate font-semibold">
                  {name}
                </span>
              )}
              <span className="shrink-0 text-12 text-ink-2">{words.alerts.channelKinds[kind]}</span>
            </p>
            <p title={masked} className="truncate text-12 text-ink-2">
              {masked}
            </p>
          </div>
          <Button
            icon={<Send size={13} aria-hidden />}
            busy={test.busy}
            why={mayWrite ? undefined : words.alerts.forbidden}
            writes
            onClick={() => test.now({ params: { path: { id } } })}
          >
            {say.test}
          </Button>
        </div>
        <div className="pt-1.5 text-12" role="status">
          {test.busy ? <Line mark="wait">{say.testing}</Line> : <Standing channel={channel} />}
        </div>
        {managedAt !== null && (
          <p className="pt-1">
            <LockTag at={managedAt} />
          </p>
        )}
      </div>
    </li>
  )
}

function Line({ mark, children }: { readonly mark: Mark; readonly children: React.ReactNode }) {
  return (
    <p className="flex items-start gap-2 leading-[18px]">
      <StateMark mark={mark} word="" size={11} className="mt-[3.5px]" />
      <span className={mark === 'bad' ? 'min-w-0 text-bad' : 'min-w-0'}>{children}</span>
    </p>
  )
}

function Standing({ channel }: { readonly channel: Channel }) {
  const nowMs = useNow()
  const { last, failing_since: failing, queued } = channel
  const say = words.alerts.channels
  if (last === null) return <Line mark="off">{say.unused}</Line>
  const isFailing = failing !== null && !last.ok
  return (
    <>
      <Line mark={last.ok ? 'good' : 'bad'}>
        {isFailing
          ? say.failing(timeText(failing, nowMs), problemText(last))
          : lastText(channel.kind, last, timeText(last.at, nowMs))}
      </Line>
      {queued > 0 && <Queue channel={channel} />}
    </>
  )
}

/** A mail server accepts a message; whether it arrives is not known. */
function lastText(kind: ChannelKind, last: NonNullable<Channel['last']>, time: string): string {
  const say = words.alerts.channels
  if (!last.ok) return (last.test ? say.testFailed : say.failed)(time, problemText(last))
  if (kind === 'email') return (last.test ? say.testAccepted : say.accepted)(time)
  return (last.test ? say.testDelivered : say.delivered)(time, duration(last.ms))
}

function Queue({ channel: { id, name, queued, attempt, next_at: next } }: { readonly channel: Channel }) {
  const may = useMay()
  const retry = useWrite('post', '/api/v1/alerts/channels/{id}/retry')
  const say = words.alerts.channels
  return (
    <p className="pl-[19px] leading-[18px] text-ink-2">
      {say.queued(queued, attempt, next === null ? undefined : clock(next))}{' '}
      {may('alerts.write') && (
        <button
          type="button"
          className="link"
          aria-busy={retry.busy || undefined}
          disabled={retry.busy}
          onClick={() => retry.now({ params: { path: { id } } }, () => toast(say.retried(name)))}
        >
          {say.retry}
        </button>
      )}
    </p>
  )
}
