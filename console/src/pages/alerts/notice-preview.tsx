/** What a notification of a kind looks like, and the JSON that a channel is sent. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { alertQueries, type AlertKind, type ChannelKind } from '../../api/queries/alerts.ts'
import { classes } from '../../ui/classes.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Bar } from '../../ui/loading.tsx'
import { Section } from '../../ui/page.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'
import { ChannelIcon } from './channel-icon.tsx'

type Preview = Schema<'AlertPreview'>

const EDGES: Record<Preview['severity'], string> = {
  critical: 'border-l-bad-fill',
  drift: 'border-l-odd-fill',
  warning: 'border-l-warn-fill',
}

const SHAPES = ['webhook', 'slack', 'teams', 'pagerduty', 'email'] as const satisfies readonly ChannelKind[]

export function NoticePreview({ kind }: { readonly kind: AlertKind }) {
  const [isJson, setJson] = useState(false)
  const say = words.alerts.preview
  return (
    <Section
      title={say.title}
      actions={
        <button type="button" className="link text-12" aria-pressed={isJson} onClick={() => setJson(!isJson)}>
          {isJson ? say.card : say.json}
        </button>
      }
    >
      <div className="flex flex-col gap-2.5 pt-1">
        {isJson ? <NoticeJson kind={kind} /> : <NoticeCard kind={kind} />}
        <p className="text-12 text-ink-2">{say.never}</p>
      </div>
    </Section>
  )
}

export function NoticeCard({ kind }: { readonly kind: AlertKind }) {
  const query = useQuery(alertQueries.preview(kind))
  const preview = query.data
  if (preview === undefined) return <Missing error={query.error} retry={() => void query.refetch()} />
  return (
    <div
      className={classes(
        'rounded-panel border border-l-3 border-line px-3 py-2.5 text-12',
        EDGES[preview.severity],
      )}
    >
      <p className="break-words">
        <span className="font-semibold">{preview.title}</span>{' '}
        <span className="text-ink-2">{preview.installation}</span>
      </p>
      <p className="break-words text-ink-2">{preview.lines.join(' ')}</p>
      {preview.link !== null && <p className="text-accent">{words.alerts.preview.link}</p>}
    </div>
  )
}

function NoticeJson({ kind }: { readonly kind: AlertKind }) {
  const [shape, setShape] = useState<ChannelKind>('webhook')
  const query = useQuery(alertQueries.preview(kind))
  const preview = query.data
  if (preview === undefined) return <Missing error={query.error} retry={() => void query.refetch()} />
  return (
    <>
      <Segmented
        label={words.alerts.preview.shape}
        value={shape}
        segments={SHAPES.map((value) => ({
          value,
          label: <ChannelIcon kind={value} />,
          name: words.alerts.channelKinds[value],
        }))}
        onChange={setShape}
        className="self-start"
      />
      <CodeBlock code={JSON.stringify(preview.shapes[shape], null, 2)} className="max-h-96 overflow-y-auto" />
    </>
  )
}

function Missing({ error, retry }: { readonly error: unknown; readonly retry: () => void }) {
  if (error !== null) return <Problem error={error} retry={retry} className="px-0" />
  return (
    <div className="flex flex-col gap-2 rounded-panel border border-line px-3 py-3">
      <Bar className="w-3/5" />
      <Bar className="w-4/5" />
      <Bar className="w-2/5" />
    </div>
  )
}
