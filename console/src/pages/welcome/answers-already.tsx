/** At the side: a call to copy, with your model and key as soon as there are any, and the first request as it comes. */
import { useQuery } from '@tanstack/react-query'
import { ArrowRight, Brush, ChartScatter, RadioTower } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { peopleQueries } from '../../api/queries/people.ts'
import { duration } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { useSession } from '../../app/session.ts'
import { LANGUAGES, snippetOf, type SnippetLanguage } from '../../parts/snippets/first-call.ts'
import type { ModelToCall } from '../../parts/snippets/model-to-call.ts'
import { KEY } from '../../parts/snippets/snippet.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { Link, TextLink, type Address } from '../../ui/link.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { StateMark } from '../../ui/state-mark.tsx'
import { words } from '../../words/words.ts'
import { PlainHttp } from './sign-in-page.tsx'

/** How much of a secret is shown: enough to tell keys apart, as the list of keys does. */
const HEAD = 3
const TAIL = 4

interface AnswersAlreadyProps {
  /** Of the key that was made on this page. It is copied in full and shown in part. */
  readonly secret: string | undefined
  readonly model: ModelToCall
}

export function AnswersAlready({ secret, model: { id: model, kind, isOwn } }: AnswersAlreadyProps) {
  const [language, setLanguage] = useState<SnippetLanguage>('curl')
  const { install } = useSession()
  const { data: settings } = useQuery(peopleQueries.settings())
  const say = words.welcome.answers
  const snippetWith = (key: string): string =>
    snippetOf(language, { baseUrl: `${install.gateway_url}/v1`, key, model, kind })
  // Without a configuration file the node made a key at its first start, and keeps it in its data folder.
  const before = settings?.config_file == null ? '$(cat .torana/demo.key)' : `'${KEY}'`
  const code = snippetWith(
    secret === undefined ? before : `'${secret.slice(0, HEAD)}…${secret.slice(-TAIL)}'`,
  )
  const copied = secret === undefined ? code : snippetWith(`'${secret}'`)
  return (
    <div className="flex min-h-full flex-col gap-6 bg-canvas px-7 py-7 phone:px-4">
      <section className="flex flex-col gap-2">
        <h2 className="text-13 font-semibold">{isOwn ? say.yours : say.title}</h2>
        <pre
          tabIndex={0}
          className="mono-12 overflow-x-auto rounded-control border border-line bg-surface px-3 py-2.5 leading-[19px]"
        >
          {code.split(STRINGS).map((part, index) => (
            <span key={index} className={index % 2 === 1 ? 'text-good' : undefined}>
              {part}
            </span>
          ))}
        </pre>
        <div className="flex items-center gap-2">
          <CopyButton text={copied} />
          <Segmented
            label={say.title}
            value={language}
            segments={LANGUAGES.map((value) => ({ value, label: value }))}
            onChange={setLanguage}
          />
        </div>
        {secret !== undefined && <p className="text-12 text-ink-3">{words.keys.once.shown}</p>}
      </section>
      <FirstRequest />
      <section className="flex flex-col gap-2">
        <h2 className="text-13 font-semibold">{say.look}</h2>
        <Way
          to={paths.embeddings({ view: 'map' })}
          icon={<ChartScatter size={17} aria-hidden />}
          title={say.map}
          note={say.mapNote}
        />
        <Way
          to={paths.images({ mode: 'edit' })}
          icon={<Brush size={17} aria-hidden />}
          title={say.mask}
          note={say.maskNote}
        />
      </section>
      <div className="flex flex-col gap-2 text-12 text-ink-2">
        <PlainHttp />
        <p className="flex items-start gap-2">
          <RadioTower size={14} aria-hidden className="mt-px shrink-0 text-ink-3" />
          {say.telemetry}
        </p>
      </div>
    </div>
  )
}

/** Addresses and what is quoted, as in the blocks of code elsewhere. */
const STRINGS = /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\]|\\.)*'|(?<==)(?:https?:\S+|\$\([^)]*\)))/

function FirstRequest() {
  const { data: first } = useQuery(peopleQueries.firstRequest())
  const say = words.welcome.answers
  return (
    <section className="flex min-h-12 items-center gap-2.5 rounded-panel border border-line bg-surface px-4 py-3">
      <StateMark mark={first ? 'good' : 'wait'} word="" size={9} />
      <p className="flex-1 font-medium" role="status">
        {first ? say.first(duration(first.duration_ms)) : say.waiting}
      </p>
      {first && (
        <TextLink to={paths.request(first.id)} className="text-12">
          {say.waterfall}
        </TextLink>
      )}
    </section>
  )
}

interface WayProps {
  readonly to: Address
  readonly icon: ReactNode
  readonly title: string
  readonly note: string
}

function Way({ to, icon, title, note }: WayProps) {
  return (
    <Link
      to={to}
      className="flex h-13 items-center gap-3 rounded-control border border-line bg-surface px-3.5 hover:bg-hover"
    >
      <span className="text-accent">{icon}</span>
      <span className="min-w-0 flex-1">
        <span className="block leading-[18px] font-medium">{title}</span>
        <span className="block truncate text-12 text-ink-3">{note}</span>
      </span>
      <ArrowRight size={15} aria-hidden className="text-ink-3" />
    </Link>
  )
}
