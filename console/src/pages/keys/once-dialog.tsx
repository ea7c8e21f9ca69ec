/** A secret, once. It lives in the state of this page alone, and is gone when the dialog closes. */
import { MessageSquareShare } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { dayWithYear, moneyShort } from '../../app/format.ts'
import { paths } from '../../app/paths.ts'
import { useSession } from '../../app/session.ts'
import { useStream } from '../../app/stream.ts'
import { LANGUAGES, snippetOf } from '../../parts/snippets/first-call.ts'
import { useModelToCall } from '../../parts/snippets/model-to-call.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyButton, copyText } from '../../ui/copy.tsx'
import { classes } from '../../ui/classes.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { CONTROL } from '../../ui/field.tsx'
import { TextLink } from '../../ui/link.tsx'
import { StateMark } from '../../ui/state-mark.tsx'
import { Tick } from '../../ui/switch.tsx'
import { words } from '../../words/words.ts'

type ChangedKey = Schema<'ChangedKey'>

const SNIPPETS = [...LANGUAGES, '.env'] as const

export interface Once {
  readonly kind: 'made' | 'rotated'
  readonly key: ChangedKey
  readonly secret: string
}

export function OnceDialog({ once, onClose }: { readonly once: Once; readonly onClose: () => void }) {
  const { key, secret, kind } = once
  const [isKept, setKept] = useState(false)
  const [shown, setShown] = useState<(typeof SNIPPETS)[number]>('curl')
  const field = useRef<HTMLInputElement>(null)
  const { gateway_url: url } = useSession().install
  const say = words.keys.once
  const { id: model, kind: modelKind } = useModelToCall(key.models)
  const snippetWith = (given: string): string =>
    snippetOf(shown, { baseUrl: `${url}/v1`, key: given, model, kind: modelKind })
  const hidden = `${secret.slice(0, 10)}…${secret.slice(-4)}`
  return (
    <Dialog
      open
      stays={!isKept}
      onClose={onClose}
      wide
      title={kind === 'made' ? say.ready(key.id) : say.rotated(key.id)}
      description={say.text}
      initialFocus={field}
      note={
        <Tick checked={isKept} onChange={setKept}>
          <span className="text-ink-2">{say.kept}</span>
        </Tick>
      }
      actions={
        <>
          <Button
            size="large"
            icon={<MessageSquareShare size={15} aria-hidden />}
            onClick={() => void copyText(say.letter(letterOf(key, url)))}
          >
            {say.message}
          </Button>
          <Button look="primary" size="large" why={isKept ? undefined : say.keepFirst} onClick={onClose}>
            {say.done}
          </Button>
        </>
      }
    >
      <div className="flex gap-2">
        <input
          ref={field}
          readOnly
          aria-label={say.secret}
          value={secret}
          onFocus={(event) => event.currentTarget.select()}
          className={`${CONTROL} mono-12 h-9! flex-1`}
        />
        <CopyButton text={secret} look="primary" size="large" onCopied={() => setKept(true)} />
      </div>
      <section className="flex flex-col gap-2">
        <header className="flex items-center justify-between">
          <h3 className="text-13 font-semibold">{say.tryIt}</h3>
          <div role="group" aria-label={say.tryIt} className="flex gap-1.5">
            {SNIPPETS.map((one) => (
              <button
                key={one}
                type="button"
                aria-pressed={one === shown}
                onClick={() => setShown(one)}
                className={classes(
                  'h-6 rounded-chip border px-2 text-12',
                  one === shown ? 'border-ink font-medium text-ink' : 'border-line text-ink-2 hover:text-ink',
                )}
              >
                {one}
              </button>
            ))}
          </div>
        </header>
        <CodeBlock code={snippetWith(hidden)} copied={snippetWith(secret)} />
        <p className="text-12 text-ink-3">{say.shown}</p>
      </section>
      {kind === 'made' && <FirstRequest id={key.id} />}
    </Dialog>
  )
}

interface KeyNews {
  readonly id: string
  readonly first_request: { readonly id: string } | null
  readonly refused: { readonly fault: string } | null
}

function FirstRequest({ id }: { readonly id: string }) {
  const [request, setRequest] = useState<string>()
  const [refusal, setRefusal] = useState<string>()
  const [waitedMs, setWaitedMs] = useState(0)
  useStream<KeyNews>(
    'key',
    (news) => {
      if (news.id !== id) return
      if (news.refused !== null) setRefusal(news.refused.fault)
      else if (news.first_request !== null) setRequest((known) => known ?? news.first_request?.id)
    },
    { on: request === undefined, filters: { key: id } },
  )
  useEffect(() => {
    if (request !== undefined) return
    const beganMs = Date.now()
    const timer = setInterval(() => setWaitedMs(Date.now() - beganMs), 1000)
    return () => clearInterval(timer)
  }, [request])
  const say = words.keys.once
  return (
    <div className="flex items-center gap-3 rounded-panel border border-line px-4 py-3" role="status">
      <StateMark mark={request === undefined ? 'wait' : 'good'} word="" size={16} />
      <div className="min-w-0 flex-1">
        <p className="font-medium">{request === undefined ? say.waiting : say.arrived}</p>
        <p className="text-12 text-ink-2">
          {request === undefined ? (
            refusal === undefined ? (
              say.waitingText
            ) : (
              <span className="text-bad">{say.refused(refusal)}</span>
            )
          ) : (
            <TextLink to={paths.request(request)}>{say.see}</TextLink>
          )}
        </p>
      </div>
      {request === undefined && <span className="mono-12 text-ink-3">{minutes(waitedMs)}</span>}
    </div>
  )
}

/** `0:14`. */
function minutes(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

function letterOf(key: ChangedKey, url: string) {
  const { budget, expires_at: ends } = key
  return {
    id: key.id,
    url: `${url}/v1`,
    budget: budget === null ? null : `${moneyShort(budget.usd)} ${words.keys.form.periods[budget.per]}`,
    ends: ends === null ? null : dayWithYear(ends, 'UTC'),
  }
}
